"""One clique at one version of its registry: everything a decision of one of its daemons depends on.

Entries of other cliques in the same object only change the version that a daemon writes at (DC-066). So one state of a
clique is shared by all versions until the clique changes, with the decisions cached in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypedDict

from grove_core.areas.domain_cliques.daemon_context import clique_view_of
from grove_core.areas.domain_cliques.entry_requests import entry_path
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry, PeerMap
from grove_core.kernel.frozen import EMPTY, frozen
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_entry import NOT_READY, READY, DaemonEntry
from grove_shell.converge.model.participants import DOMAIN_UID, Participants


class _Unowned(TypedDict):
    resource_version: str
    owner_uid: str
    owner_kind: str
    owner_name: str
    finalizers: tuple[str, ...]
    deleting: bool


_UNOWNED: Final[_Unowned] = {
    "resource_version": "",
    "owner_uid": "",
    "owner_kind": "",
    "owner_name": "",
    "finalizers": (),
    "deleting": False,
}


@dataclass(frozen=True, slots=True)
class EntryState:
    """The index and readiness of a daemon's entry."""

    index: int
    ready: bool


class CliqueState:
    """An immutable state of a clique; see :class:`CliqueSummary`.

    Attributes:
        entries: by the number of the daemon.
        holders: the number of daemons with each index.
        decisions: cache of decisions on this state, by everything else that a decision depends on.
    """

    __slots__ = ("_peers", "_registry", "count", "decisions", "entries", "has_duplicates", "holders", "ready")

    def __init__(self, entries: Mapping[int, EntryState]) -> None:
        self.entries = entries
        holders: dict[int, int] = {}
        for entry in entries.values():
            holders[entry.index] = holders.get(entry.index, 0) + 1
        self.holders = holders
        self.count = len(entries)
        self.ready = sum(entry.ready for entry in entries.values())
        self.has_duplicates = len(holders) < self.count
        self.decisions: dict[Any, Any] = {}
        self._registry: DaemonRegistry | None = None
        self._peers: PeerMap | None = None

    def with_entry(self, daemon: int, entry: EntryState) -> "CliqueState":
        """Return the state after a daemon wrote its entry."""
        return CliqueState({**self.entries, daemon: entry})

    def registry(self, participants: Participants) -> DaemonRegistry:
        """Return a registry with this clique alone."""
        if self._registry is None:
            self._registry = _registry_of(self.entries, participants)
        return self._registry

    def peers(self, participants: Participants) -> PeerMap:
        """Return the peer map of its daemons, which is the same for all without duplicate indices."""
        if self._peers is None:
            first = participants.daemons[next(iter(self.entries))]
            self._peers = clique_view_of(first, self.registry(participants)).peers(participants.point.limit)
        return self._peers


def _registry_of(entries: Mapping[int, EntryState], participants: Participants) -> DaemonRegistry:
    path = entry_path(sharded=participants.point.protocol.sharded)
    found = []
    for number, entry in sorted(entries.items()):
        identity = participants.daemons[number]
        found.append(
            DaemonEntry(identity.node, identity.ip, identity.clique, entry.index, READY if entry.ready else NOT_READY)
        )
    stored = EMPTY  # only read-modify-write looks at the stored object
    if not participants.point.protocol.uses_apply:
        items = {path.list_key: [entry.as_json(path.node_key) for entry in found]}
        stored = frozen({"metadata": {}, **({path.parent: items} if path.parent else items)})
    if not participants.point.protocol.sharded:
        return ComputeDomain(ref=participants.domain, uid=DOMAIN_UID, nodes=tuple(found), stored=stored, **_UNOWNED)
    identity = participants.daemons[next(iter(entries))]
    return ComputeDomainClique(
        ref=identity.registry_ref(sharded=True),
        uid="clique",
        domain_uid=DOMAIN_UID,
        clique=identity.clique,
        owners=tuple(participants.daemons[number].pod_uid for number in entries),
        daemons=tuple(found),
        stored=stored,
        **_UNOWNED,
    )
