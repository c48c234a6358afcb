"""What both rule sets tell in statuses: pods by what they are, and whatever differs from what is stored (PL-011)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from grove_core.kernel.conditions import REMOVED, Condition, condition_of, is_true
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import Status
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.statuses import status_change


class Counts(NamedTuple):
    """Pods of one clique: GT-002 to GT-006."""

    replicas: int
    ready: int
    scheduled: int
    gated: int
    updated: int

    @property
    def fields(self) -> dict[str, Json]:
        """As the status of the clique tells them."""
        return {
            "replicas": self.replicas,
            "readyReplicas": self.ready,
            "scheduledReplicas": self.scheduled,
            "scheduleGatedReplicas": self.gated,
            "updatedReplicas": self.updated,
        }


def count_pods(pods: Iterable[Pod], target_hash: str) -> Counts:
    """Count the pods of one clique (GT-002 to GT-006). Linear; the order of the pods does not matter."""
    replicas = ready = scheduled = gated = updated = 0
    for pod in pods:
        if pod.ready:
            ready += 1
        if pod.scheduled:
            scheduled += 1
        elif pod.gated:
            gated += 1
        if not pod.deleting:
            replicas += 1
        if pod.template_hash == target_hash:
            updated += 1
    return Counts(replicas, ready, scheduled, gated, updated)


def counts_of_group(group: ScalingGroup, *, scheduled: int, available: int) -> dict[str, Json]:
    """As the status of the group tells them."""
    return {"replicas": group.replicas, "scheduledReplicas": scheduled, "availableReplicas": available}


def status_if_other(
    resource: PodClique | ScalingGroup | PodCliqueSet,
    wanted: Mapping[str, Json],
    conditions: tuple[Condition, ...],
    because: tuple[Reason, ...],
    removed: tuple[str, ...] = (),
) -> Iterator[Status]:
    """A want where a status differs from the stored one, or has conditions to be taken away."""
    fields = status_change(resource.status, wanted, conditions)
    if removed:
        fields = FrozenMap({**fields, REMOVED: removed})
    if fields:
        stored = condition_of(resource.status.conditions, MIN_AVAILABLE_BREACHED)
        turns = is_true(condition_of(conditions, MIN_AVAILABLE_BREACHED)) != is_true(stored)
        anew = (
            not isinstance(resource, PodCliqueSet) and resource.status.superseding_breach is not None
        )  # its clock (GT-067)
        urgent = turns or anew or fields.get("wasAvailable") is True
        yield Status(resource.ref, resource.guard, fields, because, is_urgent=urgent)
