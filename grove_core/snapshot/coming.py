"""PodCliques and pods that were made a moment ago: no listing shows them yet, and what they use is in use."""

from collections.abc import Iterator
from typing import Final

from grove_core.kernel.frozen import thaw
from grove_core.kernel.steps import Create, Outcome
from grove_core.resources.pod import Pod, pod_of
from grove_core.resources.podclique import PodClique, podclique_of
from grove_core.resources.topology_use import CLIQUE_KIND
from grove_core.snapshot.snapshot import Snapshot

_PERHAPS_THERE: Final = frozenset({Outcome.DONE, Outcome.UNREACHABLE})


def coming_cliques(snapshot: Snapshot) -> Iterator[PodClique]:
    """PodCliques whose creation was accepted, or was not answered, and that the snapshot does not have (PL-018).

    They have no uid yet, so nothing can be done to them. Linear in the attempts.
    """
    there = {clique.ref for clique in (*snapshot.cliques, *snapshot.orphans)}
    for attempt in snapshot.attempts:
        action = attempt.step.action
        if (
            isinstance(action, Create)
            and attempt.step.target.kind == CLIQUE_KIND
            and attempt.step.target not in there
            and attempt.outcome in _PERHAPS_THERE
        ):
            yield podclique_of(thaw(action.manifest))


def coming_pods(snapshot: Snapshot) -> Iterator[Pod]:
    """Pods whose creation was not answered, and that the snapshot does not have; those of accepted ones count as there.

    Linear in the attempts.
    """
    perhaps = [
        attempt.step.action.manifest
        for attempt in snapshot.attempts
        if attempt.outcome is Outcome.UNREACHABLE
        and isinstance(attempt.step.action, Create)
        and attempt.step.target.kind == "Pod"
    ]
    there = {pod.ref for _, pod in snapshot.pods()} if perhaps else set()
    for manifest in perhaps:
        pod = pod_of(thaw(manifest), {})
        if pod.ref not in there:
            yield pod
