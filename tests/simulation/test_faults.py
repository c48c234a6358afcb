"""Each kind of fault has the effect of its definition, and none before its time."""

from typing import Any

import pytest

from grove_core.kernel.steps import AttemptOutcome, deletes_or_reports_termination
from grove_core.resources.labels import SET_REPLICA
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_shell.simulator.recording.simulation_history import NoteKind, PodChangeKind, SimulationActor, WriteEffect
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions
from grove_shell.simulator.virtual_time import SECOND
from tests.simulation.run_helpers import PlanRecorder, changes_of_pods, entries_of, run, scenario, watched
from tests.simulation.sample_sets import clique_raw, set_raw

Json = dict[str, Any]


def failed(eyes: PlanRecorder) -> list[tuple[str, AttemptOutcome]]:
    return [
        (answer.step.target.kind, answer.outcome)
        for answer in eyes.answers
        if answer.outcome is not AttemptOutcome.DONE
    ]


@pytest.mark.parametrize("committed", [False, True])
def test_sm040_f1_a_crash_before_or_after_a_write(*, committed: bool) -> None:
    eyes, found = watched({"at": "0s", "crashOperator": {"write": 3, "committed": committed, "down": "7s", "times": 2}})
    crashes = [at for at, message in entries_of(found, NoteKind.FAULT) if "crashes" in message]
    assert len(crashes) == 2
    assert crashes[1] >= crashes[0] + 7 * SECOND
    before = [change for change in found.changes if change.at <= crashes[0] and change.before is None]
    assert len(before) == 1 + 2 + committed  # the set itself, and what was written
    assert found.clique_states[0].ready == 2
    assert failed(eyes) == []


def test_sm040_f1_a_crash_at_once() -> None:
    found = run({"at": "0s", "crashOperator": {"down": "1m"}})
    assert entries_of(found, WriteEffect.CREATED)[0][0] == 60 * SECOND


def test_sm040_f1_a_process_that_crashes_at_its_start_does_nothing() -> None:
    crash = {"at": "200ms", "crashOperator": {"down": "5s", "times": 2}}
    eyes, _found = watched(crash, until="15s")
    planned = [snapshot.now.second for snapshot, _ in eyes.seen]
    assert not [second for second in planned if 1 <= second < 10]


def test_sm040_f2_a_cache_that_stands_still() -> None:
    eyes, found = watched({"at": "0s", "lagCache": {"kinds": ["Pod"], "span": "30s"}})
    seen = [snapshot for snapshot, _ in eyes.seen if snapshot.now < found.scenario.spec.start.replace(second=30)]
    pods = [pod for snapshot in seen for _, pod in snapshot.pods()]
    assert pods  # its own, by the responses
    assert all(not pod.node for pod in pods)
    assert len([change for change in changes_of_pods(found) if change.before is None]) == 2


def test_sm040_f3_a_list_from_the_past() -> None:
    eyes, found = watched({"at": "20s", "relist": {"back": "20s"}})
    then = [snapshot for snapshot, _ in eyes.seen if snapshot.now == found.scenario.spec.start.replace(second=20)]
    assert [len(snapshot.cliques) for snapshot in then] == [0]
    assert found.clique_states[0].pods == 2


@pytest.mark.parametrize("kind", ["PodClique", "PodGang"])
def test_sm040_f4_another_client_writes_first(kind: str) -> None:
    eyes, found = watched({"at": "500ms", "touch": {"kind": kind, "writes": 2}})
    assert failed(eyes)[0] == (kind, AttemptOutcome.CONFLICT)
    assert found.clique_states[0].ready == 2


def test_sm040_f4_another_client_writes_to_a_pod_first() -> None:
    ended = {"at": "20s", "failPod": {"clique": "llm-0-a", "index": 1}}
    eyes, found = watched(ended, {"at": "20s", "touch": {"kind": "Pod", "writes": 2}})
    assert failed(eyes)[0] == ("Pod", AttemptOutcome.CONFLICT)
    assert found.clique_states[0].ready == 2


