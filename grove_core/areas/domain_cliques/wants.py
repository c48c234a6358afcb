"""The wants of the controller of a domain: entries to remove, and the status to write."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import attrgetter

from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot
from grove_core.areas.domain_cliques.judge import judge_daemon_entries
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.areas.domain_cliques.verdicts import DaemonEntryVerdict, JudgedDaemonEntry
from grove_core.kernel.decisions import Decision, Finding
from grove_core.kernel.frozen import Json, frozen
from grove_core.kernel.questions import DOMAIN_STATUS
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import DesiredChanges, FieldsToApply, StatusToWrite, Want, Withheld
from grove_core.resources.compute_domain import (
    NO_FABRIC_INDEX,
    NODE_NAME,
    NOT_READY,
    READY,
    DaemonEntry,
    NvlinkCliqueSummary,
)
from grove_core.resources.daemon_entry_lists import IN_DOMAIN, daemon_entries_of_other_nodes, path_in_registry
from grove_core.resources.naming_rules import name_list_text


class DesiredComputeDomainStatus(Struct, frozen=True):
    """The desired status of a domain.

    Attributes:
        readiness: of the whole domain (DC-083, DC-084).
        cliques: the record and decision of each clique object, sorted by id (DC-080 to DC-082).
        fabricless: entries of nodes without fabric, which the controller writes, sorted by node (DC-062).
    """

    readiness: Decision[str]
    cliques: tuple[tuple[NvlinkCliqueSummary, Decision[str]], ...]
    fabricless: tuple[DaemonEntry, ...]

    @property
    def summaries_by_clique_id(self) -> tuple[NvlinkCliqueSummary, ...]:
        """One record for each clique id; of two objects with one id, a NotReady one (DC-082)."""
        worst: dict[str, NvlinkCliqueSummary] = {}
        for record, _ in self.cliques:
            if record.id not in worst or worst[record.id].status == READY:
                worst[record.id] = record
        return tuple(worst.values())


def desired_compute_domain_status(
    snapshot: ComputeDomainSnapshot, judged: tuple[JudgedDaemonEntry, ...]
) -> DesiredComputeDomainStatus:
    """Return the desired status; entries to be removed do not count (DC-086)."""
    left = [found for found in judged if found.verdict is not DaemonEntryVerdict.REMOVE]
    entries_of = defaultdict[Ref, list[DaemonEntry]](list)
    for found in left:
        entries_of[found.registry.ref].append(found.entry)
    cliques = []
    for clique in snapshot.cliques:
        entries = entries_of[clique.ref]
        ready = _ready_count(entries)
        facts = {"daemons": len(entries)}
        if entries and ready == len(entries):
            decision = Decision(READY, (ComputeDomainReason.CLIQUE_READY.because(clique.ref, **facts),))
        else:
            decision = Decision(
                NOT_READY, (ComputeDomainReason.CLIQUE_NOT_READY.because(clique.ref, **facts, ready=ready),)
            )
        cliques.append((NvlinkCliqueSummary(clique.clique, decision.verdict), decision))
    fabricless = daemon_entries_without_fabric(snapshot)
    others = [found.entry for found in kept_daemon_entries_without_fabric(judged, fabricless)]
    return DesiredComputeDomainStatus(
        _readiness(snapshot, [*(found.entry for found in left if found.entry.clique), *others], fabricless),
        tuple(sorted(cliques, key=lambda item: item[0].id)),
        fabricless,
    )


def daemon_entries_without_fabric(snapshot: ComputeDomainSnapshot) -> tuple[DaemonEntry, ...]:
    """Return one entry for each node whose newest living pod is labelled as without fabric (DC-062)."""
    found = {
        pod.node: DaemonEntry(pod.node, pod.ip, "", NO_FABRIC_INDEX, READY if pod.ready else NOT_READY)
        for pod in sorted(snapshot.pods, key=attrgetter("creation_order"))
        if pod.clique == "" and pod.living and pod.node and pod.ip
    }
    return tuple(sorted(found.values(), key=lambda entry: entry.node))


def kept_daemon_entries_without_fabric(
    judged: Iterable[JudgedDaemonEntry], fabricless: Iterable[DaemonEntry]
) -> tuple[JudgedDaemonEntry, ...]:
    """Return entries without clique that stay and that the controller does not write.

    Daemons of the first driver generation write such entries themselves and do not label their pods.
    """
    nodes = {entry.node for entry in fabricless}
    return tuple(
        found
        for found in judged
        if not found.entry.clique and found.entry.node not in nodes and found.verdict is not DaemonEntryVerdict.REMOVE
    )


def _readiness(
    snapshot: ComputeDomainSnapshot, entries: list[DaemonEntry], fabricless: tuple[DaemonEntry, ...]
) -> Decision[str]:
    """Readiness of the domain: each node counts once; a node with two entries is ready if both are."""
    by_node: dict[str, DaemonEntry] = {}
    for entry in (*entries, *fabricless):
        known = by_node.get(entry.node)
        if known is None or known.is_ready:
            by_node[entry.node] = entry
    count, needed, ready = len(by_node), snapshot.domain.num_nodes, _ready_count(by_node.values())
    ref = snapshot.domain.ref
    if count >= needed and ready == count:
        return Decision(READY, (ComputeDomainReason.DOMAIN_READY.because(ref, entries=count, needed=needed),))
    return Decision(
        NOT_READY, (ComputeDomainReason.DOMAIN_NOT_READY.because(ref, entries=count, needed=needed, ready=ready),)
    )


def _ready_count(entries: Iterable[DaemonEntry]) -> int:
    return sum(entry.is_ready for entry in entries)


def desired_changes_of_compute_domain(snapshot: ComputeDomainSnapshot) -> tuple[DesiredChanges, tuple[Finding, ...]]:
    """Return what should change about a domain and its cliques, and every finding (DC-070 to DC-089).

    If entries are removed from the domain itself, its status is written in a later round: a round has one write for
    each object (PL-013).
    """
    if snapshot.domain.deleting:
        because = (ComputeDomainReason.DOMAIN_BEING_DELETED.because(snapshot.domain.ref),)
        return DesiredChanges(), (Finding(snapshot.domain.ref, DOMAIN_STATUS, "Keep", because),)
    judged = judge_daemon_entries(snapshot)
    status = desired_compute_domain_status(snapshot, judged)
    removals = tuple(_removals(judged))
    wants: list[Want] = [*removals]
    if all(want.target != snapshot.domain.ref for want in removals) and not snapshot.unreadable_cliques:
        wants += _status_wants(snapshot, judged, status)
    withheld = [
        Withheld(found.registry.ref, found.decision.because)
        for found in judged
        if found.decision is not None and found.verdict is DaemonEntryVerdict.UNKNOWN
    ]
    if snapshot.unreadable_cliques:  # the record of such a clique would be dropped (DC-089)
        because = (
            ComputeDomainReason.CLIQUES_UNREAD.because(snapshot.domain.ref, cliques=snapshot.unreadable_cliques),
        )
        withheld.insert(0, Withheld(snapshot.domain.ref, because))
    first_by_target = {item.target: item for item in reversed(withheld)}
    return DesiredChanges(tuple(wants), tuple(first_by_target.values())), tuple(_findings(snapshot, judged, status))


def _removals(judged: tuple[JudgedDaemonEntry, ...]) -> Iterator[Want]:
    """One write for each registry with stale entries; the entries that stay are unchanged (DC-086)."""
    stale_by_registry = defaultdict[Ref, list[JudgedDaemonEntry]](list)
    for found in judged:
        if found.verdict is DaemonEntryVerdict.REMOVE:
            stale_by_registry[found.registry.ref].append(found)
    for ref, stale in stale_by_registry.items():
        registry = stale[0].registry
        left = daemon_entries_of_other_nodes(registry, (found.entry.node for found in stale))
        fields = path_in_registry(registry).fields_with_entries(left)
        because = tuple(reason for found in stale if found.decision is not None for reason in found.decision.because)
        yield FieldsToApply(ref, registry.guard, fields, because)


def _status_wants(
    snapshot: ComputeDomainSnapshot, judged: tuple[JudgedDaemonEntry, ...], status: DesiredComputeDomainStatus
) -> Iterator[FieldsToApply | StatusToWrite]:
    """The whole status that the controller writes, if any of it differs from the stored one (DC-086)."""
    domain, records = snapshot.domain, status.summaries_by_clique_id
    kept = kept_daemon_entries_without_fabric(judged, status.fabricless)
    if any(found.verdict is DaemonEntryVerdict.UNKNOWN for found in kept):
        return  # an apply without an entry that the controller owns removes it (DC-072)
    kept_nodes = {found.entry.node for found in kept}
    stored = tuple(entry for entry in domain.nodes if not entry.clique and entry.node not in kept_nodes)
    if (domain.readiness, domain.cliques, stored) == (status.readiness.verdict, records, status.fabricless):
        return
    because = (*status.readiness.because, *(reason for _, decision in status.cliques for reason in decision.because))
    fields: dict[str, Json] = {
        "status": status.readiness.verdict,
        "cliques": tuple(frozen({"id": record.id, "status": record.status}) for record in records),
    }
    stale = sorted({record.id for record in domain.cliques} - {record.id for record in records})
    if stale:  # another manager may own these records, and an apply does not remove them then
        because = (ComputeDomainReason.RECORD_STALE.because(domain.ref, cliques=name_list_text(stale)), *because)
        yield FieldsToApply(domain.ref, domain.guard, frozen({IN_DOMAIN.parent: fields}), because)
    else:
        fields["nodes"] = tuple(entry.as_json(NODE_NAME) for entry in status.fabricless)
        yield StatusToWrite(domain.ref, domain.guard, frozen(fields), because)


def _findings(
    snapshot: ComputeDomainSnapshot, judged: tuple[JudgedDaemonEntry, ...], status: DesiredComputeDomainStatus
) -> Iterator[Finding]:
    yield Finding(snapshot.domain.ref, DOMAIN_STATUS, status.readiness.verdict, status.readiness.because)
    for clique, (_, decision) in zip(sorted(snapshot.cliques, key=lambda one: one.clique), status.cliques, strict=True):
        yield Finding(clique.ref, DOMAIN_STATUS, decision.verdict, decision.because)
    for found in judged:
        if found.decision is not None:
            question = f"entry of {found.entry.node}"
            yield Finding(found.registry.ref, question, found.decision.verdict.value, found.decision.because)
