"""Moments are read and written as Kubernetes does it: RFC 3339, in UTC."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.time_formats import format_time, parse_time, truncated_to_seconds

NINE: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
OFFSETS: Final = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS: Final = st.datetimes(
    min_value=datetime(2, 1, 1),  # noqa: DTZ001 - Hypothesis wants naive bounds and adds the zone itself
    max_value=datetime(9998, 12, 31),  # noqa: DTZ001 - as above
    timezones=OFFSETS,
)

READ: Final = (
    ("2026-11-20T09:00:00Z", NINE),
    ("2026-11-20t09:00:00z", NINE),
    ("2026-11-20T09:00:00+00:00", NINE),
    ("2026-11-20T09:00:00-00:00", NINE),
    ("2026-11-20T11:30:00+02:30", NINE),
    ("2026-11-19T23:00:00-10:00", NINE),
    ("2026-11-20T09:00:00.0Z", NINE),
    ("2026-11-20T09:00:00.5Z", NINE + timedelta(milliseconds=500)),
    ("2026-11-20T09:00:00.123456Z", NINE + timedelta(microseconds=123_456)),
    ("2026-11-20T09:00:00.123456999Z", NINE + timedelta(microseconds=123_456)),
    ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
    ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
    ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
)

REFUSED: Final = (
    "",
    "now",
    "2026-11-20",
    "2026-11-20T09:00:00",
    "2026-11-20 09:00:00Z",
    "2026-11-20T09:00Z",
    "2026-11-20T09:00:00.Z",
    "2026-11-20T09:00:00,5Z",
    "2026-11-20T09:00:00ZZ",
    "2026-11-20T09:00:00Z\n",
    " 2026-11-20T09:00:00Z",
    "20261120T090000Z",
    "2026-W47-5T09:00:00Z",
    "2026-11-20T09:00:00+0200",
    "2026-11-20T09:00:00+02",
    "2026-11-20T09:00:00+02:60",
    "2026-11-20T09:00:00+24:00",
    "2026-02-30T09:00:00Z",
    "2023-02-29T09:00:00Z",
    "2026-13-01T09:00:00Z",
    "2026-00-01T09:00:00Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T09:60:00Z",
    "2026-11-20T09:00:60Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "2026-11-20T09:00:0\N{ARABIC-INDIC DIGIT THREE}Z",
    "-2026-11-20T09:00:00Z",
)

WRITTEN: Final = (
    (NINE, "2026-11-20T09:00:00Z"),
    (NINE + timedelta(milliseconds=500), "2026-11-20T09:00:00.5Z"),
    (NINE + timedelta(microseconds=10), "2026-11-20T09:00:00.00001Z"),
    (NINE.astimezone(timezone(timedelta(hours=5, minutes=30))), "2026-11-20T09:00:00Z"),
    (datetime(33, 4, 3, 15, tzinfo=UTC), "0033-04-03T15:00:00Z"),
)


@pytest.mark.parametrize(("text", "moment"), READ)
def test_a_moment_is_read_as_utc(text: str, moment: datetime) -> None:
    read = parse_time(text)
    assert read == moment
    assert read is not None
    assert read.tzinfo is UTC


@pytest.mark.parametrize("text", REFUSED, ids=ascii)
def test_anything_else_is_no_moment(text: str) -> None:
    assert parse_time(text) is None


@pytest.mark.parametrize(("moment", "text"), WRITTEN)
def test_a_moment_is_written_in_utc(moment: datetime, text: str) -> None:
    assert format_time(moment) == text


@given(MOMENTS)
def test_what_is_written_is_read_back(moment: datetime) -> None:
    assert parse_time(format_time(moment)) == moment


@given(MOMENTS)
def test_any_zone_reads_as_the_same_moment(moment: datetime) -> None:
    assert parse_time(moment.isoformat()) == moment


@given(st.text() | st.text("0123456789-:.TZ+", max_size=30))
def test_reading_is_total(text: str) -> None:
    moment = parse_time(text)
    assert moment is None or moment.tzinfo is UTC


@given(MOMENTS)
def test_gt019_cutting_to_the_second_goes_back_by_less_than_one(moment: datetime) -> None:
    cut = truncated_to_seconds(moment)
    assert cut.microsecond == 0
    assert timedelta() <= moment - cut < timedelta(seconds=1)
    assert truncated_to_seconds(cut) == cut


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "XYZ-5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_from_greenwich")
def test_a_moment_is_written_in_utc_wherever_the_program_runs() -> None:
    assert format_time(datetime(2026, 11, 20, 9, 0, tzinfo=UTC)) == "2026-11-20T09:00:00Z"
