"""When the next round of a PodCliqueSet or topology takes place, and which steps of its plan are tried in it."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
    Make,
    SetStatus,
    Step,
    StepStage,
    deletes_or_reports_termination,
)
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.resources.owned_object import clique_of_new_pod
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.operator.failed_write_retries import FIRST_BACKOFF, FailedWriteRetries

_REST_SHARE: Final = 4  # times as long as the root was planned
_SHORTEST_REST: Final = 0.02
_LONGEST_SLEEP: Final = 3600.0
_PAUSE_WHILE_WRITING: Final = 5.0
_PAUSE_BETWEEN_MANY: Final = 1.0
_PAUSE_WHILE_STARTING: Final = 15.0
_FEW: Final = 10


class StepsDueNow(NamedTuple):
    """The steps that are tried now, and in how many seconds the others are; 0 without others."""

    steps: tuple[Step, ...]
    wait: float


@dataclass(slots=True)
class SetWriteThrottle:
    """The throttle of one set. Mutable.

    Attributes:
        failed_creations: objects whose last creation failed, and uids of PodCliques with such a pod, oldest failure
            first; others are created before them.
        statuses_at: when statuses were written last.
        delays_statuses: whether statuses wait at all.
    """

    failed_creations: tuple[Ref | str, ...] = ()
    statuses_at: float = 0.0
    delays_statuses: bool = True

    def steps_to_try_now(self, steps: Iterable[Step], seen: Snapshot, now: float) -> StepsDueNow:
        """Return the steps to try now, in each stage those last that failed before (OP-015).

        Statuses wait while objects are written, because each would be outdated at once. More than ten statuses are
        written once a second at most, and once in fifteen seconds while pods start. Urgent ones do not wait (OP-024).

        Args:
            steps: of the plan.
            seen: the snapshot that the plan was made of.
            now: seconds, by the same clock in every call.
        """
        places = {key: place for place, key in enumerate(self.failed_creations, 1)}
        ordered = tuple(sorted(steps, key=partial(_sort_key, places)))
        objects = tuple(step for step in ordered if not _may_wait(step))
        statuses = len(ordered) - len(objects)
        wait = self.statuses_at + _pause(statuses, seen, writes=bool(objects)) - now
        if wait > 0 and self.delays_statuses:
            return StepsDueNow(objects, wait if statuses else 0.0)
        if statuses:
            self.statuses_at = now
        return StepsDueNow(ordered, 0.0)

    def record_failed_creations(self, answers: Iterable[Attempt]) -> None:
        """Note which creations failed: creations of a kind stop at the first failure (OP-015)."""
        tried, failed = set[Ref | str](), dict[Ref | str, None]()
        for answer in answers:
            if isinstance(answer.step.action, Make):
                target, clique = answer.step.target, clique_of_new_pod(answer.step)
                key: tuple[Ref | str, ...] = (target, clique) if clique else (target,)
                tried.update(key)
                failed.update(dict.fromkeys(key if answer.outcome is not AttemptOutcome.DONE else ()))
        self.failed_creations = (*(key for key in self.failed_creations if key not in tried), *failed)


@dataclass(slots=True)
class RootReconcileSchedule:
    """One root in the work queue. Mutable; times are of the clock of the event loop.

    Attributes:
        enqueue: called when a round is due.
        is_dirty: whether something changed since the last round began.
        task: runs the rounds of the root; None while there is none.
        not_before: no round begins earlier, so that a burst of changes is one round.
        is_immediate: whether the next round is the one that follows a failure at once (OP-023).
        backlog: the failed writes.
        throttle: which steps of a plan are tried now.
        shortest_rest: seconds after a round in which none begins.
    """

    enqueue: Callable[[], None]
    is_dirty: bool = False
    task: asyncio.Task[None] | None = None
    not_before: float = 0.0
    is_immediate: bool = False
    backlog: FailedWriteRetries = field(default_factory=FailedWriteRetries)
    throttle: SetWriteThrottle = field(default_factory=SetWriteThrottle)
    shortest_rest: float = _SHORTEST_REST
    _timer: asyncio.TimerHandle | None = None

    def pause_after_round(self, seconds: float = 0.0) -> None:
        """Begin no round for four times as long as the last one was planned, 20 ms at least (OP-020)."""
        self._hold_off(max(seconds * _REST_SHARE, self.shortest_rest))

    def pause_after_failed_round(self) -> None:
        """Begin no round during the first pause: a server in trouble causes many changes (OP-023)."""
        self._hold_off(FIRST_BACKOFF)

    def _hold_off(self, seconds: float) -> None:
        self.not_before = max(self.not_before, _now() + seconds)

    def attempts_for_next_round(self, *, immediate: bool) -> tuple[Attempt, ...]:
        """Return the earlier attempts that a round gets. Call it once in a round (OP-103)."""
        return self.backlog.attempts_for_next_round(_now(), immediate=immediate)

    def reset_backoff(self) -> None:
        """Report a round in which nothing failed."""
        self.backlog.reset_backoff(_now())

    def record_attempts(
        self, attempts: Iterable[Attempt], *, immediate: bool, has_moved: Callable[[Step], bool] = lambda _step: False
    ) -> None:
        """Take in the attempts of a round, and schedule the retry of what failed.

        One round follows a refusal or a failed deletion at once: the plan may change because of it, and nothing else
        may enqueue the root (OP-023). What fails in that round waits for the time that is set already.

        Args:
            attempts: of the round.
            immediate: whether it was the round that followed at once.
            has_moved: returns whether an object that a deletion depends on has changed since the plan was made.
        """
        found, was_waiting = tuple(attempts), self.backlog.has_waiting_write
        counted = tuple(_counted(attempt, has_moved=has_moved(attempt.step)) for attempt in found)
        is_deletion_withheld = self.backlog.record_attempts(counted)
        self.throttle.record_failed_creations(found)
        if all(attempt.outcome is AttemptOutcome.DONE for attempt in found):
            self.reset_backoff()
            return
        if is_deletion_withheld or any(attempt.outcome is AttemptOutcome.UNREACHABLE for attempt in found):
            self.pause_after_failed_round()
        if immediate:
            return
        self._schedule_retry(keep_time=was_waiting)
        if is_deletion_withheld or any(attempt.is_withheld for attempt in counted):
            self.is_immediate = True
            self.enqueue()

    def schedule_retry_of_failed_round(self) -> None:
        """Schedule the retry of a round that broke off."""
        self.pause_after_failed_round()
        self._schedule_retry(keep_time=self.backlog.has_waiting_write)

    def withhold_terminations(self, terminations: tuple[Attempt, ...]) -> None:
        """Withhold terminations before which the server could not be read, like refused ones (OP-013)."""
        was_waiting = self.backlog.has_waiting_write
        self.backlog.unconfirmed += terminations
        self.pause_after_failed_round()
        self._schedule_retry(keep_time=was_waiting)

    def forget_unwanted_writes(self, plan: Plan, seen: Snapshot) -> None:
        """Report no failed write that the plan does not want; a round follows that does not get it (OP-103)."""
        if self.backlog.forget_unwanted_writes(plan, seen):
            self.schedule_round_in(FIRST_BACKOFF)

    def schedule_round_at(self, moment: datetime | None, now: datetime) -> None:
        """Schedule a round for the moment at which time alone may change the plan (PL-008)."""
        if moment is not None:
            self.schedule_round_in((moment - now).total_seconds())

    def schedule_withheld_retry(self, *, immediate: bool) -> None:
        """Schedule the retry of what is withheld: an earlier round may have taken the place of that one (OP-020)."""
        if immediate or self.backlog.has_waiting_write:
            self.schedule_round_in(max(self.backlog.retry_at - _now(), _SHORTEST_REST))

    def schedule_round_in(self, seconds: float) -> None:
        """Schedule a round; of two scheduled rounds the earlier takes place (OP-020)."""
        when = _now() + min(max(seconds, 0.0), _LONGEST_SLEEP)
        if self._timer is not None and self._timer.when() <= when:
            return
        self.cancel_scheduled_round()
        self._timer = asyncio.get_running_loop().call_at(when, self._ring)

    def cancel_scheduled_round(self) -> None:
        """Cancel the scheduled round."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule_retry(self, *, keep_time: bool) -> None:
        self.schedule_round_in(self.backlog.take_next_backoff_seconds(_now(), keep_time=keep_time))

    def _ring(self) -> None:
        self._timer = None
        self.enqueue()


