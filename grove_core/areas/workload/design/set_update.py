"""The update of a set: one replica at a time, each of its cliques and groups by its own rules (WL-043 to WL-224)."""

from collections.abc import Sequence
from typing import Final

from grove_core.areas.gang_termination.verdicts import ReplicasToTerminate
from grove_core.areas.workload.design.clique_update import (
    RolloutStep,
    clique_rollout_step,
    surge_pod_replaces_unready_pod,
)
from grove_core.areas.workload.design.scaling_group_update import (
    GroupReplicaUpdateState,
    group_rollout_step,
    wanted_group_replicas,
)
from grove_core.areas.workload.objects.podcliques_and_groups import podclique_template_update_fields
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenDict, FrozenMap, list_at
from grove_core.kernel.structs import Struct, replace
from grove_core.kernel.wants import DesiredChanges, FieldsToApply, ObjectToDelete, StepObstacle, Want, Withheld
from grove_core.resources.api_names import UPDATE_ENDED
from grove_core.resources.naming_rules import member_clique_name
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import is_marked_breached
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedReplica
from grove_core.snapshot.own_writes import failed_deletion_targets

_NO_WANTS: Final = DesiredChanges()


class ReplicaUpdateState(Struct, frozen=True):
    """The state of one replica of the set during an update.

    Attributes:
        outdated: whether anything of it is not of the present template.
        available: whether all of it exists and is available.
        placed: the number of its scheduled pods.
        breached: whether a part of it is breached.
        rolling: whether the status of a part shows an update, or a clique has lost its template hash.
        groups: name of an existing scaling group -> its replicas.
    """

    part: ExpectedReplica
    outdated: bool
    available: bool
    placed: int
    breached: bool
    rolling: bool
    groups: FrozenDict[str, tuple[GroupReplicaUpdateState, ...]]


class SetRolloutStep(Struct, frozen=True, kw_only=True):
    """One round of the update of a set, and what statuses show of it.

    Attributes:
        generation: hash of the template that is being reached.
        runs: whether anything is left to do.
        current: index of the replica that is being updated, or that is updated next; None if there is none.
        cliques, groups: by name, for those of the current replica.
        surge: names of the cliques and groups with a surge pod or replica.
        updated: names of the cliques that hold the present template.
    """

    generation: str
    states: tuple[ReplicaUpdateState, ...]
    updated: frozenset[str]
    runs: bool = False
    current: int | None = None
    cliques: FrozenDict[str, RolloutStep] = FrozenDict()
    groups: FrozenDict[str, RolloutStep] = FrozenDict()
    surge: frozenset[str] = frozenset()
    desired: DesiredChanges = _NO_WANTS

    @property
    def cliques_taking_new_template(self) -> frozenset[str]:
        """Names of the cliques that take over the present template in this round (WL-086)."""
        return frozenset(want.target.name for want in self.desired.wants if isinstance(want, FieldsToApply))


def judge_rollout(
    context: WorkloadContext, replicas: Sequence[ExpectedReplica], ending: ReplicasToTerminate
) -> SetRolloutStep:
    """Judge the update of a set, all pods of which are known, without surge so far (WL-043 to WL-224)."""
    states = tuple(_state_of(context, part) for part in replicas)
    outdated = [state for state in states if state.outdated]
    parts = [part for replica in replicas for part in replica.all_cliques]
    existing = [(part, clique) for part in parts if (clique := context.existing_clique(part)) is not None]
    updated = frozenset(part.name for part, clique in existing if context.revision.is_clique_current(clique, part))
    generation = context.revision.generation_hash(is_reached=updated.issuperset(part.name for part, _ in existing))
    idle = SetRolloutStep(generation=generation, states=states, updated=updated)
    if context.root.spec.update_strategy.type == ON_DELETE:
        wants = [want for part in parts for want in _template_write(context, part, updated)]
        return replace(_with_stand_ins(context, idle), desired=DesiredChanges(tuple(wants)))
    current = _current(context, states)
    if current is None:
        return replace(idle, runs=bool(outdated), current=_next_of(outdated))
    rollout = _update_round(context, idle, current)
    return _without_deletions(rollout) if current.part.index in ending.replicas else rollout


def _update_round(context: WorkloadContext, idle: SetRolloutStep, current: ReplicaUpdateState) -> SetRolloutStep:
    """Return one round of the update of the current replica."""
    undeletable = failed_deletion_targets(context.snapshot)
    wants: list[Want] = []
    withheld: list[Withheld] = []
    cliques: dict[str, RolloutStep] = {}
    groups: dict[str, RolloutStep] = {}
    for part in current.part.cliques:
        clique = context.existing_clique(part)
        if clique is not None and part.name in idle.updated:
            cliques[part.name] = clique_rollout_step(clique, context.pods_of_clique(clique))
        wants += _template_write(context, part, idle.updated)
    for group_part in current.part.groups:
        group = context.groups.get(group_part.name)
        if group is not None:
            found = current.groups[group_part.name]
            extra = _replica_beyond(context, group, found)
            groups[group_part.name] = group_rollout_step(group, found, extra, idle.generation, undeletable)
    for roll in (*cliques.values(), *groups.values()):
        wants += roll.absents
        withheld += roll.held
    others = [state for state in idle.states if state.outdated and state is not current]
    if others and not wants and not withheld:
        ref = context.root.ref.at_replica(current.part.index)
        because = WorkloadReason.ROLLOUT_WAITS.because(ref, left=len(others))
        withheld.append(Withheld(ref, (because,), obstacle=StepObstacle.UPDATE))
    return replace(
        idle,
        runs=True,
        current=current.part.index,
        cliques=FrozenDict(cliques),
        groups=FrozenDict(groups),
        surge=frozenset(name for name, roll in (*cliques.items(), *groups.items()) if roll.surge),
        desired=DesiredChanges(tuple(wants), tuple(withheld)),
    )


