"""Long lines on a terminal: where they break, and where they go on."""

import pytest

from grove_shell.styled_text_page import StyledTextPage, wrapped_line

CITED = "  spec.replicas: must be at least 0, got -1  CountOutOfRange GT-096"


@pytest.mark.req("CL-089")
@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("short enough", ["short enough"]),
        (
            "as of 2026-11-20 09:00:00Z, rules 'design' of today",
            ["as of 2026-11-20 09:00:00Z, rules", "  'design' of today"],
        ),
        (
            "  WAIT       replica 0 until 10:15:00Z, then it is terminated",
            ["  WAIT       replica 0 until 10:15:00Z,", "             then it is terminated"],
        ),
        (
            "5m  kubelet      10 pods of llama placed on 10 nodes",
            ["5m  kubelet      10 pods of llama placed", "                 on 10 nodes"],
        ),
        (CITED, ["  spec.replicas: must be at least 0, got", "    -1  CountOutOfRange GT-096"]),
        ("note: " + "x" * 50 + " and more", ["note:", "  " + "x" * 50, "  and more"]),
        ("y" * 60, ["y" * 60]),
        ("  " + "word " * 3 + " " * 40 + "end", ["  word word word", "    end"]),
    ],
)
def test_cl089_a_line_goes_on_below_its_text(line: str, lines: list[str]) -> None:
    found = wrapped_line(((line[:9], "bold"), (line[9:], "")), 40)
    assert StyledTextPage([*found]).plain_text.splitlines() == lines


@pytest.mark.req("CL-089")
def test_cl089_a_style_goes_on_in_the_next_line() -> None:
    first, second = wrapped_line((("one two ", ""), ("three four five six seven", "bold")), 25)
    assert first == (("", ""), ("one two ", ""), ("three four five", "bold"))
    assert second == (("  ", ""), ("six seven", "bold"))


@pytest.mark.req("CL-089")
def test_cl089_a_terminal_too_narrow_for_columns_is_left_alone() -> None:
    line = ((" 5m1s  scheduler        10 pods of llama placed on 10 nodes", ""),)
    assert [*wrapped_line(line, 30)] == [line]
