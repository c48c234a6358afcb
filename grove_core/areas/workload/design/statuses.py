"""Statuses of a set and its parts, except gang termination (WL-240 to WL-244).

Only fields that differ are written (PL-011), in one step with those that gang termination writes to the same object.
"""

from collections.abc import Iterator, Mapping

from grove_core.areas.workload.design.clique_update import outdated_pods
from grove_core.areas.workload.design.set_update import ReplicaUpdateState, SetRolloutStep, replica_in_update_progress
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.conditions import (
    Condition,
    ConditionStatus,
    condition_of,
    is_condition_true,
    next_transition_time,
)
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.time_formats import format_time, truncated_to_seconds
from grove_core.kernel.wants import StatusToWrite
from grove_core.resources.api_names import (
    GANG_INITIALIZED,
    GANG_READY,
    GANG_SCHEDULED,
    MANAGED_BY,
    OPERATOR,
    UPDATE_ENDED,
    UPDATE_POD_HASH,
    UPDATE_PROGRESS,
    UPDATE_SET_HASH,
    UPDATE_STARTED,
)
from grove_core.resources.labels import CLIQUE, GROUP, SET
from grove_core.resources.pod import active_pods
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup
from grove_core.resources.status_comparison import changed_status_fields, pod_hash_of_update, set_hash_of_update
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedReplica, ExpectedScalingGroup


def statuses_to_write(context: WorkloadContext, rollout: SetRolloutStep) -> Iterator[StatusToWrite]:
    """Yield a want for every status of the set, its groups, cliques and gangs that differs from the expected one."""
    expected = _StatusWriter(context, rollout)
    for state in rollout.states:
        for part in state.part.all_cliques:
            clique = context.existing_clique(part)
            if clique is not None:
                yield from expected.of_clique(clique, part)
        for group_part in state.part.groups:
            group = context.groups.get(group_part.name)
            if group is not None:
                yield from expected.of_group(group, group_part)
        if context.has_all_objects_of_kinds("PodGang"):
            yield from expected.of_gangs(state.part)
    yield from expected.of_set()


