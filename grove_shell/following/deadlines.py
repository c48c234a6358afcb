"""When a plan is another one though its input has not changed (CL-098, WA-003)."""

from collections.abc import Iterable
from datetime import datetime

from grove_core.document.plan_document import PlanDocument
from grove_core.forecast_explanation import ForecastExplanation


def next_deadline(document: PlanDocument, stories: Iterable[ForecastExplanation]) -> datetime | None:
    """Return the first time after that of a plan at which it changes by itself; None where there is none."""
    times = [round_.at for forecast in document.forecasts for round_ in forecast.rounds]
    times += [entry.until for story in stories for entry in story.entries if entry.until is not None]
    return min((one for one in times if one > document.as_of), default=None)
