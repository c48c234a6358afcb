"""What the input shows besides the plan: misplaced pods, an operator of a newer release, nothing to decide about."""

from collections.abc import Iterable, Sequence

from grove_core.areas.gang_termination.forecast_leaving_pods import (
    leaving_pods,
    leaving_pods_findings,
    snapshot_without_leaving_pods,
)
from grove_core.areas.topology.pod_placement import NodeLabels
from grove_core.areas.topology.wants import is_misplacement_undecidable, misplaced_gang_findings
from grove_core.areas.workload.findings import failed_write_findings, foreign_gate_findings, kai_eviction_findings
from grove_core.in_memory.forecasts import snapshot_with_set_as_stored
from grove_core.kernel.decisions import Finding
from grove_core.kernel.steps import Step
from grove_core.kernel.structs import replace
from grove_core.operator_recognition import RecognisedOperator, set_not_predicted_finding
from grove_core.plan.forecast import Forecast
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import SET_KIND
from grove_core.resources.failed_write import FailedWrite
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.input_completeness import LoadedInput
from grove_shell.reading.input_nodes import InputNodes
from grove_shell.views.formatting import count_with_noun


def nothing_decided_message(loaded: LoadedInput, forecasts: Sequence[Forecast]) -> str:
    """Return why nothing was decided, in one sentence (CL-056); empty where something was."""
    if any(one.root.kind == SET_KIND or _does_something(one) for one in forecasts):
        return ""
    if loaded.server_errors:
        return f"nothing was decided: the input holds an error of an API server: {'; '.join(loaded.server_errors)}"
    held = [count_with_noun(count, kind) for kind, count in loaded.ignored.items()]
    if loaded.pods_without_clique:
        held.append(count_with_noun(loaded.pods_without_clique, "Pod"))
    if loaded.cluster.topologies:
        held.append(count_with_noun(len(loaded.cluster.topologies), "topology object"))
    what = f"only {', '.join(held)}" if held else "and no other object that a decision depends on"
    return f"nothing was decided: the input holds no PodCliqueSet, {what}"


def _does_something(forecast: Forecast) -> bool:
    return any(round_.steps or round_.withheld for round_ in forecast.rounds)


def with_input_findings(
    findings: Sequence[Finding],
    snapshot: Snapshot,
    nodes: InputNodes,
    rules: RuleSet,
    shown: RecognisedOperator | None,
    *,
    failed: Sequence[FailedWrite] = (),
    steps: Sequence[Step] = (),
) -> tuple[Finding, ...]:
    """Return the findings of a plan, with those by the input.

    They are about its nodes (TP-131, GF-015), pods that leave (GT-113), other products (WL-246, WL-257), failed writes
    (WL-255) and a newer release (GF-134).

    Args:
        failed: writes that failed before.
        steps: of the plan.
        shown: the operator that the input shows; None where there is nothing to recognise one by.
    """
    more = [*misplaced_gang_findings(snapshot, nodes.labels)] if nodes.labels else []
    more += foreign_gate_findings(snapshot)
    more += kai_eviction_findings(snapshot)
    more += failed_write_findings(snapshot, failed, steps) if failed else ()
    more += _leaving_pods_findings(findings, snapshot, nodes, rules)
    if rules.lost_nodes is not None:
        more += rules.lost_nodes(snapshot, nodes.readiness).findings
    newer = set_not_predicted_finding(shown, snapshot.root.ref) if shown is not None else None
    if newer is None:
        return (*findings, *more)
    alike = [one for one in findings if (one.subject, one.question) == (newer.subject, newer.question)]
    because = (*newer.because, *(why for one in alike for why in one.because))
    return (*(one for one in findings if one not in alike), newer._replace(because=because), *more)


def _leaving_pods_findings(
    findings: Sequence[Finding], snapshot: Snapshot, nodes: InputNodes, rules: RuleSet
) -> Sequence[Finding]:
    """Return what is found without the pods that leave, decided by the same rules; nothing where none leaves."""
    leaving = tuple(leaving_pods(snapshot, nodes.readiness))
    if not leaving:
        return ()
    after = reconcile(snapshot_with_set_as_stored(snapshot_without_leaving_pods(snapshot, leaving), rules), rules)
    return tuple(leaving_pods_findings(findings, after.findings, leaving, snapshot))


def forecasts_with_input_findings(
    snapshots: Sequence[Snapshot],
    planned: Iterable[Forecast],
    nodes: InputNodes,
    rules: RuleSet,
    shown: RecognisedOperator | None,
    failed: Sequence[FailedWrite] = (),
) -> tuple[Forecast, ...]:
    """Return the forecasts of some snapshots with the findings of `with_input_findings`.

    Args:
        snapshots, planned: of the same sets, in the same order.
        nodes: what the Nodes of the input show.
        shown: the operator that the input shows; None where there is nothing to recognise one by.
        failed: writes that failed before.
    """
    return tuple(
        replace(
            forecast,
            findings=with_input_findings(
                forecast.findings,
                snapshot,
                nodes,
                rules,
                shown,
                failed=failed,
                steps=[step for round_ in forecast.rounds for step in round_.steps] if failed else (),
            ),
        )
        for forecast, snapshot in zip(planned, snapshots, strict=True)
    )


def sets_with_unknown_nodes(snapshots: Iterable[Snapshot], nodes: NodeLabels) -> tuple[str, ...]:
    """Return the sets whose required topology constraints cannot be checked, because a node is unknown (TP-131).

    Returns:
        ``namespace/name`` of each.
    """
    roots = (snapshot.root.ref for snapshot in snapshots if is_misplacement_undecidable(snapshot, nodes))
    return tuple(f"{root.namespace}/{root.name}" for root in roots)
