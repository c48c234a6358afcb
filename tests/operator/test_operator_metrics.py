"""Metrics of terminations and deadlines, for recorded plans."""

from datetime import UTC, datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Final

import pytest
import yaml

from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, StepStage
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.cache.root_keys import RootKey
from grove_shell.operator.json_log import OperatorJsonLog, WithheldTopologyWrites
from grove_shell.operator.metrics import OperatorMetrics
from grove_shell.operator.prediction_check import DeletionPredictionChecker, PredictionOutcome
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.replay.decision_log_format import DecisionLog
from grove_shell.replay.decision_log_recorder import DecisionLogRecorder

CASES: Final = Path(__file__).parent.parent / "golden/gang_termination"
HOME: Final[RootKey] = ("ml", "ml")


def plan_round(case: str, rules: str = "design") -> PlannedReconcileRound:
    folder = CASES / case
    now = yaml.load((folder / "case.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["now"]
    cluster = load_input_files((str(folder / "given.yaml"),), BytesIO()).cluster
    moment = now if isinstance(now, datetime) else datetime.fromisoformat(now)
    seen = cluster.snapshot_of(next(iter(cluster.sets)), moment.astimezone(UTC))
    return PlannedReconcileRound(
        root_key=HOME,
        plan_name="a plan",
        observation=seen,
        plan=reconcile(seen, rule_set(rules)),
        planning_seconds=0.01,
    )


def ends(planned_round: PlannedReconcileRound, outcome: AttemptOutcome = AttemptOutcome.DONE) -> tuple[Attempt, ...]:
    """Every deletion of its plan, tried like this."""
    return tuple(Attempt(step, outcome) for step in planned_round.plan.steps if isinstance(step.action, Delete))


def counted(telemetry: OperatorMetrics) -> dict[tuple[str, str], float]:
    """Ends of gangs by level and rule, those that happened."""
    name = "grove_gang_terminations_total"
    found = (sample for metric in telemetry.registry.collect() for sample in metric.samples if sample.name == name)
    return {(sample.labels["level"], sample.labels["rule"]): sample.value for sample in found if sample.value}


WHOLE: Final = ("PodCliqueSet", "DelayExpired")
OF_GROUP: Final = ("PodCliqueScalingGroup", "DelayExpired")


@pytest.mark.parametrize("rules", ["design", "field"])
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("gt033_delay_expired_terminates_whole_replica", {WHOLE: 1}),
        ("gt050_group_ends_one_replica", {OF_GROUP: 1}),
        ("gt050_two_of_three_replicas_end", {OF_GROUP: 2}),
    ],
)
def test_op041_a_gang_that_ends_is_counted_once(case: str, expected: dict[tuple[str, str], float], rules: str) -> None:
    """Not while its deletions fail, and not again while what is left of it goes."""
    planned_round, telemetry = plan_round(case, rules), OperatorMetrics()
    for outcome in (AttemptOutcome.UNREACHABLE, AttemptOutcome.CONFLICT, AttemptOutcome.REFUSED):
        telemetry.on_steps_executed(planned_round, ends(planned_round, outcome))
    assert counted(telemetry) == {}
    companions = tuple(one for one in ends(planned_round) if one.step.stage is not StepStage.CAUSE)
    telemetry.on_steps_executed(planned_round, companions)
    assert counted(telemetry) == {}
    for _ in range(3):
        telemetry.on_steps_executed(planned_round, ends(planned_round))
    assert counted(telemetry) == expected
    telemetry.on_root_deleted(HOME)
    telemetry.on_steps_executed(planned_round, ends(planned_round))
    assert counted(telemetry) == {key: 2 * number for key, number in expected.items()}


def due(planned_round: PlannedReconcileRound) -> float:
    telemetry = OperatorMetrics()
    telemetry.on_round_planned(planned_round)
    (sample,) = (
        sample
        for metric in telemetry.registry.collect()
        for sample in metric.samples
        if sample.name == "grove_termination_deadline_timestamp_seconds"
    )
    return sample.value


@pytest.mark.parametrize(
    "case", ["gt034_breach_waits_for_its_delay", "gt051_group_replica_waits", "gt034_one_replica_due_the_other_waits"]
)
def test_op041_a_deadline_is_that_of_a_gang(case: str) -> None:
    """Whatever else requeues the set, such as a ComputeDomain without a driver."""
    planned_round = plan_round(case)
    assert planned_round.plan.wake_at is not None
    assert due(planned_round) == planned_round.plan.wake_at.timestamp()
    sooner = replace(planned_round.plan, wake_at=planned_round.observation.now)
    assert due(replace(planned_round, plan=sooner)) == planned_round.plan.wake_at.timestamp()


def test_op041_an_object_that_waits_for_something_else_has_no_deadline() -> None:
    planned_round = plan_round("gt011_enough_ready_pods")
    assert due(replace(planned_round, plan=replace(planned_round.plan, wake_at=planned_round.observation.now))) == 0


def shown(telemetry: OperatorMetrics) -> list[str]:
    """Lines of the page about a set."""
    return [line for line in telemetry.as_prometheus_text().decode().splitlines() if 'set="' in line]


@pytest.mark.parametrize("known", [True, False])
def test_op041_a_deleted_set_has_no_gauges_after_repeated_reports(known: bool) -> None:
    telemetry, planned_round = OperatorMetrics(), plan_round("gt034_breach_waits_for_its_delay")
    if known:
        telemetry.on_round_planned(planned_round)
        assert len(shown(telemetry)) == 5
    for _ in range(2):
        telemetry.on_root_deleted(HOME)
        assert shown(telemetry) == []
    telemetry.on_round_planned(planned_round)
    assert len(shown(telemetry)) == 5, "another set of that name"


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.req("OP-035")
def test_op041_what_was_predicted_is_taken_back_once(known: bool) -> None:
    planned_round = plan_round("gt034_breach_waits_for_its_delay")
    shadow = DeletionPredictionChecker(lambda *_words, **_fields: None, DESIGN)
    if known:
        shadow.on_round_planned(planned_round)
    predicted = shadow.totals[PredictionOutcome.PREDICTED]
    assert (predicted > 0) is known
    for _ in range(2):
        shadow.on_root_deleted(HOME)
        assert shadow.totals[PredictionOutcome.TAKEN_BACK] == predicted


@pytest.mark.parametrize("known", [True, False])
def test_op041_a_listener_may_receive_it_again(known: bool) -> None:
    planned_round, out = plan_round("gt034_breach_waits_for_its_delay"), StringIO()
    recorder = DecisionLogRecorder(DecisionLog(out), "design", "")
    followers = (OperatorJsonLog(StringIO()), WithheldTopologyWrites(lambda _home: True), recorder)
    for follower in followers:
        if known:
            follower.on_round_planned(planned_round)
        for _ in range(2):
            follower.on_root_deleted(HOME)
    assert recorder.remembered_set_count == 0
