"""The notes of a plan's page: what the input lacks, what is wrong with it, and whether its time fits the clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from grove_core.document.plan_document import PlanDocument
from grove_core.explain import Explanation, Urgency, explanation_of
from grove_core.kernel.time_formats import format_time, short_duration
from grove_shell.page import Page
from grove_shell.reading.loaded_input import LoadedInput
from grove_shell.views.formatting import MAX_NAMES, comma_separated_names, plural, relative_time

_OLD: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPageContext:
    """What the page of a plan shows besides the plan.

    Attributes:
        nothing_judged: why nothing was decided; empty where something was (CL-056).
        sets_with_unknown_nodes: sets whose required topology constraints cannot be checked (TP-131).
        operator_note: which operator runs the cluster, where the rule set is that of another one (GF-111).
        newest_time: the newest time in the input; None where it has none.
        verbose: whether to list every entry, and every write of every round.
        decisions: whether to list every verdict.
    """

    loaded: LoadedInput
    nothing_judged: str
    sets_with_unknown_nodes: tuple[str, ...]
    operator_note: str
    newest_time: datetime | None
    is_now_given: bool
    verbose: bool
    decisions: bool


def plan_notes_page(document: PlanDocument, context: PlanPageContext) -> Page:
    """Return a page of the notes alone, to print beside a document."""
    page = Page()
    add_plan_notes(page, document, [explanation_of(forecast) for forecast in document.forecasts], context)
    return page


def add_plan_notes(
    page: Page, document: PlanDocument, stories: Sequence[Explanation], context: PlanPageContext
) -> None:
    """Add the notes between the headline and the sets."""
    loaded = context.loaded
    _missing(page, document, loaded)
    if loaded.edited:
        names = comma_separated_names(list(loaded.edited), MAX_NAMES)
        page.add(("note: ", "bold"), f"planned as if the manifest in the input had just been applied to {names}")
    if loaded.kept:
        page.add(
            ("note: ", "bold"),
            "fields missing from the manifest keep their stored values: "
            f"{comma_separated_names(list(loaded.kept), MAX_NAMES)}",
        )
    _gaps(page, context)
    for warning in (*loaded.warnings, *loaded.foreign_objects):
        page.add(("warning: ", "bold yellow"), warning)
    for lost, what in (
        (loaded.sets_without_cliques, "available replicas, and the input has no PodClique of them"),
        (loaded.cliques_without_pods, "pods, and the input has none of them"),
    ):
        if lost:
            page.add(("note: ", "bold"), f"the status of {comma_separated_names(list(lost), MAX_NAMES)} counts {what}.")
            page.add("  They count as lost. If the input was collected with a selector (-l), collect it again without.")
    unrecorded = sum(story.unrecorded for story in stories)
    if unrecorded:
        those = plural(unrecorded, "PodClique")
        page.add(("note: ", "bold"), f"{those} with too few ready pods and no record of ever having been available.")
        page.add("  Without that record these rules terminate nothing.")
    if context.operator_note:
        page.add(("note: ", "bold"), context.operator_note)
    _clock(page, document, stories, context)
    if loaded.pods_without_clique and not stories:
        page.add(
            (f"ignored: {plural(loaded.pods_without_clique, 'Pod')} of PodCliques that are not in the input", "dim")
        )
    if loaded.ignored and not stories:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in loaded.ignored.items())
        page.add((f"ignored: {kinds}", "dim"))


def _gaps(page: Page, context: PlanPageContext) -> None:
    """Add the nodes that the input lacks, and errors of an API server that it holds."""
    if context.sets_with_unknown_nodes:
        names = comma_separated_names(list(context.sets_with_unknown_nodes), MAX_NAMES)
        page.add(("note: ", "bold"), f"it is unknown whether the required topology constraints of {names} are kept:")
        page.add("  not every Node of their pods is in the input (kubectl get nodes -o json)")
    for refusal in context.loaded.server_errors:
        page.add(("warning: ", "bold yellow"), f"the input holds an error of an API server: {refusal}")


def _clock(page: Page, document: PlanDocument, stories: Sequence[Explanation], context: PlanPageContext) -> None:
    """Add a note where the input is newer than the clock (CL-010), or much older and a termination depends on it."""
    now, newest = document.as_of, context.newest_time
    if newest is None:
        return
    if newest - now > (timedelta(0) if context.is_now_given else _OLD):
        clock = "--now" if context.is_now_given else "the clock"
        words = f"{clock} is {short_duration(newest - now)} before the newest time in the input ({format_time(newest)})"
        page.add(("note: ", "bold"), words)
    ends = any(story.having(Urgency.ENDS) for story in stories)
    if ends and not context.is_now_given and now - newest > _OLD:
        age = relative_time(newest, now)
        page.add(
            ("note: ", "bold"), f"nothing in the input is newer than {age}. If it is an older dump, give its time with"
        )
        page.add("  --now; otherwise delays that were still running look expired.")


def _missing(page: Page, document: PlanDocument, loaded: LoadedInput) -> None:
    if document.not_collected:
        page.add(("not collected: ", "bold magenta"), ", ".join(document.not_collected))
        for words in loaded.not_listed.values():
            page.add(f"  {words}")
        if loaded.lacks_kinds and not loaded.not_listed:
            page.add("  all that is needed: kubectl get pcs,pcsg,pclq,pods,podgangs -o json")
