"""The domain in short: one record for each clique, one word for all; and the entries of nodes without fabric."""

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
    """What the domain's status should say.

    Attributes:
        status: of the whole domain (DC-083, DC-084).
        cliques: of each clique object, sorted by id (DC-080 to DC-082).
        fabricless: the entries of nodes without fabric that are the controller's to write, sorted by node (DC-062).
    """

    status: Decision[str]
    cliques: tuple[tuple[CliqueInfo, Decision[str]], ...]
    fabricless: tuple[DaemonEntry, ...]

    @property
    def records(self) -> tuple[CliqueInfo, ...]:
        """One for each id, of two objects with one id the worse word: a server takes no id twice (DC-082)."""
        worst: dict[str, CliqueInfo] = {}
        for record, _ in self.cliques:
            if record.id not in worst or worst[record.id].status == READY:
                worst[record.id] = record
        return tuple(worst.values())


def domain_status_of(moment: DomainSnapshot, judged: tuple[JudgedEntry, ...]) -> DomainStatus:
    """A pure function of cliques, pods and ``numNodes``; an entry that is to go counts for nothing (DC-086)."""
    left = [found for found in judged if found.fate is not EntryVerdict.REMOVE]
    entries_of = defaultdict[Ref, list[DaemonEntry]](list)
    for found in left:
        entries_of[found.registry.ref].append(found.entry)
    cliques = []
    for clique in moment.cliques:
        own = entries_of[clique.ref]
        ready = _ready(own)
        facts = {"daemons": len(own)}
        if own and ready == len(own):
            decision = Decision(READY, (Why.CLIQUE_READY.because(clique.ref, **facts),))
        else:
            decision = Decision(NOT_READY, (Why.CLIQUE_NOT_READY.because(clique.ref, **facts, ready=ready),))
        cliques.append((CliqueInfo(clique.clique, decision.verdict), decision))
    fabricless = fabricless_entries(moment)
    others = [found.entry for found in kept_fabricless_entries(judged, fabricless)]
    return DomainStatus(
        _global(moment, [*(found.entry for found in left if found.entry.clique), *others], fabricless),
        tuple(sorted(cliques, key=lambda told: told[0].id)),
        fabricless,
    )


def fabricless_entries(moment: DomainSnapshot) -> tuple[DaemonEntry, ...]:
    """One entry for each node whose newest pod says that it has no fabric (DC-062)."""
    found = {
        pod.node: DaemonEntry(pod.node, pod.ip, "", NO_FABRIC_INDEX, READY if pod.ready else NOT_READY)
        for pod in sorted(moment.pods, key=attrgetter("born"))
        if pod.clique == "" and pod.living and pod.node and pod.ip
    }
    return tuple(sorted(found.values(), key=lambda entry: entry.node))


def kept_fabricless_entries(
    judged: Iterable[JudgedEntry], fabricless: Iterable[DaemonEntry]
) -> tuple[JudgedEntry, ...]:
    """Entries of nodes without fabric that stay though no living pod says so: an earlier daemon writes its own."""
    own = {entry.node for entry in fabricless}
    return tuple(
        found
        for found in judged
        if not found.entry.clique and found.entry.node not in own and found.fate is not EntryVerdict.REMOVE
    )


def _global(moment: DomainSnapshot, entries: list[DaemonEntry], fabricless: tuple[DaemonEntry, ...]) -> Decision[str]:
    """The word for the whole: the union of all sources, a node that is in two of them once, and then the worse."""
    by_node: dict[str, DaemonEntry] = {}
    for entry in (*entries, *fabricless):
        known = by_node.get(entry.node)
        if known is None or known.ready:
            by_node[entry.node] = entry
    count, needed, ready = len(by_node), moment.domain.num_nodes, _ready(by_node.values())
    ref = moment.domain.ref
    if count >= needed and ready == count:
        return Decision(READY, (Why.DOMAIN_READY.because(ref, entries=count, needed=needed),))
    return Decision(NOT_READY, (Why.DOMAIN_NOT_READY.because(ref, entries=count, needed=needed, ready=ready),))


def _ready(entries: Iterable[DaemonEntry]) -> int:
    return sum(entry.ready for entry in entries)
