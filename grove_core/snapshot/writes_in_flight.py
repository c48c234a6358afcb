"""Creations and deletions in flight: recent attempts that a list does not show yet, and those that failed."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.kernel.frozen import FrozenMap, thaw
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import FAILURES, AttemptOutcome, Create, Delete, Make
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.podclique import GROUP_KIND, PodClique, podclique_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_core.resources.topology_usage import CLIQUE_KIND
from grove_core.snapshot.snapshot import Snapshot

_MAY_EXIST: Final = frozenset({AttemptOutcome.DONE, AttemptOutcome.UNREACHABLE})


def possibly_created_cliques(snapshot: Snapshot) -> Iterator[PodClique]:
    """Yield PodCliques whose creation was accepted or got no response, and that the snapshot lacks (PL-018).

    They have no uid yet, so no step can target them. Linear in the attempts.
    """
    there = {clique.ref for clique in (*snapshot.cliques, *snapshot.orphans)}
    for ref, manifest in attempted_creations(snapshot, {CLIQUE_KIND}, _MAY_EXIST):
        if ref not in there:
            yield podclique_from_json(thaw(manifest))


def created_parts_not_listed(snapshot: Snapshot) -> Iterator[PodClique | ScalingGroup]:
    """Yield PodCliques and scaling groups whose creation was accepted and that the snapshot lacks (PL-018). Linear."""
    there = {part.ref for part in (*snapshot.cliques, *snapshot.groups)}
    for ref, manifest in attempted_creations(snapshot, {CLIQUE_KIND, GROUP_KIND}, {AttemptOutcome.DONE}):
        if ref not in there:
            yield (
                podclique_from_json(thaw(manifest))
                if ref.kind == CLIQUE_KIND
                else scaling_group_from_json(thaw(manifest))
            )


def possibly_created_pods(snapshot: Snapshot) -> Iterator[Pod]:
    """Yield pods whose creation got no response and that the snapshot lacks. Linear in the attempts.

    Pods whose creation was accepted are in the snapshot already (:func:`grove_core.snapshot.own_writes`).
    """
    perhaps = tuple(attempted_creations(snapshot, {"Pod"}, {AttemptOutcome.UNREACHABLE}))
    there = {pod.ref for _, pod in snapshot.pods()} if perhaps else set()
    for ref, manifest in perhaps:
        if ref not in there:
            yield pod_from_json(thaw(manifest), {})


def attempted_creations(
    snapshot: Snapshot, kinds: AbstractSet[str], outcomes: AbstractSet[AttemptOutcome]
) -> Iterator[tuple[Ref, FrozenMap]]:
    """Yield the address and manifest of each attempted creation with one of these kinds and outcomes."""
    for attempt in snapshot.attempts:
        action, ref = attempt.step.action, attempt.step.target
        if isinstance(action, Create) and ref.kind in kinds and attempt.outcome in outcomes:
            yield ref, action.manifest


def failed_deletion_targets(snapshot: Snapshot) -> AbstractSet[tuple[Ref, str]]:
    """Return address and uid of each object whose deletion failed, whatever its resource version is by now."""
    return {
        (attempt.step.target, attempt.step.action.guard.uid)
        for attempt in snapshot.attempts
        if attempt.outcome in FAILURES and isinstance(attempt.step.action, Delete)
    }


def refused_creations(snapshot: Snapshot, action: type[Make]) -> Mapping[tuple[str, str], str]:
    """Return the details of refused creations by kind and name; the last refusal counts."""
    return {
        (attempt.step.target.kind, attempt.step.target.name): attempt.detail or "no detail given"
        for attempt in snapshot.attempts
        if attempt.outcome is AttemptOutcome.REFUSED and isinstance(attempt.step.action, action)
    }
