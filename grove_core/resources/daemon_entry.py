"""The entry of one daemon in a ComputeDomain or ComputeDomainClique; the key of the node differs between the two."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.fields import Fields

READY: Final = "Ready"
NOT_READY: Final = "NotReady"
NO_FABRIC_INDEX: Final = -1
"""What the entry of a node without fabric has for an index (DC-062)."""

_LOWEST: Final = -(2**31)


@dataclass(frozen=True, slots=True)
class DaemonEntry:
    """The entry of one daemon.

    Attributes:
        node: name of the node, by which entries are merged.
        ip: of the daemon's pod; it distinguishes consecutive pods of a node.
        clique: id of its clique; empty where the node has no fabric.
        index: in the clique; None where a writer older than v25.8.0 left it out.
        status: as stored; empty where a writer left it out.
    """

    FIELDS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"ipAddress": "ip", "cliqueID": "clique", "index": "index", "status": "status"}
    )

    node: str
    ip: str
    clique: str
    index: int | None = None
    status: str = ""

    @property
    def ready(self) -> bool:
        """Whether its status is ready; a missing status is not (DC-084)."""
        return self.status == READY

    def as_json(self, name: str) -> FrozenMap:
        """Return all five fields, with the node under this key; a field that is left out would be released (DC-030)."""
        return FrozenMap(
            {
                name: self.node,
                "ipAddress": self.ip,
                "cliqueID": self.clique,
                **({} if self.index is None else {"index": self.index}),
                "status": self.status,
            }
        )


def read_entries(part: Fields, key: str, name: str) -> tuple[DaemonEntry, ...]:
    """The entries of a list, sorted by node: a merged list has no order of its own (DC-010)."""
    found = [
        DaemonEntry(
            entry.text(name, required=True),
            entry.text("ipAddress"),
            entry.text("cliqueID"),
            entry.integer("index", at_least=_LOWEST),
            entry.text("status"),
        )
        for entry in part.parts(key)
    ]
    return tuple(sorted(found, key=_by_node))


def _by_node(entry: DaemonEntry) -> str:
    return entry.node