def _counted(attempt: Attempt, *, has_moved: bool) -> Attempt:
    """Return a failed part of a termination as withheld, unless an object that it depends on has changed (OP-103)."""
    is_unanswered = attempt.outcome is AttemptOutcome.UNREACHABLE or (
        attempt.outcome is AttemptOutcome.CONFLICT and not has_moved
    )
    is_withheld = is_unanswered and deletes_or_reports_termination(attempt.step)
    return replace(attempt, withheld=True) if is_withheld else attempt


def _now() -> float:
    return asyncio.get_running_loop().time()


def _sort_key(places: Mapping[Ref | str, int], step: Step) -> tuple[StepStage, int, int]:
    """Return the sort key of a step; of those that failed the one comes first that failed the longest ago."""
    return step.stage, places.get(clique_of_new_pod(step), 0), places.get(step.target, 0)


def _pause(statuses: int, seen: Snapshot, *, writes: bool) -> float:
    """Return how many seconds after the last statuses these may be written."""
    if statuses > _FEW and any(not pod.ready and not pod.deleting for _, pod in seen.pods()):
        return _PAUSE_WHILE_STARTING
    if writes:
        return _PAUSE_WHILE_WRITING
    return _PAUSE_BETWEEN_MANY if statuses > _FEW else 0.0


def _may_wait(step: Step) -> bool:
    """Return whether a step is a status that may be delayed: nothing depends on it, and it reports no termination."""
    action = step.action
    is_later = isinstance(action, SetStatus) and not action.is_urgent and action.report is None
    return is_later and step.stage is not StepStage.FOUNDATION
