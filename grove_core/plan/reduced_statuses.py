"""Status steps without what a failed or withheld deletion makes untrue."""

from dataclasses import replace

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.steps import SetStatus, Step
from grove_core.resources.api_names import UPDATE_PROGRESS


def without_termination_report(step: Step) -> Step | None:
    """Return a status step without its report of a termination; None where nothing else is left to write (PL-028)."""
    report = step.action.report if isinstance(step.action, SetStatus) else None
    if not isinstance(step.action, SetStatus) or report is None or not report.fields:
        return None
    return replace(step, action=replace(step.action, fields=report.fields, report=None), because=report.because)


def without_update_progress(step: Step) -> Step | None:
    """Return a status step without the progress of an update; None where nothing else is left to write (PL-036)."""
    if not isinstance(step.action, SetStatus):
        return step
    kept = FrozenMap({key: value for key, value in step.action.fields.items() if key != UPDATE_PROGRESS})
    return replace(step, action=replace(step.action, fields=kept)) if kept else None
