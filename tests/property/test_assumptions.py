"""What a later termination of a forecast rests on is said of each of them, and of nothing that happens now (PL-032)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.forecast_terminations import (
    TerminationAssumption,
    termination_assumptions_by_round,
)
from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.areas.gang_termination.verdicts import WAITS
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.kernel.decisions import Finding
from grove_core.kernel.gang_terminations import GangTermination, TerminationBasis
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Delete, Step, StepStage, gangs_terminated_by
from grove_core.plan.forecast import Forecast
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster
from tests.property.few_examples import RARELY
from tests.property.gang_termination_field.worlds import field_clusters, field_storms

Json = dict[str, Any]
CODES = {one.code for one in TerminationAssumption}


SNAPSHOTS = st.one_of(field_clusters(), field_storms())


def forecast(snapshot: Snapshot, rules: str) -> Forecast:
    until = snapshot.now + timedelta(hours=9)
    (found,) = forecasts_of_snapshots((snapshot,), rule_set(rules), limit=None, until=until)
    return found


@RARELY
@given(SNAPSHOTS, st.sampled_from(["field", "design", "field@v0.1.0-alpha.11"]))
def test_pl032_every_later_end_says_what_it_rests_on(generated: RandomCluster, rules: str) -> None:
    snapshot = generated.snapshot
    found = forecast(snapshot, rules)
    waits = {one.subject for one in found.findings if (one.question, one.verdict) == ("termination", "Wait")}
    rounds = [(round_.at, round_.steps) for round_ in found.rounds]
    assumed = termination_assumptions_by_round(found.findings, rounds)
    gone: set[Ref] = set()
    for (at, steps), by_target in zip(rounds, assumed, strict=True):
        ends = termination_deletions_by_replica(steps)
        targets = {step.target for deletions in ends.values() for step in deletions}
        assert by_target.keys() == (targets if at > rounds[0][0] else set())
        for step in steps if at > rounds[0][0] else ():
            sure = [
                one.replica in waits and (one.trigger if one.trigger.kind == "PodClique" else step.target) not in gone
                for one in gangs_terminated_by(step)
            ]
            if sure:
                assumption = TerminationAssumption.NOT_RECOVERED if any(sure) else TerminationAssumption.NOT_PLACED
                assert by_target[step.target] is assumption
        gone |= targets


@pytest.mark.parametrize(
    ("trigger", "second", "wanted"),
    [
        ("PodClique", "b", TerminationAssumption.NOT_PLACED),  # the trigger was terminated before
        ("PodCliqueScalingGroup", "b", TerminationAssumption.NOT_RECOVERED),  # this part of it was not
        ("PodCliqueScalingGroup", "a", TerminationAssumption.NOT_PLACED),  # it was
    ],
)
def test_pl032_what_was_terminated_before_starts_anew(trigger: str, second: str, wanted: TerminationAssumption) -> None:
    root, at = Ref("", "PodCliqueSet", "ml", "llm"), datetime(2026, 11, 20, 9, tzinfo=UTC)
    gang = GangTermination(root.at_replica(0), Ref("", trigger, "ml", "a"), at)

    def deletion_of(name: str) -> Step:
        action = Delete(Guard("u", "1"), basis=TerminationBasis(((root, Guard("r", "1")),), (gang,)))
        return Step(StepStage.CLEANUP, Ref("", "PodClique", "ml", name), action, ())

    waits = Finding(root.at_replica(0), TERMINATION, WAITS, ())
    rounds = [
        (at + timedelta(hours=hour), steps)
        for hour, steps in enumerate(((), (deletion_of("a"),), (), (deletion_of(second),)))
    ]
    first, later, between, last = termination_assumptions_by_round((waits,), rounds)
    assert (first, list(later.values()), between) == ({}, [TerminationAssumption.NOT_RECOVERED], {})
    assert list(last.values()) == [wanted]


@RARELY
@given(SNAPSHOTS, st.sampled_from(["field", "design"]))
def test_pl032_the_document_says_the_same(generated: RandomCluster, rules: str) -> None:
    snapshot = generated.snapshot
    found = forecast(snapshot, rules)
    document = PlanDocument(rules=rules, as_of=snapshot.now, not_collected=(), forecasts=(found,))
    (plan,) = plan_document_as_json(document, decisions=False)["plans"]
    so_far: set[str] = set()
    for round_ in plan["rounds"]:
        later = round_["at"] > plan["rounds"][0]["at"]
        ends = [step for step in round_["steps"] if step.get("restsOn")]
        so_far |= {step["assumes"] for step in round_["steps"] if "assumes" in step}
        assert set(round_.get("assumes", ())) == so_far <= CODES
        assert all(("assumes" in step) is later for step in ends)
    if "again" in plan:
        assert plan["again"]["assumes"] == ["NotPlaced"]


@pytest.mark.parametrize(("code", "words"), [("NotRecovered", "unless"), ("NotPlaced", "if none of its pods")])
def test_pl032_words(code: str, words: str) -> None:
    (one,) = (one for one in TerminationAssumption if one.code == code)
    assert one.words.startswith(words)
