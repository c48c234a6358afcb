"""Events as changes of a cluster in memory: users, nodes, pods, and the part of the operator that creates pods."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeVar, assert_never

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.events import Event, EventKind
from grove_core.testing.missing_part_creation import MissingPartCreator
from grove_core.testing.random_cluster import RandomCluster

T = TypeVar("T")
_NODES: Final = 3
_MOST_SCALED: Final = 5
_AFTER_DELAY: Final = 128
_NO_DELAY: Final = timedelta(minutes=5)


class ChangingCluster(MissingPartCreator):
    """A cluster in an API server in memory. Mutable.

    PodCliques, scaling groups and pods that the set wants and that are missing are created by :meth:`create_missing`,
    as the workload part of an operator does it, so that a controller under test needs to terminate gangs only.

    Attributes:
        server: the API server.
        now: its time; aware UTC.
    """

    def __init__(self, start: RandomCluster) -> None:
        """Take over the objects of a cluster; its pods are spread over three nodes."""
        super().__init__(start)
        self.now = start.now
        for pods in self.server.pods.values():
            pods[:] = [
                replace(pod, node=f"node-{place % _NODES}" if pod.node else "") for place, pod in enumerate(pods)
            ]

    @property
    def groups(self) -> list[ScalingGroup]:
        """The scaling groups that are not being deleted, by name."""
        found = (item for item in self.server.items.values() if isinstance(item, ScalingGroup) and not item.deleting)
        return sorted(found, key=lambda item: item.ref.sort_key)

    @property
    def _parts(self) -> list[PodClique | ScalingGroup]:
        return [*self.cliques, *self.groups]

    def snapshot(self) -> Snapshot | None:
        """Return what a controller sees now; None once the set is gone."""
        seen = self.server.snapshot_of_set(self.root_ref, self.now)
        own = {clique.uid for clique in seen.cliques} if seen else set()
        return seen and replace(seen, pods_of=FrozenDict((uid, of) for uid, of in seen.pods_of.items() if uid in own))

    def happen(self, event: Event) -> str:
        """Let an event happen; return what it was about, empty where it is no change of the cluster.

        Events of writes happen while a plan is executed. From 128 on, ``which`` lets the longest delay pass before.
        """
        match event.kind:
            case EventKind.TIME_PASSES | EventKind.DELAY_PASSES:
                is_short = event.kind is EventKind.TIME_PASSES
                passed = timedelta(seconds=event.amount) if is_short else self.longest_delay
                self.now += passed
                return str(passed)
            case EventKind.POD_FAILS | EventKind.PODS_FAIL | EventKind.PODS_BECOME_READY:
                return self._change_pods(event)
            case EventKind.ALL_PODS_BECOME_READY:
                self._change_readiness(self.cliques, ready=True)
            case EventKind.NODE_GOES:
                return self._lose_node(f"node-{event.which % _NODES}")
            case EventKind.UPDATE_BEGINS:
                return self._begin_update(event)
            case EventKind.UPDATE_ENDS:
                self._end_updates()
            case EventKind.CLIQUE_SCALED | EventKind.GROUP_SCALED | EventKind.SET_SCALED:
                return self._scale(event)
            case (
                EventKind.OPERATOR_CRASHES
                | EventKind.WRITE_REFUSED
                | EventKind.WRITES_FAIL
                | EventKind.RESPONSES_LOST
                | EventKind.FRESH_READ_FAILS
            ):
                if event.which >= _AFTER_DELAY:
                    self.now += self.longest_delay
                    return "after the longest termination delay"
            case _:
                assert_never(event.kind)
        return ""

    @property
    def longest_delay(self) -> timedelta:
        """The longest termination delay of the set and its groups."""
        template = self.root.spec.template if self.root else None
        delays = [one.termination_delay for one in template.pod_clique_scaling_groups] if template else []
        return max((one for one in (*delays, template and template.termination_delay) if one), default=_NO_DELAY)

    def _change_pods(self, event: Event) -> str:
        cliques = _picked(self.cliques, event.which)
        if event.kind is EventKind.POD_FAILS:
            pods = [pod for clique in cliques for pod in _picked(self.server.pods.get(clique.uid, []), event.amount)]
            for pod in pods:
                self.server.put_pod(replace(pod, ready=False))
            return ", ".join(pod.name for pod in pods)
        self._change_readiness(cliques, ready=event.kind is EventKind.PODS_BECOME_READY)
        return ", ".join(clique.ref.name for clique in cliques)

    def _change_readiness(self, cliques: Sequence[PodClique], *, ready: bool) -> None:
        for clique in cliques:
            for pod in tuple(self.server.pods.get(clique.uid, ())):
                up = replace(pod, ready=True, scheduled=True, gated=False, phase="Running", node=pod.node or "node-0")
                self.server.put_pod(up if ready else replace(pod, ready=False))

    def _lose_node(self, node: str) -> str:
        lost = [pod for pods in self.server.pods.values() for pod in pods if pod.node == node]
        for pod in lost:
            self.server.end_pod_containers(pod.ref)
        return f"{node} with {len(lost)} pods"

    def _begin_update(self, event: Event) -> str:
        picked = _picked(self._parts, event.which)
        for one in picked:
            self._put_updating(one, updating=True)
        return ", ".join(one.ref.short for one in picked)

    def _end_updates(self) -> None:
        for one in self._parts:
            self._put_updating(one, updating=False)

    def _put_updating(self, one: PodClique | ScalingGroup, *, updating: bool) -> None:
        if isinstance(one, PodClique) and one.status.updating is not updating:
            self.server.put_object(replace(one, status=replace(one.status, updating=updating, recorded=True)))
        if isinstance(one, ScalingGroup) and one.status.updating is not updating:
            self.server.put_object(replace(one, status=replace(one.status, updating=updating)))

    def _scale(self, event: Event) -> str:
        if event.kind is EventKind.SET_SCALED and self.root is not None:
            replicas = event.amount % _MOST_SCALED
            spec = self.root.spec.model_copy(update={"replicas": replicas})
            self.server.put_object(replace(self.root, spec=spec))
            return f"to {replicas} replicas"
        kind = PodClique if event.kind is EventKind.CLIQUE_SCALED else ScalingGroup
        picked = _picked([one for one in self._parts if isinstance(one, kind)], event.which)
        for one in picked:
            self.server.put_object(replace(one, replicas=event.amount % _MOST_SCALED))
        return ", ".join(f"{one.ref.name} to {event.amount % _MOST_SCALED} replicas" for one in picked)


def _picked(found: Sequence[T], which: int) -> Sequence[T]:
    """Return one of some objects by a number; nothing where there are none."""
    return (found[which % len(found)],) if found else ()
