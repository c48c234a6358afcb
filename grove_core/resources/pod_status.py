"""What the status of a pod says: its conditions, why it is not ready, whether it crashed.

Part of the hot path of loading: each function raises KeyError, TypeError or AttributeError where the status is not
well-formed, and the pod is then read again to find every problem.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

HOLDS: Final = MappingProxyType({"True": True, "False": False, "Unknown": False})
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
CONTAINER_STATUSES: Final = ("initContainerStatuses", "containerStatuses")


def conditions_in_status(status: Mapping[str, Any]) -> tuple[bool, bool, bool, bool, str]:
    """Return whether a pod is scheduled, gated, ready and preempted, and the reason why it is not scheduled."""
    scheduled = gated = ready = preempted = False
    reason = ""
    for condition in status.get("conditions") or ():
        type_ = condition["type"]
        if type_ == "Ready":
            ready = HOLDS[condition["status"]]
        elif type_ == "PodScheduled":
            scheduled = HOLDS[condition["status"]]
            if not scheduled:
                reason = condition.get("reason") or ""
                gated = reason == "SchedulingGated" and condition["status"] == "False"
        elif type_ == "DisruptionTarget":
            preempted = condition.get("reason") == "PreemptionByScheduler" and condition["status"] == "True"
    return scheduled, gated, ready, preempted, reason


def scheduler_message_in_status(status: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON; the caller checks it
    """Return why a pod is not scheduled, in the words of the scheduler; empty without a message."""
    found = (one for one in status.get("conditions") or () if one["type"] == "PodScheduled")
    return next((one.get("message") or "" for one in found), "")


def trouble_in_status(status: Mapping[str, Any], scheduling: str) -> str:
    """Return the reason why a container waits or ended, else why the pod is not scheduled."""
    for key in CONTAINER_STATUSES:
        for container in status.get(key) or ():
            state = container.get("state") or NOTHING
            for phase in ("waiting", "terminated"):
                reason = (state.get(phase) or NOTHING).get("reason")
                if reason and reason != "Completed" and not container.get("ready"):
                    return str(reason)
    return status.get("reason") or scheduling or ""


def failure_in_status(status: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether a pod that is not ready crashed, or else has a main container that runs and is not ready (GF-012)."""
    if has_crashed_container(status):
        return True, False
    main = status.get("containerStatuses") or ()
    return False, any(container.get("started") is True and not container.get("ready") for container in main)


def has_crashed_container(status: Mapping[str, Any]) -> bool:
    """Return whether the earlier run of an init or main container ended with an error."""
    for key in CONTAINER_STATUSES:
        for container in status.get(key) or ():
            last = container.get("lastState")
            if last and (last.get("terminated") or NOTHING).get("exitCode"):
                return True
    return False
