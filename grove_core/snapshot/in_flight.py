"""What was to be made or deleted a moment ago: what no listing shows yet although it is in use, and what failed."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.kernel.frozen import FrozenMap, thaw
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import FAILURES, Create, Delete, Make, Outcome
from grove_core.resources.pod import Pod, pod_of
from grove_core.resources.podclique import GROUP_KIND, PodClique, podclique_of
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_of
from grove_core.resources.topology_usage import CLIQUE_KIND
from grove_core.snapshot.snapshot import Snapshot

_PERHAPS_THERE: Final = frozenset({Outcome.DONE, Outcome.UNREACHABLE})


def cliques_in_flight(snapshot: Snapshot) -> Iterator[PodClique]:
    """PodCliques whose creation was accepted, or was not answered, and that the snapshot does not have (PL-018).

    They have no uid yet, so nothing can be done to them. Linear in the attempts.
    """
    there = {clique.ref for clique in (*snapshot.cliques, *snapshot.orphans)}
    for ref, manifest in creations(snapshot, {CLIQUE_KIND}, _PERHAPS_THERE):
        if ref not in there:
            yield podclique_of(thaw(manifest))


def created_parts(snapshot: Snapshot) -> Iterator[PodClique | ScalingGroup]:
    """PodCliques and scaling groups whose creation was accepted, and that the snapshot lacks (PL-018). Linear."""
    there = {part.ref for part in (*snapshot.cliques, *snapshot.groups)}
    for ref, manifest in creations(snapshot, {CLIQUE_KIND, GROUP_KIND}, {Outcome.DONE}):
        if ref not in there:
            yield podclique_of(thaw(manifest)) if ref.kind == CLIQUE_KIND else scaling_group_of(thaw(manifest))


def pods_in_flight(snapshot: Snapshot) -> Iterator[Pod]:
    """Pods whose creation was not answered, and that the snapshot does not have; those of accepted ones count as there.

    Linear in the attempts.
    """
    perhaps = tuple(creations(snapshot, {"Pod"}, {Outcome.UNREACHABLE}))
    there = {pod.ref for _, pod in snapshot.pods()} if perhaps else set()
    for ref, manifest in perhaps:
        if ref not in there:
            yield pod_of(thaw(manifest), {})


def creations(
    snapshot: Snapshot, kinds: AbstractSet[str], outcomes: AbstractSet[Outcome]
) -> Iterator[tuple[Ref, FrozenMap]]:
    """What was to be made lately of these kinds, with its manifest, and came out so."""
    for attempt in snapshot.attempts:
        action, ref = attempt.step.action, attempt.step.target
        if isinstance(action, Create) and ref.kind in kinds and attempt.outcome in outcomes:
            yield ref, action.manifest


def unfinished_deletions(snapshot: Snapshot) -> AbstractSet[tuple[Ref, str]]:
    """What could not be deleted lately, with its uid: in whatever version it is by now, nothing says that it can be."""
    return {
        (attempt.step.target, attempt.step.action.guard.uid)
        for attempt in snapshot.attempts
        if attempt.outcome in FAILURES and isinstance(attempt.step.action, Delete)
    }


def refusals(snapshot: Snapshot, action: type[Make]) -> Mapping[tuple[str, str], str]:
    """Kind and name of what a server would not have made in this way lately -> why; the last word counts."""
    return {
        (attempt.step.target.kind, attempt.step.target.name): attempt.detail or "no detail given"
        for attempt in snapshot.attempts
        if attempt.outcome is Outcome.REFUSED and isinstance(attempt.step.action, action)
    }
