"""Which entries of a domain belong to existing pods, and which are stale.

An entry is removed only on evidence that is at least as new as the entry (DC-072).
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
    """Whether an entry stays, is removed, or cannot be judged yet."""

    KEEP = "Keep"
    REMOVE = "Remove"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class JudgedEntry:
    """An entry, its registry, and the decision about it; None if a pod with the entry's address exists."""

    registry: DaemonRegistry
    entry: DaemonEntry
    decision: Decision[EntryVerdict] | None

    @property
    def verdict(self) -> EntryVerdict:
        """The verdict of the decision."""
        return EntryVerdict.KEEP if self.decision is None else self.decision.verdict


def judge_entries(snapshot: DomainSnapshot) -> tuple[JudgedEntry, ...]:
    """Return a verdict on every entry of the domain and of its cliques (DC-070 to DC-076).

    Linear in entries and pods.
    """
    pods_on = defaultdict[str, list[DaemonPod]](list)
    for pod in snapshot.pods:
        pods_on[pod.node].append(pod)
    entries_on = defaultdict[str, list[tuple[DaemonRegistry, DaemonEntry]]](list)
    for registry, entry in _entries(snapshot):
        entries_on[entry.node].append((registry, entry))
    return tuple(
        JudgedEntry(registry, entry, _decision(snapshot, registry, entry, pods_on.get(entry.node, []), entries_on))
        for registry, entry in _entries(snapshot)
    )


def _entries(snapshot: DomainSnapshot) -> Iterator[tuple[DaemonRegistry, DaemonEntry]]:
    registries: tuple[DaemonRegistry, ...] = (snapshot.domain, *snapshot.cliques)
    for registry in registries:
        for entry in registry.entries:
            yield registry, entry


def _decision(
    snapshot: DomainSnapshot,
    registry: DaemonRegistry,
    entry: DaemonEntry,
    pods: list[DaemonPod],
    entries_on: Mapping[str, list[tuple[DaemonRegistry, DaemonEntry]]],
) -> Decision[EntryVerdict] | None:
    present = [pod for pod in pods if pod.clique is None or pod.clique == entry.clique]
    if any(pod.ip == entry.ip for pod in present):
        return None
    node, ref = entry.node, registry.ref
    addresses = {pod.ip for pod in present if pod.living and pod.ip}
    moved_to = next((other for other, twin in entries_on[node] if other.ref != ref and twin.ip in addresses), None)
    newest = max([version_number(registry), *([version_number(moved_to)] if moved_to is not None else [])])
    if present and moved_to is None:
        return Decision(EntryVerdict.KEEP, (Why.POD_ON_NODE.because(ref, pod=present[0].ref.name, node=node),))
    if snapshot.pods_version < newest:
        because = Why.PODS_NOT_AS_NEW.because(ref, pods=snapshot.pods_version, entries=newest)
        return Decision(EntryVerdict.UNKNOWN, (because,))
    if snapshot.unreadable_pods:
        return Decision(EntryVerdict.UNKNOWN, (Why.PODS_UNREAD.because(ref, pods=snapshot.unreadable_pods),))
    if moved_to is not None:
        return Decision(EntryVerdict.REMOVE, (Why.ENTRY_MOVED.because(ref, node=node, register=moved_to.ref.short),))
    return Decision(EntryVerdict.REMOVE, (Why.ENTRY_STALE.because(ref, clique=entry.clique or "none", node=node),))
