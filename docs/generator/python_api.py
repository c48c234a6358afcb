"""Pages of the public names of `grove_shell` and `grove_core`, with their signatures and docstrings."""

import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Final, get_type_hints

import grove_core
import grove_shell
from docs.generator.docstring_sections import docstring_page_text
from docs.generator.markdown import docstring, fenced, prose, table

_PACKAGES: Final = ("kernel", "resources", "snapshot", "plan", "document")
_AREA_MODULES: Final = frozenset({"rules", "rulesets", "verdicts"})
"""Modules of an area that other areas may import (CONTRIBUTING.md, Layers)."""
_MODULE: Final = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])()")
_WIDE: Final = 88
_SOMETHING: Final = type("Something", (), {"__repr__": lambda _self: "..."})()
Public = FunctionType | type


def python_pages() -> dict[str, str]:
    """Return each page by its path below ``reference/python``."""
    rules_and_verdicts = "Rules and verdicts of each area."
    return {
        "index.md": _index(),
        "library.md": _library(),
        "pages.md": _page("Entry points", "The functions of `grove_core` that programs call.", _tops()),
        **{f"{name}.md": _package(name) for name in _PACKAGES},
        "areas.md": _page("Areas", rules_and_verdicts, _rules_and_verdicts()),
        "testing.md": _testing(),
    }


def _index() -> str:
    parts = [
        "# Python API\n",
        "`import grove_shell as grove` reads files and clusters, and returns plans, forecasts, explanations and",
        "comparisons: see [grove_shell](library.md), and",
        "[how to write a check of your own](../../how-to/write-a-check-of-your-own.md).\n",
        "`grove_core` is the pure core: values in, values out. It has no clock, no files, no network, no state.\n",
        "## grove_core\n",
        *(_described(name, getattr(grove_core, name)) for name in grove_core.__all__),
        "## Further\n",
        "- [Pages](pages.md): `reconcile`, `admit`, `explain`, `compare` and others",
        *(f"- [grove_core.{name}]({name}.md): {_first(_module(name))}" for name in _PACKAGES),
        "- [Areas](areas.md): rules and verdicts",
        f"- [grove_core.testing](testing.md): {_first(_module('testing'))}\n",
    ]
    return "\n".join(parts)


def _testing() -> str:
    """Return the page of the public names of ``grove_core.testing``, with the invariants as tables."""
    module = _module("testing")
    shown = ((name, getattr(module, name)) for name in module.__all__)
    own = [(name, found) for name, found in shown if isinstance(found, FunctionType | type)]
    rows = [
        (f"`{one.id}`", prose(one.sentence), "yes" if one.reads_deletions_only else "")
        for one in (*module.INVARIANTS, *module.FIELD_INVARIANTS)
    ]
    return "\n".join(
        (
            "# grove_core.testing\n",
            docstring_page_text(module.__doc__),
            *(_described(name, found) for name, found in own if found.__module__.startswith("grove_core.testing")),
            "## Invariants\n",
            "`INVARIANTS` has those of `GT` and `PL`, `FIELD_INVARIANTS` those of `GF` and some of `PL`.\n",
            table(("rule", "sentence", "of controllers that return deletions"), list(dict.fromkeys(rows))),
        )
    )


def _library() -> str:
    names = [_described(name, getattr(grove_shell, name)) for name in grove_shell.__all__]
    return "\n".join(("# grove_shell\n", docstring_page_text(grove_shell.__doc__), *names))


def _module(name: str) -> ModuleType:
    return import_module(f"grove_core.{name}")


def _first(module: ModuleType) -> str:
    return prose(docstring(module.__doc__).partition("\n")[0])


def _tops() -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(grove_core.__path__):
        if not found.ispkg and found.name != "version":
            yield _module(found.name)


def _rules_and_verdicts() -> Iterator[ModuleType]:
    areas = _module("areas")
    for found in pkgutil.walk_packages(areas.__path__, "grove_core.areas."):
        if found.name.rpartition(".")[2] in _AREA_MODULES:
            yield import_module(found.name)


def _package(name: str) -> str:
    package = _module(name)
    modules = (import_module(f"grove_core.{name}.{found.name}") for found in pkgutil.iter_modules(package.__path__))
    return _page(f"grove_core.{name}", _first(package), modules)


