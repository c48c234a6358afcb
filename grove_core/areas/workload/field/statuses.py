"""Statuses of a set and its parts by the Go operator, except gang termination (WF-016, WF-028, WF-071)."""

from collections.abc import Iterator, Mapping
from typing import Final

from grove_core.areas.workload.field.clique_update import CliqueUpdateStep
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.field.scaling_group_update import GroupUpdateStep, is_clique_updated
from grove_core.areas.workload.field.verdicts import GoOperatorSetParts
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import StatusToWrite
from grove_core.resources.api_names import MANAGED_BY, OPERATOR, UPDATE_ENDED, UPDATE_PROGRESS
from grove_core.resources.labels import CLIQUE, GROUP, SET
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import changed_status_fields, pod_hash_of_update, set_hash_of_update
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedScalingGroup

_UPDATED_CLIQUES: Final = "updatedPodCliquesCount"
_TOTAL_CLIQUES: Final = "totalPodCliquesCount"


def statuses_by_go_operator(parts: GoOperatorSetParts) -> Iterator[StatusToWrite]:
    """Yield a want for every status of the set, its groups and cliques that differs from the expected one."""
    for replica in parts.replicas:
        for part in replica.all_cliques:
            clique = parts.context.existing_clique(part)
            if clique is not None:
                yield from _clique_status(parts, clique, part)
        for group_part in replica.groups:
            group = parts.context.groups.get(group_part.name)
            if group is not None:
                yield from _group_status(parts, group, group_part)
    yield from _set_status(parts)


def _clique_status(parts: GoOperatorSetParts, clique: PodClique, part: ExpectedClique) -> Iterator[StatusToWrite]:
    """Yield a PodClique's status if it changes: hashes, selector, progress and generation."""
    step = parts.clique_updates.get(part.name)
    wanted: dict[str, Json] = {}
    if not part.group:
        wanted["hpaPodSelector"] = _selector(parts, {CLIQUE.primary: part.name})
    if step is not None:
        wanted[UPDATE_PROGRESS] = step.progress
    wanted |= _current_hashes(parts, clique, part, step)
    if clique.generation is not None:
        wanted["observedGeneration"] = clique.generation
    because = step.because if step is not None and step.because else ()
    yield from _written(clique, wanted, because or (_hashes_reason(clique),))


def _hashes_reason(clique: PodClique) -> Reason:
    return GoOperatorWorkloadReason.CLIQUE_HASHES.because(clique.ref, hash=clique.template_hash)


def _current_hashes(
    parts: GoOperatorSetParts, clique: PodClique, part: ExpectedClique, step: CliqueUpdateStep | None
) -> dict[str, Json]:
    """Return the hashes that the pods have reached; none while an update runs or some pods are old (WF-016)."""
    status = clique.status
    progress = step.progress if step is not None else status.progress
    is_running = bool(progress) and UPDATE_ENDED not in progress
    if is_running or status.updated != status.replicas or not parts.generation_in_status:
        return {}
    if progress:
        return {
            "currentPodTemplateHash": pod_hash_of_update(progress),
            _SET_HASH_OF_CLIQUE: set_hash_of_update(progress),
        }
    pods = parts.context.pods_of_clique(clique)
    is_old = any(pod.template_hash not in {"", clique.template_hash} and not pod.deleting for pod in pods)
    if is_old or clique.template_hash != parts.templates.hash_of(part):  # stored counts are of the label before
        return {}
    return {"currentPodTemplateHash": clique.template_hash, _SET_HASH_OF_CLIQUE: parts.generation_in_status}


_SET_HASH_OF_CLIQUE: Final = "currentPodCliqueSetGenerationHash"


def _group_status(
    parts: GoOperatorSetParts, group: ScalingGroup, part: ExpectedScalingGroup
) -> Iterator[StatusToWrite]:
    """Yield a scaling group's status if it changes: updated replicas, selector, progress and generation (WF-028)."""
    step = parts.group_updates.get(part.name)
    progress = step.progress if step is not None else group.status.progress
    members = {
        index: [(member, parts.context.existing_clique(member)) for member in cliques]
        for index, cliques in part.cliques_by_replica
    }
    everyone = [one for found in members.values() for one in found]
    generation = parts.generation_in_status
    updated = [
        sum(clique is not None and _is_updated(parts, clique, member) for member, clique in found)
        for found in members.values()
    ]
    serving = sum(count == len(members[index]) for index, count in zip(members, updated, strict=True))
    wanted: dict[str, Json] = {
        "updatedReplicas": serving,
        "selector": _selector(parts, {GROUP.primary: group.ref.name}),
    }
    if progress:
        counts = {_UPDATED_CLIQUES: sum(updated), _TOTAL_CLIQUES: len(everyone)}
        wanted[UPDATE_PROGRESS] = _with_counts(progress, counts)
    is_running = bool(progress) and UPDATE_ENDED not in progress
    if generation and not is_running and all(_has_converged(parts, member, clique) for member, clique in everyone):
        wanted["currentPodCliqueSetGenerationHash"] = generation
    if group.generation is not None:
        wanted["observedGeneration"] = group.generation
    because: tuple[Reason, ...] = step.because if isinstance(step, GroupUpdateStep) else ()
    state = GoOperatorWorkloadReason.GROUP_HASHES.because(group.ref, updated=serving, replicas=group.replicas)
    yield from _written(group, wanted, because or (state,))


