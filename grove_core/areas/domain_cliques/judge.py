"""Judges which entries of a ComputeDomain and of its cliques are stale."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.areas.domain_cliques.verdicts import DaemonEntryVerdict, JudgedDaemonEntry
from grove_core.kernel.decisions import Decision
from grove_core.resources.compute_domain import DaemonEntry, DaemonPod
from grove_core.resources.daemon_entry_lists import DaemonRegistry, registry_version_number


def judge_daemon_entries(snapshot: ComputeDomainSnapshot) -> tuple[JudgedDaemonEntry, ...]:
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
        JudgedDaemonEntry(
            registry, entry, _decision(snapshot, registry, entry, pods_on.get(entry.node, []), entries_on)
        )
        for registry, entry in _entries(snapshot)
    )


def _entries(snapshot: ComputeDomainSnapshot) -> Iterator[tuple[DaemonRegistry, DaemonEntry]]:
    registries: tuple[DaemonRegistry, ...] = (snapshot.domain, *snapshot.cliques)
    for registry in registries:
        for entry in registry.daemon_entries:
            yield registry, entry


def _decision(
    snapshot: ComputeDomainSnapshot,
    registry: DaemonRegistry,
    entry: DaemonEntry,
    pods: list[DaemonPod],
    entries_on: Mapping[str, list[tuple[DaemonRegistry, DaemonEntry]]],
) -> Decision[DaemonEntryVerdict] | None:
    present = [pod for pod in pods if pod.clique is None or pod.clique == entry.clique]
    if any(pod.ip == entry.ip for pod in present):
        return None
    node, ref = entry.node, registry.ref
    addresses = {pod.ip for pod in present if pod.living and pod.ip}
    moved_to = next((other for other, twin in entries_on[node] if other.ref != ref and twin.ip in addresses), None)
    newest = max(
        [registry_version_number(registry), *([registry_version_number(moved_to)] if moved_to is not None else [])]
    )
    if present and moved_to is None:
        return Decision(
            DaemonEntryVerdict.KEEP,
            (ComputeDomainReason.POD_ON_NODE.because(ref, pod=present[0].ref.name, node=node),),
        )
    if snapshot.pods_version < newest:
        because = ComputeDomainReason.PODS_NOT_AS_NEW.because(ref, pods=snapshot.pods_version, entries=newest)
        return Decision(DaemonEntryVerdict.UNKNOWN, (because,))
    if snapshot.unreadable_pods:
        return Decision(
            DaemonEntryVerdict.UNKNOWN, (ComputeDomainReason.PODS_UNREAD.because(ref, pods=snapshot.unreadable_pods),)
        )
    if moved_to is not None:
        return Decision(
            DaemonEntryVerdict.REMOVE,
            (ComputeDomainReason.ENTRY_MOVED.because(ref, node=node, register=moved_to.ref.short),),
        )
    return Decision(
        DaemonEntryVerdict.REMOVE,
        (ComputeDomainReason.ENTRY_STALE.because(ref, clique=entry.clique or "none", node=node),),
    )
