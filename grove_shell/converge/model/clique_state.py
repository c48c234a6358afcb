"""One clique as one version of its object shows it: all that a decision of one of its daemons depends on.

Entries of other cliques in the same object change nothing that a daemon does but the version it writes at (DC-018), so
states of a clique are shared by all versions in between, and with them what was decided on them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypedDict

from grove_core.areas.domain_cliques.clique_view import clique_view_of
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
    """A daemon's entry in short."""

    index: int
    ready: bool


class CliqueState:
    """Never changed; another entry is another state.

    Attributes:
        entries: by number of the daemon.
        holders: how many have each index.
        count, ready, shared: as of any view.
        decided: what daemons decided on it, by all else that the decision depends on.
    """

    __slots__ = ("_peers", "_register", "count", "decided", "entries", "holders", "ready", "shared")

    def __init__(self, entries: Mapping[int, EntryState]) -> None:
        self.entries = entries
        holders: dict[int, int] = {}
        for slot in entries.values():
            holders[slot.index] = holders.get(slot.index, 0) + 1
        self.holders = holders
        self.count = len(entries)
        self.ready = sum(slot.ready for slot in entries.values())
        self.shared = len(holders) < self.count
        self.decided: dict[Any, Any] = {}
        self._register: DaemonRegistry | None = None
        self._peers: PeerMap | None = None

    def having(self, daemon: int, slot: EntryState) -> "CliqueState":
        """The state after a daemon wrote its entry."""
        return CliqueState({**self.entries, daemon: slot})

    def registry(self, participants: Participants) -> DaemonRegistry:
        """An object that holds this clique and no other."""
        if self._register is None:
            self._register = _register_of(self.entries, participants)
        return self._register

    def peers(self, participants: Participants) -> PeerMap:
        """The peer map that its daemons make of it; one for all, as long as no index is shared."""
        if self._peers is None:
            first = participants.daemons[next(iter(self.entries))]
            self._peers = clique_view_of(first, self.registry(participants)).peers(participants.point.limit)
        return self._peers


def _register_of(entries: Mapping[int, EntryState], participants: Participants) -> DaemonRegistry:
    path = entry_path(sharded=participants.point.protocol.sharded)
    found = []
    for number, slot in sorted(entries.items()):
        who = participants.daemons[number]
        found.append(DaemonEntry(who.node, who.ip, who.clique, slot.index, READY if slot.ready else NOT_READY))
    stored = EMPTY  # only who writes an object back whole looks at all of it
    if not participants.point.protocol.uses_apply:
        items = {path.list_key: [entry.as_json(path.node_key) for entry in found]}
        stored = frozen({"metadata": {}, **({path.parent: items} if path.parent else items)})
    if not participants.point.protocol.sharded:
        return ComputeDomain(ref=participants.domain, uid=DOMAIN_UID, nodes=tuple(found), stored=stored, **_UNOWNED)
    who = participants.daemons[next(iter(entries))]
    return ComputeDomainClique(
        ref=who.registry_ref(sharded=True),
        uid="clique",
        domain_uid=DOMAIN_UID,
        clique=who.clique,
        owners=tuple(participants.daemons[number].pod_uid for number in entries),
        daemons=tuple(found),
        stored=stored,
        **_UNOWNED,
    )
