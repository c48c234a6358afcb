"""Laws of pods that are being deleted: they count until they are gone, and a forecast lets them go (GT-113, GT-114)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

import pytest

from grove_core.areas.gang_termination.forecast_leaving_pods import (
    leaving_pods,
    leaving_pods_findings,
    snapshot_without_leaving_pods,
)
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Fact
from grove_core.kernel.steps import gangs_terminated_by
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.reconcile import reconcile
from grove_core.resources.node_loss import NOT_READY, NodeLossSigns, NodeReadiness
from grove_core.resources.pod import Pod
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from tests.property.plan.ready_sets import ready_set, with_pods
from tests.simulation.edit_agreement import RULE_SETS
from tests.simulation.sample_sets import clique_raw, set_raw

RULES: Final = pytest.mark.parametrize("rules", RULE_SETS)
COUNTS: Final = pytest.mark.parametrize("count", range(3))
GRACE: Final = timedelta(seconds=30)
GROUP: Final = {"name": "pool", "cliqueNames": ["b"], "replicas": 1, "minAvailable": 1}
LONGER: Final = timedelta(days=2)


def draining(count: int, rules: RuleSet) -> Snapshot:
    """Return two PodCliques with three ready pods each, two of them needed; so many of each are being deleted."""
    start = ready_set(
        set_raw(clique_raw("a", 3, 2), clique_raw("b", 3, 2), groups=(GROUP,), terminationDelay="1h"), rules
    )
    end = format_time(start.now + GRACE)

    def change(pod: Pod) -> Pod:
        return replace(pod, deleting=True, deletion_time=end) if pod.index < count else pod

    return with_pods(start, change)


def findings(seen: Snapshot, rules: RuleSet) -> Iterator[Finding]:
    leaving = tuple(leaving_pods(seen, {}))
    after = reconcile(snapshot_without_leaving_pods(seen, leaving), rules)
    return leaving_pods_findings(reconcile(seen, rules).findings, after.findings, leaving, seen)


def test_gt113_a_finding_has_the_replicas_that_its_clique_is_part_of() -> None:
    seen = draining(2, rule_set("design"))
    of_set, cliques = seen.root.ref.at_replica(0), {clique.ref: clique for clique in seen.cliques}
    found = {one.subject.name: one.within for one in findings(seen, rule_set("design")) if one.subject in cliques}
    group = next(clique for clique in seen.cliques if clique.is_in_scaling_group)
    assert found == {"llm-0-a": (of_set,), group.ref.name: group.enclosing_replicas(seen.root.ref)}
    assert len(found[group.ref.name]) == 2


def _facts(found: Finding) -> dict[str, Fact]:
    return dict(found.because[0].facts)


@COUNTS
@RULES
def test_gt113_a_clique_that_will_lack_pods_is_named(count: int, rules: str) -> None:
    chosen = rule_set(rules)
    found = [(one.subject.name, _facts(one)["pods"]) for one in findings(draining(count, chosen), chosen)]
    assert found == ([("llm-0-a", count), ("llm-0-pool-0-b", count)] if count > 1 else [])


@COUNTS
@RULES
def test_gt114_the_breach_begins_when_they_are_gone(count: int, rules: str) -> None:
    chosen, seen = rule_set(rules), draining(count, rule_set(rules))
    (forecast,) = forecasts_of_snapshots((seen,), chosen, limit=None, until=seen.now + LONGER)
    terminated = [round_.at for round_ in forecast.rounds for step in round_.steps if gangs_terminated_by(step)]
    expected = [seen.now + GRACE + timedelta(hours=1)] if count > 1 else []
    assert terminated[:1] == expected


@RULES
def test_gt114_they_stay_where_their_node_does_not_answer(rules: str) -> None:
    chosen = rule_set(rules)
    seen = draining(3, chosen)
    signs = NodeLossSigns(seen.now, written_for_node=True, tolerates=())
    lost = with_pods(seen, lambda pod: replace(pod, ready=False, node_signs=signs))
    nodes = {pod.node: NodeReadiness(NOT_READY) for _, pod in seen.pods()}
    assert list(leaving_pods(lost, {})) == list(leaving_pods(seen, nodes)) == []
    answering = dict.fromkeys(nodes, NodeReadiness(""))
    assert len(list(leaving_pods(lost, answering))) == 6


@pytest.mark.parametrize(("text", "seconds"), [("", None), ("soon", None), ("-61", None), ("-60", 0), ("7", 7)])
def test_gt114_when_a_pod_is_gone(text: str, seconds: int | None) -> None:
    chosen = rule_set("design")
    seen = draining(1, chosen)
    given = format_time(seen.now + timedelta(seconds=int(text))) if text.strip("-").isdigit() else text
    leaving, *_ = leaving_pods(with_pods(seen, lambda pod: replace(pod, deletion_time=given)), {})
    assert leaving.at == (None if seconds is None else seen.now + timedelta(seconds=seconds))
    found, _ = findings(with_pods(draining(2, chosen), lambda pod: replace(pod, deletion_time=given)), chosen)
    assert (_facts(found)["until"] == "at any time") == (seconds is None)


def test_gt113_pods_of_a_clique_that_is_being_deleted_do_not_count() -> None:
    chosen = rule_set("design")
    seen = draining(3, chosen)
    ending = replace(seen, cliques=tuple(replace(clique, deleting=True) for clique in seen.cliques))
    assert list(leaving_pods(ending, {})) == []
