"""A plan as Markdown, for a comment on a pull request: verdict, terminations, restarts, and the steps (CL-090)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from grove_core.document.plan_document import PlanDocument
from grove_core.explain import explanation_of_forecast
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact
from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import DeletedPod, DeletedPodFate, PodsAndGpus, UpdateForecast
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import (
    MAX_NAMES,
    clock_time,
    count_with_noun,
    join_names_with_commas,
    object_display_name,
    relative_time,
)
from grove_shell.views.markdown_text import MarkdownDocument
from grove_shell.views.plan.edit_lines import (
    field_dependents_text,
    merge_equal_clique_changes,
    value_text,
    what_serves_after,
)
from grove_shell.views.plan.plan_headline import plan_headline, time_and_rules_line
from grove_shell.views.plan.plan_notes import PlanPageContext, plan_notes_page
from grove_shell.views.plan.plan_page import add_calm_sets, add_set_lines, is_calm
from grove_shell.views.plan.planned_terminations import (
    ReplicaPendingTermination,
    TerminationAt,
    replicas_pending_termination,
)

_ROWS: Final = 50
_NAMED_PODS: Final = 3
_FATES: Final = {
    DeletedPodFate.RESTARTED: "restarted",
    DeletedPodFate.REMOVED: "removed",
    DeletedPodFate.TERMINATED: "terminated",
}


def plan_markdown(document: PlanDocument, context: PlanPageContext) -> str:
    """Return the plan as Markdown."""
    now, written = document.as_of, MarkdownDocument("grove plan")
    stories = [explanation_of_forecast(forecast) for forecast in document.forecasts]
    verdicts = plan_headline(document, stories, context.nothing_judged, is_incomplete=context.loaded.lacks_objects)
    written.add_verdict("; ".join(text for text, _ in verdicts))
    written.add_text(time_and_rules_line(now, document.rules, document.rules_from, document.as_of_from))
    _add_notes(written, plan_notes_page(document, context))
    rows = [
        row
        for pending in replicas_pending_termination(document.forecasts, stories)
        for row in termination_rows(pending, now)
    ]
    written.add_table(TERMINATION_HEAD, rows[:_ROWS], "termination", "Terminations, unless something changes")
    if len(rows) > _ROWS:
        written.add_text(f"and {count_with_noun(len(rows) - _ROWS, 'more termination')}")
    if any(not row[-1] for row in rows):
        written.add_text("Pods and GPUs of a later termination are known with --until.")
    for forecast in document.forecasts:
        _add_edit(written, forecast)
    calm = []
    by_urgency = sorted(zip(document.forecasts, stories, strict=True), key=lambda both: both[1].urgency_rank)
    for forecast, story in by_urgency:
        if is_calm(forecast, story, context):
            calm.append((forecast, story))
            continue
        page = StyledTextPage()
        add_set_lines(page, forecast, story, now, context)
        written.add_page(page, f"{_place(forecast.root)}: steps and reasons")
    page = StyledTextPage()
    if calm:
        add_calm_sets(page, calm)
    written.add_page(page, "sets without a termination")
    return written.text()


TERMINATION_HEAD: Final = ("time", "replica", "cause", "pods", "GPUs")
"""Of ``termination_rows``."""


def termination_rows(pending: ReplicaPendingTermination, now: datetime) -> Iterator[tuple[str, ...]]:
    """Yield a row for each termination of a replica, or one for the end of its delay where it has none."""
    first = pending.first
    ends = pending.ends.first or (TerminationAt(first, None),)
    replica = f"{_place(pending.root)} {object_display_name(pending.replica)}"
    for end in ends[:1] if pending.ends.all > len(ends) else ends:
        when = time_cell(end.at, now)
        more = f", then {pending.ends.all - 1:,} more" if pending.ends.all > len(ends) else ""
        cause = pending.cause if pending.is_caused_as_now(end) else end.cause
        yield (f"{when}{more}", replica, cause, *impact_cells(end.impact))


def time_cell(at: datetime, now: datetime) -> str:
    """Return a time for a table, with how far it is away."""
    return "now" if at <= now else f"{clock_time(at, now)} ({relative_time(at, now)})"


def impact_cells(impact: DeletionImpact | None) -> tuple[str, str]:
    """Return the numbers of pods and GPUs for a table; empty where they are not known."""
    if impact is None:
        return "", ""
    ready = f" ({impact.ready:,} ready)" if impact.ready else ""
    return f"{impact.pods:,}{ready}", f"{impact.gpus:,}"


def _place(root: Ref) -> str:
    return f"{root.namespace}/{root.name}" if root.namespace else root.short


def _add_notes(written: MarkdownDocument, page: StyledTextPage) -> None:
    """Add the notes as a list; a line that continues a note is part of its item."""
    items: list[str] = []
    for line in page.plain_text.splitlines():
        if line.startswith(" ") and items and not line.strip().startswith(("DENIED", "WARNED")):
            items[-1] += f" {line.strip()}"
        elif line.strip():
            items.append(" ".join(line.split()))
    written.add_list(items, "note")


def _add_edit(written: MarkdownDocument, forecast: Forecast) -> None:
    """Add the changed fields of an edit, and the pods that it restarts, stage by stage."""
    edit, name = forecast.edit, _place(forecast.root)
    if edit is None:
        return
    changes = merge_equal_clique_changes(edit.changes)
    rows = [
        (one.path, value_text(one.before), value_text(one.after), field_dependents_text(one, edit.update))
        for one in changes
    ]
    written.add_table(("field", "before", "after", "effect"), rows[:_ROWS], "field", f"Edit of {name}")
    if edit.update is None:
        return
    stages = list(_stage_rows(edit.update))
    head = ("stage", "what", "pods", "GPUs", "names", "then")
    written.add_table(head, stages[:_ROWS], "stage", f"Pods of {name} that go, if each new pod is placed and ready")
    left_out = max(len(stages) - _ROWS, 0) + max(len(rows) - _ROWS, 0)
    if left_out:
        written.add_text(f"and {count_with_noun(left_out, 'more row')}")


def _stage_rows(update: UpdateForecast) -> Iterator[tuple[str, ...]]:
    for number, stage in enumerate(update.stages, 1):
        for fate, word in _FATES.items():
            pods = [pod for pod in stage.deleted if pod.fate is fate]
            if pods:
                total = PodsAndGpus.of_pods(pods)
                then = what_serves_after(stage).removeprefix("; then ")
                yield f"{number}", word, f"{total.pods:,}", f"{total.gpus:,}", _names(pods), then


def _names(pods: list[DeletedPod]) -> str:
    if len(pods) <= _NAMED_PODS:
        return ", ".join(f"{pod.pod.name}{f' on {pod.node}' if pod.node else ''}" for pod in pods)
    cliques = list(dict.fromkeys(pod.clique.name for pod in pods))
    return f"of {join_names_with_commas(cliques, MAX_NAMES)}"