def _is_updated(parts: GoOperatorSetParts, clique: PodClique, part: ExpectedClique) -> bool:
    return is_clique_updated(clique, parts.templates.hash_of(part), parts.generation_in_status)


def _has_converged(parts: GoOperatorSetParts, part: ExpectedClique, clique: PodClique | None) -> bool:
    """Return whether the label and the status of a member show the present template and generation."""
    if clique is None:
        return False
    expected = parts.templates.hash_of(part)
    hashes = {clique.template_hash, clique.status.current_hash}
    return hashes == {expected} and clique.status.set_hash == parts.generation_in_status


def _set_status(parts: GoOperatorSetParts) -> Iterator[StatusToWrite]:
    """Yield the set's status if it changes: updated replicas, hash, selector, progress and generation (WF-071)."""
    root, step, context = parts.context.root, parts.set_update, parts.context
    cliques = [
        (part, clique)
        for replica in parts.replicas
        for part in replica.cliques
        for clique in (context.existing_clique(part),)
    ]
    groups = [context.groups.get(part.name) for replica in parts.replicas for part in replica.groups]
    updated = sum(_is_replica_updated(parts, number) for number in range(len(parts.replicas)))
    wanted: dict[str, Json] = {
        "updatedReplicas": updated,
        "hpaPodSelector": _selector(parts, {}),
        "currentGenerationHash": parts.templates.generation,
    }
    if step.progress:
        counts = {
            _UPDATED_CLIQUES: sum(clique is not None and _is_updated(parts, clique, part) for part, clique in cliques),
            _TOTAL_CLIQUES: len(cliques),
            "updatedPodCliqueScalingGroupsCount": sum(
                group is not None and group.status.set_hash == parts.generation_in_status for group in groups
            ),
            "totalPodCliqueScalingGroupsCount": len(groups),
        }
        wanted[UPDATE_PROGRESS] = _with_counts(step.progress, counts)
    if root.generation is not None:
        wanted["observedGeneration"] = root.generation
    state = GoOperatorWorkloadReason.SET_COUNTS.because(root.ref, updated=updated, replicas=root.spec.replicas)
    fields = changed_status_fields(root.status, wanted, ())
    if fields:
        yield StatusToWrite(root.ref, root.guard, fields, step.because or (state,))


def _is_replica_updated(parts: GoOperatorSetParts, number: int) -> bool:
    """Return whether a replica of the set is available and updated, by stored statuses."""
    replica, context = parts.replicas[number], parts.context
    for part in replica.cliques:
        clique = context.existing_clique(part)
        if clique is None or not _is_updated(parts, clique, part):
            return False
    for group_part in replica.groups:
        group = context.groups.get(group_part.name)
        if group is None or group.status.set_hash != parts.generation_in_status:
            return False
        if (group.status.available or 0) < group.min_available:
            return False
    return True


def _with_counts(progress: FrozenMap, counts: Mapping[str, int]) -> FrozenMap:
    """Return the progress with counts; numbers that are 0 are left out, as its client does."""
    others = {key: value for key, value in progress.items() if key not in counts}
    return FrozenMap({**others, **{key: number for key, number in counts.items() if number}})


def _written(
    item: PodClique | ScalingGroup, wanted: Mapping[str, Json], because: tuple[Reason, ...]
) -> Iterator[StatusToWrite]:
    fields = changed_status_fields(item.status, wanted, ())
    if fields:
        yield StatusToWrite(item.ref, item.guard, fields, because)


def _selector(parts: GoOperatorSetParts, more: Mapping[str, str]) -> str:
    labels = {MANAGED_BY: OPERATOR, SET.primary: parts.context.root.ref.name, **more}
    return ",".join(f"{key}={text}" for key, text in labels.items())
