"""When a set or a topology is looked at again: after a rest, at a moment of its plan, after what failed."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import uniform
from typing import Final

from grove_core.kernel.steps import Attempt, Delete, Outcome, Step, is_of_end
from grove_core.plan.plan import Plan
from grove_core.plan.unfinished import still_wanted, unfinished_after, with_former
from grove_core.resources.podclique import GROUP_KIND
from grove_core.snapshot.expectations import refused_so_far
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.operator.write_throttle import WriteThrottle

_TOLD: Final = frozenset({"PodClique", GROUP_KIND})  # of whose breaches a status tells
_SHARE: Final = 4  # a set that took so long to think about rests so many times as long
_SHORTEST_REST: Final = 0.02
_FIRST_PATIENCE: Final = 0.25
_LONGEST_PATIENCE: Final = 60.0
_LONGEST_SLEEP: Final = 3600.0


@dataclass(slots=True)
class Requeue:
    """One set or topology in the queue; moments are of the loop's clock.

    Attributes:
        wake: asks for a look.
        dirty: something changed since its last look.
        rest_until: no look before, so that a burst of changes is one look.
        refused: what the server would not have lately (PL-012), or was to be asked about (PL-029), and until when that
            stands.
        in_vain: deletions that were not done for another reason: they stand for the look that follows at once (OP-105).
        unfinished: writes that failed and that looks have to know of until they are tried again (GF-091, GT-067).
        again: the next look is the one that follows a refusal at once (OP-028).
        pace: which steps of a plan are tried now.
    """

    wake: Callable[[], None]
    dirty: bool = False
    task: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None
    rest_until: float = 0.0
    patience: float = _FIRST_PATIENCE
    refused: tuple[Attempt, ...] = ()
    refused_until: float = 0.0
    in_vain: tuple[Attempt, ...] = ()
    unfinished: tuple[Attempt, ...] = ()
    again: bool = False
    pace: WriteThrottle = field(default_factory=WriteThrottle)

    def rest(self, seconds: float = 0.0) -> None:
        """No look for a while, the longer the longer the last one was thought about."""
        self._rest_for(max(seconds * _SHARE, _SHORTEST_REST))

    def leave_alone(self) -> None:
        """No look for the first pause: changes are many where a server is not well (OP-023)."""
        self._rest_for(_FIRST_PATIENCE)

    def _rest_for(self, seconds: float) -> None:
        self.rest_until = max(self.rest_until, _now() + seconds)

    def stands(self, *, again: bool) -> tuple[Attempt, ...]:
        """What was refused; when it had its time it is tried again if anybody still wants it. Asked once in a round.

        Of an end that has begun it is told then too what failed: what is missing is missing for that (GF-091).
        """
        if not again and _now() >= self.refused_until:
            self.unfinished = with_former(self.unfinished, self.refused)
            self.refused = ()
        return (*self.refused, *(self.in_vain if again else ()), *self.unfinished)

    def went_well(self) -> None:
        """Patience begins anew when nothing failed for as long as the next pause would be (OP-023).

        A round between two tries says nothing of what fails: it may make what the next try ends again.
        """
        if not self.refused and _now() >= self.refused_until + self.patience:
            self.patience = _FIRST_PATIENCE

    def remember(
        self, attempts: Iterable[Attempt], *, again: bool, moved: Callable[[Step], bool] = lambda _step: False
    ) -> None:
        """Refusals stand until their time is over; what failed is tried again, later each time.

        What is refused may be a reason to go another way (WL-088), which nothing else may be there to wake the set
        for; so one look follows at once, and what that one meets waits for the time that is set already (OP-028). So it
        does on a deletion in vain: of who recovered it is told what was not told while he was to go (OP-105).

        Args:
            attempts: of the round, as they were answered.
            again: whether it was the look that followed at once.
            moved: whether something that a deletion rests on is not as it was judged any more.
        """
        answers, stood = tuple(attempts), bool(self.refused)
        told = tuple(_as_it_stands(answer, moved=moved(answer.step)) for answer in answers)
        self.refused, self.unfinished = refused_so_far(self.refused, told), unfinished_after(self.unfinished, told)
        self.in_vain = tuple(replace(one, outcome=Outcome.REFUSED) for one in told if _is_in_vain(one))
        self.pace.take(answers)
        if all(answer.outcome is Outcome.DONE for answer in answers):
            self.went_well()
            return
        if self.in_vain or any(answer.outcome is Outcome.UNREACHABLE for answer in answers):
            self.leave_alone()
        if again:
            return
        self.retry(stood=stood)
        if self.in_vain or any(answer.outcome is Outcome.REFUSED for answer in told):
            self.again = True
            self.wake()

    def put_off(self, ends: tuple[Attempt, ...]) -> None:
        """Ends before which the server could not be asked wait like refused ones (OP-104)."""
        stood = bool(self.refused)
        self.refused = (*self.refused, *ends)
        self.leave_alone()
        self.retry(stood=stood)

    def forget_unwanted(self, plan: Plan, seen: Snapshot) -> None:
        """What failed and nobody wants any more; what waited for it is looked at without it (OP-103)."""
        kept = still_wanted(self.unfinished, plan, seen)
        if len(kept) < len(self.unfinished):
            self.unfinished = kept
            self.look_in(_FIRST_PATIENCE)

    def retry(self, *, stood: bool) -> None:
        """Look again after a while, which is longer each time.

        Args:
            stood: whether something was refused before already: that keeps its time, or what fails elsewhere in the
                set would put it off for ever.
        """
        pause = self.patience * uniform(0.8, 1.0)  # noqa: S311 - no secret
        self.patience = min(self.patience * 2, _LONGEST_PATIENCE)
        if not stood:
            self.refused_until = _now() + pause
        self.look_in(pause)

    def look_at(self, moment: datetime | None) -> None:
        """Look again when time alone may change something (PL-008)."""
        if moment is not None:
            self.look_in((moment - datetime.now(UTC)).total_seconds())

    def look_for_refused(self, *, again: bool) -> None:
        """An earlier look may have taken the place of the one that tries again what was refused (OP-026)."""
        left = self.refused_until - _now()
        if again or self.refused:
            self.look_in(max(left, _SHORTEST_REST))

    def look_in(self, seconds: float) -> None:
        """The earlier of two looks counts, also one that is due; the later one follows from its plan (OP-071)."""
        when = _now() + min(max(seconds, 0.0), _LONGEST_SLEEP)
        if self.timer is not None and self.timer.when() <= when:
            return
        self.stop()
        self.timer = asyncio.get_running_loop().call_at(when, self._ring)

    def stop(self) -> None:
        """No look that was planned takes place."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _ring(self) -> None:
        self.timer = None
        self.wake()


def _as_it_stands(answer: Attempt, *, moved: bool) -> Attempt:
    """What of an end was not done waits for its time like what was refused, unless something changed (OP-102)."""
    is_silence = answer.outcome is Outcome.UNREACHABLE or (answer.outcome is Outcome.CONFLICT and not moved)
    return replace(answer, outcome=Outcome.REFUSED) if is_silence and is_of_end(answer.step) else answer


def _is_in_vain(answer: Attempt) -> bool:
    """Whether an object that has a status was to go, stays, and nothing stands for that."""
    was_to_go = isinstance(answer.step.action, Delete) and answer.step.target.kind in _TOLD
    return was_to_go and answer.outcome in {Outcome.CONFLICT, Outcome.UNREACHABLE}


def _now() -> float:
    return asyncio.get_running_loop().time()