def _without_deletions(rollout: SetRolloutStep) -> SetRolloutStep:
    wants = tuple(want for want in rollout.desired.wants if not isinstance(want, ObjectToDelete))
    return replace(rollout, desired=replace(rollout.desired, wants=wants))


def _replica_beyond(
    context: WorkloadContext, group: ScalingGroup, wanted: Sequence[GroupReplicaUpdateState]
) -> GroupReplicaUpdateState | None:
    """Return the replica right after those that a group wants, if any of its cliques exists."""
    index = group.replicas
    names = {member_clique_name(group.ref.name, index, short) for short in group.clique_names}
    existing = (context.cliques.get(name) for name in sorted(names))
    found = [clique for clique in existing if clique is not None and clique.owner_uid == group.uid]
    if not found:
        return None
    complete = len(found) == len(names)
    serves = complete and all(context.ready[clique.uid] >= clique.needed_ready_pods for clique in found)
    return GroupReplicaUpdateState(index, tuple(found), old=(), available=serves and len(wanted) == index)


def _state_of(context: WorkloadContext, part: ExpectedReplica) -> ReplicaUpdateState:
    outdated = breached = rolling = False
    available, placed = True, 0
    groups: dict[str, tuple[GroupReplicaUpdateState, ...]] = {}
    for clique_part in part.all_cliques:
        clique = context.existing_clique(clique_part)
        if clique is None:
            available = available and bool(clique_part.group)
            continue
        pods = context.pods_of_clique(clique)
        placed += sum(pod.scheduled for pod in pods)
        outdated = outdated or not context.revision.is_clique_current(clique, clique_part)
        breached = breached or is_marked_breached(clique.status)
        # A clique without a hash is judged in the next round.
        rolling = rolling or clique.status.updating or not clique.template_hash
        if not clique_part.group:
            available = available and context.ready[clique.uid] >= clique.needed_ready_pods
            outdated = outdated or (_may_have_old_pods(clique, pods) and clique_rollout_step(clique, pods).runs)
    for group_part in part.groups:
        group = context.groups.get(group_part.name)
        if group is None:
            available = False
            continue
        groups[group_part.name] = found = tuple(wanted_group_replicas(group_part, group, context))
        serving = sum(replica.available for replica in found)
        outdated = outdated or any(replica.has_outdated_clique for replica in found)
        rolling = rolling or group.status.updating
        available = available and serving >= group.needed_replicas
        breached = breached or is_marked_breached(group.status)
    return ReplicaUpdateState(part, outdated, available, placed, breached, rolling, FrozenDict(groups))


def _may_have_old_pods(clique: PodClique, pods: Sequence[Pod]) -> bool:
    """Return whether a clique may have old pods: a cheap check that saves the full one for most cliques."""
    target = clique.template_hash
    return clique.status.updating or any(pod.template_hash != target for pod in pods)


def _with_stand_ins(context: WorkloadContext, rollout: SetRolloutStep) -> SetRolloutStep:
    """Return a rollout with the surge pods and replicas that replace unavailable ones after a switch to OnDelete."""
    cliques: dict[str, RolloutStep] = {}
    groups: dict[str, RolloutStep] = {}
    for state in rollout.states:
        for part in state.part.cliques:
            clique = context.existing_clique(part)
            if clique is not None and surge_pod_replaces_unready_pod(clique, context.pods_of_clique(clique)):
                cliques[part.name] = RolloutStep(runs=True)
        for name, found in state.groups.items():
            group = context.groups[name]
            is_served = all(replica.available for replica in found)
            if group.status.updating and not is_served and _replica_beyond(context, group, found) is not None:
                groups[name] = RolloutStep(runs=True)
    return replace(
        rollout, cliques=FrozenDict(cliques), groups=FrozenDict(groups), surge=frozenset({*cliques, *groups})
    )


def _current(context: WorkloadContext, states: Sequence[ReplicaUpdateState]) -> ReplicaUpdateState | None:
    """Return the replica that the set's status names while its update is not complete (WL-212)."""
    if not context.root.status.updating:
        return None
    index = replica_in_update_progress(context.root.status.progress)
    found = next((state for state in states if state.part.index == index), None)
    if found is None:
        return None
    return found if found.outdated or found.rolling or not found.available else None


def replica_in_update_progress(progress: FrozenMap) -> int | None:
    """Return the replica in ``currentlyUpdating`` of a set's progress; None where it names none."""
    first = next(iter(list_at(progress, "currentlyUpdating")), None)
    index = first.get("replicaIndex") if isinstance(first, FrozenMap) and UPDATE_ENDED not in first else None
    return index if isinstance(index, int) else None


def _next_of(outdated: Sequence[ReplicaUpdateState]) -> int | None:
    """Return the replica to update next: without scheduled pods first, then breached, then by index (WL-212)."""
    order = [(state.placed > 0, not state.breached, state.part.index) for state in outdated]
    return min(order)[-1] if order else None


def _template_write(context: WorkloadContext, part: ExpectedClique, updated: frozenset[str]) -> list[Want]:
    """Return the write of the present template to an outdated clique (WL-213, WL-222)."""
    clique = context.existing_clique(part)
    if clique is None or part.name in updated:
        return []
    on_delete = context.root.spec.update_strategy.type == ON_DELETE
    why = WorkloadReason.ON_DELETE if on_delete else WorkloadReason.TEMPLATE_CHANGED
    template_hash = context.revision.hash_of_clique_template(part)
    fields = podclique_template_update_fields(context, clique, part, template_hash)
    return [FieldsToApply(clique.ref, clique.guard, fields, (why.because(clique.ref),))]
