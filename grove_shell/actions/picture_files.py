"""Draws results into files (``--picture``); matplotlib, an extra, loads only then (CL-093)."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from grove_core.document.plan_document import PlanDocument
from grove_core.explain import explanation_of_forecast
from grove_core.plan.forecast import Forecast
from grove_shell.exit_codes import CommandFailed
from grove_shell.views.compare.compare_page import RuleSetComparisonReport, comparison_headline
from grove_shell.views.plan.plan_headline import plan_headline, time_and_rules_line
from grove_shell.views.plan.plan_notes import PlanPageContext
from grove_shell.views.plan.planned_terminations import ReplicaPendingTermination, replicas_pending_termination

if TYPE_CHECKING:
    from grove_shell.views.plan.termination_chart import TerminationChart


def require_matplotlib() -> None:
    """Raise CommandFailed if matplotlib is not installed."""
    from importlib.util import find_spec  # noqa: PLC0415 - few want a picture

    if find_spec("matplotlib") is None:
        raise CommandFailed("--picture needs matplotlib: pip install 'grove-plan[pictures]'")


def draw_plan(path: str, document: PlanDocument, until: datetime | None, context: PlanPageContext) -> None:
    """Draw the terminations of a plan into a file. Raises CommandFailed if the file cannot be written.

    Args:
        path: of the picture; its ending is the format.
        until: the end of the forecast time; None without ``--until``.
        context: as for the page of the plan; the title depends on it.
    """
    from grove_shell.views.plan.termination_chart import (  # noqa: PLC0415 - few want a picture
        TerminationChart,
        TerminationChartPanel,
        forecast_span_text,
    )

    stories = [explanation_of_forecast(forecast) for forecast in document.forecasts]
    now = document.as_of
    line = time_and_rules_line(now, document.rules, document.rules_from, document.as_of_from)
    verdicts = plan_headline(document, stories, context.nothing_judged, is_incomplete=context.loaded.lacks_objects)
    chart = TerminationChart(
        title="; ".join(text for text, _ in verdicts),
        subtitle=line + forecast_span_text(now, until),
        panels=(TerminationChartPanel("", replicas_pending_termination(document.forecasts, stories)),),
        now=now,
        until=until,
    )
    _draw(chart, path)


def draw_comparison(path: str, report: RuleSetComparisonReport) -> None:
    """Draw the terminations under both rule sets, side by side. Raises CommandFailed if the file cannot be written."""
    from grove_shell.views.plan.termination_chart import (  # noqa: PLC0415 - few want a picture
        TerminationChart,
        TerminationChartPanel,
        forecast_span_text,
    )

    now = report.as_of
    chart = TerminationChart(
        title="".join(text for text, _ in comparison_headline(report)),
        subtitle=f"as of {now.date().isoformat()} {now.strftime('%H:%M:%SZ')}{forecast_span_text(now, report.until)}",
        panels=tuple(
            TerminationChartPanel(f"rules '{name}'", _pending(forecasts))
            for name, forecasts in zip(report.rules, report.forecasts, strict=True)
        ),
        now=now,
        until=report.until,
    )
    _draw(chart, path)


def draw_picture(path: str, draw: Callable[[], None]) -> None:
    """Call what draws a file. Raises CommandFailed if the file cannot be written."""
    try:
        draw()
    except OSError as fault:
        raise CommandFailed(f"cannot write {path}: {fault.strerror or fault}") from fault


def _draw(chart: "TerminationChart", path: str) -> None:
    from grove_shell.views.plan.termination_chart import draw_termination_chart  # noqa: PLC0415 - few want a picture

    draw_picture(path, lambda: draw_termination_chart(chart, path))


def _pending(forecasts: Sequence[Forecast]) -> tuple[ReplicaPendingTermination, ...]:
    return replicas_pending_termination(forecasts, map(explanation_of_forecast, forecasts))
