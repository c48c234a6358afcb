"""What the readers hand on, how big it may be, and when a document is a list of objects."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.kernel.frozen import MOST_LEVELS
from grove_core.resources.fields import shown
from grove_shell.reading.faults import Fault

MAX_DEPTH: Final = MOST_LEVELS
"""Levels of mappings and sequences in one object (IN-012)."""

MAX_CHARACTERS: Final = 16 * 1024 * 1024
"""Text of one object (IN-013). An API server takes no more than 3 MiB in one request."""

MAX_NODES: Final = 1_000_000
"""Scalars, mappings and sequences in one object (IN-013)."""

MAX_ALIASED: Final = 100_000
"""Nodes that aliases may add in one document, beside one for each character of it that was read (IN-011)."""

_OF_SAVED_PLANS: Final = frozenset({"formatVersion", "plans"})

JsonValue: TypeAlias = Any
"""None, a boolean, a number, text, a list or a dict of these."""

Place: TypeAlias = tuple[int, int]
"""Line and column, both from 1."""

Problem: TypeAlias = tuple[str, str, str]
"""Field path, what was expected, what was got."""


class Item(NamedTuple):
    """One object of the input, as plain JSON values.

    Attributes:
        file: as in `Fault`.
        document: number of the document in its file, from 1.
        index: position in the list it stood in, from 0; -1 for a document of its own.
        value: the object. Parts that YAML aliases refer to are shared, so it is to be read and not written.
    """

    file: str
    document: int
    index: int  # type: ignore[assignment]  # a tuple's method of that name is not used here
    value: dict[str, Any]


def display_name(value: object, index: int = -1) -> str:
    """How a fault names an object: by kind and name where both are there, else by its position, else not at all."""
    if isinstance(value, dict):
        kind, meta = value.get("kind"), value.get("metadata")
        if isinstance(kind, str) and kind and isinstance(meta, dict):
            name, namespace = meta.get("name"), meta.get("namespace")
            if isinstance(name, str) and name:
                return f"{kind} {namespace}/{name}" if isinstance(namespace, str) and namespace else f"{kind} {name}"
    return f"items[{index}]" if index >= 0 else ""


def meta_text(raw: Mapping[str, Any], key: str) -> str:
    """A text of the metadata; empty where there is none."""
    meta = raw.get("metadata")
    found = meta.get(key) if isinstance(meta, Mapping) else None
    return found if isinstance(found, str) else ""


def labels_in(raw: Mapping[str, Any]) -> dict[str, str]:
    """The labels of an object that are texts."""
    meta = raw.get("metadata")
    labels = meta.get("labels") if isinstance(meta, Mapping) else None
    return {key: text for key, text in labels.items() if isinstance(text, str)} if isinstance(labels, Mapping) else {}


def identity_problems(raw: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with an object that does not say what it is (IN-031); a saved plan is known (IN-049)."""
    if raw.keys() >= _OF_SAVED_PLANS:
        yield "", "", "a saved plan is for grove apply"
        return
    for field in ("kind", "apiVersion"):
        if not isinstance(raw.get(field), str):
            yield field, "a string", shown(raw.get(field))


def server_error_in(raw: Mapping[str, Any]) -> str:
    """What an API server answered in place of objects, with its reason and code; empty where it is none (IN-051)."""
    if (raw.get("kind"), raw.get("apiVersion"), raw.get("status")) != ("Status", "v1", "Failure"):
        return ""
    known = [str(raw[key]) for key in ("reason", "code") if raw.get(key)]
    return f"{raw.get('message') or 'no message'}" + (f" ({', '.join(known)})" if known else "")


def is_list(root: dict[str, Any]) -> bool:
    """Whether a document stands for the objects under its ``items`` (IN-020)."""
    return "items" in root


def list_problem(root: dict[str, Any]) -> Problem | None:
    """What is wrong with the frame of a list; None if nothing is. Its objects are read either way (IN-021)."""
    kind = root.get("kind")
    if isinstance(kind, str) and kind.endswith("List"):
        return None
    return "kind", 'a kind that ends in "List" beside items', shown(kind)


def flatten_lists(item: Item, faults: list[Fault], place: Place) -> Iterator[Item]:
    """The objects that an item stands for: itself, or what its own ``items`` hold, however deep (IN-022).

    An object in a list in a list keeps the index of the inner list in the outer one. Iterative, for the depth is the
    input's choice.
    """
    todo: list[tuple[str, int, JsonValue]] = [(display_name(None, item.index), item.index, item.value)]
    while todo:
        where, index, value = todo.pop()
        if not isinstance(value, dict):
            faults.append(fault_in(item, where, ("", "an object", shown(value)), place))
        elif not is_list(value):
            yield item._replace(index=index, value=value)
        else:
            name = display_name(value) or where
            if problem := list_problem(value):
                faults.append(fault_in(item, name, problem, place, lost=False))
            inner = value["items"]
            if isinstance(inner, list):
                prefix = f"{where}.items" if where else "items"
                for position in range(len(inner) - 1, -1, -1):
                    outer = index if index >= 0 else position
                    todo.append((f"{prefix}[{position}]", outer, inner[position]))
            elif inner is not None:
                faults.append(fault_in(item, name, ("items", "a list", shown(inner)), place))


def empty_file(file: str) -> Fault:
    """The fault of a file in which no document has any content (IN-023)."""
    return Fault(file=file, expected="at least one object", got="nothing: the file is empty")


def fault_in(item: Item, where: str, problem: Problem, place: Place | None, *, lost: bool = True) -> Fault:
    """A problem of an item, or of the part of it called ``where``, as a fault; the place where one is known."""
    path, expected, got = problem
    line, column = place or (None, None)
    return Fault(
        file=item.file,
        document=item.document,
        line=line,
        column=column,
        object=where,
        path=path,
        expected=expected,
        got=got,
        lost=lost,
    )
