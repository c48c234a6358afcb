"""The condition that lists replicas without a ComputeDomain; its message can be parsed (MN-015)."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from grove_core.kernel.conditions import LONGEST_MESSAGE, Condition, ConditionStatus
from grove_core.resources.api_names import DOMAINS_READY
from grove_core.resources.naming_rules import parse_replica_index

REASON: Final = "CreationFailed"
_WORDS: Final = "ComputeDomain creation failed for replicas: "
_MESSAGE: Final = re.compile(re.escape(_WORDS) + r"\[([-0-9, ]*)\]\. Error: (.*)", re.DOTALL)
_LONGEST_LIST: Final = 24_000
_MOST: Final = 1_000_000  # replicas of a set that is planned at all (WL-024)


class DomainCreationFailure(NamedTuple):
    """Replicas whose domain could not be created, in order, and the API server's error for the first of them."""

    replicas: tuple[int, ...] = ()
    error: str = ""

    @property
    def replica_indices_text(self) -> str:
        """The replicas as the condition lists them: as ranges where there are many, cut if too long (MN-015)."""
        text = ", ".join(map(str, self.replicas))
        if len(text) > _LONGEST_LIST:
            text = ", ".join(_runs(self.replicas))
        return text if len(text) <= _LONGEST_LIST else text[:_LONGEST_LIST].rpartition(", ")[0]

    @property
    def condition_message(self) -> str:
        """The message of the condition; an error that is too long is cut."""
        return f"{_WORDS}[{self.replica_indices_text}]. Error: {self.error}"[:LONGEST_MESSAGE]


def domain_failure_in_stored_conditions(conditions: Iterable[Condition]) -> DomainCreationFailure:
    """Return the failure in stored conditions; empty where there is none, or where the message is not Grove's."""
    for condition in conditions:
        found = _MESSAGE.fullmatch(condition.message) if condition.type == DOMAINS_READY else None
        if found is not None and condition.status is ConditionStatus.FALSE:
            return DomainCreationFailure(_replicas_in(found[1]), found[2])
    return DomainCreationFailure()


def _runs(replicas: Sequence[int]) -> list[str]:
    """``0-3, 5`` for 0, 1, 2, 3, 5."""
    runs: list[tuple[int, int]] = []
    for index in replicas:
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return [f"{first}-{last}" if first < last else str(first) for first, last in runs]


def _replicas_in(listed: str) -> tuple[int, ...]:
    """Return the replicas of such a list, in order; invalid items and indices beyond any planned set are skipped."""
    parts = (part.strip().partition("-") for part in listed.split(","))
    runs = [(parse_replica_index(head), parse_replica_index(tail if dash else head)) for head, dash, tail in parts]
    found: list[int] = []
    for first, last in sorted((first, last) for first, last in runs if first is not None and last is not None):
        following = max(first, found[-1] + 1) if found else first
        found += range(following, last + 1) if last < _MOST else ()
    return tuple(found)
