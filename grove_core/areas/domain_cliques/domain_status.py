"""The status of a domain: readiness of each clique and of the whole, and the entries of nodes without fabric."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.stale_entries import EntryVerdict, JudgedEntry
from grove_core.kernel.decisions import Decision
from grove_core.kernel.refs import Ref
from grove_core.resources.compute_domain import CliqueInfo
from grove_core.resources.daemon_entry import NO_FABRIC_INDEX, NOT_READY, READY, DaemonEntry


@dataclass(frozen=True, slots=True)
class DomainStatus:
    """The desired status of a domain.

    Attributes:
        readiness: of the whole domain (DC-083, DC-084).
        cliques: the record and decision of each clique object, sorted by id (DC-080 to DC-082).
        fabricless: entries of nodes without fabric, which the controller writes, sorted by node (DC-062).
    """

    readiness: Decision[str]
    cliques: tuple[tuple[CliqueInfo, Decision[str]], ...]
    fabricless: tuple[DaemonEntry, ...]

    @property
    def records(self) -> tuple[CliqueInfo, ...]:
        """One record for each clique id; of two objects with one id, a NotReady one (DC-082)."""
        worst: dict[str, CliqueInfo] = {}
        for record, _ in self.cliques:
            if record.id not in worst or worst[record.id].status == READY:
                worst[record.id] = record
        return tuple(worst.values())


def domain_status_of(snapshot: DomainSnapshot, judged: tuple[JudgedEntry, ...]) -> DomainStatus:
    """Return the desired status; entries to be removed do not count (DC-086).

    Args:
        snapshot: cliques, pods and ``numNodes``.
        judged: all entries of the snapshot.
    """
    left = [found for found in judged if found.verdict is not EntryVerdict.REMOVE]
    entries_of = defaultdict[Ref, list[DaemonEntry]](list)
    for found in left:
        entries_of[found.registry.ref].append(found.entry)
    cliques = []
    for clique in snapshot.cliques:
        entries = entries_of[clique.ref]
        ready = _ready_count(entries)
        facts = {"daemons": len(entries)}
        if entries and ready == len(entries):
            decision = Decision(READY, (Why.CLIQUE_READY.because(clique.ref, **facts),))
        else:
            decision = Decision(NOT_READY, (Why.CLIQUE_NOT_READY.because(clique.ref, **facts, ready=ready),))
        cliques.append((CliqueInfo(clique.clique, decision.verdict), decision))
    fabricless = fabricless_entries(snapshot)
    others = [found.entry for found in kept_fabricless_entries(judged, fabricless)]
    return DomainStatus(
        _readiness(snapshot, [*(found.entry for found in left if found.entry.clique), *others], fabricless),
        tuple(sorted(cliques, key=lambda item: item[0].id)),
        fabricless,
    )


def fabricless_entries(snapshot: DomainSnapshot) -> tuple[DaemonEntry, ...]:
    """Return one entry for each node whose newest living pod is labelled as without fabric (DC-062)."""
    found = {
        pod.node: DaemonEntry(pod.node, pod.ip, "", NO_FABRIC_INDEX, READY if pod.ready else NOT_READY)
        for pod in sorted(snapshot.pods, key=attrgetter("creation_order"))
        if pod.clique == "" and pod.living and pod.node and pod.ip
    }
    return tuple(sorted(found.values(), key=lambda entry: entry.node))


def kept_fabricless_entries(
    judged: Iterable[JudgedEntry], fabricless: Iterable[DaemonEntry]
) -> tuple[JudgedEntry, ...]:
    """Return entries without clique that stay and that the controller does not write.

    Daemons of the first driver generation write such entries themselves and do not label their pods.

    Args:
        judged: all entries of the snapshot.
        fabricless: the entries that the controller writes.
    """
    nodes = {entry.node for entry in fabricless}
    return tuple(
        found
        for found in judged
        if not found.entry.clique and found.entry.node not in nodes and found.verdict is not EntryVerdict.REMOVE
    )


def _readiness(
    snapshot: DomainSnapshot, entries: list[DaemonEntry], fabricless: tuple[DaemonEntry, ...]
) -> Decision[str]:
    """Readiness of the domain: each node counts once; a node with two entries is ready if both are."""
    by_node: dict[str, DaemonEntry] = {}
    for entry in (*entries, *fabricless):
        known = by_node.get(entry.node)
        if known is None or known.ready:
            by_node[entry.node] = entry
    count, needed, ready = len(by_node), snapshot.domain.num_nodes, _ready_count(by_node.values())
    ref = snapshot.domain.ref
    if count >= needed and ready == count:
        return Decision(READY, (Why.DOMAIN_READY.because(ref, entries=count, needed=needed),))
    return Decision(NOT_READY, (Why.DOMAIN_NOT_READY.because(ref, entries=count, needed=needed, ready=ready),))


def _ready_count(entries: Iterable[DaemonEntry]) -> int:
    return sum(entry.ready for entry in entries)
