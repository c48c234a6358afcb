"""Which pods of a replica are created now, and which of them with a gate (WL-071, WL-088).

A replica is looked at once: `ReplicaPods` has one `CliquePods` for each expected clique and one `GangPods` for each
expected gang. What several pods of a clique or gang need is computed once, when the first of them needs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from grove_core.areas.scheduling.verdicts import PODGANGS_ONLY, GangBackends
from grove_core.areas.workload.pods.pod_manifest import NewPod, new_pod_names
from grove_core.areas.workload.pods.pod_slots import FreePodSlot, free_pod_slots, has_all_wanted_pods
from grove_core.areas.workload.pods.scheduling_gates import GangStateForGates
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import StepObstacle
from grove_core.resources.api_names import COMPOSITE_KIND, GROUP_KIND, POD_GROUP_KIND
from grove_core.resources.naming_rules import composite_pod_group_names, set_replica_name
from grove_core.resources.owned_object import GROUP_KINDS
from grove_core.resources.pod import Pod, active_pods
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGang, ExpectedReplica


class CliquePods:
    """The pods of one expected clique.

    Attributes:
        expected: the clique as the template has it.
        clique: the PodClique; None where it does not exist.
        pods: its pods, those being deleted included.
    """

    def __init__(self, context: WorkloadContext, expected: ExpectedClique, *, is_closed: bool) -> None:
        """Look up the PodClique and its pods; ``is_closed`` says that no pod is created in this round."""
        self.expected = expected
        self.clique: PodClique | None = context.existing_clique(expected)
        self.pods: Sequence[Pod] = context.pods_of_clique(self.clique) if self.clique is not None else ()
        self.is_closed = is_closed
        self._context = context

    @cached_property
    def free_slots(self) -> Sequence[FreePodSlot]:
        """The indices at which a pod is missing."""
        expected = self.expected
        if self.clique is None or has_all_wanted_pods(self.pods, expected.replicas + expected.surge):
            return ()
        return tuple(free_pod_slots(self.pods, expected.replicas, expected.surge))

    @cached_property
    def missing_pods(self) -> Sequence[NewPod]:
        """One pod for each free slot, with a gate."""
        clique, slots = self.clique, self.free_slots
        if clique is None or not slots:
            return ()
        template_hash = self._context.hash_of_new_pods(clique, self.expected)
        names = new_pod_names(clique, self.expected, template_hash, slots, self.pods)
        return [NewPod(name, slot, template_hash, gated=True) for name, slot in zip(names, slots, strict=True)]

    @cached_property
    def initial_pod_names(self) -> AbstractSet[str]:
        """Names of the missing pods of a clique without pods: its gang refers to them before they exist (WL-023)."""
        if self.is_closed or self.pods or not self._context.has_all_objects_of_kinds("Pod", "PodGang"):
            return frozenset()
        return frozenset(pod.name for pod in self.missing_pods)

    @property
    def has_minimum_scheduled(self) -> bool:
        """Whether as many pods are scheduled as the clique needs at least."""
        return sum(pod.scheduled for pod in active_pods(self.pods)) >= self.expected.template.min_available

    @property
    def absent_group(self) -> str:
        """The first group of the Workload API that its pods need and that does not exist; empty for none (SC-028).

        A group that is being deleted exists as long as pods are in it.
        """
        expected, found = self.expected, self._context.pod_groups
        above = composite_pod_group_names(expected.gang, expected.group_replica_key, is_scaled=bool(expected.base_gang))
        needed = (*((COMPOSITE_KIND, name) for name in above), (POD_GROUP_KIND, expected.name))
        is_first = not active_pods(self.pods)
        absent = (key for key in needed if key not in found or (is_first and found[key].deleting))
        return next((f"{kind}/{name}" for kind, name in absent), "")

    @property
    def lacks_minimum_pods(self) -> bool:
        """Whether a pod is still to be created of those that the clique needs at least."""
        if self.is_closed or not self.free_slots:
            return False
        return len(active_pods(self.pods)) < self.expected.template.min_available


class GangPods:
    """The pods of one expected gang.

    Attributes:
        expected: the gang as the template has it.
        has_groups: whether groups of the Workload API place it, and no PodGang.
        gang: the PodGang; None where it does not exist.
    """

    def __init__(
        self, context: WorkloadContext, expected: ExpectedGang, cliques: Sequence[CliquePods], *, has_groups: bool
    ) -> None:
        self.expected = expected
        self.has_groups = has_groups
        self.gang = context.gangs.get(expected.name)
        self._cliques = cliques
        self._context = context

    @cached_property
    def referenced_pod_names(self) -> AbstractSet[str]:
        """Names of the pods that the PodGang refers to."""
        groups = self.gang.groups if self.gang is not None else ()
        return frozenset(pod for group in groups for pod in group.pods)

    @cached_property
    def wanted_pod_references(self) -> Mapping[str, Sequence[str]]:
        """Name of a clique -> the pods that the PodGang should refer to, sorted (WL-023).

        These are the pods with the gang's label that are not being deleted, and the first pods before they exist.
        """
        return {one.expected.name: sorted((*self._labelled(one.pods), *one.initial_pod_names)) for one in self._cliques}

    def _labelled(self, pods: Sequence[Pod]) -> Iterator[str]:
        return (pod.name for pod in pods if pod.gang == self.expected.name and not pod.deleting)

    @cached_property
    def pods_without_need_of_gate(self) -> AbstractSet[str]:
        """Names of pods that need no gate: the PodGang refers to them, and to enough pods of each clique (WL-088)."""
        if self.gang is None:
            return frozenset()
        is_complete_gang = all(
            len({*group.pods}.intersection(self.wanted_pod_references.get(group.name, ()))) >= group.min_replicas
            for group in self.gang.groups
        )
        return self.referenced_pod_names if is_complete_gang else frozenset()

    @cached_property
    def is_placed(self) -> bool:
        """Whether enough pods of each clique are scheduled (WL-094)."""
        context = self._context
        if self.has_groups:
            return all(one.has_minimum_scheduled for one in self._cliques)
        return self.gang is not None and not GangStateForGates(context.snapshot, self.gang, context.cliques).unplaced

    @cached_property
    def lacks_minimum_pods(self) -> bool:
        """Whether a pod that the gang needs in order to be placed is still to be created (WL-071)."""
        return any(one.lacks_minimum_pods for one in self._cliques)

    @property
    def has_all_cliques(self) -> bool:
        """Whether each of the cliques exists."""
        return all(one.clique is not None for one in self._cliques)

    @cached_property
    def foreign_gang(self) -> str:
        """The foreign PodGang that one of the cliques is in; empty where there is none (WL-207)."""
        return next(filter(None, (self._context.foreign_gang_of_clique(one.expected) for one in self._cliques)), "")

    @cached_property
    def uncreatable_member(self) -> str:
        """The clique or scaling group that a new PodGang needs and that cannot be created; empty for none (WL-074)."""
        context = self._context
        if (
            self.gang is not None
            or not context.uncreatable_objects
            or not context.has_all_objects_of_kinds("PodGang")
            or self.foreign_gang
        ):
            return ""
        needed = (
            (kind, name)
            for one in self._cliques
            if one.clique is None
            for kind, name in (("PodClique", one.expected.name), (GROUP_KIND, _group_name(one.expected)))
        )
        return next((f"{kind}/{name}" for kind, name in needed if (kind, name) in context.uncreatable_objects), "")


class ReplicaPods:
    """The pods of one replica of a set."""

    def __init__(
        self,
        context: WorkloadContext,
        replica: ExpectedReplica,
        closed: AbstractSet[str],
        backends: GangBackends = PODGANGS_ONLY,
    ) -> None:
        """Index one replica; ``closed`` names the cliques of which no pod is created in this round."""
        self._context = context
        self._cliques = {
            _key(expected): CliquePods(context, expected, is_closed=expected.name in closed)
            for expected in replica.all_cliques
        }
        self._gangs = {
            expected.name: GangPods(
                context,
                expected,
                [self._cliques[_key(one)] for one in expected.cliques],
                has_groups=backends.has_groups(expected.name),
            )
            for expected in replica.gangs
        }
        base = set_replica_name(context.root.ref.name, replica.index)
        self._base = self._gangs.get(base) or _without_cliques(context, base, replica.index)

    @property
    def gangs(self) -> Iterator[GangPods]:
        """All gangs: the base gang first."""
        yield from self._gangs.values()

    @property
    def cliques(self) -> Iterator[CliquePods]:
        """All cliques: the standalone ones first."""
        yield from self._cliques.values()

    def gang_of_clique(self, clique: CliquePods) -> GangPods:
        """Return the gang of a clique."""
        return self._gangs[clique.expected.gang]

    def first_pods_await_gang(self, clique: CliquePods) -> bool:
        """Return whether first pods of a clique are not created before its gang refers to them (WL-088)."""
        return bool(self._awaited(clique) - self.gang_of_clique(clique).referenced_pod_names)

    def _awaited(self, clique: CliquePods) -> AbstractSet[str]:
        """Names of pods that are created once their gang refers to them; none where the gang cannot be created."""
        gang = ("PodGang", clique.expected.gang)
        if self.gang_of_clique(clique).has_groups:
            return frozenset()
        return frozenset() if gang in self._context.uncreatable_objects else clique.initial_pod_names

    def obstacle_to_grouped_pods(self, clique: CliquePods) -> tuple[Reason, StepObstacle] | None:
        """Return why no pod of a clique in groups of the Workload API is created now; None where they are."""
        found, expected = clique.clique, clique.expected
        if found is None or not self.gang_of_clique(clique).has_groups:
            return None
        if not self._context.has_all_objects_of_kinds(*GROUP_KINDS):
            return WorkloadReason.POD_GROUPS_UNKNOWN.because(found.ref), StepObstacle.GROUPS_NOT_COLLECTED
        if absent := clique.absent_group:
            return WorkloadReason.POD_GROUP_ABSENT.because(found.ref, group=absent), StepObstacle.RULE
        if expected.base_gang and not self._base.is_placed:
            waits = WorkloadReason.BASE_GANG_NOT_PLACED.because(found.ref, gang=expected.base_gang)
            return waits, StepObstacle.RULE
        return None

    def pods_to_create(self, clique: CliquePods) -> Iterator[NewPod]:
        """Yield the pods of a clique that are created now."""
        is_scaled = bool(clique.expected.base_gang)
        if clique.is_closed or (is_scaled and self._base.lacks_minimum_pods):
            return
        if self.gang_of_clique(clique).has_groups:
            if self.obstacle_to_grouped_pods(clique) is None:
                group = clique.expected.name
                yield from (pod._replace(gated=False, group=group) for pod in clique.missing_pods)
            return
        gang, awaited = self.gang_of_clique(clique), self._awaited(clique)
        ungated = frozenset[str]() if is_scaled and not self._base.is_placed else gang.pods_without_need_of_gate
        for pod in clique.missing_pods:
            if pod.name in gang.referenced_pod_names or pod.name not in awaited:
                yield pod._replace(gated=pod.name not in ungated)


def _without_cliques(context: WorkloadContext, name: str, replica: int) -> GangPods:
    """Return a base gang that the template has no cliques for, while its PodGang may still exist."""
    return GangPods(context, ExpectedGang(name=name, replica=replica, cliques=()), (), has_groups=False)


def _key(expected: ExpectedClique) -> tuple[str, str]:
    """A standalone clique and a member of a scaling group may have one name (WL-022)."""
    return _group_name(expected), expected.name


def _group_name(expected: ExpectedClique) -> str:
    """The full name of its scaling group; empty for a standalone clique."""
    return "" if expected.group is None else expected.group.name
