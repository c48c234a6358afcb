"""Faults of Grove's own code, as its logs tell them."""

import pytest

from grove_core.kernel.time_formats import parse_duration
from grove_shell.log_lines import error_on_one_line


def test_op023_a_fault_is_reported_with_the_innermost_place_in_our_code() -> None:
    with pytest.raises(AttributeError) as caught:
        parse_duration(None)  # type: ignore[arg-type]  # what no caller of ours may do
    reported = error_on_one_line(caught.value)
    assert reported.startswith("AttributeError: ")
    assert "(at grove_core/kernel/time_formats.py:" in reported


def test_op023_a_fault_of_others_has_its_words_on_one_line() -> None:
    assert error_on_one_line(ValueError("a\nb")) == "ValueError: a b"
