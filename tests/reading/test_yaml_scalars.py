"""Scalars, keys and tags of YAML: what they mean (IN-001, IN-006)."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reading.yaml_text import BOTH, places, read, values

NUMBERS: Final = [
    ("0", 0),
    ("-0", 0),
    ("+1", 1),
    ("0777", 511),
    ("-017", -15),
    ("0o17", 15),
    ("08", 8),
    ("0x1F", 31),
    ("-0x1f", -31),
    ("0b101", 5),
    ("1_000", 1000),
    ("0_7", 7),
    ("1__0", 10),
    ("1.5", 1.5),
    ("1.0", 1),
    ("1.", 1),
    (".5", 0.5),
    ("+.5", 0.5),
    (".5_0", 0.5),
    ("1e3", 1000),
    ("12e-1", 1.2),
    ("-0.0", 0),
    ("08.5", 8.5),
    ("9223372036854775807", 2**63 - 1),
    ("18446744073709551615", 2**64 - 1),
    ("18446744073709551616", 2.0**64),
    ("-9223372036854775808", -(2**63)),
    ("0" + "7" * 30, float("7" * 30)),
    ("1e-400", 0),
]
NOT_NUMBERS: Final = ["_1", "._5", "0o8", "0x", "0b2", "0x1p4", "1e", ".e3", "1,000", "1e400", "+", "٣", "9" * 5000]


@BOTH
@pytest.mark.parametrize(("word", "number"), NUMBERS, ids=[word for word, _ in NUMBERS])
def test_in001_numbers(word: str, number: float, pure: bool) -> None:
    (value,) = values(f"a: {word}", pure=pure)[0].values()
    assert (value, type(value)) == (number, type(number))


@pytest.mark.parametrize("word", [*NOT_NUMBERS, "0x" + "F" * 17], ids=lambda word: word[:20])
def test_in001_what_is_no_number_is_text(word: str) -> None:
    assert values(f"a: {word}") == [{"a": word}]


@given(st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False))
def test_in001_numbers_written_by_a_machine_come_back(number: float) -> None:
    text = repr(number)
    assert values(f"a: {text}") == [{"a": number}]


@BOTH
@pytest.mark.parametrize(
    "word", ["2001-01-01", "2026-11-20T09:00:00Z", "2001-12-14t21:59:43.10-05:00", "1:30", "190:20:30", "1:30.5"]
)
def test_in001_times_stay_text(word: str, pure: bool) -> None:
    assert values(f"{word}: {word}", pure=pure) == [{word: word}]


KEYS: Final = [
    ("yes", "true"),
    ("off", "false"),
    ("0777", "511"),
    ("0x1F", "31"),
    ("1.0", "1"),
    ("1.50", "1.5"),
    ("1e6", "1e+06"),
    ("100000.0", "100000"),
    ("123456789.5", "1.2345679e+08"),
    ("1e-7", "1e-07"),
    ("0.0001", "0.0001"),
    ("0.1", "0.1"),
    ("-0.0", "-0"),
    ("1e40", ".inf"),
    (".inf", ".inf"),
    ("-.INF", "-.inf"),
    (".nan", ".nan"),
    ("'0777'", "0777"),
    ("!!str yes", "yes"),
    ("!!int 0777", "511"),
    ("-9223372036854775808", "-9223372036854775808"),
]


@BOTH
@pytest.mark.parametrize(("key", "text"), KEYS, ids=[key for key, _ in KEYS])
def test_in001_keys_become_text(key: str, text: str, pure: bool) -> None:
    assert values(f"{key}: 1\nb: {{{key}: 2}}", pure=pure) == [{text: 1, "b": {text: 2}}]


@BOTH
@pytest.mark.parametrize("key", ["~", "null", "? [a]\n", "? {a: 1}\n", "9223372036854775808"])
def test_in001_keys_that_have_no_text(key: str, pure: bool) -> None:
    items, faults = read(f"{key}: 1\n", pure=pure)
    assert not items
    assert [fault.line for fault in faults] == [1]


@BOTH
@pytest.mark.parametrize("word", [".inf", "+.Inf", "-.INF", ".nan", ".NaN", "!!float .inf"])
def test_in006_numbers_are_finite(word: str, pure: bool) -> None:
    assert places(f"a: [1, {word}]", pure=pure) == [(1, 8, "", "a[1]")]


@BOTH
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!str 1", "1"),
        ("!!str", ""),
        ("!!int '1'", 1),
        ("!!float 1_000", 1000),
        ("!!bool 'yes'", True),
        ("!!null ''", None),
        ("!!binary aGVsbG8=", "hello"),
        ("!foo 12", "12"),
        ("!!timestamp 2001-01-01", "2001-01-01"),
        ("!!set {a, b}", {"a": None, "b": None}),
        ("!foo [1]", [1]),
    ],
)
def test_in001_tags(text: str, value: object, pure: bool) -> None:
    assert values(f"a: {text}", pure=pure) == [{"a": value}]


@pytest.mark.parametrize("text", ["!!int x", "!!int ~", "!!bool x", "!!null x", "!!binary '!'", "!!binary /w=="])
def test_in001_tags_that_promise_too_much(text: str) -> None:
    assert places(f"- a: {text}") == [(1, 6, "items[0]", "a")]


@pytest.mark.parametrize("escape", ["\\ud83d\\ude00", "\\ud800", "\\UFFFFFFFF", "\\U00110000"])
@BOTH
def test_in016_escapes_that_are_no_characters(escape: str, pure: bool) -> None:
    items, faults = read(f'a: 1\n---\nb: "{escape}"\n', pure=pure)
    assert [item.value for item in items] == [{"a": 1}]
    assert [fault.document for fault in faults] == [2]
