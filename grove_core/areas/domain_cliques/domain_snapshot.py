"""The input of the controller of one ComputeDomain: the domain, its cliques and the pods of its daemons."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum, unique
from types import MappingProxyType
from typing import Final

from grove_core.areas.domain_cliques.registration_state_updates import registry_version_number
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry
from grove_core.kernel.decisions import Decision
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import DOMAIN_CLIQUE_KIND
from grove_core.resources.compute_domain import ComputeDomain, ComputeDomainClique, DaemonEntry, DaemonPod
from grove_core.resources.naming_rules import name_list_text

_NONE: Final[Mapping[Ref, str]] = MappingProxyType({})


class ComputeDomainSnapshot(Struct, frozen=True, kw_only=True):
    """A domain, its cliques, and the pods of its daemons at one time.

    Attributes:
        cliques: those whose label contains the uid of the domain, sorted by name (DC-082).
        pods: those whose label contains it, including terminated and terminating pods until they are deleted.
        pods_version: of the list or event that the pods are known from; all pods are at least as new.
        unreadable_pods, unreadable_cliques: objects that belong, or may belong, to the domain and cannot be parsed, as
            a sentence lists them; empty if there are none (DC-076, DC-089).
        attempts: always empty, since no earlier write matters to a decision.
    """

    domain: ComputeDomain
    cliques: tuple[ComputeDomainClique, ...] = ()
    pods: tuple[DaemonPod, ...] = ()
    pods_version: int = 0
    unreadable_pods: str = ""
    unreadable_cliques: str = ""
    attempts: tuple[Attempt, ...] = ()
    now: datetime

    @property
    def root_ref(self) -> Ref:
        """The domain."""
        return self.domain.ref

    @property
    def root_uid(self) -> str:
        """The uid of the domain."""
        return self.domain.uid


def compute_domain_snapshot_of(
    domain: ComputeDomain,
    cliques: Iterable[ComputeDomainClique],
    pods: Iterable[DaemonPod],
    *,
    pods_version: int,
    unreadable: Mapping[Ref, str] = _NONE,
    now: datetime,
) -> ComputeDomainSnapshot:
    """Select the cliques and pods of one domain.

    Args:
        unreadable: pods and cliques that cannot be parsed -> the domain uid of their label; empty without a label.
    """
    possible = [ref for ref, uid in unreadable.items() if uid in {"", domain.uid}]
    return ComputeDomainSnapshot(
        domain=domain,
        cliques=tuple(
            sorted((one for one in cliques if one.domain_uid == domain.uid), key=lambda one: one.ref.sort_key)
        ),
        pods=tuple(sorted((pod for pod in pods if pod.domain_uid == domain.uid), key=lambda pod: pod.ref.sort_key)),
        pods_version=pods_version,
        unreadable_pods=_listed("Pod", possible),
        unreadable_cliques=_listed(DOMAIN_CLIQUE_KIND, possible),
        now=now,
    )


def _listed(kind: str, refs: Iterable[Ref]) -> str:
    names = [f"{ref.namespace}/{ref.name}" for ref in refs if ref.kind == kind]
    return name_list_text(names) if names else ""


@unique
class DaemonEntryVerdict(Enum):
    """Whether an entry stays, is removed, or cannot be judged yet."""

    KEEP = "Keep"
    REMOVE = "Remove"
    UNKNOWN = "Unknown"


class JudgedDaemonEntry(Struct, frozen=True):
    """An entry, its registry, and the decision about it; None if a pod with the entry's address exists."""

    registry: DaemonRegistry
    entry: DaemonEntry
    decision: Decision[DaemonEntryVerdict] | None

    @property
    def verdict(self) -> DaemonEntryVerdict:
        """The verdict of the decision."""
        return DaemonEntryVerdict.KEEP if self.decision is None else self.decision.verdict


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
