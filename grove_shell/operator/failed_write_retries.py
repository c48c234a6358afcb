"""The failed writes of one PodCliqueSet or topology, and when they are tried again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto, unique
from random import uniform
from typing import Final, TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.remembered_failed_writes import (
    failed_writes_after_round,
    failed_writes_still_wanted,
    with_expired_deletion_refusals,
)
from grove_core.resources.api_names import GROUP_KIND
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.unwritten_breach_changes import writes_breach_end

FIRST_BACKOFF: Final = 0.25
_LONGEST_BACKOFF: Final = 60.0
_WITH_STATUS: Final = frozenset({"PodClique", GROUP_KIND})

_Key: TypeAlias = tuple[object, bool]


def _random_share() -> float:
    return uniform(0.8, 1.0)  # noqa: S311 - no secret


@unique
class FailedWriteRetryTime(Enum):
    """For how long a failed write is not tried again."""

    NO = auto()
    """The next round may try it."""
    ONE_ROUND = auto()
    """The round that follows at once does not try it (OP-023)."""
    UNTIL_RETRY = auto()
    """No round tries it before ``retry_at`` (OP-023, PL-012)."""


@dataclass(slots=True)
class RetriedWrite:
    """The last attempt of one write. Mutable.

    Attributes:
        attempt: that failed.
        withheld: for how long it is not tried again.
        is_reported: whether every round gets the attempt until the write is tried again or no longer wanted (OP-103).
    """

    attempt: Attempt
    withheld: FailedWriteRetryTime = FailedWriteRetryTime.NO
    is_reported: bool = False


@dataclass(slots=True)
class FailedWriteRetries:
    """The failed writes of one root, one entry for each. Mutable; times are of the clock of the event loop.

    Attributes:
        unconfirmed: a termination that is deferred because the server could not be read; it stands for all (PL-029).
        retry_at: when withheld and deferred writes may be tried again.
        backoff: seconds of the next pause.
        jitter: returns the share of a pause after which a write is tried again.
    """

    unconfirmed: tuple[Attempt, ...] = ()
    retry_at: float = 0.0
    backoff: float = FIRST_BACKOFF
    jitter: Callable[[], float] = _random_share
    _entries: dict[_Key, RetriedWrite] = field(default_factory=dict)  # the latest failure last

    @property
    def has_waiting_write(self) -> bool:
        """Whether a write waits for ``retry_at``."""
        return bool(self.unconfirmed) or any(
            entry.withheld is FailedWriteRetryTime.UNTIL_RETRY for entry in self._entries.values()
        )

    @property
    def withheld_targets(self) -> set[Ref]:
        """The objects of the writes that wait for ``retry_at``."""
        return {attempt.step.target for attempt in self._withheld(FailedWriteRetryTime.UNTIL_RETRY)}

    def attempts_for_next_round(self, now: float, *, immediate: bool) -> tuple[Attempt, ...]:
        """Return the attempts that a round gets, some of them withheld. Call it once in a round.

        After ``retry_at`` nothing is withheld any more. The failed deletions of a termination are still reported: the
        parts that are missing were deleted by that termination (GF-091).

        Args:
            now: the time.
            immediate: whether this is the round that follows a failure at once.
        """
        if not immediate and now >= self.retry_at:
            self._expire()
        once = self._withheld(FailedWriteRetryTime.ONE_ROUND) if immediate else ()
        return (*self._withheld(FailedWriteRetryTime.UNTIL_RETRY), *self.unconfirmed, *once, *self._reported())

    def record_attempts(self, attempts: Iterable[Attempt]) -> bool:
        """Take in the attempts of a round.

        Returns:
            Whether the deletion of a PodClique or scaling group is withheld for one round.
        """
        found = tuple(attempts)
        tried = {attempt.step.write_key for attempt in found}
        reported = failed_writes_after_round(self._reported(), found)
        for entry in self._entries.values():
            if entry.withheld is FailedWriteRetryTime.ONE_ROUND or entry.attempt.step.write_key in tried:
                entry.withheld = FailedWriteRetryTime.NO
        for attempt in found:
            if attempt.outcome is not AttemptOutcome.DONE:
                self._entries.pop(key := _key_of(attempt.step), None)
                self._entries[key] = RetriedWrite(attempt, _withheld_after(attempt))
        self._report_only(reported)
        return any(entry.withheld is FailedWriteRetryTime.ONE_ROUND for entry in self._entries.values())

    def forget_unwanted_writes(self, plan: Plan, seen: Snapshot) -> bool:
        """Report no failed write that the plan does not want any more; return whether there was one (OP-103)."""
        before = self._reported()
        self._report_only(failed_writes_still_wanted(before, plan, seen))
        return len(self._reported()) < len(before)

    def take_next_backoff_seconds(self, now: float, *, keep_time: bool) -> float:
        """Return the next pause in seconds, and double the one after it, up to a minute.

        Args:
            now: the time.
            keep_time: whether ``retry_at`` stays: a failure of another write must not delay it (OP-023).
        """
        pause = self.backoff * self.jitter()
        self.backoff = min(self.backoff * 2, _LONGEST_BACKOFF)
        if not keep_time:
            self.retry_at = now + pause
        return pause

    def reset_backoff(self, now: float) -> None:
        """Start again with the first pause if nothing has failed for as long as the next pause would be (OP-023).

        A round between two retries says nothing about what fails.
        """
        if not self.has_waiting_write and now >= self.retry_at + self.backoff:
            self.backoff = FIRST_BACKOFF

    def _withheld(self, how_long: FailedWriteRetryTime) -> tuple[Attempt, ...]:
        found = (entry.attempt for entry in self._entries.values() if entry.withheld is how_long)
        return tuple(replace(attempt, withheld=True) for attempt in found)

    def _reported(self) -> tuple[Attempt, ...]:
        found = (entry.attempt for entry in self._entries.values() if entry.is_reported)
        return tuple(replace(attempt, withheld=False) for attempt in found)

    def _expire(self) -> None:
        reported = with_expired_deletion_refusals(self._reported(), self._withheld(FailedWriteRetryTime.UNTIL_RETRY))
        self.unconfirmed = ()
        for entry in self._entries.values():
            if entry.withheld is FailedWriteRetryTime.UNTIL_RETRY:
                entry.withheld = FailedWriteRetryTime.NO
        self._report_only(reported)

    def _report_only(self, attempts: Iterable[Attempt]) -> None:
        """Report these from now on, and forget what is neither reported nor withheld."""
        keys = {_key_of(attempt.step) for attempt in attempts}
        for key, entry in self._entries.items():
            entry.is_reported = key in keys
        kept = (
            (key, one)
            for key, one in self._entries.items()
            if one.is_reported or one.withheld is not FailedWriteRetryTime.NO
        )
        self._entries = dict(kept)


def _key_of(step: Step) -> _Key:
    """Return what identifies a write; a status that ends a breach is another write than one that begins it."""
    return step.write_key, writes_breach_end(step)


def _withheld_after(failed: Attempt) -> FailedWriteRetryTime:
    """Return for how long a write is not tried again after this attempt."""
    if failed.is_withheld:
        return FailedWriteRetryTime.UNTIL_RETRY
    is_deletion = isinstance(failed.step.action, Delete) and failed.step.target.kind in _WITH_STATUS
    is_silence = failed.outcome in {AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE}
    return FailedWriteRetryTime.ONE_ROUND if is_deletion and is_silence else FailedWriteRetryTime.NO
