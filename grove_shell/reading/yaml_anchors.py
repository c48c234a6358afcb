"""Anchors and aliases of one YAML document, and the limit on their expansion (IN-012)."""

from typing import Final

from yaml.events import NodeEvent

from grove_shell.reading.items import MAX_ALIASED, JsonValue
from grove_shell.reading.scalars import InvalidScalar
from grove_shell.reading.yaml_events import index_of

INCOMPLETE: Final = object()
"""The value of an anchor while its node is being built: an alias to it would make the node contain itself."""

BOMB: Final = "aliases that stand for at most as much as is written out"
"""The expectation in the fault of a document whose aliases expand too far; reported once for each object."""

_CHARACTERS_PER_NODE: Final = 32
"""Characters of an aliased text that count as one node."""


class Anchors(dict[str, JsonValue]):
    """Anchor -> the latest node with it."""

    def __init__(self) -> None:
        super().__init__()
        self._spent = 0

    def restart(self) -> None:
        """Forget everything; anchors are local to their document."""
        self.clear()
        self._spent = 0

    def resolve(self, alias: NodeEvent) -> JsonValue:
        """Return the node of an alias. It is shared, but counts as if it were copied.

        Raises:
            Refused: the anchor is unknown, or the aliases of the document expand too far.
        """
        name = str(alias.anchor)
        if name not in self:
            raise InvalidScalar("an alias to an earlier anchor", f"*{name}")
        value = self[name]
        if value is INCOMPLETE:
            raise InvalidScalar("a finite value", f"the alias *{name} inside what it stands for")
        allowed = MAX_ALIASED + index_of(alias)
        self._spent += _weight(value, allowed - self._spent)
        if self._spent > allowed:
            raise InvalidScalar(BOMB, f"*{name}, one too many")
        return value


def _weight(value: JsonValue, limit: int) -> int:
    """Return the number of nodes of a value with all aliases expanded; counting stops above ``limit``."""
    weight = 0
    todo: list[JsonValue] = [value]
    while todo and weight <= limit:
        part = todo.pop()
        weight += 1
        if isinstance(part, str):
            weight += len(part) // _CHARACTERS_PER_NODE
        elif isinstance(part, dict):
            todo.extend(part)
            todo.extend(part.values())
        elif isinstance(part, list):
            todo.extend(part)
    return weight
