"""The tree of one set: replicas, scaling groups, PodCliques and pods, each with its state (HP-005)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from grove_core.areas.gang_termination.forecast_terminations import findings_with_averted_replaced
from grove_core.forecast_explanation import ForecastExplanation
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import Finding, SubjectHealth
from grove_core.kernel.gang_terminations import GangTermination
from grove_core.kernel.questions import BREACH, TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import Forecast
from grove_core.plan.serving_parts import serving_parts
from grove_core.resources.pod import Pod, active_pods, ready_pod_count
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot, uncollected_part_kinds
from grove_shell.views.formatting import count_with_noun
from grove_shell.views.tree.created_parts import CreatedParts, created_parts
from grove_shell.views.tree.object_states import STATE_OF_URGENCY, ObjectState, most_urgent_state, state_of_pod
from grove_shell.views.tree.tree_nodes import PodRow, TreeNode, TreeNodeKind

_NOT_WELL = frozenset({SubjectHealth.LACKING, SubjectHealth.UNRECORDED})


def set_tree(snapshot: Snapshot, forecast: Forecast, story: ForecastExplanation) -> TreeNode:
    """Return the tree of a set with the state of every object, as the input and the plan have it."""
    return _TreeBuilder(snapshot, forecast, story).tree()


class _TreeBuilder:
    """Builds the tree of one set."""

    def __init__(self, snapshot: Snapshot, forecast: Forecast, story: ForecastExplanation) -> None:
        self._snapshot = snapshot
        self._root = forecast.root
        self._story = story
        self._uncollected = frozenset(uncollected_part_kinds(snapshot))
        self._undecided = ObjectState.UNKNOWN if self._uncollected else ObjectState.READY
        self._urgencies = {one.subject: STATE_OF_URGENCY[one.urgency] for one in reversed(story.entries)}  # most urgent
        self._untils = {entry.subject: entry.until for entry in story.entries if entry.until is not None}
        findings = findings_with_averted_replaced(
            forecast.findings, forecast.averted
        )  # as in the explanation of a forecast
        self._breaches = {one.subject: one for one in findings if one.question == BREACH}
        self._fates = {one.subject: one for one in findings if one.question == TERMINATION}
        self._deleted_now = frozenset(
            step.target for step in forecast.rounds[0].steps if isinstance(step.action, Delete)
        )
        self._ends = _first_terminations(forecast)
        self._created: CreatedParts = created_parts(snapshot, forecast)
        self._available_replicas = {one.part: one.serving for one in serving_parts(snapshot)}

    def tree(self) -> TreeNode:
        """Return the tree of the set."""
        cliques = defaultdict[int, list[PodClique]](list)
        groups = defaultdict[int, list[ScalingGroup]](list)
        for clique in (*self._snapshot.cliques, *self._created.cliques):
            cliques[clique.replica_index].append(clique)
        for group in (*self._snapshot.groups, *self._created.groups):
            groups[group.replica_index].append(group)
        judged = {ref.replica for ref in self._urgencies if ref.kind == self._root.kind and ref.replica is not None}
        indices = sorted({*cliques, *groups, *judged})
        replicas = tuple(self._replica(index, groups[index], cliques[index]) for index in indices)
        deleted = ObjectState.DELETED if self._snapshot.root.deleting else ObjectState.READY
        own = most_urgent_state((self._undecided, deleted))
        state = most_urgent_state((own, *(child.state for child in replicas)))
        share = f"{self._story.available:,} of {count_with_noun(self._story.replicas, 'replica')} available"
        counted = bool(self._story.replicas)
        return TreeNode(
            subject=self._root,
            level=TreeNodeKind.SET,
            name=self._root.name,
            state=state,
            counts=share if counted else "",
            present=self._story.available if counted else None,
            wanted=self._story.replicas if counted else None,
            children=replicas,
            state_is_from_below=state is not own,
        )

    def _replica(self, index: int, groups: Iterable[ScalingGroup], cliques: Iterable[PodClique]) -> TreeNode:
        ref = self._root.at_replica(index)
        members, standalone = defaultdict[str, list[PodClique]](list), []
        for clique in cliques:
            if clique.is_in_scaling_group:
                members[clique.owner_name].append(clique)
            else:
                standalone.append(clique)
        children = [self._clique(clique, (ref,)) for clique in standalone]
        children += [self._group(group, members.pop(group.ref.name, []), ref) for group in groups]
        children += [self._clique(clique, (ref,)) for left in members.values() for clique in left]
        return self._inner_node(TreeNodeKind.REPLICA, f"replica {index}", ref, tuple(children))

    def _group(self, group: ScalingGroup, members: Iterable[PodClique], within: Ref) -> TreeNode:
        by_replica = defaultdict[int, list[PodClique]](list)
        for clique in members:
            by_replica[clique.group_replica_index].append(clique)
        replicas = []
        for index in sorted(by_replica):
            ref = group.ref.at_replica(index)
            children = tuple(self._clique(clique, (ref, within)) for clique in by_replica[index])
            replicas.append(self._inner_node(TreeNodeKind.GROUP_REPLICA, f"replica {index}", ref, children))
        available = self._available_replicas.get(group.ref, 0)  # a group that the plan creates has none yet
        is_counted = self._uncollected.isdisjoint({"Pod", "PodClique"})
        kinds = "PodCliques" if "PodClique" in self._uncollected else "pods"
        counts = f"{available:,} of {group.replicas:,} replicas available, at least {group.min_available:,} needed"
        node = self._inner_node(TreeNodeKind.GROUP, group.ref.name, group.ref, tuple(replicas))
        return replace(
            node,
            counts=counts if is_counted else _wanted(group.replicas, "replica", kinds),
            present=available if is_counted else None,
            wanted=group.replicas,
            needed=group.min_available,
        )

    def _inner_node(self, level: TreeNodeKind, name: str, ref: Ref, children: tuple[TreeNode, ...]) -> TreeNode:
        breach = self._breaches.get(ref)
        own = self._urgencies.get(ref, self._undecided)
        if breach is not None and breach.verdict == ConditionStatus.TRUE.value:
            own = most_urgent_state((own, ObjectState.BREACHED))
        state = most_urgent_state((own, *(child.state for child in children)))
        if own in {ObjectState.ENDS, ObjectState.WAITS}:
            state = own  # what it waits for counts before what it waits because of
        return TreeNode(
            subject=ref,
            level=level,
            name=name,
            state=state,
            ends_at=self._untils.get(ref),
            because=self._reasons_of(ref),
            children=children,
            state_is_from_below=state is not own,
        )

    def _clique(self, clique: PodClique, within: tuple[Ref, ...]) -> TreeNode:
        pods = self._snapshot.pods_of.get(clique.uid, ())
        created = self._created.pods_of.get(clique.ref, ())
        breach = self._breaches.get(clique.ref)
        rows = (
            *(self._pod(pod) for pod in pods),
            *(PodRow(ref, ref.name, ObjectState.CREATED) for ref in created),
        )
        is_counted = "Pod" not in self._uncollected
        return TreeNode(
            subject=clique.ref,
            level=TreeNodeKind.CLIQUE,
            name=clique.ref.name,
            state=self._state_of_clique(clique, pods, breach),
            counts=self._counts(clique, pods),
            ends_at=self._end_of(clique.ref, within),
            present=ready_pod_count(pods) if is_counted else None,
            wanted=clique.replicas,
            needed=clique.min_available,
            because=breach.because if breach is not None and _is_unwell(breach) else (),
            pods=rows,
        )

    def _counts(self, clique: PodClique, pods: Iterable[Pod]) -> str:
        if "Pod" in self._uncollected:
            return _wanted(clique.replicas, "pod", "pods")
        ready = ready_pod_count(pods)
        return f"{ready:,} of {clique.replicas:,} pods ready, at least {clique.min_available:,} needed"

    def _state_of_clique(self, clique: PodClique, pods: Iterable[Pod], breach: Finding | None) -> ObjectState:
        if clique.ref in self._created.refs:
            return ObjectState.CREATED
        if clique.deleting:
            return ObjectState.DELETED
        if clique.ref in self._deleted_now:
            return ObjectState.ENDS
        if breach is not None and breach.verdict == ConditionStatus.TRUE.value:
            return ObjectState.BREACHED
        if "Pod" in self._uncollected:
            return ObjectState.UNKNOWN
        own = self._urgencies.get(clique.ref, ObjectState.READY)
        live = active_pods(pods)
        if len(live) < clique.replicas:
            own = most_urgent_state((own, ObjectState.STARTING))
        return most_urgent_state((own, *(state_of_pod(pod) for pod in live)))

    def _end_of(self, ref: Ref, within: Iterable[Ref]) -> datetime | None:
        """Return when a clique is terminated: with its replica's deadline, or in a round of the forecast."""
        deadlines = [self._untils[one] for one in within if self._urgencies.get(one) is ObjectState.WAITS]
        planned = self._ends.get(ref)
        return min((*deadlines, *([planned] if planned is not None else [])), default=None)

    def _reasons_of(self, ref: Ref) -> tuple[Reason, ...]:
        """Return why a replica is kept, and why a scaling group is breached; an entry has why one is terminated."""
        breach, fate = self._breaches.get(ref), self._fates.get(ref)
        found = () if breach is None or not _is_unwell(breach) else breach.because
        is_kept = fate is not None and self._urgencies.get(ref, ObjectState.READY) is ObjectState.READY
        return (*found, *(fate.because if fate is not None and is_kept else ()))

    def _pod(self, pod: Pod) -> PodRow:
        trouble = pod.trouble if not pod.ready else ""
        if pod.unplaced_because:
            trouble = f"{trouble}: {pod.unplaced_because}" if trouble else pod.unplaced_because
        return PodRow(pod.ref, pod.name, state_of_pod(pod), pod.node, trouble, pod.gpus)


def _is_unwell(finding: Finding) -> bool:
    return finding.verdict != ConditionStatus.FALSE.value or finding.health in _NOT_WELL


def _wanted(count: int, noun: str, uncollected: str) -> str:
    """Return how many parts a spec wants where the input does not show how many are ready."""
    return f"{count_with_noun(count, noun)} wanted; {uncollected} are not collected"


def _first_terminations(forecast: Forecast) -> Mapping[Ref, datetime]:
    """Return a PodClique -> the time of the first round that terminates it."""
    found: dict[Ref, datetime] = {}
    for round_ in forecast.rounds:
        for step in round_.steps:
            ended: tuple[GangTermination, ...] = step.action.terminates if isinstance(step.action, Delete) else ()
            if ended:
                found.setdefault(step.target, round_.at)
    return found