class _StatusWriter:
    """The expected statuses of one snapshot."""

    def __init__(self, context: WorkloadContext, rollout: SetRolloutStep) -> None:
        self._context = context
        self._rollout = rollout
        self._now = format_time(truncated_to_seconds(context.snapshot.now))
        self._on_delete = context.root.spec.update_strategy.type == ON_DELETE
        self._current: set[str] = set()  # cliques all of whose pods are of the present template

    def of_clique(self, clique: PodClique, part: ExpectedClique) -> Iterator[StatusToWrite]:
        """Yield a PodClique's status if it changes: hashes, selector, progress and generation (WL-240, WL-241)."""
        outdated = outdated_pods(clique, self._context.snapshot.pods_of.get(clique.uid, ()))
        wanted: dict[str, Json] = {}
        if part.name in self._rollout.updated and not outdated:
            self._current.add(part.name)
            wanted["currentPodTemplateHash"] = clique.template_hash
            wanted["currentPodCliqueSetGenerationHash"] = self._rollout.generation
        if not part.group:
            wanted["hpaPodSelector"] = self._selector({CLIQUE.primary: part.name})
        roll = self._rollout.cliques.get(part.name)
        hashes = {UPDATE_SET_HASH: self._rollout.generation, UPDATE_POD_HASH: clique.template_hash}
        runs = roll is not None and roll.runs
        aims_here = pod_hash_of_update(clique.status.progress) == clique.template_hash
        if self._on_delete and outdated and not aims_here:
            wanted[UPDATE_PROGRESS] = FrozenMap({UPDATE_STARTED: self._now, UPDATE_ENDED: self._now, **hashes})
        else:
            lags = part.name not in self._rollout.updated or bool(outdated) or not self._serves(part.name)
            wanted |= self._progress(
                clique.status,
                runs=runs and not self._on_delete,
                same=clique.status.updating and aims_here,
                waits=runs if self._on_delete else lags,
                fields=hashes,
            )
        if clique.generation is not None:
            wanted["observedGeneration"] = clique.generation
        fields = changed_status_fields(clique.status, wanted, ())
        if fields:
            because = WorkloadReason.CLIQUE_STATE.because(clique.ref, hash=clique.template_hash, outdated=len(outdated))
            yield StatusToWrite(clique.ref, clique.guard, fields, (because,))

    def of_group(self, group: ScalingGroup, part: ExpectedScalingGroup) -> Iterator[StatusToWrite]:
        """Yield a scaling group's status if it changes: updated replicas, selector, progress, generation (WL-242)."""
        by_replica = [[clique.name for clique in cliques] for _, cliques in part.cliques_by_replica]
        updated = [names for names in by_replica if self._current.issuperset(names)]
        serving = [names for names in updated if all(map(self._serves, names))]
        serving_now = sum(all(map(self._serves, names)) for names in by_replica)
        wanted: dict[str, Json] = {
            "updatedReplicas": len(serving),
            "selector": self._selector({GROUP.primary: group.ref.name}),
        }
        if len(updated) == len(by_replica):
            wanted["currentPodCliqueSetGenerationHash"] = self._rollout.generation
        roll = self._rollout.groups.get(group.ref.name)
        fields: dict[str, Json] = {
            UPDATE_SET_HASH: self._rollout.generation,
            "updatedPodCliquesCount": sum(map(len, updated)),
            "totalPodCliquesCount": len(part.cliques),
        }
        wanted |= self._progress(
            group.status,
            runs=roll is not None and roll.runs,
            same=group.status.updating and set_hash_of_update(group.status.progress) == self._rollout.generation,
            waits=not self._on_delete and (len(updated) < len(by_replica) or serving_now < group.needed_replicas),
            fields=fields,
        )
        if group.generation is not None:
            wanted["observedGeneration"] = group.generation
        change = changed_status_fields(group.status, wanted, ())
        if change:
            because = WorkloadReason.GROUP_STATE.because(group.ref, updated=len(serving), replicas=group.replicas)
            yield StatusToWrite(group.ref, group.guard, change, (because,))

    def of_gangs(self, replica: ExpectedReplica) -> Iterator[StatusToWrite]:
        """Yield the status of each gang of a replica that changes: phase and conditions (WL-243)."""
        for part in replica.gangs:
            gang = self._context.gangs.get(part.name)
            if gang is not None:
                yield from self._of_gang(gang)

    def _of_gang(self, gang: PodGang) -> Iterator[StatusToWrite]:
        placed = ready = referred = True
        for group in gang.groups:
            clique = self._context.cliques.get(group.name)
            pods = active_pods(self._context.snapshot.pods_of.get(clique.uid, ())) if clique is not None else ()
            needed = group.min_replicas
            referred = referred and len(group.pods) >= needed
            placed = placed and sum(pod.scheduled for pod in pods) >= needed
            ready = ready and sum(pod.ready for pod in pods) >= needed
        phase = "Running" if ready and placed else "Starting" if placed else "Pending"
        referred = referred or is_condition_true(condition_of(gang.status.conditions, GANG_INITIALIZED))
        because = WorkloadReason.GANG_STATE.because(gang.ref, phase=phase)
        reason = "PodGangPodsCreated" if referred else "PodGangPodsCreationPending"
        conditions = (
            self._condition(gang, GANG_INITIALIZED, reason, holds=referred),
            self._condition(
                gang, GANG_SCHEDULED, "MinReplicasScheduled" if placed else "BelowMinReplicas", holds=placed
            ),
            self._condition(gang, GANG_READY, "MinReplicasReady" if ready else "BelowMinReplicas", holds=ready),
        )
        fields = changed_status_fields(gang.status, {"phase": phase}, conditions)
        if fields:
            yield StatusToWrite(gang.ref, gang.guard, fields, (because,))

    def _condition(self, gang: PodGang, type_: str, reason: str, *, holds: bool) -> Condition:
        truth = ConditionStatus.TRUE if holds else ConditionStatus.FALSE
        stored = condition_of(gang.status.conditions, type_)
        if stored is not None and stored.status is truth and stored.reason == reason:
            return stored
        return Condition(type_, truth, reason, "", next_transition_time(stored, truth, self._context.snapshot.now))

    def of_set(self) -> Iterator[StatusToWrite]:
        """Yield the set's status if it changes: updated replicas, hash, selector, progress and generation (WL-244)."""
        root, rollout = self._context.root, self._rollout
        updated = sum(state.available and self._is_updated(state) for state in rollout.states)
        wanted: dict[str, Json] = {
            "updatedReplicas": updated,
            "hpaPodSelector": self._selector({}),
            "currentGenerationHash": rollout.generation,
        }
        wanted |= self._progress_of_set()
        if root.generation is not None:
            wanted["observedGeneration"] = root.generation
        fields = changed_status_fields(root.status, wanted, ())
        if fields:
            because = WorkloadReason.SET_STATE.because(root.ref, updated=updated, replicas=root.spec.replicas)
            yield StatusToWrite(root.ref, root.guard, fields, (because,))

    def _progress_of_set(self) -> dict[str, Json]:
        """Return which replica is being updated, how many parts are updated, and since when (WL-212)."""
        root, rollout = self._context.root, self._rollout
        stored, is_new = root.status.progress, root.status.current_hash != rollout.generation
        if not rollout.runs:
            if self._on_delete and is_new and root.status.current_hash:
                return {
                    UPDATE_PROGRESS: FrozenMap({UPDATE_STARTED: self._now, **self._counts(), UPDATE_ENDED: self._now})
                }
            if root.status.updating:
                ended = {**stored, **self._counts(), "currentlyUpdating": (), UPDATE_ENDED: self._now}
                return {UPDATE_PROGRESS: FrozenMap(ended)}
            return {}
        since = stored.get(UPDATE_STARTED, self._now) if root.status.updating and not is_new else self._now
        entry: Json = FrozenMap({"replicaIndex": rollout.current, UPDATE_STARTED: self._now})
        if not is_new and root.status.updating and replica_in_update_progress(stored) == rollout.current:
            entry = stored["currentlyUpdating"][0]  # type: ignore[index]  # it names the replica
        return {UPDATE_PROGRESS: FrozenMap({UPDATE_STARTED: since, **self._counts(), "currentlyUpdating": (entry,)})}

    def _counts(self) -> dict[str, Json]:
        """Return the numbers of standalone cliques and scaling groups, and of those that are updated."""
        states = self._rollout.states
        cliques = [part.name for state in states for part in state.part.cliques]
        groups = [[part.name for part in group.cliques] for state in states for group in state.part.groups]
        return {
            "updatedPodCliquesCount": sum(name in self._current for name in cliques),
            "totalPodCliquesCount": len(cliques),
            "updatedPodCliqueScalingGroupsCount": sum(self._current.issuperset(names) for names in groups),
            "totalPodCliqueScalingGroupsCount": len(groups),
        }

    def _progress(
        self, status: CliqueStatus | GroupStatus, *, runs: bool, same: bool, waits: bool, fields: Mapping[str, Json]
    ) -> dict[str, Json]:
        """Return the changed progress of a clique or group; empty where it stays (WL-224)."""
        if runs:
            since = status.progress.get(UPDATE_STARTED, self._now) if same else self._now
            return {UPDATE_PROGRESS: FrozenMap({UPDATE_STARTED: since, **fields})}
        if status.updating and not waits:
            counts = {key: value for key, value in fields.items() if key.endswith("Count")}
            return {UPDATE_PROGRESS: FrozenMap({**status.progress, **counts, UPDATE_ENDED: self._now})}
        return {}

    def _is_updated(self, state: ReplicaUpdateState) -> bool:
        return all(part.name in self._current for part in state.part.all_cliques)

    def _serves(self, name: str) -> bool:
        clique = self._context.cliques.get(name)
        return clique is not None and self._context.ready[clique.uid] >= clique.needed_ready_pods

    def _selector(self, more: Mapping[str, str]) -> str:
        labels = {MANAGED_BY: OPERATOR, SET.primary: self._context.root.ref.name, **more}
        return ",".join(f"{key}={text}" for key, text in labels.items())
