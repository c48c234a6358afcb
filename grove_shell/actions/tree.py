"""``grove tree``: prints the replicas, scaling groups, PodCliques and pods of sets with their states."""

import shutil
import sys
from dataclasses import dataclass

from grove_core.explain import explanation_of_forecast
from grove_shell.actions.command_input import CommandInput, InputSource, read_input_and_print_problems
from grove_shell.actions.plan import plan_page_context
from grove_shell.actions.planned_input import PlannedInput, PlanOptions, plan_input
from grove_shell.actions.rule_set_choice import GivenRules
from grove_shell.actions.selected_sets import selected_sets_not_found
from grove_shell.exit_codes import DONE, ERROR, FAIL_ON, USAGE
from grove_shell.styled_text_page import StyledTextPage, print_error
from grove_shell.views.plan.plan_headline import add_plan_headline
from grove_shell.views.plan.plan_notes import PlanPageContext, add_plan_notes, plan_notes_page
from grove_shell.views.renderers import RENDERERS
from grove_shell.views.tree.object_tree import set_tree
from grove_shell.views.tree.tree_nodes import TreeNode, trees_as_json
from grove_shell.views.tree.tree_page import add_tree, tree_symbols_for_encoding


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOptions:
    """Options of ``grove tree`` besides the source; see its ``--help``."""

    sets: tuple[str, ...] = ()
    output: str = "human"
    rules: GivenRules | None = None
    verbose: bool = False


def print_trees(source: InputSource, options: TreeOptions) -> int:
    """Plan and print the trees. Returns the exit code (CL-001, CL-056)."""
    inputs = read_input_and_print_problems(source, options.rules)
    if lacking := selected_sets_not_found(inputs.loaded.cluster, options.sets, source.namespace):
        print_error(f"not in the input: {lacking}")
        return USAGE
    planned = PlanOptions(sets=options.sets, rules=options.rules, verbose=options.verbose)
    plan = plan_input(inputs, source, planned)
    context = plan_page_context(inputs, plan, source, planned)
    trees = _trees(plan)
    renderer = RENDERERS[options.output]
    if not renderer.shows_page:
        print_error(plan_notes_page(plan.document, context))
    renderer.print_result(
        page=lambda: _page(plan, context, trees, on_terminal=options.output == "human"),
        document=lambda: trees_as_json(plan.document, trees),
    )
    return _exit_code(inputs, context, shows_page=renderer.shows_page)


def _exit_code(inputs: CommandInput, context: PlanPageContext, *, shows_page: bool) -> int:
    if inputs.problems:
        return ERROR
    if context.nothing_judged:
        if not shows_page:
            print_error(context.nothing_judged)
        return FAIL_ON
    return DONE


def _trees(plan: PlannedInput) -> list[TreeNode]:
    snapshots = {snapshot.root_ref: snapshot for snapshot in plan.snapshots}
    return [
        set_tree(snapshots[forecast.root], forecast, explanation_of_forecast(forecast))
        for forecast in plan.document.forecasts
        if forecast.root in snapshots
    ]


def _page(plan: PlannedInput, context: PlanPageContext, trees: list[TreeNode], *, on_terminal: bool) -> StyledTextPage:
    """Return the page: the headline and the notes of the plan, then a tree for each set."""
    page, document = StyledTextPage(), plan.document
    stories = [explanation_of_forecast(forecast) for forecast in document.forecasts]
    add_plan_headline(page, document, stories, context.nothing_judged, is_incomplete=context.loaded.lacks_objects)
    add_plan_notes(page, document, stories, context)
    out = sys.stdout
    width = shutil.get_terminal_size().columns if on_terminal and out is not None and out.isatty() else None
    signs = tree_symbols_for_encoding(out.encoding if out is not None else None)
    for tree in trees:
        page.add_line()
        add_tree(page, tree, document.as_of, width=width, signs=signs, full=context.verbose)
    return page
