"""Items, the objects of an input before parsing: size limits, lists, and names in faults."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.kernel.errors import ProblemKind
from grove_core.kernel.frozen import MOST_LEVELS
from grove_core.resources.api_names import NODE_KIND
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.object_metadata import metadata_in
from grove_shell.reading.input_faults import InputFault

MAX_DEPTH: Final = MOST_LEVELS
"""Levels of mappings and sequences in one object (IN-012)."""

MAX_CHARACTERS: Final = 16 * 1024 * 1024
"""Text of one object (IN-012). An API server takes no more than 3 MiB in one request."""

MAX_NODES: Final = 1_000_000
"""Scalars, mappings and sequences in one object (IN-012)."""

MAX_ALIASED: Final = 100_000
"""Nodes that aliases may add in one document, plus one for each character read (IN-012)."""

_CLUSTERED: Final = (*TOPOLOGY_KINDS, NODE_KIND)
_OF_SAVED_PLANS: Final = frozenset({"formatVersion", "plans"})

JsonValue: TypeAlias = Any
"""None, a boolean, a number, text, a list or a dict of these."""

Place: TypeAlias = tuple[int, int]
"""Line and column, both from 1."""

Problem: TypeAlias = tuple[str, str, str]
"""Field path, expectation, value."""


class InputItem(NamedTuple):
    """One object of the input, as plain JSON values.

    Attributes:
        file: as in `InputFault`.
        document: number of the document in its file, from 1.
        index: position in the list it stood in, from 0; -1 for a document of its own.
        value: the object. It must not be modified, since YAML aliases share parts.
    """

    file: str
    document: int
    index: int  # type: ignore[assignment]  # a tuple's method of that name is not used here
    value: dict[str, Any]


def object_name_in_faults(value: object, index: int = -1, *, default_namespace: str = "") -> str:
    """Return kind, namespace and name of an object that may be malformed; its position, or nothing, without a name.

    Args:
        index: the position in a list; -1 for none.
        default_namespace: of an object that names none; empty to name it without one, as where ``-n`` may still apply.
    """
    kind = value.get("kind") if isinstance(value, dict) else None
    meta = metadata_in(value) if isinstance(value, dict) else None
    if not isinstance(kind, str) or not kind or meta is None or not meta.name:
        return f"items[{index}]" if index >= 0 else ""
    namespace = "" if kind in _CLUSTERED else meta.namespace or default_namespace
    return f"{kind} {namespace}/{meta.name}" if namespace else f"{kind} {meta.name}"


def item_display_name(item: InputItem) -> str:
    """Return ``PodClique ml/llama-0-decode``; without a name the position in its list, or the kind."""
    name = object_name_in_faults(item.value, item.index, default_namespace="default")
    return name or str(item.value.get("kind") or "")


def kind_and_version_problems(raw: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of an object without kind or apiVersion (IN-032); a saved plan is recognised (IN-014)."""
    if raw.keys() >= _OF_SAVED_PLANS:
        yield "", "", "a saved plan is for grove apply"
        return
    for field in ("kind", "apiVersion"):
        if not isinstance(raw.get(field), str):
            yield field, "a string", short_json(raw.get(field))


def api_server_error_message(raw: Mapping[str, Any]) -> str:
    """Return the message of an API server's error in place of objects, with reason and code; else empty (IN-053)."""
    if (raw.get("kind"), raw.get("apiVersion"), raw.get("status")) != ("Status", "v1", "Failure"):
        return ""
    known = [str(raw[key]) for key in ("reason", "code") if raw.get(key)]
    return f"{raw.get('message') or 'no message'}" + (f" ({', '.join(known)})" if known else "")


def is_object_list(root: dict[str, Any]) -> bool:
    """Return whether a document is a list of the objects under ``items`` (IN-020)."""
    return "items" in root


def list_kind_problem(root: dict[str, Any]) -> Problem | None:
    """Return the problem of a list's kind, or None. Its objects are read in either case (IN-020)."""
    kind = root.get("kind")
    if isinstance(kind, str) and kind.endswith("List"):
        return None
    got = "nothing: the file may be cut off" if is_list_possibly_truncated(root) else short_json(kind)
    return "kind", 'a kind that ends in "List" beside items', got


def with_type_from_list(root: Mapping[str, Any], value: JsonValue) -> JsonValue:
    """Return an element of a list, with the kind and version that an API server leaves out of typed lists (IN-090).

    Args:
        root: the fields of the list before its items, such as ``kind: PodList``.
    """
    kind, version = root.get("kind"), root.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(version, str) or not isinstance(value, dict):
        return value
    of_items = kind.removesuffix("List")
    if of_items in {"", kind} or not value.keys().isdisjoint(("kind", "apiVersion", "items")):
        return value
    return {"apiVersion": version, "kind": of_items, **value}


def is_list_possibly_truncated(root: Mapping[str, Any]) -> bool:
    """Return whether a list lacks its kind, which kubectl writes after the items: some of them may be lost (IN-020)."""
    return "kind" not in root


def flatten_lists(item: InputItem, faults: list[InputFault], place: Place) -> Iterator[InputItem]:
    """Yield the item itself, or the objects of its ``items`` at any depth (IN-020).

    An object in a nested list has the index of that list in the outer one. Iterative, since the input decides the
    depth.
    """
    todo: list[tuple[str, int, JsonValue]] = [(object_name_in_faults(None, item.index), item.index, item.value)]
    while todo:
        where, index, value = todo.pop()
        if not isinstance(value, dict):
            faults.append(item_problem_as_fault(item, where, ("", "an object", short_json(value)), place))
        elif not is_object_list(value):
            yield item._replace(index=index, value=value)
        else:
            name = object_name_in_faults(value) or where
            if problem := list_kind_problem(value):
                faults.append(item_problem_as_fault(item, name, problem, place, lost=is_list_possibly_truncated(value)))
            inner = value["items"]
            if isinstance(inner, list):
                prefix = f"{where}.items" if where else "items"
                for position in range(len(inner) - 1, -1, -1):
                    outer = index if index >= 0 else position
                    todo.append((f"{prefix}[{position}]", outer, with_type_from_list(value, inner[position])))
            elif inner is not None:
                faults.append(item_problem_as_fault(item, name, ("items", "a list", short_json(inner)), place))


def empty_file_fault(file: str) -> InputFault:
    """Return the fault of a file without any content (IN-020)."""
    return InputFault(file=file, expected="at least one object", got="nothing: the file is empty")


def item_problem_as_fault(
    item: InputItem,
    where: str,
    problem: Problem,
    place: Place | None,
    *,
    kind: ProblemKind = ProblemKind.WRONG_VALUE,
    lost: bool = True,
) -> InputFault:
    """Return a problem of an item, or of a part of it, as a fault.

    Args:
        where: the item or its part, in words.
        problem: path of the field, what is expected there, and what is there.
        place: line and column; None if unknown.
        kind: of the problem.
        lost: whether objects of any kind may be missing because of it.
    """
    path, expected, got = problem
    line, column = place or (None, None)
    return InputFault(
        file=item.file,
        document=item.document,
        line=line,
        column=column,
        object=where,
        path=path,
        expected=expected,
        got=got,
        kind=kind,
        lost=lost,
    )
