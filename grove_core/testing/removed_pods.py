"""What a decision does to pods, for invariants of a user's own."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from datetime import datetime

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step, is_gang_termination_deletion
from grove_core.plan.plan import Plan
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.snapshot_argument import require_snapshot
from grove_core.testing.controller_under_test import Deletions, objects_named_by_deletions
from grove_core.testing.invariants.reference_verdicts import verdicts_required_by_specification


def removed_pods(
    snapshot: Snapshot, decision: Plan | Deletions, *, only_terminations: bool = False
) -> Iterator[tuple[PodClique, Pod]]:
    """Yield the pods that a decision deletes, each with its PodClique: those named, and those of deleted PodCliques.

    Args:
        snapshot: what was decided on.
        decision: a plan, or what a controller deletes.
        only_terminations: whether the deletions of a plan that terminate no gang are left out: those of scaling in, of
            updates, and of a set that is being deleted. What a controller returns as deletions is never left out.

    Raises:
        ValueError: the set has no such object.
        TypeError: ``snapshot`` is no snapshot, what is deleted no list, or something in it no object.

    Example:
        >>> from grove_core.testing import cluster_of
        >>> [pod.name for _, pod in removed_pods(cluster_of(b"").snapshot, ["llm-0-router"])]
        ['llm-0-router-0']
    """
    seen = require_snapshot(snapshot, "removed_pods")
    if isinstance(decision, Plan):
        is_one = is_gang_termination_deletion if only_terminations else _is_deletion
        return _pods_of(seen, {step.target for step in decision.steps if is_one(step)})
    return _pods_of(seen, {one.ref for one in objects_named_by_deletions(seen, decision)})


def _is_deletion(step: Step) -> bool:
    return isinstance(step.action, Delete)


def _pods_of(snapshot: Snapshot, gone: AbstractSet[Ref]) -> Iterator[tuple[PodClique, Pod]]:
    for clique, pod in snapshot.pods():
        if clique.ref in gone or pod.ref in gone:
            yield clique, pod


def breached_cliques(snapshot: Snapshot) -> frozenset[str]:
    """Return the names of the PodCliques whose MinAvailableBreached is True by the specification (GT-014).

    Args:
        snapshot: with all pods, PodCliques and scaling groups of the set; without them none is breached (GT-024).

    Raises:
        TypeError: it is no snapshot.

    Example:
        >>> from grove_core.testing import cluster_of, stormy
        >>> breached_cliques(stormy(cluster_of(b"")).snapshot)
        frozenset({'llm-0-router'})
    """
    return frozenset(breached_since(require_snapshot(snapshot, "breached_cliques")))


def breached_since(snapshot: Snapshot) -> dict[str, datetime]:
    """Return since when each breached PodClique has been breached, by its name (GT-014, GT-019); aware UTC.

    Args:
        snapshot: as above.

    Raises:
        TypeError: it is no snapshot.

    Example:
        >>> from grove_core.testing import cluster_of, stormy
        >>> for name, since in breached_since(stormy(cluster_of(b"")).snapshot).items():
        ...     print(name, since)
        llm-0-router 2026-11-20 08:50:00+00:00
    """
    required = verdicts_required_by_specification(require_snapshot(snapshot, "breached_since"))
    return {one.ref.name: required.since[one.ref] for one in snapshot.cliques if required.is_breached(one.ref)}
