"""Conditions carry since when they hold, and that moment moves only with their status."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus, condition_of, next_transition_time
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.time_formats import truncated_to_seconds
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import read_conditions

START: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
MOMENTS: Final = st.timedeltas(timedelta(days=-400), timedelta(days=400)).map(lambda span: START + span)
TRUTHS: Final = st.sampled_from(ConditionStatus)
CONDITIONS: Final = st.builds(
    Condition,
    type=st.sampled_from(("Ready", "MinAvailableBreached", "PodCliqueScheduled")),
    status=TRUTHS,
    reason=st.text(max_size=5),
    message=st.text(max_size=5),
    last_transition_time=MOMENTS,
)


@pytest.mark.req("GT-019")
class TestTransitionTime:
    @given(CONDITIONS, MOMENTS)
    def test_the_same_status_keeps_its_time(self, stored: Condition, now: datetime) -> None:
        assert next_transition_time(stored, stored.status, now) == stored.last_transition_time

    @given(CONDITIONS, TRUTHS, MOMENTS)
    def test_another_status_starts_now(self, stored: Condition, status: ConditionStatus, now: datetime) -> None:
        if status is not stored.status:
            assert next_transition_time(stored, status, now) == truncated_to_seconds(now)

    @given(TRUTHS, MOMENTS)
    def test_a_new_condition_starts_now(self, status: ConditionStatus, now: datetime) -> None:
        assert next_transition_time(None, status, now) == truncated_to_seconds(now)

    @given(st.lists(st.tuples(TRUTHS, st.integers(0, 10**9).map(lambda micros: timedelta(microseconds=micros)))))
    def test_over_any_history_the_time_is_that_of_the_last_change(
        self, history: list[tuple[ConditionStatus, timedelta]]
    ) -> None:
        stored: Condition | None = None
        changed = now = START
        for status, passed in history:
            now += passed
            if stored is None or stored.status is not status:
                changed = truncated_to_seconds(now)
            since = next_transition_time(stored, status, now)
            stored = Condition("Ready", status, "Any", "", since)
            assert since == changed <= now


@pytest.mark.parametrize("truth", ConditionStatus)
def test_the_three_values_are_the_api_s_words(truth: ConditionStatus) -> None:
    assert truth.value.upper() == truth.name


def test_a_condition_is_found_by_its_type() -> None:
    ready = Condition("Ready", ConditionStatus.TRUE, "Up", "", START)
    assert condition_of((Condition("Other", ConditionStatus.FALSE, "Down", "", START), ready), "Ready") is ready
    assert condition_of((ready,), "Other") is None
    assert condition_of((), "Ready") is None


def test_a_condition_is_written_as_the_api_writes_it() -> None:
    assert thaw_json(Condition("Ready", ConditionStatus.UNKNOWN, "Lost", "node is gone", START).as_json) == {
        "type": "Ready",
        "status": "Unknown",
        "reason": "Lost",
        "message": "node is gone",
        "lastTransitionTime": "2026-11-20T09:00:00Z",
    }


@given(CONDITIONS)
def test_what_is_written_is_read_back(condition: Condition) -> None:
    status = JsonFieldReader({"conditions": [thaw_json(condition.as_json)]}, "status", [])
    assert read_conditions(status) == (condition,)
    assert status.problems == []
