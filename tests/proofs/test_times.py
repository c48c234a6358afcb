"""Proofs about times and delays, for all of the calendar; skipped without z3 (the extra ``proofs``)."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed (the extra `proofs`)")

import z3

from grove_core.areas.gang_termination.breach_delays import (
    breach_delay_end,
    replica_fate_of_breaches,
)
from grove_core.areas.gang_termination.field.clique_judgement import (
    is_condition_past_creation_grace,
)
from grove_core.areas.gang_termination.verdicts import (
    Terminate,
    Wait,
)
from grove_core.kernel.conditions import Condition, ConditionStatus
from tests.exhaustive.snapshots import NOW
from tests.proofs.subjects import LAST, breach_of
from tests.proofs.symbolic import (
    Moment,
    Number,
    Span,
    Unproved,
    in_calendar,
    in_range,
    paths,
    prove,
    term,
)


@pytest.mark.req("GT-030")
def test_gt032_a_delay_ends_at_the_transition_plus_the_delay() -> None:
    """For every time and delay: the sum, or the last date where the calendar has no such date."""
    since, delay = Moment("since"), Span("delay")
    count = prove(
        in_calendar(since) + in_range(delay),
        lambda: breach_delay_end(since, delay),  # type: ignore[arg-type]  # symbolic times
        lambda end: term(end) == z3.If(since.term + delay.term <= LAST, since.term + delay.term, LAST),
    )
    assert count == 2


@pytest.mark.req("GT-033")
@pytest.mark.req("GT-034")
@pytest.mark.req("GF-050")
@pytest.mark.req("GF-072")
@pytest.mark.req("GF-076")
@pytest.mark.parametrize("size", [1, 2, 3])
def test_gt032_a_replica_is_terminated_exactly_from_the_end_of_its_first_delay_on(size: int) -> None:
    """For every time, and any delays of up to three breaches: exactly from the first sum on; else it waits until then.

    A delay that ends at the last microsecond of the calendar never ends for the product (``end < _END_OF_TIME``).
    """
    now, all_since = Moment("now"), [Moment(f"since{number}") for number in range(size)]
    delays = [Span(f"delay{number}") for number in range(size)]
    breaches = [breach_of(*one) for one in zip(range(size), all_since, delays, strict=True)]
    ends = [since.term + delay.term for since, delay in zip(all_since, delays, strict=True)]

    def as_specified(fate: Terminate | Wait) -> Any:
        due = z3.Or(*(z3.And(end <= now.term, end < LAST) for end in ends))
        if isinstance(fate, Terminate):
            return due
        first = [z3.If(end <= LAST, end, LAST) for end in ends]
        until = term(fate.until)
        return z3.And(z3.Not(due), *(until <= end for end in first), z3.Or(*(until == end for end in first)))

    count = prove(
        in_calendar(now, *all_since) + in_range(*delays),
        lambda: replica_fate_of_breaches(breaches, now),  # type: ignore[arg-type]  # symbolic times
        as_specified,
    )
    assert count > size


@pytest.mark.req("GF-041")
def test_gf040_a_condition_is_history_after_five_seconds() -> None:
    """For every time of a condition and every creation time."""
    since, made = Moment("since"), Moment("made")
    condition = Condition("PodCliqueScheduled", ConditionStatus.FALSE, "", "", since)  # type: ignore[arg-type]  # symbolic
    prove(
        in_calendar(since, made),
        lambda: bool(is_condition_past_creation_grace(condition, made)),  # type: ignore[arg-type]  # symbolic
        lambda late: (since.term - made.term > 5_000_000) == late,
    )


def test_a_false_claim_is_refuted() -> None:
    """A proof that cannot fail would prove nothing: each claim here is wrong at one value only."""
    since, delay, now = Moment("since"), Span("delay"), Moment("now")
    assumed = in_calendar(since, now) + in_range(delay)
    with pytest.raises(Unproved):  # the calendar ends
        prove(
            assumed,
            lambda: breach_delay_end(since, delay),  # type: ignore[arg-type]  # symbolic
            lambda end: term(end) == since.term + delay.term,
        )
    with pytest.raises(Unproved):  # due at the end of the delay, and not only after it
        prove(
            assumed,
            lambda: replica_fate_of_breaches([breach_of(0, since, delay)], now),  # type: ignore[arg-type]  # symbolic
            lambda fate: z3.Implies(isinstance(fate, Terminate), since.term + delay.term < now.term),
        )


def test_the_last_microsecond_of_the_calendar_alone_refutes_the_rule() -> None:
    since, delay, now = Moment("since"), Span("delay"), Moment("now")

    def prove_with(*more: Any) -> int:
        return prove(
            [*in_calendar(since, now), *in_range(delay), *more],
            lambda: replica_fate_of_breaches([breach_of(0, since, delay)], now),  # type: ignore[arg-type]  # symbolic
            lambda fate: (since.term + delay.term <= now.term) == isinstance(fate, Terminate),
        )

    with pytest.raises(Unproved):
        prove_with()
    assert prove_with(since.term + delay.term != LAST) > 1


@pytest.mark.parametrize(
    "since", [NOW, datetime.min.replace(tzinfo=UTC), datetime(2000, 2, 29, 1, 2, 3, 456, tzinfo=UTC)]
)
@pytest.mark.parametrize("delay", [timedelta(microseconds=1), timedelta(hours=4), timedelta(days=2_000_000)])
def test_symbolic_times_calculate_as_those_of_python(since: datetime, delay: timedelta) -> None:
    """One path, and the value that Python has; the proofs rest on that."""

    def calculated() -> list[Moment | Span]:
        moment = Moment(term(since))
        return [moment + Span(term(delay)), moment.replace(microsecond=0), moment - NOW, NOW - moment]

    expected = [since + delay, since.replace(microsecond=0), since - NOW, NOW - since]
    ((_, found),) = paths([], calculated)
    assert [z3.simplify(one.term).as_long() for one in found] == [term(one).as_long() for one in expected]
    late = Moment(LAST)
    with pytest.raises(OverflowError):
        list(paths([], lambda: late + delay))


def test_every_path_is_taken_once() -> None:
    first, second = Number("first"), Number("second")
    found = [
        result
        for _, result in paths([first.term >= 0], lambda: (bool(first > 2), bool(first < 1), bool(second == first)))
    ]
    assert sorted(found) == sorted(
        [(above, below, same) for above, below, same in product((True, False), repeat=3) if not (above and below)]
    )