def _page(title: str, words: str, modules: Iterator[ModuleType]) -> str:
    return "\n".join((f"# {title}\n", f"{words}\n", *map(_section, modules)))


def _section(module: ModuleType) -> str:
    names = "\n".join(_described(name, found, level=3) for name, found in public_names(module))
    return "\n".join((f"## {module.__name__}\n", docstring_page_text(module.__doc__), names))


def public_names(module: ModuleType) -> Iterator[tuple[str, Public]]:
    """Yield the public functions and classes that a module defines."""
    for name, found in vars(module).items():
        own = getattr(found, "__module__", None) == module.__name__
        if own and not name.startswith("_") and isinstance(found, FunctionType | type):
            yield name, found


def _described(name: str, found: object, level: int = 3) -> str:
    heading = f"{'#' * level} {prose(name)}\n"
    if isinstance(found, str):
        return "\n".join((heading, fenced(f"{name}: str = {found!r}", "python")))
    if not isinstance(found, FunctionType | type):
        return heading
    return "\n".join(
        (heading, fenced(_signature(name, found), "python"), docstring_page_text(found.__doc__), _members(found))
    )


def _signature(name: str, found: Public) -> str:
    if isinstance(found, FunctionType):
        return f"def {name}{_shown(found)}"
    bases = ", ".join(base.__name__ for base in found.__bases__ if base is not object)
    head = f"class {name}({bases})" if bases else f"class {name}"
    try:
        hints = get_type_hints(found)  # without the metadata for pydantic beside the type
    except NameError:  # of a base class of Hypothesis, which imports some names for type checkers only
        hints = inspect.get_annotations(found)
    fields = [f"    {field}: {_annotation(hints[field])}" for field in inspect.get_annotations(found)]
    return "\n".join((f"{head}:", *(field for field in fields if not field.startswith("    _")))).rstrip(":")


def _shown(function: FunctionType) -> str:
    """Return the signature with short type names; long ones have one argument a line."""
    signature = _without_extras(inspect.signature(function), get_type_hints(function))
    given = [_MODULE.sub(r"\1", str(_without_address(one))) for one in signature.parameters.values()]
    for index, one in enumerate(signature.parameters.values()):
        if one.kind is one.KEYWORD_ONLY and "*" not in given:
            given.insert(index, "*")
    back = "" if signature.return_annotation is signature.empty else f" -> {_annotation(signature.return_annotation)}"
    line = f"({', '.join(given)}){back}"
    return line if len(line) < _WIDE else "(\n    " + ",\n    ".join(given) + f",\n){back}"


def _without_extras(signature: inspect.Signature, hints: Mapping[str, object]) -> inspect.Signature:
    """Return the signature with plain types, without the annotations for pydantic."""
    named = signature.parameters.values()
    plain = [one.replace(annotation=hints.get(one.name, one.annotation)) for one in named]
    back = hints.get("return", signature.return_annotation)
    return signature.replace(parameters=plain, return_annotation=None if back is type(None) else back)


def _without_address(one: inspect.Parameter) -> inspect.Parameter:
    """Replace a default whose text contains a memory address."""
    is_stable = one.default is one.empty or isinstance(one.default, str | int | float | bool | None)
    return one if is_stable else one.replace(default=_SOMETHING)


def _annotation(text: object) -> str:
    plain = isinstance(text, type) and not hasattr(text, "__args__")
    return _MODULE.sub(r"\1", getattr(text, "__name__", "") if plain else str(text))


def _members(found: Public) -> str:
    """Return the public methods and properties of a class with their first sentences; of an enumeration its members.

    A property is shown with its type.
    """
    if isinstance(found, FunctionType):
        return ""
    if issubclass(found, Enum):
        return "".join(f"- `{member.name}`\n" for member in found) + "\n"
    lines = []
    for name, member in tuple(vars(found).items()):
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if isinstance(function, FunctionType) and not name.startswith("_"):
            call = f"{name}: {_type_of(function)}" if isinstance(member, property) else f"{name}(...)"
            lines.append(f"- `{call}`: {prose(docstring(function.__doc__).partition(chr(10))[0])}\n")
    return "".join(("**Methods and properties**\n\n", *lines, "\n")) if lines else ""


def _type_of(function: FunctionType) -> str:
    """Return the type of the result as it is written; some name what is not imported at run time."""
    return _annotation(inspect.signature(function).return_annotation)
