"""Conditions of the Kubernetes API: what holds, since when, and for which reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, unique
from typing import Final, TypeGuard

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.times import format_time, whole_seconds

LONGEST_MESSAGE: Final = 32_000
"""So much of a message is written; an API server takes 32,768 characters."""
REMOVED: Final = "removedConditions"
"""In the fields of a status write: the types of conditions to take away."""


@unique
class Truth(Enum):
    """The three values of a condition's status."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of an object; times are aware UTC."""

    type: str
    status: Truth
    reason: str
    message: str
    last_transition_time: datetime

    @property
    def as_json(self) -> FrozenMap:
        """The condition as the API writes it."""
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
    """The condition of that type, if the object has one."""
    return next((condition for condition in conditions if condition.type == type_), None)


def is_true(condition: Condition | None) -> TypeGuard[Condition]:
    """Whether there is the condition, and its status is true."""
    return condition is not None and condition.status is Truth.TRUE


def transition_time(stored: Condition | None, status: Truth, now: datetime) -> datetime:
    """Since when the status holds: kept while it stays the same, else now in whole seconds (GT-019)."""
    return stored.last_transition_time if stored is not None and stored.status is status else whole_seconds(now)
