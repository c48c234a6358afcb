"""What the status of a pod says: its conditions, why it is not ready, whether it crashed."""

from types import MappingProxyType
from typing import Final

from grove_core.resources.decoded_pod import DecodedPodStatus

HOLDS: Final = MappingProxyType({"True": True, "False": False, "Unknown": False})
"""Whether a condition of a pod holds, by its status."""


def conditions_in_status(status: DecodedPodStatus) -> tuple[bool, bool, bool, bool, str, str]:
    """Return what the conditions of a pod say. Raises KeyError or TypeError where the status of one is invalid.

    Returns:
        Whether the pod is scheduled, gated, ready and preempted, why it is not scheduled, and what the scheduler says
        about that.
    """
    scheduled = gated = ready = preempted = False
    reason = message = ""
    for condition in status.conditions or ():
        kind = condition.type
        if kind == "Ready":
            ready = HOLDS[condition.status]
        elif kind == "PodScheduled":
            scheduled = HOLDS[condition.status]
            if not scheduled:
                reason, message = condition.reason or "", condition.message or ""
                gated = reason == "SchedulingGated" and condition.status == "False"
        elif kind == "DisruptionTarget":
            preempted = condition.reason == "PreemptionByScheduler" and condition.status == "True"
    return scheduled, gated, ready, preempted, reason, message


def trouble_in_status(status: DecodedPodStatus, scheduling: str) -> str:
    """Return the reason why a container waits or ended, else why the pod is not scheduled."""
    for container in status.counted_containers:
        state = container.state
        for phase in (state.waiting, state.terminated) if state is not None and not container.ready else ():
            if phase is not None and phase.reason and phase.reason != "Completed":
                return phase.reason
    return status.reason or scheduling


def pod_failure_in_status(status: DecodedPodStatus) -> tuple[bool, bool]:
    """Whether a pod that is not ready crashed, or else has a main container that runs and is not ready (GF-012)."""
    if has_crashed_container(status):
        return True, False
    return False, any(one.started and not one.ready for one in status.container_statuses or ())


def has_crashed_container(status: DecodedPodStatus) -> bool:
    """Return whether the earlier run of an init or main container ended with an error."""
    for container in status.counted_containers:
        last = container.last_state
        if last is not None and last.terminated is not None and last.terminated.exit_code:
            return True
    return False
