"""Judges the parts of a set as the Go operator does: one reconcile of each of its controllers, on stored statuses."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from grove_core.areas.workload.field.clique_update import (
    CliqueUpdateStep,
    begun_progress,
    clique_update_step,
    update_begins_for,
)
from grove_core.areas.workload.field.deletions import surplus_deletions_by_go_operator
from grove_core.areas.workload.field.gates import judge_gates_by_go_operator
from grove_core.areas.workload.field.present_templates import PresentTemplateHashes
from grove_core.areas.workload.field.releases import WorkloadBehaviourOfRelease, release_shown_by_pods
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.field.scaling_group_update import (
    GroupReplica,
    GroupUpdateStep,
    group_update_step,
    initial_group_update_progress,
)
from grove_core.areas.workload.field.service_account_token_wait import token_awaited_until
from grove_core.areas.workload.field.set_update import SetUpdateDecision, replica_being_updated, set_update_step
from grove_core.areas.workload.field.verdicts import GoOperatorSetParts, GoOperatorWorkloadJudgement
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.areas.workload.workload_context import WorkloadContext, knows_replicas, terminating_clique_names
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.time_formats import format_time, truncated_to_seconds
from grove_core.resources.api_names import UPDATE_ENDED
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import set_hash_of_update
from grove_core.snapshot.expected_replicas import (
    ExpectedClique,
    ExpectedReplica,
    ExpectedScalingGroup,
    expected_set_of,
    is_set_too_large,
)
from grove_core.snapshot.snapshot import Snapshot


def judge_workload_by_go_operator(
    snapshot: Snapshot, inputs: WorkloadInputs, release: WorkloadBehaviourOfRelease
) -> GoOperatorWorkloadJudgement:
    """Judge a set. Linear in what it consists of."""
    gates = judge_gates_by_go_operator(snapshot)
    if snapshot.root.deleting or not snapshot.root.uid or not knows_replicas(snapshot) or is_set_too_large(snapshot):
        return GoOperatorWorkloadJudgement(gates)
    context, replicas = WorkloadContext(snapshot), expected_set_of(snapshot).replicas
    templates = PresentTemplateHashes(context, replicas)
    now = format_time(truncated_to_seconds(snapshot.now))
    updates = _Updates(context, replicas, templates, now, updates_idle=release.updates_cliques_of_idle_sets)
    knows_pods = context.has_all_objects_of_kinds("Pod")
    parts = GoOperatorSetParts(
        context=context,
        inputs=inputs,
        replicas=replicas,
        templates=templates,
        terminating=terminating_clique_names(replicas, inputs),
        surplus=tuple(surplus_deletions_by_go_operator(context)),
        set_update=set_update_step(context, replicas, templates, inputs.terminating, now)
        if knows_pods
        else SetUpdateDecision(context.root.status.progress),
        clique_updates=FrozenDict(updates.of_cliques() if knows_pods else ()),
        group_updates=FrozenDict(updates.of_groups() if knows_pods else ()),
        starts_at=token_awaited_until(context, release),
        release=release_shown_by_pods(context, release),
    )
    return GoOperatorWorkloadJudgement(gates, parts)


class _Updates:
    """The updates of the cliques and groups of one set, by what its status says.

    In the round in which the set's status gets another generation hash nothing is updated: the other controllers act on
    the status that is stored.
    """

    def __init__(
        self,
        context: WorkloadContext,
        replicas: Sequence[ExpectedReplica],
        templates: PresentTemplateHashes,
        now: str,
        *,
        updates_idle: bool,
    ) -> None:
        self._context = context
        self._replicas = replicas if not templates.has_changed and context.root.status.current_hash else ()
        self._templates = templates
        self._updates_idle = updates_idle
        self._now = now
        self._generation = context.root.status.current_hash
        self._current = replica_being_updated(context.root.status.progress)
        self._on_delete = context.root.spec.update_strategy.type == ON_DELETE

    def of_cliques(self) -> Iterator[tuple[str, CliqueUpdateStep]]:
        """Yield the step of each clique that has progress of an update, or gets it now."""
        for replica in self._replicas:
            for part in replica.all_cliques if self._on_delete else replica.cliques:
                clique = self._context.existing_clique(part)
                if clique is not None and self._templates.is_current(clique, part):
                    step = self._of_clique(clique, part)
                    if step is not None:
                        yield part.name, step

    def _of_clique(self, clique: PodClique, part: ExpectedClique) -> CliqueUpdateStep | None:
        status, expected = self._context.root.status, self._templates.hash_of(part)
        is_idle = self._updates_idle and not status.updating
        is_turn = self._on_delete or is_idle or part.replica == self._current
        progress = clique.status.progress
        if is_turn and update_begins_for(clique, self._generation):
            progress = begun_progress(self._generation, expected, self._now)
            if self._on_delete:
                because = (GoOperatorWorkloadReason.MEMBER_TAKES_TEMPLATE.because(clique.ref),)
                return CliqueUpdateStep(FrozenMap({**progress, UPDATE_ENDED: self._now}), because)
        if not progress:
            return None
        if UPDATE_ENDED in progress or self._on_delete:
            return CliqueUpdateStep(progress)
        return clique_update_step(clique, self._context.pods_of_clique(clique), progress, expected, self._now)

    def of_groups(self) -> Iterator[tuple[str, GroupUpdateStep]]:
        """Yield the step of each scaling group that has progress of an update, or gets it now."""
        for replica in self._replicas:
            for part in replica.groups:
                group = self._context.groups.get(part.name)
                step = self._of_group(group, part) if group is not None else None
                if step is not None:
                    yield part.name, step

    def _of_group(self, group: ScalingGroup, part: ExpectedScalingGroup) -> GroupUpdateStep | None:
        progress = group.status.progress
        is_turn = self._on_delete or part.replica == self._current
        if is_turn and set_hash_of_update(progress) != self._generation:
            progress = initial_group_update_progress(self._generation, self._now)
            if self._on_delete:
                because = (GoOperatorWorkloadReason.MEMBER_TAKES_TEMPLATE.because(group.ref),)
                return GroupUpdateStep(FrozenMap({**progress, UPDATE_ENDED: self._now}), because)
        if not progress:
            return None
        if UPDATE_ENDED in progress or self._on_delete:
            return GroupUpdateStep(progress)
        return group_update_step(group, self._replicas_of(group, part), progress, self._generation, self._now)

    def _replicas_of(self, group: ScalingGroup, part: ExpectedScalingGroup) -> Sequence[GroupReplica]:
        hashes = FrozenDict({member.name: self._templates.hash_of(member) for member in part.cliques})
        found: Mapping[int, list[PodClique]] = {index: [] for index in range(part.replicas)}
        for clique in self._members.get(group.uid, ()):
            if clique.group_replica_index in found:
                found[clique.group_replica_index].append(clique)
        wanted = len(group.clique_names)
        return [GroupReplica(index, tuple(cliques), wanted, hashes) for index, cliques in found.items()]

    @cached_property
    def _members(self) -> Mapping[str, Sequence[PodClique]]:
        """Uid of a scaling group -> its cliques, those being deleted included."""
        found: dict[str, list[PodClique]] = {}
        for clique in self._context.snapshot.cliques:
            if clique.is_in_scaling_group:
                found.setdefault(clique.owner_uid, []).append(clique)
        return found
