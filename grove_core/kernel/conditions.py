"""Conditions of Kubernetes objects: type, status, reason, message and transition time."""

from collections.abc import Iterable
from datetime import datetime
from enum import Enum, unique
from typing import Final, TypeGuard

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.structs import Struct
from grove_core.kernel.time_formats import format_time, truncated_to_seconds

LONGEST_MESSAGE: Final = 32_000
"""The longest message that is written, in characters; an API server accepts 32,768."""
REMOVED: Final = "removedConditions"
"""The key in the fields of a status write that lists the types of conditions to remove."""


@unique
class ConditionStatus(Enum):
    """The three values of a condition's status."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(Struct, frozen=True):
    """One condition of an object; times are aware UTC."""

    type: str
    status: ConditionStatus
    reason: str
    message: str
    last_transition_time: datetime

    @property
    def as_json(self) -> FrozenMap:
        """The condition as a JSON object of the API."""
        return FrozenMap(
            {
                "type": self.type,
                "status": self.status.value,
                "reason": self.reason,
                "message": self.message,
                "lastTransitionTime": format_time(self.last_transition_time),
            }
        )


def condition_of(conditions: Iterable[Condition], type_: str) -> Condition | None:
    """Return the condition of a type; None where there is none."""
    return next((condition for condition in conditions if condition.type == type_), None)


def is_condition_true(condition: Condition | None) -> TypeGuard[Condition]:
    """Whether the condition exists and its status is True."""
    return condition is not None and condition.status is ConditionStatus.TRUE


def next_transition_time(stored: Condition | None, status: ConditionStatus, now: datetime) -> datetime:
    """Return the stored transition time while the status stays the same, else ``now`` in whole seconds (GT-019)."""
    return stored.last_transition_time if stored is not None and stored.status is status else truncated_to_seconds(now)
