"""``grove plan``: reads the input, forecasts the rounds, prints the plan and returns the exit code."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path

from grove_core.areas.gang_termination.termination_findings import TERMINATION
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.explain import ReplicaUrgency, explanation_of_forecast, is_withheld_as_undecided
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.steps import Delete, is_gang_termination_deletion
from grove_core.operator_recognition import RecognisedOperator
from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import DeletedPodFate
from grove_core.snapshot.cluster import EVERYWHERE, Gap, IndexedCluster
from grove_shell.actions.command_input import (
    CommandInput,
    InputSource,
    choose_rule_set,
    read_input_and_print_problems,
    selected_sets_not_found,
)
from grove_shell.actions.input_findings import (
    forecasts_with_input_findings,
    nodes_in_input,
    nothing_decided_message,
    sets_with_unknown_nodes,
)
from grove_shell.exit_codes import CHANGES, DONE, ERROR, FAIL_ON, USAGE
from grove_shell.in_memory.forecasts import forecasts_of_snapshots, forecasts_of_topologies
from grove_shell.in_memory.update_forecasts import with_edit_forecast
from grove_shell.styled_text_page import print_error
from grove_shell.views.formatting import fail_on_message
from grove_shell.views.plan_headline import PlanPageContext, plan_notes_page
from grove_shell.views.plan_page import plan_page
from grove_shell.views.renderers import RENDERERS, format_json_document


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """Options of ``grove plan`` besides the source; see its ``--help``."""

    sets: tuple[str, ...] = ()
    output: str = "human"
    rules: str | None = None
    rounds: int | None = None
    until: timedelta | None = None
    decisions: bool = False
    detailed_exitcode: bool = False
    fail_on: tuple[str, ...] = ()
    max_restarted_gpus: int | None = None
    verbose: bool = False
    out: str | None = None


def plan_and_print(source: InputSource, options: PlanOptions) -> int:
    """Plan and print. Returns the exit code (CL-001, CL-002)."""
    inputs = read_input_and_print_problems(source, options.rules)
    snapshots = tuple(inputs.snapshots_of_selected_sets(source.namespace, options.sets))
    if lacking := selected_sets_not_found(inputs.loaded.cluster, options.sets, source.namespace):
        print_error(f"not in the input: {lacking}")
        return FAIL_ON if options.fail_on and not options.sets else USAGE
    until = time_after(inputs.now, options.until)
    rules, rules_from, recognition = choose_rule_set(
        options.rules, inputs.rules, inputs.loaded.cluster, inputs.loaded.newer
    )
    nodes = nodes_in_input(inputs.loaded)
    planned = forecasts_with_input_findings(
        snapshots,
        forecasts_of_snapshots(snapshots, rules, limit=options.rounds, until=until, nodes=nodes.readiness),
        nodes,
        rules,
        recognition,
        inputs.loaded.failed_writes,
    )
    planned = tuple(
        with_edit_forecast(forecast, snapshot, rules, inputs.loaded.changes)
        for forecast, snapshot in zip(planned, snapshots, strict=True)
    )
    if rules.keeps_topologies and source.namespace is None and not options.sets:
        planned += forecasts_of_topologies(inputs.loaded.cluster, inputs.now, inputs.attempts)
    document = PlanDocument(
        rules=rules.name,
        as_of=inputs.now,
        not_collected=uncollected_kind_names(inputs.loaded.cluster.gaps),
        forecasts=planned,
        configuration=inputs.loaded.cluster.configuration,
        rules_from=rules_from,
        as_of_from=inputs.time.source,
    )
    context = PlanPageContext(
        loaded=inputs.loaded,
        nothing_judged=nothing_decided_message(inputs.loaded, planned),
        sets_with_unknown_nodes=sets_with_unknown_nodes(snapshots, inputs.loaded.nodes),
        operator_note=operator_rule_set_note(recognition, rules.name),
        newest_time=inputs.newest or newest_condition_transition_time(inputs.loaded.cluster),
        is_now_given=isinstance(source.now, datetime),
        verbose=options.verbose,
        decisions=options.decisions,
    )
    _print(document, context, options)
    if context.nothing_judged and not inputs.problems:
        if not RENDERERS[options.output].shows_page:
            print_error(context.nothing_judged)
        return FAIL_ON
    return _exit_code(inputs, options, planned, until)


def _print(document: PlanDocument, context: PlanPageContext, options: PlanOptions) -> None:
    if options.out is not None:
        saved = format_json_document(plan_document_as_json(document, decisions=options.decisions))
        Path(options.out).write_text(saved, encoding="utf-8")
    renderer = RENDERERS[options.output]
    if not renderer.shows_page:
        print_error(plan_notes_page(document, context))
    renderer.print_result(
        page=lambda: plan_page(document, context),
        document=lambda: plan_document_as_json(document, decisions=options.decisions),
    )


def uncollected_kind_names(gaps: frozenset[Gap]) -> tuple[str, ...]:
    """Return the kinds that were not collected, sorted: ``Pod``, or ``Pod in ml`` where one namespace lacks them."""
    everywhere = {kind for kind, namespace in gaps if namespace == EVERYWHERE}
    return tuple(
        kind if namespace == EVERYWHERE else f"{kind} in {namespace}"
        for kind, namespace in sorted(gaps)
        if namespace == EVERYWHERE or kind not in everywhere
    )


def operator_rule_set_note(recognition: RecognisedOperator | None, rules: str) -> str:
    """Return which operator runs the cluster and which rule set predicts it; empty where that one is used (GF-111)."""
    go = recognition.go_operator if recognition is not None else None
    if recognition is None or go is None:
        return ""
    from grove_core.areas.gang_termination.field.go_operator_rule_generations import (  # noqa: PLC0415 - of such clusters alone
        newest_release_up_to,
    )

    if newest_release_up_to(rules.partition("@")[2]) in go.fitting:
        return ""
    nearest = "predicts it" if go.has_known_release else "is the nearest"
    return f"{recognition.because}; --rules {recognition.rules} {nearest}"


def newest_condition_transition_time(cluster: IndexedCluster) -> datetime | None:
    """Return the newest transition time of the conditions in a cluster; None where there is none."""
    cliques = (clique.status.conditions for owned in cluster.cliques_of.values() for clique in owned)
    groups = (group.status.conditions for owned in cluster.groups_of.values() for group in owned)
    times = (condition.last_transition_time for conditions in chain(cliques, groups) for condition in conditions)
    return max(times, default=None)


def time_after(now: datetime, span: timedelta | None) -> datetime | None:
    """Return the time a span after ``now``, at most the end of the calendar; None without a span."""
    if span is None:
        return None
    return now + min(span, datetime.max.replace(tzinfo=now.tzinfo) - now)


def _exit_code(inputs: CommandInput, options: PlanOptions, planned: Sequence[Forecast], until: datetime | None) -> int:
    if inputs.problems:
        return ERROR
    if options.fail_on and (
        met := set(options.fail_on) & fail_on_classes_in_forecasts(planned, until)
        | fail_on_class_of_unknown_verdicts(planned)
    ):
        print_error(fail_on_message(met))
        return FAIL_ON
    if objection := restarted_gpus_objection(planned, options.max_restarted_gpus):
        print_error(f"failed by --max-restarted-gpus: {objection}")
        return FAIL_ON
    if options.detailed_exitcode and any(forecast.rounds[0].steps for forecast in planned):
        return CHANGES
    return DONE


def restarted_gpus_objection(planned: Sequence[Forecast], most: int | None) -> str:
    """Return why the edits of a plan restart too many GPUs; empty where they do not, or without a limit (ED-010)."""
    if most is None:
        return ""
    edits = [one.edit for one in planned if one.edit is not None]
    updates = [one.update for one in edits if one.update is not None]
    if len(updates) < len(edits) or "unknown" in fail_on_classes_in_forecasts(planned):
        return "what the edit restarts is unknown"
    restarted = sum(update.restarted.gpus for update in updates)
    return f"pods with {restarted:,} GPUs restart, and {most:,} may" if restarted > most else ""


def fail_on_class_of_unknown_verdicts(planned: Sequence[Forecast]) -> set[str]:
    """Return ``unknown`` where a termination could not be decided, which fails every check (CL-002)."""
    findings = chain.from_iterable(forecast.findings for forecast in planned)
    is_open = any(one.question == TERMINATION and one.verdict == ConditionStatus.UNKNOWN.value for one in findings)
    return {"unknown"} if is_open else set()


def fail_on_classes_in_forecasts(planned: Sequence[Forecast], until: datetime | None = None) -> set[str]:
    """Return the ``--fail-on`` classes that any round of the forecasts contains (CL-002).

    Args:
        until: the end of the forecast time; None without ``--until``. A termination whose delay ends by then counts
            where the steps that would avert it are not predicted (GF-133).
    """
    classes: set[str] = set()
    for forecast in planned:
        story = explanation_of_forecast(forecast)
        urgencies = {entry.urgency for entry in story.entries}
        steps = [step for round_ in forecast.rounds for step in round_.steps]
        withheld = [held for round_ in forecast.rounds for held in round_.withheld]
        update = forecast.edit.update if forecast.edit is not None else None
        gone = tuple(pod for stage in update.stages for pod in stage.deleted) if update is not None else ()
        deletes = any(isinstance(step.action, Delete) for step in steps) or bool(gone)
        waits = (entry.until for entry in story.entries_of_urgency(ReplicaUrgency.WAITS))
        due = until is not None and any(one is not None and one <= until for one in waits)
        found = {
            "terminate": ReplicaUrgency.ENDS in urgencies
            or any(map(is_gang_termination_deletion, steps))
            or any(pod.fate is DeletedPodFate.TERMINATED for pod in gone)
            or (due and bool(story.unpredicted)),
            "wait": ReplicaUrgency.WAITS in urgencies,
            "unknown": ReplicaUrgency.UNKNOWN in urgencies
            or bool(story.unpredicted)
            or any(map(is_withheld_as_undecided, withheld)),
            "withheld": bool(withheld),
            "restart": forecast.edit is not None and (update is None or bool(update.restarted.pods)),
            "defect": bool(story.defects),
            "delete": deletes,
            "change": bool(steps),
        }
        classes |= {name for name, present in found.items() if present}
    return classes
