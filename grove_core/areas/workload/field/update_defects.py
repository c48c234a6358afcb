"""Defects of the Go operator that an update brings out, with what to do instead (WF-170 to WF-175)."""

from collections.abc import Container, Iterator, Mapping, Sequence

from grove_core.areas.workload.field.clique_update import state_of_unready_pod
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.field.scaling_group_update import state_if_clique_not_serving
from grove_core.areas.workload.field.verdicts import GoOperatorSetParts
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.questions import DEFECT
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import set_hash_of_update
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedScalingGroup


def update_defect_findings(parts: GoOperatorSetParts) -> Iterator[Finding]:
    """Yield a finding for each standalone clique and each scaling group whose update has a defect. Linear."""
    if parts.is_on_delete or not parts.context.has_all_objects_of_kinds("Pod"):
        return
    there = {part.name: clique for part, clique in parts.existing_cliques() if part.name not in parts.terminating}
    for replica in parts.replicas:
        for part in replica.cliques:
            clique = there.get(part.name)
            if clique is not None:
                yield from _findings(clique.ref, _of_clique(parts, part, clique))
        for group_part in replica.groups:
            group = parts.context.groups.get(group_part.name)
            if group is not None:
                yield from _findings(group.ref, _of_group(parts, group_part, group, there))


def _findings(subject: Ref, defects: Iterator[Reason]) -> Iterator[Finding]:
    """Yield the finding about a clique or a scaling group; none where it has no defect."""
    because = tuple(defects)
    if because:
        yield Finding(subject, DEFECT, "Warn", because)


def _of_clique(parts: GoOperatorSetParts, part: ExpectedClique, clique: PodClique) -> Iterator[Reason]:
    present, needed = {"", parts.templates.hash_of(part)}, clique.min_available
    ready = [pod for pod in parts.context.pods_of_clique(clique) if pod.ready and not pod.deleting]
    old = [pod for pod in ready if pod.template_hash not in present]
    crashed = sum(bool(state_of_unready_pod(pod)) for pod in old)
    if crashed:
        yield GoOperatorWorkloadReason.READY_PODS_GO_AT_ONCE.because(clique.ref, pods=crashed)
    if len(old) <= crashed:
        return
    if clique.replicas <= needed:
        yield GoOperatorWorkloadReason.CLIQUE_UPDATE_BELOW_MINIMUM.because(
            clique.ref, left=clique.replicas - 1, needed=needed, more=needed + 1
        )
        return
    serving = sum(not state_of_unready_pod(pod) for pod in ready)
    if serving == needed and not _awaits_successor(parts, part):  # with fewer it is below it already
        yield GoOperatorWorkloadReason.CLIQUE_UPDATE_WITHOUT_SPARE.because(
            clique.ref, left=needed - 1, needed=needed, more=needed + 1
        )


def _of_group(
    parts: GoOperatorSetParts, part: ExpectedScalingGroup, group: ScalingGroup, there: Mapping[str, PodClique]
) -> Iterator[Reason]:
    if not _is_outdated(parts, part.cliques, there):
        return
    needed = group.min_available
    if group.replicas <= needed:
        yield GoOperatorWorkloadReason.GROUP_UPDATE_BELOW_MINIMUM.because(
            group.ref, left=group.replicas - 1, needed=needed, more=needed + 1
        )
        return
    available = {index: members for index, members in part.cliques_by_replica if _is_available(members, there)}
    is_without_spare = len(available) == needed and any(
        _is_outdated(parts, members, there) for members in available.values()
    )
    if is_without_spare and not _awaits_replica(parts, part, available):
        yield GoOperatorWorkloadReason.GROUP_UPDATE_WITHOUT_SPARE.because(
            group.ref, left=needed - 1, needed=needed, more=needed + 1
        )


def _awaits_successor(parts: GoOperatorSetParts, part: ExpectedClique) -> bool:
    """Return whether one more pod is ready before the running update deletes the next (WF-175)."""
    step = parts.clique_updates.get(part.name)
    return step is not None and step.awaits_successor and _is_to_present(parts, step.progress)


def _awaits_replica(parts: GoOperatorSetParts, part: ExpectedScalingGroup, available: Container[int]) -> bool:
    """Return whether one more replica is available before the running update deletes the next (WF-175)."""
    step = parts.group_updates.get(part.name)
    if step is None or step.awaited is None or not _is_to_present(parts, step.progress):
        return False
    return step.awaited not in available


def _is_to_present(parts: GoOperatorSetParts, progress: FrozenMap) -> bool:
    """Return whether an update is to the present templates, so that it keeps its selection (WF-010, WF-020)."""
    return set_hash_of_update(progress) == parts.generation_in_status


def _is_outdated(parts: GoOperatorSetParts, members: Sequence[ExpectedClique], there: Mapping[str, PodClique]) -> bool:
    return any(one.name in there and not parts.templates.is_current(there[one.name], one) for one in members)


def _is_available(members: Sequence[ExpectedClique], there: Mapping[str, PodClique]) -> bool:
    """Return whether a replica of a group is available, by the stored statuses (WF-022)."""
    cliques = [there.get(one.name) for one in members]
    return all(clique and not clique.deleting and not state_if_clique_not_serving(clique) for clique in cliques)