def test_sm040_f5_answers_that_are_lost() -> None:
    eyes, found = watched({"at": "0s", "loseAnswers": {"writes": 3}})
    lost = [answer for answer in eyes.answers if answer.outcome is AttemptOutcome.UNREACHABLE]
    assert len(lost) == 3
    there = {change.latest_object.ref for change in found.changes if change.at <= SECOND}
    assert {answer.step.target for answer in lost} <= there


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (403, AttemptOutcome.REFUSED),
        (422, AttemptOutcome.REFUSED),
        (429, AttemptOutcome.UNREACHABLE),
        (503, AttemptOutcome.UNREACHABLE),
    ],
)
def test_sm040_f6_f7_refusals_of_a_kind(code: int, outcome: AttemptOutcome) -> None:
    eyes, found = watched({"at": "0s", "refuseWrites": {"code": code, "kind": "other", "writes": 2}})
    assert [answer for _, answer in failed(eyes)] == [outcome, outcome]
    assert {kind for kind, _ in failed(eyes)} <= {"Role", "RoleBinding", "Secret", "Service", "ServiceAccount"}
    assert found.clique_states[0].ready == 2


@pytest.mark.req("OP-103")
@pytest.mark.parametrize("code", [429, 503])
def test_op023_the_pause_between_failed_statuses_grows(code: int) -> None:
    refusals = {"at": "300ms", "refuseWrites": {"code": code, "kind": "PodClique", "writes": 10_000}}
    eyes, _ = watched(refusals, until="5m")
    assert 10 < len(failed(eyes)) < 20


@pytest.mark.req("OP-103")
def test_op023_the_pause_between_statuses_of_a_frozen_cache_grows() -> None:
    """The PodClique has been changed by another client, so each status is a conflict until the change is cached."""
    late = {"at": "1m", "lagCache": {"kinds": ["PodClique"], "span": "2m"}}
    edited, failing = {"at": "61s", "editStatus": {"clique": "llm-0-a"}}, {"clique": "llm-0-a", "index": 1}
    eyes, found = watched(late, edited, {"at": "62s", "failPod": failing}, until="5m")
    assert 5 < len(failed(eyes)) < 15
    assert {outcome for _, outcome in failed(eyes)} == {AttemptOutcome.CONFLICT}
    assert found.clique_states[0].ready == 2


@pytest.mark.req("GF-091")
@pytest.mark.parametrize("code", [403, 503])
@pytest.mark.parametrize("rules", [DESIGN, NEWEST], ids=lambda rules: str(rules.name))
def test_sm040_f6_a_refused_part_terminates_nothing_twice(rules: RuleSet, code: int) -> None:
    events = (
        {"at": "1m59s", "cordon": {"of": {"clique": "llm-0-a", "index": 0}}},
        {"at": "2m", "deletePod": {"clique": "llm-0-a", "index": 0}},
        {"at": "2m59s", "refuseWrites": {"code": code, "kind": "PodClique", "writes": 1}},
        {"at": "5m", "addNodes": {"name": "more", "count": 3, "capacity": {"gpu": 1}}},
    )
    manifest = set_raw(clique_raw("a", 1, 1), clique_raw("b", 1, 1), clique_raw("c", 1, 1))
    eyes = PlanRecorder()
    spec = scenario(*events, manifest=manifest, until="10m")
    found = Simulation(spec, SimulationOptions(rules=rules, observers=(eyes,))).run()
    assert found.violation is None, found.violation
    ended = [
        answer
        for answer in eyes.answers
        if answer.step.target.kind == "PodClique" and deletes_or_reports_termination(answer.step)
    ]
    deleted = [answer.step.target.name for answer in ended if answer.outcome is AttemptOutcome.DONE]
    assert any(answer.outcome is not AttemptOutcome.DONE for answer in ended)
    assert sorted(deleted) == ["llm-0-a", "llm-0-b", "llm-0-c"]


def test_sm040_f6_answers_that_take_long() -> None:
    found = run({"at": "0s", "slowAnswers": {"delay": "2s", "span": "9s"}})
    made = [change.at for change in found.changes if change.before is None]
    assert made == [0, 1200, 1200, 1200, 3200, 3200, 3200, 5300, 7400, 9400]
    assert found.clique_states[0].ready == 2


