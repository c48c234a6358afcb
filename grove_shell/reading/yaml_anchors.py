"""Anchors and aliases of one YAML document, and the limit on what aliases may blow up (IN-011)."""

from typing import Final

from yaml.events import NodeEvent

from grove_shell.reading.items import MAX_ALIASED, JsonValue
from grove_shell.reading.scalars import InvalidScalar
from grove_shell.reading.yaml_events import index_of

INCOMPLETE: Final = object()
"""Stands under an anchor while its node is being built: an alias to it would make the node contain itself."""

BOMB: Final = "aliases that stand for at most as much as is written out"
"""What is expected where a document has grown too far; it is reported once for each object."""

_CHARACTERS_PER_NODE: Final = 32
"""So many characters of an aliased text weigh as much as a node."""


class Anchors(dict[str, JsonValue]):
    """Anchor -> the node that carries it, the latest of that name."""

    def __init__(self) -> None:
        super().__init__()
        self._spent = 0

    def restart(self) -> None:
        """Forget everything: anchors end with their document."""
        self.clear()
        self._spent = 0

    def resolve(self, alias: NodeEvent) -> JsonValue:
        """The node that an alias stands for. It is shared, not copied, but it counts as if it were copied.

        Raises:
            Refused: nothing stands there, or the document has grown by aliases beyond all proportion to its text.
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
    """How many nodes a value is when every alias in it is written out; counting ends beyond ``limit``."""
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
