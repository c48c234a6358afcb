"""The line and column of a field in the file that it was read from (IN-074)."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grove_shell.reading.gzip_stream import unpacked
from grove_shell.reading.input_items import MAX_CHARACTERS, InputItem, Place

if TYPE_CHECKING:
    from yaml.nodes import Node

_INDEX_END: Final = "]"


class FieldPositions:
    """The positions of fields in files; each file is read once, and only if a position is asked for."""

    def __init__(self) -> None:
        """Begin without any file."""
        self._files: dict[str, _FileNodes] = {}

    def position_of(self, item: InputItem, path: str) -> Place | None:
        """Return line and column of a field of an item, of its nearest existing parent where the field is missing.

        Returns:
            None for standard input, and where the file cannot be read a second time.
        """
        nodes = self._files.setdefault(item.file, _FileNodes(item.file))
        found = nodes.document(item.document)
        if found is None:
            return None
        if item.index >= 0:
            found = _child(_child(found, "items", keys=False) or found, str(item.index), keys=False) or found
        return _position(found, path)


class _FileNodes:
    """The YAML nodes of the documents of one file."""

    def __init__(self, file: str) -> None:
        self._file = file

    def document(self, number: int) -> "Node | None":
        """Return the root of a document, by its number from 1."""
        return self._roots[number - 1] if 0 < number <= len(self._roots) else None

    @cached_property
    def _roots(self) -> list["Node"]:
        import yaml  # noqa: PLC0415 - only refused or doubtful manifests need it

        path = Path(self._file)
        try:
            if not path.is_file():
                return []
            with path.open("rb") as file:
                text = unpacked(file).read(MAX_CHARACTERS + 1).decode()
            if len(text) > MAX_CHARACTERS:
                return []
            loader: Callable[..., Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            return list(yaml.compose_all(text, Loader=loader))  # type: ignore[arg-type]  # a loader class
        except (OSError, ValueError, RecursionError, yaml.YAMLError):
            return []


def _position(root: "Node", path: str) -> Place:
    """Follow a path as far as its fields exist; return the position of the last one."""
    node, mark, rest = root, root.start_mark, path
    while rest:
        step = _next_step(node, rest)
        if step is None:
            break
        node, mark, rest = step
    return mark.line + 1, mark.column + 1


def _next_step(node: "Node", rest: str) -> "tuple[Node, Any, str] | None":
    """Return the node of the first part of a path, its mark, and the rest of the path; None where it is missing."""
    if rest.startswith("["):
        key, _, after = rest[1:].partition(_INDEX_END)
        found = _child(node, key)
    else:
        key, after = _longest_key(node, rest)
        found = _child(node, key, keys=False) if key else None
    if found is None:
        return None
    return found, _mark_of_key(node, key) or found.start_mark, after.removeprefix(".")


def _longest_key(node: "Node", rest: str) -> tuple[str, str]:
    """Return the key of a mapping that a path begins with, and the rest; keys may have dots themselves."""
    keys = [key.value for key, _ in _pairs(node)]
    meant = [key for key in keys if rest == key or rest.startswith((f"{key}.", f"{key}["))]
    key = max(meant, key=len, default="")
    return key, rest[len(key) :]


def _child(node: "Node", key: str, *, keys: bool = True) -> "Node | None":
    """Return the value under a key of a mapping, or the item of a sequence by its index, or with ``keys`` its name."""
    from yaml.nodes import SequenceNode  # noqa: PLC0415 - as above

    if isinstance(node, SequenceNode):
        if key.isdecimal():
            return node.value[int(key)] if int(key) < len(node.value) else None
        named = (one for one in node.value if _scalar(_child(one, "name", keys=False)) == key) if keys else iter(())
        return next(named, None)
    return next((value for name, value in _pairs(node) if name.value == key), None)


def _scalar(node: "Node | None") -> str:
    return str(node.value) if node is not None and isinstance(node.value, str) else ""


def _pairs(node: "Node") -> list[tuple[Any, Any]]:
    from yaml.nodes import MappingNode  # noqa: PLC0415 - as above

    return list(node.value) if isinstance(node, MappingNode) else []


def _mark_of_key(node: "Node", key: str) -> Any:  # noqa: ANN401 - a mark of PyYAML
    return next((name.start_mark for name, _ in _pairs(node) if name.value == key), None)
