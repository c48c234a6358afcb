"""The site breaks long lines of console blocks as the program does on a terminal."""

from docs.generator.console_blocks import COLUMNS, wrap_console_blocks
from tests.docs.site import text_of

LONG = "word " * 30
PAGE = f"{LONG}\n\n```console\n$ grove plan {LONG}\n  WAIT       {LONG}\nshort\n```\n\n```text\n{LONG}\n```\n"


def test_output_is_broken_and_indented_and_nothing_else() -> None:
    lines = wrap_console_blocks(PAGE).splitlines()
    assert lines[0] == LONG
    assert lines[3] == f"$ grove plan {LONG}"
    assert lines[4].startswith("  WAIT       word word")
    assert lines[5].startswith("             word")
    assert max(map(len, lines[4:6])) <= COLUMNS
    assert lines[6:] == ["short", "```", "", "```text", LONG, "```"]


def test_no_word_of_a_page_is_lost() -> None:
    page = text_of("how-to/stop-a-termination.md")
    assert wrap_console_blocks(page) != page
    assert wrap_console_blocks(page).split() == page.split()
