"""Defects of the Go operator that an update brings out, with what to do instead (WF-170 to WF-172)."""

from collections.abc import Iterator, Mapping, Sequence

from grove_core.areas.workload.field.clique_update import state_if_not_serving
from grove_core.areas.workload.field.judge import GoOperatorSetParts
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.verdicts import DEFECT
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGroup


def update_defect_findings(parts: GoOperatorSetParts) -> Iterator[Finding]:
    """Yield a finding for each standalone clique and each scaling group whose update has a defect. Linear."""
    if parts.is_on_delete or not parts.context.has_all_objects_of_kinds("Pod"):
        return
    there = {part.name: clique for part, clique in parts.existing_cliques() if part.name not in parts.terminating}
    for replica in parts.replicas:
        for part in replica.cliques:
            clique = there.get(part.name)
            because = tuple(_of_clique(parts, part, clique)) if clique is not None else ()
            if because:
                yield Finding(because[0].subject, DEFECT, "Warn", because)
        for group_part in replica.groups:
            because = tuple(_of_group(parts, group_part, there))
            if because:
                yield Finding(because[0].subject, DEFECT, "Warn", because)


def _of_clique(parts: GoOperatorSetParts, part: ExpectedClique, clique: PodClique) -> Iterator[Reason]:
    is_old, expected = not parts.templates.is_current(clique, part), parts.templates.hash_of(part)
    present = {"", expected}
    pods = (pod for pod in parts.context.pods_of_clique(clique) if not pod.deleting)
    ready = [pod for pod in pods if pod.ready and (is_old or pod.template_hash not in present)]
    crashed = sum(bool(state_if_not_serving(pod)) for pod in ready)
    if crashed:
        yield GoOperatorWorkloadReason.READY_PODS_GO_AT_ONCE.because(clique.ref, pods=crashed)
    if len(ready) > crashed and clique.replicas <= clique.min_available:
        yield GoOperatorWorkloadReason.CLIQUE_UPDATE_BELOW_MINIMUM.because(
            clique.ref, left=clique.replicas - 1, needed=clique.min_available, more=clique.min_available + 1
        )


def _of_group(parts: GoOperatorSetParts, part: ExpectedGroup, there: Mapping[str, PodClique]) -> Iterator[Reason]:
    group = parts.context.groups.get(part.name)
    if group is None or group.replicas > group.min_available:
        return
    if _is_outdated(parts, part.cliques, there):
        yield GoOperatorWorkloadReason.GROUP_UPDATE_BELOW_MINIMUM.because(
            group.ref, left=group.replicas - 1, needed=group.min_available, more=group.min_available + 1
        )


def _is_outdated(parts: GoOperatorSetParts, members: Sequence[ExpectedClique], there: Mapping[str, PodClique]) -> bool:
    return any(one.name in there and not parts.templates.is_current(there[one.name], one) for one in members)
