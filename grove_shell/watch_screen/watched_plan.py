"""The plan that a screen shows, made of an input as ``grove plan`` makes it (WA-001), and its pages (WA-005)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import EntryUrgency, ForecastExplanation
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_shell.actions.command_input import CommandInput, InputSource, read_command_input
from grove_shell.actions.explain import explain_input
from grove_shell.actions.plan import plan_page_context
from grove_shell.actions.planned_input import PlannedInput, PlanOptions, plan_input
from grove_shell.actions.rule_set_choice import GivenRules
from grove_shell.actions.selected_sets import selected_sets_not_found
from grove_shell.exit_codes import CommandFailed
from grove_shell.following.deadlines import next_deadline
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.explain.explain_page import explain_page
from grove_shell.views.formatting import NOTHING_DECIDED, REST_UNKNOWN, input_problems_page
from grove_shell.views.plan.plan_entry_lines import add_replica_outcome_lines
from grove_shell.views.plan.plan_headline import plan_headline, time_and_rules_line
from grove_shell.views.plan.plan_notes import PlanPageContext, add_plan_notes
from grove_shell.views.plan.plan_page import plan_page
from grove_shell.views.tree.object_tree import set_tree
from grove_shell.watch_screen.screen_rows import ScreenRow, parents, row_of_other_root, row_of_set


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedPlan:
    """A plan with what a screen shows of it.

    Attributes:
        stories: of the forecasts, in their order.
        headline: the first line of ``grove plan``, in parts with styles.
        notes: what ``grove plan`` prints below it: problems, kinds that were not collected, warnings.
        rows: of the sets, in their order.
        parents: object -> the object that its row is directly below.
        clock_runs: whether the time is the computer's, so that time left shrinks while nothing is planned.
    """

    inputs: CommandInput
    planned: PlannedInput
    stories: tuple[ForecastExplanation, ...]
    headline: tuple[Span, ...]
    notes: StyledTextPage
    rows: tuple[ScreenRow, ...]
    parents: Mapping[Ref, Ref] = field(repr=False)
    clock_runs: bool

    @property
    def as_of(self) -> datetime:
        """The time of the plan."""
        return self.planned.document.as_of

    @property
    def time_and_rules(self) -> str:
        """The second line of ``grove plan``."""
        document = self.planned.document
        return time_and_rules_line(document.as_of, document.rules, document.rules_from, document.as_of_from)

    @property
    def next_deadline(self) -> datetime | None:
        """The first time after that of the plan at which it changes by itself; None where there is none."""
        return next_deadline(self.planned.document, self.stories)

    def set_of(self, subject: Ref) -> Ref:
        """Return the set that an object of the screen is part of."""
        found = subject
        while found in self.parents:
            found = self.parents[found]
        return found


def watched_plan(source: InputSource, options: PlanOptions) -> WatchedPlan:
    """Plan an input.

    Raises:
        CommandFailed: nothing can be decided; its argument is a page or a text.
    """
    before = datetime.now(UTC)
    inputs = _read(source, options)
    clock_runs = before <= inputs.now <= datetime.now(UTC)
    if lacking := selected_sets_not_found(inputs.loaded.cluster, options.sets, source.namespace):
        raise CommandFailed(f"not in the input: {lacking}")
    planned = plan_input(inputs, source, options)
    context = plan_page_context(inputs, planned, source, options)
    stories = tuple(explanation_of_forecast(forecast) for forecast in planned.document.forecasts)
    verdicts = plan_headline(
        planned.document, stories, context.nothing_judged, is_incomplete=inputs.loaded.lacks_objects
    )
    rows = tuple(_rows(planned, stories))
    return WatchedPlan(
        inputs=inputs,
        planned=planned,
        stories=stories,
        headline=tuple((text if index == 0 else f"; {text}", style) for index, (text, style) in enumerate(verdicts)),
        notes=_notes(inputs, planned, stories, context),
        rows=rows,
        parents=parents(rows),
        clock_runs=clock_runs,
    )


def edit_page(source: InputSource, edits: tuple[str, ...], options: PlanOptions) -> StyledTextPage:
    """Return the page of the plan of an edit, as ``grove plan`` with these files prints it for the edited sets.

    Raises:
        CommandFailed: nothing can be decided; its argument is a page or a text.
    """
    edited = replace(source, filenames=(*source.filenames, *edits))
    inputs = _read(edited, options)
    loaded = inputs.loaded
    sets = () if loaded.topology_edits else (*loaded.edited, *sorted(loaded.new_sets))
    if not sets and not loaded.topology_edits:
        page = StyledTextPage()
        page.add_line(f"{', '.join(edits)} changes no set")
        return page
    chosen = replace(options, sets=sets)
    planned = plan_input(inputs, edited, chosen)
    return plan_page(planned.document, plan_page_context(inputs, planned, edited, chosen))


def row_reasons(plan: WatchedPlan, row: ScreenRow, rules: GivenRules | None) -> StyledTextPage:
    """Return the reasons of a row as ``grove explain`` prints them: of a replica, its entry of the plan."""
    if row.subject.replica is not None:
        return _reasons_of_replica(plan, row)
    ref, root = row.subject, plan.set_of(row.subject)
    found = explain_input(
        plan.inputs, ref.kind, ref.name, root.namespace, rules, sets=(f"{root.namespace}/{root.name}",)
    )
    if not found.objects:
        page = StyledTextPage()
        page.add_line((f"{ref.kind} {ref.namespace}/{ref.name}", "bold"))
        page.add_line("nothing is decided about it")
        return page
    page = explain_page(found.objects, found.header, only_guards=False)
    return StyledTextPage(page.lines[1:])  # the time and the rule set are on top of the screen


def _reasons_of_replica(plan: WatchedPlan, row: ScreenRow) -> StyledTextPage:
    page = StyledTextPage()
    page.add_line((f"replica {row.subject.replica} of {row.subject.kind} {row.subject.name}", "bold"))
    page.add_line(("state: ", "dim"), (row.state.value, "bold"), "" if row.is_own_state else ", of something inside it")
    root = plan.set_of(row.subject)
    for story in plan.stories:
        if story.root.without_replica == root:
            for urgency in EntryUrgency:
                for entry in story.entries_of_urgency(urgency):
                    if entry.subject == row.subject:
                        add_replica_outcome_lines(page, entry, plan.as_of, full=True)
    for sentence in row.reasons:
        page.add_line("  ", sentence)
    if row.detail:
        page.add_line("  ", row.detail)
    return page


def _read(source: InputSource, options: PlanOptions) -> CommandInput:
    inputs = read_command_input(source, options.rules)
    if not inputs.usable:
        raise CommandFailed(input_problems_page(inputs.problems, NOTHING_DECIDED))
    return inputs


def _rows(planned: PlannedInput, stories: Sequence[ForecastExplanation]) -> Iterator[ScreenRow]:
    snapshots = {snapshot.root_ref: snapshot for snapshot in planned.snapshots}
    for forecast, story in zip(planned.document.forecasts, stories, strict=True):
        snapshot = snapshots.get(forecast.root)
        if snapshot is None:
            yield row_of_other_root(forecast.root)
        else:
            yield row_of_set(set_tree(snapshot, forecast, story))


def _notes(
    inputs: CommandInput, planned: PlannedInput, stories: Sequence[ForecastExplanation], context: PlanPageContext
) -> StyledTextPage:
    page = StyledTextPage()
    if inputs.problems:
        page.lines += input_problems_page(inputs.problems, REST_UNKNOWN).lines
    if inputs.note:
        page.add_line(inputs.note)
    add_plan_notes(page, planned.document, stories, context)
    return page
