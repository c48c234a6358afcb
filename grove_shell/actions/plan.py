"""``grove plan``: reads the input and plans it, prints the plan, saves it, and returns the exit code."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import Json, PlanDocument
from grove_core.kernel.structs import Struct
from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.actions.command_input import CommandInput, InputSource, read_input_and_print_problems
from grove_shell.actions.findings_besides_plan import nothing_decided_message, sets_with_unknown_nodes
from grove_shell.actions.html_files import save_html_file
from grove_shell.actions.plan_checks import plan_objections
from grove_shell.actions.planned_input import PlannedInput, PlanOptions, plan_input
from grove_shell.actions.rule_set_choice import operator_rule_set_note
from grove_shell.actions.selected_sets import selected_sets_not_found
from grove_shell.exit_codes import CHANGES, DONE, ERROR, FAIL_ON, USAGE, CommandFailed
from grove_shell.policies.fail_on_classes import fail_on_class_of_undecided_manifests
from grove_shell.policies.policy_results import PolicyResult, policy_results_as_json
from grove_shell.reading.input_faults import InputFault
from grove_shell.styled_text_page import print_error
from grove_shell.views.plan.plan_notes import PlanPageContext, plan_notes_page
from grove_shell.views.plan.plan_page import plan_page
from grove_shell.views.renderers import RENDERERS, format_json_document

if TYPE_CHECKING:
    from grove_shell.policies.policy import Policy


class PlanWithPageContext(Struct, frozen=True):
    """The plan of an input with what its page shows besides."""

    inputs: CommandInput
    plan: PlannedInput
    context: PlanPageContext


def plan_and_print(source: InputSource, options: PlanOptions) -> int:
    """Plan and print. Returns the exit code (CL-001, CL-002, CL-061)."""
    if options.picture is not None:
        from grove_shell.actions.picture_files import require_matplotlib  # noqa: PLC0415 - few want a picture (P11)

        require_matplotlib()
    try:
        return show_plan(read_input_and_plan(source, options), options)
    except SetsNotInInput as fault:
        print_error(fault)
        return fault.code


class SetsNotInInput(CommandFailed):
    """Selected sets are not in the input; ``code`` is the exit code."""

    def __init__(self, sets: str, code: int) -> None:
        """Keep the exit code."""
        super().__init__(f"not in the input: {sets}")
        self.code = code


def read_input_and_plan(source: InputSource, options: PlanOptions) -> PlanWithPageContext:
    """Read the input and plan it.

    Raises:
        CommandFailed: nothing can be decided.
        SetsNotInInput: a selected set is not in the input.
    """
    policies, faults = _policies(options.policies)
    inputs = read_input_and_print_problems(source, options.rules, faults)
    if lacking := selected_sets_not_found(inputs.loaded.cluster, options.sets, source.namespace):
        raise SetsNotInInput(lacking, FAIL_ON if (options.fail_on or policies) and not options.sets else USAGE)
    plan = plan_input(inputs, source, options)
    results = _evaluated(policies, plan)
    return PlanWithPageContext(inputs, plan, plan_page_context(inputs, plan, source, options, results))


def show_plan(found: PlanWithPageContext, options: PlanOptions) -> int:
    """Print a plan, save it as the options say, and return the exit code."""
    inputs, plan, context = found.inputs, found.plan, found.context
    _print(plan.document, context, options)
    if options.html is not None:
        from grove_shell.html.plan_html import plan_html  # noqa: PLC0415 - few plans are saved as a page (P11)

        page = plan_html(plan.document, context, plan.snapshots, plan.until)
        save_html_file(options.html, page)
    if options.picture is not None:
        from grove_shell.actions.picture_files import draw_plan  # noqa: PLC0415 - few want a picture (P11)

        draw_plan(options.picture, plan.document, plan.until, context)
    if context.nothing_judged and not inputs.problems:
        if not RENDERERS[options.output].shows_page:
            print_error(context.nothing_judged)
        return FAIL_ON
    return _exit_code(inputs, options, plan, context.policies)


def plan_page_context(
    inputs: CommandInput,
    plan: PlannedInput,
    source: InputSource,
    options: PlanOptions,
    results: tuple[PolicyResult, ...] = (),
) -> PlanPageContext:
    """Return what the page of a plan shows besides the plan.

    Args:
        source, options: of the command.
        results: of ``--policy``.
    """
    return PlanPageContext(
        loaded=inputs.loaded,
        nothing_judged=nothing_decided_message(inputs.loaded, plan.document.forecasts),
        sets_with_unknown_nodes=sets_with_unknown_nodes(plan.snapshots, inputs.loaded.nodes.labels),
        operator_note=operator_rule_set_note(plan.recognition, plan.document.rules),
        newest_time=inputs.newest or newest_condition_transition_time(inputs.loaded.cluster),
        is_now_given=isinstance(source.now, datetime),
        has_old_manifests=bool(source.old),
        verbose=options.verbose,
        decisions=options.decisions,
        policies=results,
    )


def _policies(paths: tuple[str, ...]) -> "tuple[tuple[Policy, ...], tuple[InputFault, ...]]":
    """Return the policies of ``--policy`` and their problems; the library of expressions loads with them (P11)."""
    if not paths:
        return (), ()
    from grove_shell.policies.policy_reading import read_policies  # noqa: PLC0415 - as above

    return read_policies(paths)


def _evaluated(policies: "tuple[Policy, ...]", plan: PlannedInput) -> tuple[PolicyResult, ...]:
    if not policies:
        return ()
    from grove_shell.policies.evaluation import evaluate_policies  # noqa: PLC0415 - as above

    return evaluate_policies(policies, plan.for_policies())


def _document_as_json(document: PlanDocument, context: PlanPageContext, options: PlanOptions) -> Json:
    """Return the document; with ``--policy`` the results of the policies stand before the plan (CL-061)."""
    written = plan_document_as_json(document, decisions=options.decisions)
    if not options.policies:
        return written
    first = {key: written.pop(key) for key in ("formatVersion", "coreVersion")}
    return {**first, "policies": policy_results_as_json(context.policies), **written}


def _print(document: PlanDocument, context: PlanPageContext, options: PlanOptions) -> None:
    if options.out is not None:
        saved = format_json_document(_document_as_json(document, context, options))
        Path(options.out).write_text(saved, encoding="utf-8")
    renderer = RENDERERS[options.output]
    if not renderer.shows_page:
        print_error(plan_notes_page(document, context))
    renderer.print_result(
        page=lambda: plan_page(document, context),
        document=lambda: _document_as_json(document, context, options),
        markdown=lambda: _markdown(document, context),
    )


def _markdown(document: PlanDocument, context: PlanPageContext) -> str:
    from grove_shell.views.plan.plan_markdown import plan_markdown  # noqa: PLC0415 - few plans are Markdown (P11)

    return plan_markdown(document, context)


def newest_condition_transition_time(cluster: IndexedCluster) -> datetime | None:
    """Return the newest transition time of the conditions in a cluster; None where there is none."""
    cliques = (clique.status.conditions for owned in cluster.cliques_of.values() for clique in owned)
    groups = (group.status.conditions for owned in cluster.groups_of.values() for group in owned)
    times = (condition.last_transition_time for conditions in chain(cliques, groups) for condition in conditions)
    return max(times, default=None)


def _exit_code(inputs: CommandInput, options: PlanOptions, plan: PlannedInput, results: Sequence[PolicyResult]) -> int:
    if inputs.problems:
        return ERROR
    forecasts, until, not_planned = plan.document.forecasts, plan.until, plan.document.not_planned
    is_incomplete = inputs.loaded.lacks_objects or bool(not_planned)
    if objections := tuple(plan_objections(options, forecasts, until, results, is_incomplete=is_incomplete)):
        for objection in objections:
            print_error(objection)
        return FAIL_ON
    if options.detailed_exitcode and (
        any(forecast.rounds[0].steps for forecast in forecasts)
        or not_planned
        or fail_on_class_of_undecided_manifests(forecasts)
    ):
        return CHANGES
    return DONE
