"""The page of everything that is wrong with an input, and its last line."""

from collections.abc import Sequence
from typing import Final

from grove_shell.page import Page
from grove_shell.reading.input_faults import NO_SUCH_FILE, InputFault
from grove_shell.views.formatting import plural

NOTHING_DECIDED: Final = "Nothing was decided."
NOTHING_STARTED: Final = "Nothing was started."
NOTHING_RUN: Final = "Nothing was run."
NOTHING_PLAYED: Final = "Nothing was simulated."
NOTHING_PRINTED: Final = "Nothing was printed."
NOTHING_REPLAYED: Final = "Nothing was replayed."
KEEP_GOING: Final = f"{NOTHING_DECIDED} --keep-going decides what can be decided despite them."
"""For commands that have this option."""


def input_problems_closing_line(faults: Sequence[InputFault]) -> str:
    """Return the last line where nothing was decided; it advises ``--keep-going`` unless only files are missing."""
    return NOTHING_DECIDED if all(fault.got == NO_SUCH_FILE for fault in faults) else KEEP_GOING


REST_UNKNOWN: Final = "What depends on them is marked UNKNOWN; a PodCliqueSet that cannot be read is left out."
REST_JUDGED: Final = "The files that could be read were still checked:"
NOTHING_CHECKED: Final = "Nothing was checked."
COMMAND_LINE: Final = "command line"
"""As the file of a fault."""


def input_problems_page(faults: Sequence[InputFault], closing: str) -> Page:
    """Return a page with one line for each problem: file, document, object and field path (IN-030).

    Args:
        closing: the last line: what the command did despite them.
    """
    page = Page()
    where = "on the command line" if {fault.file for fault in faults} == {COMMAND_LINE} else "in the input"
    page.add((f"{plural(len(faults), 'problem')} {where}", "bold red"))
    for fault in faults:
        page.add("  ", str(fault))
    page.add((closing, "dim"))
    return page
