"""Counts of pods for statuses, and statuses that differ from the stored ones (PL-011), for both rule sets."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from grove_core.kernel.conditions import REMOVED, Condition, condition_of, is_condition_true
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import StatusToWrite
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import changed_status_fields, is_marked_breached


class PodCounts(NamedTuple):
    """Numbers of pods of one clique (GT-002)."""

    replicas: int
    ready: int
    scheduled: int
    gated: int
    updated: int

    @property
    def as_status_fields(self) -> dict[str, Json]:
        """Return them as fields of the status of the clique."""
        return {
            "replicas": self.replicas,
            "readyReplicas": self.ready,
            "scheduledReplicas": self.scheduled,
            "scheduleGatedReplicas": self.gated,
            "updatedReplicas": self.updated,
        }


def count_clique_pods(pods: Iterable[Pod], target_hash: str) -> PodCounts:
    """Count the pods of one clique (GT-002). Linear; the order of the pods does not matter."""
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
    return PodCounts(replicas, ready, scheduled, gated, updated)


def scaling_group_status_counts(group: ScalingGroup, *, scheduled: int, available: int) -> dict[str, Json]:
    """Return the counts of a group as fields of its status."""
    return {"replicas": group.replicas, "scheduledReplicas": scheduled, "availableReplicas": available}


def status_if_changed(
    resource: PodClique | ScalingGroup | PodCliqueSet,
    wanted: Mapping[str, Json],
    conditions: tuple[Condition, ...],
    because: tuple[Reason, ...],
    removed: tuple[str, ...] = (),
) -> Iterator[StatusToWrite]:
    """Yield the wanted status if it differs from the stored one or removes conditions; else nothing.

    It is urgent if the breach begins or ends, has another transition time (GT-067), or ``wasAvailable`` becomes true.

    Args:
        wanted: fields of the status, by name in JSON.
        conditions: the expected ones; stored conditions of other types stay.
        because: the reasons of the write.
        removed: types of stored conditions that are removed.
    """
    status = resource.status
    stored = () if isinstance(resource, PodCliqueSet) else resource.status.stored_conditions
    fields = changed_status_fields(replace(status, conditions=stored) if stored else status, wanted, conditions)
    if removed:
        fields = FrozenMap({**fields, REMOVED: removed})
    if fields:
        is_breached = is_condition_true(condition_of(conditions, MIN_AVAILABLE_BREACHED))
        turns = is_breached != is_marked_breached(status)
        urgent = bool(stored) or turns or fields.get("wasAvailable") is True
        yield StatusToWrite(resource.ref, resource.guard, fields, because, is_urgent=urgent)
