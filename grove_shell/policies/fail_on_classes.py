"""The classes of ``--fail-on`` that forecasts contain (CL-002)."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain

from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import EntryUrgency, is_withheld_as_undecided
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.questions import DEFECT, TERMINATION
from grove_core.kernel.steps import Delete, is_gang_termination_deletion, removes_set_finalizer
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import DeletedPodFate


def fail_on_class_if_undecided(planned: Sequence[Forecast]) -> set[str]:
    """Return ``unknown`` where a termination could not be decided, which fails every check (CL-002)."""
    findings = chain.from_iterable(forecast.findings for forecast in planned)
    is_open = any(one.question == TERMINATION and one.verdict == ConditionStatus.UNKNOWN.value for one in findings)
    return {"unknown"} if is_open else set()


def fail_on_classes_of_incomplete_plans(planned: Iterable[Forecast]) -> set[str]:
    """Return the classes met by what a plan leaves out (CL-130, ED-011, ED-012, ED-015, IN-086, SC-027, WL-235).

    By these classes alone the number of pods that an edit restarts stays known.
    """
    classes: set[str] = set()
    for one in planned:
        uncollected = one.edit.uncollected if one.edit is not None else ()
        is_hidden = one.edit is not None and bool(one.edit.hidden)
        undecided = any(is_withheld_as_undecided(held) for round_ in one.rounds for held in round_.withheld)
        if uncollected or is_hidden or undecided or one.same_name is not None or not one.complete:
            classes.add("unknown")
        if one.removed is not None or any(kind.deleted for kind in uncollected):
            classes.add("delete")
    return classes


def fail_on_class_of_undecided_manifests(planned: Iterable[Forecast]) -> set[str]:
    """Return ``unknown`` where a manifest is not decided, which fails every check.

    It is not known which set it is for (IN-086), or whether it changes values that a capture redacted (ED-015).
    """
    for one in planned:
        is_hidden = one.edit is not None and one.edit.may_change_more
        if is_hidden or (one.same_name is not None and not one.same_name.is_namespace_given):
            return {"unknown"}
    return set()


def fail_on_classes_in_forecasts(planned: Iterable[Forecast], until: datetime | None = None) -> set[str]:
    """Return the ``--fail-on`` classes that any round of the forecasts contains (CL-002).

    Args:
        until: the end of the forecast time; None without ``--until``. A termination whose delay ends by then counts
            where the steps that would avert it are not predicted (GF-133), or were cut off (CL-130).
    """
    classes: set[str] = set()
    for forecast in planned:
        story = explanation_of_forecast(forecast)
        urgencies = {entry.urgency for entry in story.entries}
        steps = [step for round_ in forecast.rounds for step in round_.steps]
        withheld = [*_withheld_steps(forecast)]
        update = forecast.edit.update if forecast.edit is not None else None
        gone = tuple(pod for stage in update.stages for pod in stage.deleted) if update is not None else ()
        deletes = any(isinstance(step.action, Delete) or removes_set_finalizer(step) for step in steps) or bool(gone)
        waits = (entry.until for entry in story.entries_of_urgency(EntryUrgency.WAITS))
        due = until is not None and any(one is not None and one <= until for one in waits)
        found = {
            "terminate": EntryUrgency.TERMINATES in urgencies
            or any(map(is_gang_termination_deletion, steps))
            or any(pod.fate is DeletedPodFate.TERMINATED for pod in gone)
            or (due and (bool(story.unpredicted) or not forecast.complete)),
            "wait": EntryUrgency.WAITS in urgencies,
            "unknown": EntryUrgency.UNKNOWN in urgencies
            or bool(story.unpredicted)
            or any(map(is_withheld_as_undecided, withheld)),
            "withheld": bool(withheld),
            "restart": forecast.edit is not None and (update is None or bool(update.restarted.pods)),
            "defect": bool(story.notices_of(DEFECT)),
            "delete": deletes,
            "change": bool(steps),
        }
        classes |= {name for name, present in found.items() if present}
    return classes


def _withheld_steps(forecast: Forecast) -> Iterator[Withheld]:
    """Yield what is withheld, without gates of pods that the forecast itself creates where PodGangs are not known."""
    for number, round_ in enumerate(forecast.rounds):
        for held in round_.withheld:
            if not number or held.obstacle is not StepObstacle.GANGS_NOT_COLLECTED:
                yield held
