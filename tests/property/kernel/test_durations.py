"""Durations are read as strictly as Go reads them, and written as Go writes them."""

from datetime import timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.time_formats import format_go_duration, parse_duration, short_duration_text

HOUR: Final = timedelta(hours=1)
MICROSECOND: Final = timedelta(microseconds=1)
LONGEST: Final = timedelta(microseconds=(2**63 - 1) // 1_000)
SPANS: Final = st.timedeltas(min_value=timedelta(), max_value=LONGEST) | st.integers(0, 200).map(
    lambda minutes: timedelta(minutes=minutes)
)

ACCEPTED: Final = (
    ("4h", 4 * HOUR),
    ("1h30m", timedelta(minutes=90)),
    ("90s", timedelta(seconds=90)),
    ("90m", timedelta(minutes=90)),
    ("1h0m0s", HOUR),
    ("30m1h", timedelta(minutes=90)),
    ("1m1m", timedelta(minutes=2)),
    ("0", timedelta()),
    ("+0", timedelta()),
    ("0s", timedelta()),
    ("00h", timedelta()),
    ("+5s", timedelta(seconds=5)),
    ("1.5h", timedelta(minutes=90)),
    (".5h", timedelta(minutes=30)),
    ("5.h", 5 * HOUR),
    ("1.25m", timedelta(seconds=75)),
    ("100ms", timedelta(milliseconds=100)),
    ("7us", 7 * MICROSECOND),
    ("7µs", 7 * MICROSECOND),
    ("7\N{GREEK SMALL LETTER MU}s", 7 * MICROSECOND),
    ("1000ns", MICROSECOND),
    ("0.000001s", MICROSECOND),
    ("1h2m3s4ms5us6000ns", timedelta(hours=1, minutes=2, seconds=3, milliseconds=4, microseconds=11)),
    ("0ns", timedelta()),
    ("9223372036854775000ns", LONGEST),
    ("0.0000000000000000000000000000001h", timedelta()),
    ("2562047h47m16.854775s", LONGEST),
    ("0" * 5_000 + "4h", 4 * HOUR),
    ("1." + "0" * 5_000 + "1h", HOUR),
)

REFUSED: Final = (
    "",
    "+",
    "-",
    "h",
    ".",
    ".h",
    "4",
    "-0",
    "-1h",
    "+-1h",
    "1h-5m",
    "1h+5m",
    "1d",
    "1w",
    "1H",
    "1 h",
    " 4h",
    "4h ",
    "4h\n",
    "1h30",
    "1,5h",
    "1.5.5h",
    "1e3s",
    "0x10s",
    "four hours",
    "PT4H",
    "None",
    "\N{ARABIC-INDIC DIGIT THREE}h",
    "\N{FULLWIDTH DIGIT FOUR}h",
    "1ns",
    "1500ns",
    "0.0000001s",
    "2562048h",
    "2562047h47m16.854776s",
    "9223372036854775808ns",
    "99999999999999999999h",
    "9" * 5_000 + "h",
)

AS_GO_WRITES: Final = (
    (timedelta(), "0s"),
    (MICROSECOND, "1µs"),
    (999 * MICROSECOND, "999µs"),
    (1_000 * MICROSECOND, "1ms"),
    (1_500 * MICROSECOND, "1.5ms"),
    (1_001 * MICROSECOND, "1.001ms"),
    (timedelta(milliseconds=90), "90ms"),
    (timedelta(seconds=1), "1s"),
    (timedelta(seconds=1, microseconds=1), "1.000001s"),
    (timedelta(seconds=59, milliseconds=500), "59.5s"),
    (timedelta(seconds=60), "1m0s"),
    (timedelta(seconds=90), "1m30s"),
    (timedelta(minutes=10), "10m0s"),
    (HOUR, "1h0m0s"),
    (4 * HOUR, "4h0m0s"),
    (timedelta(hours=1, seconds=1), "1h0m1s"),
    (timedelta(hours=1, microseconds=1), "1h0m0.000001s"),
    (timedelta(days=2, minutes=5), "48h5m0s"),
    (LONGEST, "2562047h47m16.854775s"),
    (-MICROSECOND, "-1µs"),
    (-timedelta(milliseconds=1, microseconds=500), "-1.5ms"),
    (-timedelta(minutes=90), "-1h30m0s"),
)

FOR_PEOPLE: Final = (
    (timedelta(), "0s"),
    (4 * HOUR, "4h"),
    (timedelta(hours=2, minutes=2), "2h2m"),
    (timedelta(hours=1, minutes=10), "1h10m"),
    (timedelta(hours=10, seconds=10), "10h0m10s"),
    (timedelta(minutes=10), "10m"),
    (timedelta(seconds=90), "1m30s"),
    (timedelta(seconds=10), "10s"),
    (-timedelta(minutes=90), "-1h30m"),
)


@pytest.mark.parametrize(("text", "span"), ACCEPTED, ids=lambda value: str(value)[:30])
def test_gt090_a_go_duration_is_read(text: str, span: timedelta) -> None:
    assert parse_duration(text) == span


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text)[:30])
def test_gt090_anything_else_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


@given(st.text() | st.text("0123456789.hmsuµn+- ", max_size=12))
def test_gt090_reading_is_total_and_never_gives_less_than_nothing(text: str) -> None:
    span = parse_duration(text)
    assert span is None or timedelta() <= span <= LONGEST


@given(SPANS)
def test_gt090_what_is_written_is_read_back(span: timedelta) -> None:
    assert parse_duration(format_go_duration(span)) == span


@given(SPANS)
def test_gt090_what_is_written_for_people_is_read_back(span: timedelta) -> None:
    assert parse_duration(short_duration_text(span)) == span


@given(SPANS.filter(bool))
def test_a_negative_span_is_the_same_text_with_a_minus(span: timedelta) -> None:
    assert format_go_duration(-span) == f"-{format_go_duration(span)}"


@pytest.mark.parametrize(("span", "text"), AS_GO_WRITES)
def test_a_span_is_written_as_go_writes_it(span: timedelta, text: str) -> None:
    assert format_go_duration(span) == text


@pytest.mark.parametrize(("span", "text"), FOR_PEOPLE)
def test_people_are_spared_the_zero_tails(span: timedelta, text: str) -> None:
    assert short_duration_text(span) == text
