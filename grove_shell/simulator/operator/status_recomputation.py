"""When the simulated Go operator computes the status of a PodClique anew: not when its pods are scheduled (GF-084)."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang, PodGroup
from grove_core.snapshot.snapshot import Snapshot

Decide: TypeAlias = Callable[[Snapshot], Plan]


class _LastComputation(NamedTuple):
    """A PodClique as its status was computed last.

    Attributes:
        cause: what else than its pods leads to a computation.
        pods: uid -> pod.
    """

    cause: tuple[object, ...]
    pods: dict[str, Pod]


class StatusRecomputation:
    """Makes the plans of one operator process on pods as it knew them when it last computed their PodClique's status.

    A status is computed when a pod starts, becomes ready or unready, crashes, is being deleted or is gone, when its
    PodGang or PodClique changes, and while pods wait for their gate. That a pod was scheduled is seen only then.
    Mutable.
    """

    def __init__(self, decide: Decide) -> None:
        """Start as a process that has computed no status."""
        self._decide = decide
        self._last: dict[str, _LastComputation] = {}

    def forget(self) -> None:
        """Forget everything: a new process computes every status at its start."""
        self._last.clear()

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return the plan of a snapshot, with pods as they were known at the last computation."""
        groups = _groups_by_clique(snapshot.gangs)
        known = dict(snapshot.pods_of)
        for clique in snapshot.cliques:
            pods = snapshot.pods_of.get(clique.uid, ())
            known[clique.uid] = self._pods_as_known(clique, groups.get(clique.ref.name), pods)
        return self._decide(replace(snapshot, pods_of=FrozenDict(known)))

    def _pods_as_known(self, clique: PodClique, group: PodGroup | None, pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
        cause = (group, clique.generation, clique.deleting, clique.status.updating)
        last = self._last.get(clique.uid)
        if last is None or last.cause != cause or _is_computed_after(last.pods, pods):
            self._last[clique.uid] = _LastComputation(cause, {pod.uid: pod for pod in pods})
            return pods
        return tuple(_as_known(pod, last.pods.get(pod.uid)) for pod in pods)


def _groups_by_clique(gangs: Iterable[PodGang]) -> dict[str, PodGroup]:
    return {group.name: group for gang in gangs for group in gang.groups}


def _is_computed_after(before: dict[str, Pod], pods: tuple[Pod, ...]) -> bool:
    """Return whether the change of the pods leads to a computation."""
    if any(pod.has_grove_gate for pod in pods) or not before.keys() <= {pod.uid for pod in pods}:
        return True
    return any(_health(pod) != _health(before.get(pod.uid)) for pod in pods)


def _health(pod: Pod | None) -> tuple[bool, bool, bool, bool]:
    """Return what leads to a computation if it changes; a pod that was not there before counts as just created."""
    return (False, False, False, False) if pod is None else (pod.ready, pod.unready, pod.crashed, pod.deleting)


def _as_known(pod: Pod, before: Pod | None) -> Pod:
    """Return a pod with the scheduling that the operator knows of; a new pod is not scheduled yet."""
    scheduled, gated = (before.scheduled, before.gated) if before is not None else (False, pod.gated)
    return pod if pod.scheduled == scheduled else replace(pod, scheduled=scheduled, gated=gated)
