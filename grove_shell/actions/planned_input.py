"""The plan of an input that was read: each set's forecast with all that a plan shows of it, before it is printed."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from grove_core.areas.gang_termination.forecast_terminations import findings_after_predicted_steps
from grove_core.document.plan_document import PlanDocument
from grove_core.in_memory.forecasts import forecasts_of_snapshots, forecasts_of_topologies, snapshot_with_set_as_stored
from grove_core.in_memory.update_forecasts import forecast_with_edit
from grove_core.kernel.structs import Struct, replace
from grove_core.operator_recognition import RecognisedOperator
from grove_core.plan.forecast import Forecast
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_core.termination_hint_search.hints import termination_hints
from grove_shell.actions.command_input import CommandInput, InputSource
from grove_shell.actions.findings_besides_plan import forecasts_with_input_findings
from grove_shell.actions.manifest_findings import (
    uncollected_kind_names,
    unselected_sets_with_manifests,
    with_manifest_findings,
)
from grove_shell.actions.rule_set_choice import GivenRules, choose_rule_set
from grove_shell.reading.input_nodes import InputNodes
from grove_shell.views.progress_bars import progress_counter


class PlanOptions(Struct, frozen=True, kw_only=True):
    """Options of ``grove plan`` besides the source; see its ``--help``."""

    sets: tuple[str, ...] = ()
    output: str = "human"
    rules: GivenRules | None = None
    rounds: int | None = None
    until: timedelta | None = None
    decisions: bool = False
    detailed_exitcode: bool = False
    fail_on: tuple[str, ...] = ()
    max_restarted_gpus: int | None = None
    policies: tuple[str, ...] = ()
    max_terminated_gpus: int | None = None
    verbose: bool = False
    out: str | None = None
    html: str | None = None
    picture: str | None = None


class PlannedInput(Struct, frozen=True, kw_only=True):
    """The plan of an input.

    Attributes:
        snapshots: of the planned sets.
        recognition: the operator that the cluster shows.
        until: the end of the forecast time; None without one.
    """

    document: PlanDocument
    snapshots: tuple[Snapshot, ...]
    recognition: RecognisedOperator | None
    until: datetime | None

    def for_policies(self) -> Mapping[str, Any]:
        """Return the plan as policies see it."""
        from grove_shell.policies.policy_input import policy_input  # noqa: PLC0415 - few plans have policies (P11)

        return policy_input(self.document, (snapshot.root for snapshot in self.snapshots), self.until)


def plan_input(inputs: CommandInput, source: InputSource, options: PlanOptions) -> PlannedInput:
    """Return the plan of an input that was read."""
    snapshots = tuple(inputs.snapshots_of_selected_sets(source.namespace, options.sets))
    until = time_after(inputs.now, options.until)
    rules, rules_from, recognition = choose_rule_set(
        options.rules, inputs.rules, inputs.recognised_by, inputs.loaded.newer
    )
    planned = forecasts_of_sets(inputs, snapshots, rules, recognition, limit=options.rounds, until=until)
    has_old = bool(source.old) and not inputs.problems
    planned = tuple(
        with_manifest_findings(forecast, snapshot, rules, inputs.loaded, has_old=has_old)
        for forecast, snapshot in zip(planned, snapshots, strict=True)
    )
    if rules.keeps_topologies and source.namespace is None and not options.sets:
        planned += forecasts_of_topologies(inputs.loaded.cluster, inputs.now, inputs.attempts)
    document = PlanDocument(
        rules=rules.name,
        as_of=inputs.now,
        not_collected=uncollected_kind_names(inputs.loaded.cluster.gaps, planned),
        forecasts=planned,
        configuration=inputs.loaded.cluster.configuration,
        rules_from=rules_from,
        as_of_from=inputs.time.source,
        not_planned=unselected_sets_with_manifests(inputs.loaded, snapshots),
    )
    return PlannedInput(document=document, snapshots=snapshots, recognition=recognition, until=until)


def forecasts_of_sets(
    inputs: CommandInput,
    snapshots: Sequence[Snapshot],
    rules: RuleSet,
    recognition: RecognisedOperator | None,
    *,
    limit: int | None = None,
    until: datetime | None = None,
) -> tuple[Forecast, ...]:
    """Return the forecast of each set as a plan shows it: with input findings, its edit, and what averts terminations.

    Args:
        recognition: the operator that the cluster shows.
        limit: the most rounds with steps; None for no limit.
        until: the end of the forecast time; None without one.
    """
    nodes = inputs.loaded.nodes
    planned = forecasts_with_input_findings(
        snapshots,
        forecasts_of_snapshots(snapshots, rules, limit=limit, until=until, nodes=nodes.readiness),
        nodes,
        rules,
        recognition,
        inputs.loaded.failed_writes,
    )
    with progress_counter("planning updates", "stage", every=1) as count:
        return tuple(
            with_termination_hints(
                forecast_with_edit(
                    forecast, snapshot, rules, inputs.loaded.changes, inputs.loaded.before, progress=count
                ),
                snapshot,
                rules,
                nodes,
            )
            for forecast, snapshot in zip(planned, snapshots, strict=True)
        )


def with_termination_hints(forecast: Forecast, snapshot: Snapshot, rules: RuleSet, nodes: InputNodes) -> Forecast:
    """Return a forecast with what averts each termination of its first round that its steps leave as it is (PL-040).

    Args:
        snapshot: of the set, before the first round.
        nodes: what the Nodes of the input show; whether pods can become ready depends on it.
    """
    changed = {
        (one.subject, one.question) for one in findings_after_predicted_steps(forecast.findings, forecast.averted)
    }
    findings = tuple(one for one in forecast.findings if (one.subject, one.question) not in changed)
    hints = termination_hints(
        snapshot_with_set_as_stored(snapshot, rules), findings, rules, nodes.readiness, nodes.capacity
    )
    return replace(forecast, hints=hints) if hints else forecast


def time_after(now: datetime, span: timedelta | None) -> datetime | None:
    """Return the time a span after ``now``, at most the end of the calendar; None without a span."""
    if span is None:
        return None
    return now + min(span, datetime.max.replace(tzinfo=now.tzinfo) - now)
