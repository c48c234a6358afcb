"""The public names as text: name, kind and signature of each, and of the types that a signature names."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final, get_type_hints

import msgspec

import grove_core
import grove_core.testing
import grove_shell

_INDENT: Final = "    "
_MODULES: Final = re.compile(r"(?:\w+\.)+(?=\w)")
INTERNALS: Final = "internals"
"""A field of results that programs do not use."""
PACKAGES: Final = (grove_core, grove_core.testing, grove_shell)
HEADER: Final = """\
# What `grove_core`, `grove_core.testing` and `grove_shell` give, with the types that their signatures name.
# Written by: pytest --bless tests/api
# A line that goes or changes breaks a user's program: say so in CHANGELOG.md.
"""


def page_of(*modules: ModuleType) -> str:
    """One line for each name of each package; below a type its public fields and methods."""
    return HEADER + "".join(f"\n## {module.__name__}\n\n{_names_of(module)}" for module in modules or PACKAGES)


def _names_of(module: ModuleType) -> str:
    exported = {name: getattr(module, name) for name in module.__all__}
    named = {kind.__name__: kind for value in exported.values() for kind in _types_in(value)}
    lines = [line for name, value in sorted({**named, **exported}.items()) for line in _reported(name, value)]
    return "".join(f"{line}\n" for line in lines)


def _reported(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield f"{name}: type of {value.__module__}"
        for member, kind in _members(value):
            yield f"{_INDENT}{member}: {kind}"
    elif inspect.isfunction(value):
        yield f"{name}: function {_signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _members(kind: type) -> Iterator[tuple[str, str]]:
    """Fields in the order in which they are given, then properties and methods by name."""
    for name in getattr(kind, "_fields", ()):
        yield name, f"field {_short(get_type_hints(kind)[name])}"
    fields = {name: how for name, how in _declared_fields(kind) if name != INTERNALS}
    yield from fields.items()
    for name, member in sorted(vars(kind).items()):
        if name.startswith("_") or name in fields or name in getattr(kind, "_fields", ()):
            continue
        if isinstance(member, property):
            yield name, f"property {_short(get_type_hints(member.fget)['return'])}"
        elif inspect.isfunction(member):
            yield name, f"method {_signature(member)}"


def _declared_fields(kind: type) -> Iterator[tuple[str, str]]:
    """Yield name and description of each field of a struct or dataclass; nothing for another type."""
    if issubclass(kind, msgspec.Struct):
        for one in msgspec.structs.fields(kind):
            yield one.name, f"{'field' if one.required else 'optional field'} {_short(kind.__annotations__[one.name])}"
    elif dataclasses.is_dataclass(kind):
        for field in dataclasses.fields(kind):
            needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            yield field.name, f"{'field' if needed else 'optional field'} {_short(field.type)}"


def _signature(function: Any) -> str:
    """As it is written, but with ``...`` for defaults: a value has no name."""
    reported = []
    for name, parameter in inspect.signature(function).parameters.items():
        default = "" if parameter.default is parameter.empty else " = ..."
        kind = "" if name == "self" else f": {_short(parameter.annotation)}"
        reported.append(f"{name}{kind}{default}")
    return f"({', '.join(reported)}) -> {_short(inspect.signature(function).return_annotation)}"


def _short(annotation: Any) -> str:
    """A type without the modules that its parts are from."""
    return _MODULES.sub("", inspect.formatannotation(annotation))


def _types_in(value: Any) -> Iterator[type]:
    """Our own types that the annotations of a function name."""
    hints = get_type_hints(value) if inspect.isfunction(value) else {}
    yield from (kind for kind in hints.values() if inspect.isclass(kind) and kind.__module__.startswith("grove_"))
