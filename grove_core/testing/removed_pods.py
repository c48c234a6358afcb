"""What a decision does to pods, for invariants of a user's own."""

from collections.abc import Iterator
from datetime import datetime

from grove_core.kernel.steps import Delete
from grove_core.plan.plan import Plan
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.controllers import Deletions, deleted_objects
from grove_core.testing.invariants.required_verdicts import required_verdicts


def removed_pods(snapshot: Snapshot, decision: Plan | Deletions) -> Iterator[tuple[PodClique, Pod]]:
    """Yield the pods that a decision deletes, each with its PodClique: those named, and those of deleted PodCliques.

    Args:
        snapshot: what was decided on.
        decision: a plan, or what a controller deletes.

    Raises:
        ValueError: the set has no such object.
        TypeError: something is no object.

    Example:
        >>> from grove_core.testing import cluster_of
        >>> [pod.name for _, pod in removed_pods(cluster_of(b"").snapshot, ["llm-0-router"])]
        ['llm-0-router-0']
    """
    if isinstance(decision, str):
        raise TypeError(f"what is deleted is a list of names or objects; got {decision!r}")
    if isinstance(decision, Plan):
        gone = {step.target for step in decision.steps if isinstance(step.action, Delete)}
    else:
        gone = {one.ref for one in deleted_objects(snapshot, decision)}
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
    return frozenset(breached_since(snapshot))


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
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"a Snapshot is needed, as cluster.snapshot; got {type(snapshot).__name__}")
    required = required_verdicts(snapshot)
    return {one.ref.name: required.since[one.ref] for one in snapshot.cliques if required.is_breached(one.ref)}
