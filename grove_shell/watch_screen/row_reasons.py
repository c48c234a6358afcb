"""The reasons of the selected row, as ``grove explain`` prints them (WA-005)."""

from grove_core.forecast_explanation import ReplicaUrgency
from grove_shell.actions.explain import explain_input
from grove_shell.actions.rule_set_choice import GivenRules
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.explain_page import explain_page
from grove_shell.views.plan_entry_lines import add_plan_entry
from grove_shell.watch_screen.screen_rows import ScreenRow
from grove_shell.watch_screen.watched_plan import WatchedPlan


def row_reasons(plan: WatchedPlan, row: ScreenRow, rules: GivenRules | None) -> StyledTextPage:
    """Return the page of reasons of a row: of a replica its entry of the plan, of an object what explains it."""
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
            for urgency in ReplicaUrgency:
                for entry in story.entries_of_urgency(urgency):
                    if entry.subject == row.subject:
                        add_plan_entry(page, entry, plan.as_of, full=True)
    for sentence in row.reasons:
        page.add_line("  ", sentence)
    if row.detail:
        page.add_line("  ", row.detail)
    return page
