"""The notes between the headline of a plan and its sets, and what the page shows besides the plan."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from grove_core.document.plan_document import PlanDocument
from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import EntryUrgency, ForecastExplanation
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.time_formats import format_time, short_duration_text
from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import UncollectedObjectCounts
from grove_core.resources.api_names import POD_GROUP_KIND
from grove_shell.policies.policy_results import PolicyResult
from grove_shell.reading.input_completeness import LoadedInput
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import (
    MAX_NAMES,
    count_with_noun,
    join_names_with_commas,
    relative_time,
)
from grove_shell.views.plan.edits_summary import pods_and_gpus_text
from grove_shell.views.plan.manifest_notes import (
    add_edited_object_lines,
    add_redacted_field_lines,
    add_unselected_sets_with_manifests,
)
from grove_shell.views.plan.open_plan_sentences import same_name_sets_text, uncollected_objects_text
from grove_shell.views.plan.policy_lines import add_policy_results

_GROUPS: Final = ",workloads,compositepodgroups,podgroups"
_OLD: Final = timedelta(minutes=10)


class PlanPageContext(Struct, frozen=True, kw_only=True):
    """What the page of a plan shows besides the plan.

    Attributes:
        nothing_judged: why nothing was decided; empty where something was (CL-056).
        sets_with_unknown_nodes: sets whose required topology constraints cannot be checked (TP-131).
        operator_note: which operator runs the cluster, where the rule set is that of another one (GF-111).
        newest_time: the newest time in the input; None where it has none.
        has_old_manifests: whether manifests of --old stand for the cluster (ED-008).
        verbose: whether to list every entry, and every write of every round.
        decisions: whether to list every verdict.
        policies: the results of ``--policy``.
    """

    loaded: LoadedInput
    nothing_judged: str
    sets_with_unknown_nodes: tuple[str, ...]
    operator_note: str
    newest_time: datetime | None
    is_now_given: bool
    has_old_manifests: bool
    verbose: bool
    decisions: bool
    policies: tuple[PolicyResult, ...] = ()


def plan_notes_page(document: PlanDocument, context: PlanPageContext) -> StyledTextPage:
    """Return a page of the notes alone, to print beside a document."""
    page = StyledTextPage()
    add_policy_results(page, context.policies, full=context.verbose)
    add_plan_notes(page, document, [explanation_of_forecast(forecast) for forecast in document.forecasts], context)
    return page


def add_plan_notes(
    page: StyledTextPage, document: PlanDocument, stories: Sequence[ForecastExplanation], context: PlanPageContext
) -> None:
    """Add the notes between the headline and the sets.

    Args:
        stories: the explanations of its forecasts.
        context: what the page shows besides the plan.
    """
    loaded = context.loaded
    _missing(page, document, loaded)
    _manifest_notes(page, document, context)
    _open_plan_notes(page, document.forecasts, full=context.verbose)
    _gaps(page, context)
    for warning in (*loaded.warnings, *loaded.foreign_objects):
        page.add_line(("warning: ", "bold yellow"), warning)
    for lost, what in (
        (loaded.sets_without_cliques, "available replicas, and the input has no PodClique of them"),
        (loaded.cliques_without_pods, "pods, and the input has none of them"),
    ):
        if lost:
            page.add_line(
                ("note: ", "bold"), f"the status of {join_names_with_commas(list(lost), MAX_NAMES)} counts {what}."
            )
            page.add_line(
                "  They count as lost. If the input was collected with a selector (-l), collect it again without."
            )
    if orphans := loaded.pods_without_their_clique:
        names = join_names_with_commas(list(orphans), MAX_NAMES)
        page.add_line(("note: ", "bold"), f"the input lacks the PodClique of {names}, so it counts as deleted.")
        page.add_line("  If some PodCliques were left out, collect the input again, with all of them.")
    unrecorded = sum(story.unrecorded for story in stories)
    if unrecorded:
        those = count_with_noun(unrecorded, "PodClique")
        page.add_line(
            ("note: ", "bold"), f"{those} with too few ready pods and no record of ever having been available."
        )
        page.add_line("  Without that record these rules terminate nothing.")
    if context.operator_note:
        page.add_line(("note: ", "bold"), context.operator_note)
    _clock(page, document, stories, context)
    if loaded.pods_without_clique and not stories:
        pods = count_with_noun(loaded.pods_without_clique, "Pod")
        page.add_line((f"ignored: {pods} of PodCliques that are not in the input", "dim"))
    if loaded.ignored and not stories:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in loaded.ignored.items())
        page.add_line((f"ignored: {kinds}", "dim"))


def _manifest_notes(page: StyledTextPage, document: PlanDocument, context: PlanPageContext) -> None:
    """Add what the manifests of the input are planned as: edits, or new sets beside ``--old``; and what they leave."""
    loaded = context.loaded
    planned = {f"{one.root.namespace}/{one.root.name}" for one in document.forecasts}
    of_old = ", as --old has it and with every pod ready (pod names are examples)" if context.has_old_manifests else ""
    add_edited_object_lines(page, loaded.edited_objects(planned), of_old)
    add_unselected_sets_with_manifests(page, document.not_planned)
    if loaded.topology_edits and not loaded.cluster.configuration.topology.enabled:
        page.add_line("  Topology-aware scheduling is off, so the levels of topologies have no effect: give --config.")
    if context.has_old_manifests and loaded.new_sets:
        names = join_names_with_commas(list(loaded.new_sets), MAX_NAMES)
        page.add_line(("note: ", "bold"), f"not in --old, so planned as new: {names}")
    kept = [path for path in loaded.kept if path.partition(" ")[0] in planned]
    if kept and not context.has_old_manifests:
        names = join_names_with_commas(kept, MAX_NAMES)
        page.add_line(("note: ", "bold"), f"fields missing from the manifest keep their stored values: {names}")


def _open_plan_notes(page: StyledTextPage, forecasts: Sequence[Forecast], *, full: bool) -> None:
    """Add what the plan leaves open: sets that may be meant, sets without a manifest, and rounds that are cut off."""
    for one in forecasts:
        name = f"{one.root.namespace}/{one.root.name}"
        if one.same_name is not None:
            page.add_line(("note: ", "bold"), f"{name} is {same_name_sets_text(one.same_name)}")
            page.add_line(
                "  If one of these is meant, correct the namespace of the manifest."
                if one.same_name.is_namespace_given
                else "  The manifest names no namespace. If one of these is meant, give its namespace with -n."
            )
        if one.removed is not None:
            gone = f"{count_with_noun(one.removed.cliques, 'PodClique')} and {pods_and_gpus_text(one.removed.pods)}"
            page.add_line(("note: ", "bold"), f"in --old and not in -f: {name}; if it is deleted too, {gone} go")
    hidden = [(f"{one.root.namespace}/{one.root.name}", one.edit.hidden) for one in forecasts if one.edit is not None]
    add_redacted_field_lines(page, hidden, full=full)
    if cut := [f"{one.root.namespace}/{one.root.name}" for one in forecasts if not one.complete]:
        words = (
            f"--rounds ends the plan of {join_names_with_commas(cut, MAX_NAMES)}; what the later rounds do is unknown"
        )
        page.add_line(("note: ", "bold"), words)


def _gaps(page: StyledTextPage, context: PlanPageContext) -> None:
    """Add the nodes that the input lacks, and errors of an API server that it holds."""
    if context.sets_with_unknown_nodes:
        names = join_names_with_commas(list(context.sets_with_unknown_nodes), MAX_NAMES)
        page.add_line(
            ("note: ", "bold"), f"it is unknown whether the required topology constraints of {names} are kept:"
        )
        page.add_line("  not every Node of their pods is in the input (kubectl get nodes -o json)")
    for refusal in context.loaded.server_errors:
        page.add_line(("warning: ", "bold yellow"), f"the input holds an error of an API server: {refusal}")


def _clock(
    page: StyledTextPage, document: PlanDocument, stories: Sequence[ForecastExplanation], context: PlanPageContext
) -> None:
    """Add a note where the input is newer than the clock (CL-010), or much older and a termination depends on it."""
    now, newest = document.as_of, context.newest_time
    if newest is None:
        return
    if newest - now > (timedelta(0) if context.is_now_given else _OLD):
        clock = "--now" if context.is_now_given else "the clock"
        lag = short_duration_text(newest - now)
        words = f"{clock} is {lag} before the newest time in the input ({format_time(newest)})"
        page.add_line(("note: ", "bold"), words)
    ends = any(story.entries_of_urgency(EntryUrgency.TERMINATES) for story in stories)
    if ends and not context.is_now_given and now - newest > _OLD:
        age = relative_time(newest, now)
        advice = "give its time with --now, or --now dump; otherwise delays that were still running look expired."
        words = f"nothing in the input is newer than {age}. If it is an older dump, {advice}"
        page.add_line(("note: ", "bold"), words)


def _missing(page: StyledTextPage, document: PlanDocument, loaded: LoadedInput) -> None:
    if document.not_collected:
        page.add_line(("not collected: ", "bold magenta"), ", ".join(document.not_collected))
        for words in loaded.not_listed.values():
            page.add_line(f"  {words}")
        for forecast in document.forecasts:
            if forecast.edit is not None and forecast.edit.uncollected:
                _uncollected_of_edit(page, forecast.root, forecast.edit.uncollected)
        if loaded.lacks_kinds and not loaded.not_listed:
            has_groups = any(one.startswith(POD_GROUP_KIND) for one in document.not_collected)
            kinds = f"pcs,pcsg,pclq,pods,podgangs{_GROUPS if has_groups else ''}"
            page.add_line(f"  all that is needed: kubectl get {kinds} -o json")
            page.add_line(f"  if the input is the output of that: --complete {kinds}")
        elif any(one.startswith("PodGang") for one in document.not_collected) and not loaded.not_listed:
            page.add_line("  the plan lacks writes of PodGangs and gates of new pods: collect podgangs too")


def _uncollected_of_edit(page: StyledTextPage, root: Ref, touched: Sequence[UncollectedObjectCounts]) -> None:
    """Add what an edit does to objects of kinds that were not collected (ED-012)."""
    kinds = ",".join(f"{one.kind.lower()}s" for one in touched)
    page.add_line(f"  the edit of {root.namespace}/{root.name} {uncollected_objects_text(touched)}")
    page.add_line(f"  collect them too: kubectl get {kinds} -o json")
