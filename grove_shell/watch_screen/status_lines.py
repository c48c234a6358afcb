"""Lines of the screen besides the objects: the clock, and what is wrong with the input."""

from datetime import datetime
from typing import Final

from rich.text import Text

from grove_core.kernel.time_formats import truncated_to_seconds
from grove_shell.exit_codes import CommandFailed
from grove_shell.styled_text_page import StyledTextPage, escape_unprintable
from grove_shell.views.formatting import clock_time
from grove_shell.watch_screen.watched_plan import WatchedPlan

_STANDS: Final = "the clock stands"


def page_from_text(text: str) -> StyledTextPage:
    """Return a page of plain lines."""
    page = StyledTextPage()
    for line in text.split("\n"):
        page.add_line(line)
    return page


def clock_line(plan: WatchedPlan, now: datetime) -> str:
    """Return the present time, and the time and the rule set of the plan."""
    clock = f"now {clock_time(truncated_to_seconds(now), plan.as_of)}" if plan.clock_runs else _STANDS
    return f"{clock}; {plan.time_and_rules}"


def planning_failure_page(fault: CommandFailed) -> StyledTextPage:
    """Return why nothing could be planned, as a page."""
    first = fault.args[0] if fault.args else ""
    if isinstance(first, StyledTextPage):
        return first
    return page_from_text(str(fault))


def outdated_screen_text(connection: str, failure: StyledTextPage | None, shown: datetime | None) -> Text:
    """Return why the screen may be out of date; empty where it is not.

    Args:
        connection: what is wrong with the connection; empty for nothing.
        failure: why the last plan could not be made; None where it was.
        shown: the time of the plan that is shown; None without one.
    """
    parts = [f"{connection}; trying again"] if connection else []
    if failure is not None:
        lines = [line for line in failure.plain_text.splitlines() if line.strip()]
        parts.append(" ".join(line.strip() for line in lines[:2]))
    if not parts:
        return Text()
    known = f" Shown: what was known at {clock_time(shown, shown)}." if shown is not None else ""
    return Text(escape_unprintable("; ".join(parts)) + "." + known, "bold red")