def test_sm011_a_write_takes_its_time() -> None:
    found = run(operator={"write": "500ms"})
    made = [change.at for change in found.changes if change.before is None]
    assert made == [0, 450, 450, 450, 950, 950, 950, 1550, 2150, 2650]  # those of a stage together
    assert found.clique_states[0].ready == 2


def test_sm011_a_write_in_flight_takes_effect_after_a_crash() -> None:
    slow = {"at": "0s", "slowAnswers": {"delay": "10s", "span": "5s"}}
    found = run(slow, {"at": "2s", "crashOperator": {"down": "1m"}})
    made = [change.at for change in found.changes if change.before is None]
    assert made[1:4] == [5200] * 3
    assert made[4] > 60 * SECOND
    assert found.clique_states[0].ready == 2


def test_sm011_a_crash_at_a_write_that_takes_its_time() -> None:
    found = run({"at": "0s", "crashOperator": {"write": 3, "down": "1m"}}, operator={"write": "1s"})
    made = [change.at for change in found.changes if change.before is None]
    assert len([at for at in made if at < 60 * SECOND]) == 1 + 2
    assert found.clique_states[0].ready == 2


def test_sm040_f13_another_hash_function_rolls_nothing() -> None:
    upgrade = {"at": "1m", "changeHashes": {}}
    manifest = set_raw(clique_raw("a", 2, 1))
    found = run(upgrade, manifest=manifest)
    stored = [change.latest_object for change in changes_of_pods(found) if change.after is not None]
    assert {pod.template_hash.endswith("-old") for pod in stored if isinstance(pod, Pod)} == {False, True}
    assert [change for change in changes_of_pods(found) if change.after is None] == []
    assert found.clique_states[0].ready == 2
    new = {"at": "2m", "applySet": {"manifest": set_raw(with_image("example.com/engine:2"))}}
    rolled = run(upgrade, new, manifest=manifest)
    assert len([change for change in changes_of_pods(rolled) if change.after is None]) == 2
    assert rolled.clique_states[0].ready == 2


def with_image(image: str) -> Json:
    clique = clique_raw("a", 2, 1)
    clique["spec"]["podSpec"]["containers"][0]["image"] = image
    return clique


def test_sm040_f8_pods_of_an_old_leader_may_outlive_a_deleted_set() -> None:
    events = {"at": "1.5s", "deleteSet": {"name": "llm"}}, {"at": "2s", "secondLeader": {"span": "13.5s"}}
    found = run(*events, operator={"watch": "1s"})
    deleted_at = next(one.at for one in found.changes if one.kind == "PodCliqueSet" and one.after is None)
    last = max(one.at for one in changes_of_pods(found) if one.after is None)
    assert deleted_at < last
    assert found.rested


def test_sm040_f8_an_old_leader_sees_nothing_new() -> None:
    eyes = Eyes()
    found = Simulation(
        scenario({"at": "300ms", "secondLeader": {"span": "5s", "every": "1s"}}), SimulationOptions(observers=(eyes,))
    ).run()
    assert {1300, 2300, 3300, 4300} <= set(eyes.looks)
    assert max(eyes.looks) < 5300
    assert eyes.nodes == {""}
    assert found.clique_states[0].pods == 2


