"""One report of everything that is wrong with an input."""

from collections.abc import Sequence

from grove_shell.reading.faults import Fault
from grove_shell.views.page import Page


def faults_page(faults: Sequence[Fault], *, going_on: bool, closing: str = "") -> Page:
    """Every fault on a line of its own, with file, document, object and field path (IN-036).

    Args:
        faults: in order.
        going_on: whether something is decided in spite of them.
        closing: the last line, for commands that cannot go on.
    """
    page = Page()
    many = "1 problem" if len(faults) == 1 else f"{len(faults)} problems"
    page.add((f"{many} in the input", "bold red"))
    for fault in faults:
        page.add("  ", str(fault))
    if closing:
        page.add((closing, "dim"))
    elif going_on:
        page.add(("What they leave undecided is marked UNKNOWN; a PodCliqueSet that does not read is left out.", "dim"))
    else:
        page.add(("Nothing was decided. --keep-going decides what can be decided in spite of them.", "dim"))
    return page
