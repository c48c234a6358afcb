"""Which entries of a domain are those of daemons that are there, and which are left over.

Rule for this file: an entry is taken away only on evidence that is at least as new as the entry (DC-072).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, unique

from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.state_updates import version_number
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry
from grove_core.kernel.decisions import Decision
from grove_core.resources.daemon_entry import DaemonEntry
from grove_core.resources.daemon_pod import DaemonPod


@unique
class EntryVerdict(Enum):
    """What becomes of an entry: it stays, it goes, or nothing can be said yet."""

    KEEP = "Keep"
    REMOVE = "Remove"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class JudgedEntry:
    """One entry, where it stands, and what becomes of it; ``decision`` is None for that of a pod that is there."""

    registry: DaemonRegistry
    entry: DaemonEntry
    decision: Decision[EntryVerdict] | None

    @property
    def fate(self) -> EntryVerdict:
        """What becomes of it."""
        return EntryVerdict.KEEP if self.decision is None else self.decision.verdict


def judge_entries(moment: DomainSnapshot) -> tuple[JudgedEntry, ...]:
    """Every entry of the domain and of its cliques (DC-070 to DC-076). Linear in entries and pods."""
    pods_on = defaultdict[str, list[DaemonPod]](list)
    for pod in moment.pods:
        pods_on[pod.node].append(pod)
    homes = defaultdict[str, list[tuple[DaemonRegistry, DaemonEntry]]](list)
    for registry, entry in _entries(moment):
        homes[entry.node].append((registry, entry))
    return tuple(
        JudgedEntry(registry, entry, _judged(moment, registry, entry, pods_on.get(entry.node, []), homes))
        for registry, entry in _entries(moment)
    )


def _entries(moment: DomainSnapshot) -> Iterator[tuple[DaemonRegistry, DaemonEntry]]:
    registries: tuple[DaemonRegistry, ...] = (moment.domain, *moment.cliques)
    for registry in registries:
        for entry in registry.entries:
            yield registry, entry


def _judged(
    moment: DomainSnapshot,
    registry: DaemonRegistry,
    entry: DaemonEntry,
    pods: list[DaemonPod],
    homes: Mapping[str, list[tuple[DaemonRegistry, DaemonEntry]]],
) -> Decision[EntryVerdict] | None:
    present = [pod for pod in pods if pod.clique is None or pod.clique == entry.clique]
    if any(pod.ip == entry.ip for pod in present):
        return None
    where, ref = entry.node, registry.ref
    addresses = {pod.ip for pod in present if pod.living and pod.ip}
    moved = next((other for other, twin in homes[where] if other.ref != ref and twin.ip in addresses), None)
    seen = max([version_number(registry), *([version_number(moved)] if moved is not None else [])])
    if present and moved is None:
        return Decision(EntryVerdict.KEEP, (Why.POD_ON_NODE.because(ref, pod=present[0].ref.name, node=where),))
    if moment.pods_version < seen:
        return Decision(
            EntryVerdict.UNKNOWN, (Why.PODS_NOT_AS_NEW.because(ref, pods=moment.pods_version, entries=seen),)
        )
    if moment.unreadable_pods:
        return Decision(EntryVerdict.UNKNOWN, (Why.PODS_UNREAD.because(ref, pods=moment.unreadable_pods),))
    if moved is not None:
        return Decision(EntryVerdict.REMOVE, (Why.ENTRY_MOVED.because(ref, node=where, register=moved.ref.short),))
    return Decision(EntryVerdict.REMOVE, (Why.ENTRY_STALE.because(ref, clique=entry.clique or "none", node=where),))
