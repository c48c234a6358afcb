"""A log is replayed: every round is decided again, and differences are reported."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.snapshot.snapshot import trim_snapshot
from grove_core.testing import RandomCluster
from grove_shell.replay.decision_log_format import (
    DecisionLog,
    canonical_json,
    equals_recorded_plan,
    plan_as_decision_log_json,
)
from grove_shell.replay.decision_log_reader import recorded_decisions
from grove_shell.replay.decision_log_recorder import DecisionLogRecorder
from grove_shell.replay.json_conversion import core_value_as_json, core_value_from_json
from tests.property.gang_termination_field.worlds import field_clusters
from tests.replay.log_lines import LOG, chained, lines_of, spoken, words_of, written
from tests.replay.recorded_logs import SCENARIOS, planned_round, played


class TestFacts:
    """Objects as JSON and back."""

    @given(field_clusters())
    def test_rp001_objects_survive(self, generated: RandomCluster) -> None:
        for item in (generated.root, *generated.groups, *generated.cliques, *generated.pods):
            assert core_value_from_json(type(item), json.loads(canonical_json(core_value_as_json(item)))) == item

    @pytest.mark.parametrize("scenario", SCENARIOS)
    def test_rp001_everything_an_operator_sees_survives(self, scenario: str) -> None:
        for snapshot in played(scenario).snapshots[::17]:
            every = (*snapshot.objects_without_pods_by_ref().values(), *(pod for _, pod in snapshot.pods()))
            for item in every:
                assert core_value_from_json(type(item), json.loads(canonical_json(core_value_as_json(item)))) == item

    @pytest.mark.parametrize(
        ("declared", "raw"),
        [(int, "1"), (bool, 1), (str, None), (dict[str, int], [["a", "b"]]), (tuple[int, str], [1])],
    )
    def test_rp001_what_is_none_is_refused(self, declared: object, raw: object) -> None:
        with pytest.raises((TypeError, ValueError)):
            core_value_from_json(declared, raw)

    def test_rp001_what_is_no_fact_cannot_be_written(self) -> None:
        with pytest.raises(TypeError):
            core_value_as_json(object())
        with pytest.raises(TypeError):
            core_value_from_json(Any, 1)


class TestReplay:
    """A log is enough."""

    @pytest.mark.parametrize("scenario", SCENARIOS)
    def test_rp001_every_round_is_decided_again(self, scenario: str) -> None:
        seen = played(scenario)
        looks = list(recorded_decisions(lines_of(scenario)))
        assert len(looks) == len(seen.snapshots) > 2
        for look, snapshot in zip(looks, seen.snapshots, strict=True):
            reported = trim_snapshot(snapshot)
            for name in ("root", "groups", "cliques", "gangs", "others", "domains", "now", "attempts", "configuration"):
                assert getattr(look.snapshot, name) == getattr(reported, name), name
            assert look.snapshot.pods_of == {uid: tuple(pods) for uid, pods in reported.pods_of.items() if pods}
            again = plan_as_decision_log_json(reconcile(look.snapshot), snapshot.now)
            assert (
                canonical_json(again)
                == canonical_json(look.plan)
                == canonical_json(plan_as_decision_log_json(reconcile(snapshot), snapshot.now))
            )

    def test_rp001_a_log_with_earlier_reason_codes_is_as_recorded(self) -> None:
        snapshots = played("tests/golden/simulation/deletion_of_a_set/scenario.yaml").snapshots
        plans = [(reconcile(snapshot), snapshot.now) for snapshot in snapshots]
        former = [plan_as_decision_log_json(plan, now, former_codes=True) for plan, now in plans]
        assert any('"rule":"LetGo"' in canonical_json(one) for one in former)
        assert all(equals_recorded_plan(one, plan, now) for one, (plan, now) in zip(former, plans, strict=True))
        assert not equals_recorded_plan(former[0], *plans[-1])

    @given(field_clusters())
    def test_rp001_by_the_fields_rules_too(self, generated: RandomCluster) -> None:
        snapshot, out = generated.snapshot, io.StringIO()
        plan = reconcile(snapshot, NEWEST)
        DecisionLogRecorder(DecisionLog(out), NEWEST.name, "").on_round_planned(planned_round(snapshot, plan))
        (look,) = recorded_decisions(out.getvalue().encode().splitlines(keepends=True))
        assert look.rules == NEWEST.name
        assert reconcile(look.snapshot, NEWEST) == plan

    @pytest.mark.req("OP-103")
    @pytest.mark.parametrize("withheld", [None, False, True])
    @pytest.mark.parametrize("outcome", AttemptOutcome)
    def test_rp001_whether_a_failed_write_is_withheld(self, outcome: AttemptOutcome, *, withheld: bool | None) -> None:
        snapshot, out = played(SCENARIOS[0]).snapshots[-1], io.StringIO()
        step = Step(StepStage.CLEANUP, snapshot.root.ref, Delete(snapshot.root.guard), ())
        snapshot = replace(snapshot, attempts=(Attempt(step, outcome, "no", withheld),))
        DecisionLogRecorder(DecisionLog(out), "design", "").on_round_planned(
            planned_round(snapshot, reconcile(snapshot))
        )
        (look,) = recorded_decisions(out.getvalue().encode().splitlines(keepends=True))
        assert look.snapshot.attempts == snapshot.attempts

    @given(field_clusters(), field_clusters())
    def test_rp001_what_is_of_others_changes_nothing(self, generated: RandomCluster, other: RandomCluster) -> None:
        snapshot = generated.snapshot
        foreign_objects = {f"other-{uid}": pods for uid, pods in other.snapshot.pods_of.items()}
        crowded = replace(snapshot, pods_of=frozen_dict_of_tuples({**snapshot.pods_of, **foreign_objects}))
        assert reconcile(trim_snapshot(crowded)) == reconcile(snapshot)
        assert not foreign_objects.keys() & trim_snapshot(crowded).pods_of.keys()

    def test_rp007_an_object_is_written_once(self) -> None:
        lines = [json.loads(line) for line in lines_of(LOG)]
        facts = [line["fact"] for line in lines if "fact" in line]
        assert len(facts) == len(set(facts))
        references = [line["seen"]["root"] for line in lines if "look" in line]
        assert len(set(references)) < len(references) / 2

    def test_rp001_the_command_says_so(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = written(tmp_path / "log", lines_of(LOG))
        count = len(played(LOG).snapshots)
        first, second, *rest = spoken(capsys, "replay", path).splitlines()
        assert first == f"{count} decisions repeated, each plan byte for byte the same"
        assert second.endswith("rules 'design'")
        assert not rest
        reported = json.loads(spoken(capsys, "replay", path, "-o", "json"))
        assert (reported["looks"], reported["asRecorded"], reported["otherwise"]) == (count, count, [])

    def test_rp001_a_different_result_is_reported(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        """As after a change of the program: the log is whole, and says something else than we would."""
        said = words_of(LOG)
        changed = next(number for number, words in enumerate(said) if "look" in words and words["plan"]["steps"])
        said[changed]["plan"]["steps"].pop()
        path = written(tmp_path / "log", chained(*said))
        shown = spoken(capsys, "replay", path, code=3)
        assert shown.startswith("1 of ")
        assert f"line {changed + 1}  plan " in shown
        assert "now there is: " in shown

    def test_rp005_by_other_rules(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = written(tmp_path / "log", lines_of(LOG))
        shown = spoken(capsys, "replay", path, "--rules", "field")
        assert "other terminations at" in shown
        assert "design: terminated now" in shown
        assert "field@v0.1.0-alpha.12-rc1: not terminated" in shown
        spoken(capsys, "replay", path, "--rules", "field", "--detailed-exitcode", code=2)
        spoken(capsys, "replay", path, "--rules", "design", "--detailed-exitcode")
        assert "works only with --rules" in spoken(capsys, "replay", path, "--detailed-exitcode", code=64)
        reported = json.loads(spoken(capsys, "replay", path, "--rules", "field", "-o", "json"))
        assert reported["parted"]
        assert reported["parted"][0]["differences"][0]["change"] == "spared"
