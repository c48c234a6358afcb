"""Status steps without what a failed or withheld deletion makes untrue."""

from grove_core.kernel.frozen import EMPTY, FrozenMap, object_under_key
from grove_core.kernel.steps import SetStatus, Step
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import UPDATE_ENDED, UPDATE_PROGRESS


def status_step_without_termination(step: Step) -> Step | None:
    """Return a status step without its report of a termination; None where nothing else is left to write (PL-028)."""
    report = step.action.report if isinstance(step.action, SetStatus) else None
    if not isinstance(step.action, SetStatus) or report is None or not report.fields:
        return None
    return replace(step, action=replace(step.action, fields=report.fields, report=None), because=report.because)


def status_without_update_end(step: Step) -> Step:
    """Return a status step without the end of an update (PL-036)."""
    progress = object_under_key(step.action.fields, UPDATE_PROGRESS) if isinstance(step.action, SetStatus) else EMPTY
    if not isinstance(step.action, SetStatus) or UPDATE_ENDED not in progress:
        return step
    begun = FrozenMap({key: value for key, value in progress.items() if key != UPDATE_ENDED})
    fields = FrozenMap({**step.action.fields, UPDATE_PROGRESS: begun})
    return replace(step, action=replace(step.action, fields=fields))
