"""Saves results as HTML files (``--html``); the templates and their engine load only then (HP-010)."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from grove_shell.styled_text_page import StyledTextPage

if TYPE_CHECKING:
    from grove_shell.html.report_trees import PlansOfResult


def save_report(
    path: str | None,
    command: str,
    page: Callable[[], StyledTextPage],
    title: str = "",
    title_style: str = "",
    plans: "Callable[[], PlansOfResult] | None" = None,
) -> None:
    """Save the page of a command as an HTML file; nothing without a path.

    Args:
        page: called only with a path.
        title: what stands above, in ``title_style``; the first line of the page where it is empty.
        plans: called only with a path; the plans that the result was made of, None where that is no plan.

    Raises:
        OSError: the file cannot be written.
    """
    if path is None:
        return
    from grove_shell.html.report_html import report_html  # noqa: PLC0415 - few results are saved as a page

    text = report_html(command, page(), title=title, title_style=title_style, plans=plans and plans())
    save_html_file(path, text)


def save_html_file(path: str, text: str) -> None:
    """Write an HTML file as UTF-8 with the same line ends everywhere. Raises OSError where that fails."""
    Path(path).write_text(text, encoding="utf-8", newline="\n")