class Eyes(PlanRecorder):
    """Of the old leader alone."""

    def __init__(self) -> None:
        super().__init__()
        self.looks: list[int] = []
        self.nodes: set[str] = set()

    def on_operator_plan(self, actor: SimulationActor, seen: Any, plan: Any) -> None:
        if actor is SimulationActor.SECOND:
            self.looks.append(seen.now.second * SECOND + seen.now.microsecond // 1000)
            self.nodes |= {pod.node for _, pod in seen.pods()}


def test_sm040_f9_a_clock_that_is_off() -> None:
    eyes, found = watched(
        {"at": "10s", "jumpClock": {"ahead": "5m", "span": "20s"}}, {"at": "20s", "crashPod": {"clique": "llm-0-a"}}
    )
    minutes = {snapshot.now.minute for snapshot, _ in eyes.seen}
    assert {0, 5} <= minutes
    assert found.history.terminations == 0


def test_sm040_f10_foreign_objects() -> None:
    held = run({"at": "5s", "holdForeign": {"kind": "PodClique", "name": "llm-0-a", "span": "1m"}})
    finalizers = [
        change.latest_object.finalizers for change in held.changes if isinstance(change.latest_object, PodClique)
    ]
    assert any("example.com/held" in found for found in finalizers)
    assert "example.com/held" not in finalizers[-1]
    gated = run({"at": "700ms", "gateForeign": {"clique": "llm-0-a", "span": "1m"}}, nodes=3)
    assert entries_of(gated, PodChangeKind.PLACED)[-1][0] >= 60 * SECOND
    edited = run({"at": "20s", "editStatus": {"clique": "llm-0-a"}})
    counts = [
        change.latest_object.status.ready for change in edited.changes if isinstance(change.latest_object, PodClique)
    ]
    assert 7 in counts
    assert counts[-1] == 2


@pytest.mark.req("WL-211", "WL-086")
def test_sm040_f10_removed_labels() -> None:
    stripped = {"at": "20s", "removeLabels": {"clique": "llm-0-a"}}
    found = run(
        stripped, {"at": "20s", "failPod": {"clique": "llm-0-a", "index": 1}}, manifest=set_raw(clique_raw("a", 2, 1))
    )
    hashes = [
        change.latest_object.template_hash for change in found.changes if isinstance(change.latest_object, PodClique)
    ]
    assert "" in hashes
    assert hashes[-1] == hashes[0]
    assert found.clique_states[0].ready == 2
    gangs = {change.latest_object.gang for change in changes_of_pods(found) if isinstance(change.latest_object, Pod)}
    assert gangs == {"llm-0"}
    assert entries_of(run({"at": "20s", "removeLabels": {"clique": "x"}}), NoteKind.NO_EFFECT) != []


@pytest.mark.req("GT-026")
def test_sm040_f10_labels_that_are_edited() -> None:
    """They assign a clique of replica 0 to replica 1; only the breached replica is terminated."""
    lie = {"kind": "PodClique", "name": "llm-0-a", "labels": {SET_REPLICA.primary: "1", "team": None}}
    crash = {"at": "30s", "crashPod": {"clique": "llm-1-a", "index": 0, "recovers": "10m"}}
    found = run({"at": "20s", "editLabels": lie}, crash, manifest=set_raw(clique_raw("a", 1, 1), replicas=2))
    cliques = [change.latest_object for change in found.changes if isinstance(change.latest_object, PodClique)]
    assert [one.labels.get(SET_REPLICA.primary) for one in cliques if one.ref.name == "llm-0-a"][-1] == "1"
    ended = [entry.content.subject for entry in found.history.entries if entry.kind is WriteEffect.TERMINATED]
    assert {ref.name for ref in ended if ref is not None} == {"llm-1-a"}
    for name, kept in (("llm-7-a", {}), ("llm-0-a", {SET_REPLICA.primary: "0"})):
        edit = {"kind": "PodClique", "name": name, "labels": kept}
        assert entries_of(run({"at": "20s", "editLabels": edit}), NoteKind.NO_EFFECT) != []


def test_sm040_f11_f8_a_node_is_lost_for_good() -> None:
    found = run({"at": "20s", "loseNode": {"node": "n-0"}}, manifest=set_raw(clique_raw("a", 2, 1)))
    assert found.clique_states[0].ready == 2


def test_sm040_f12_lists_in_any_order() -> None:
    eyes, _ = watched(
        {"at": "0s", "permuteLists": {"span": "1h"}}, manifest=set_raw(clique_raw("a", 3, 3), replicas=2), nodes=6
    )
    orders = {
        tuple(pod.name for pod in pods)
        for snapshot, _ in eyes.seen
        for pods in snapshot.pods_of.values()
        if len(pods) == 3
    }
    assert len(orders) > 2
