"""Kubelets, nodes, users and the operator's caches act at their times."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.steps import AttemptOutcome
from grove_core.resources.pod import Pod
from grove_shell.simulator.cluster.simulated_cluster import is_live_pod
from grove_shell.simulator.random_events.randomized_scenario import with_random_events
from grove_shell.simulator.recording.pod_clique_states import pod_clique_timelines
from grove_shell.simulator.recording.simulation_history import (
    NoteKind,
    PodChangeKind,
    RefusedApplyHistoryEntry,
    UnplacedGangHistoryEntry,
    WriteEffect,
)
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent
from grove_shell.simulator.scenario.scenario_field_types import WRITTEN
from grove_shell.simulator.scenario.scenario_reader import read_scenario
from grove_shell.simulator.simulation import FAULTS_STOP_AFTER, Simulation
from grove_shell.simulator.simulation_run import SimulationOptions, SimulationResult
from grove_shell.simulator.virtual_time import MINUTE, SECOND
from grove_shell.views.renderers import format_yaml_document
from grove_shell.views.simulation.simulation_run_document import simulation_run_as_json
from grove_shell.views.simulation.simulation_timeline import simulation_timeline_page
from tests.oracles import checked
from tests.property.few_examples import RARELY
from tests.simulation.random_runs import random_run
from tests.simulation.run_helpers import Json, changes_of_pods, entries_of, run, scenario, watched
from tests.simulation.sample_sets import clique_raw, random_scenario, scenario_of, set_raw

IN_ORDER = "CliqueStartupTypeInOrder"


@RARELY
@given(st.integers(0, 10**6))
def test_sm010_a_run_is_a_function_of_its_scenario(seed: int) -> None:
    one, other = (Simulation(random_run(seed), checked()).run() for _ in range(2))
    assert simulation_run_as_json(one) == simulation_run_as_json(other)
    assert repr(one.changes) == repr(other.changes)


@RARELY
@given(st.integers(0, 10**6))
def test_sm030_pods_start_in_their_order(seed: int) -> None:
    found = Simulation(random_scenario(seed)).run()
    ready: dict[str, int] = {}
    for change in changes_of_pods(found):
        pod = change.after
        if not isinstance(pod, Pod):
            continue
        before = change.before
        started = pod.phase == "Running" and isinstance(before, Pod) and before.phase == "Pending"
        clique = pod.name.rpartition("-")[0]
        if started and found.scenario.spec.sets[0]["spec"]["template"]["cliqueStartupType"] == IN_ORDER:
            parent = parent_of(clique, found.scenario)
            assert parent is None or ready.get(parent[0], 0) >= parent[1]
        if pod.ready:
            ready[clique] = ready.get(clique, 0) + 1


def parent_of(clique: str, found: Scenario) -> tuple[str, int] | None:
    """Return the standalone clique before a standalone one, with its minimum."""
    template = found.spec.sets[0]["spec"]["template"]
    members = {name for group in template["podCliqueScalingGroups"] for name in group["cliqueNames"]}
    names = [item["name"] for item in template["cliques"]]
    base, _, short = clique.rpartition("-")
    place = names.index(short)
    if place == 0 or short in members or names[place - 1] in members:
        return None
    return f"{base}-{names[place - 1]}", template["cliques"][place - 1]["spec"]["minAvailable"]


def test_sm030_a_pod_takes_its_time_to_stop() -> None:
    found = run({"at": "30s", "deletePod": {"clique": "llm-0-a", "index": 1}}, kubelet={"stop": "45s"})
    (gone,) = entries_of(found, PodChangeKind.GONE)
    assert gone[0] == 75 * SECOND
    assert found.clique_states[0].ready == 2


def test_sm030_an_unplaced_pod_is_gone_at_once() -> None:
    found = run({"at": "30s", "deletePod": {"clique": "llm-0-a"}}, nodes=1)
    gone = [change.at for change in changes_of_pods(found) if change.after is None]
    assert gone == [30 * SECOND]


def test_sm030_a_lost_node_loses_its_pods_slowly() -> None:
    found = run({"at": "30s", "loseNode": {"of": {"clique": "llm-0-a", "index": 1}}})
    (unready,) = entries_of(found, PodChangeKind.UNREADY)
    assert unready == (70 * SECOND, "node n-1 is lost")
    quiet = run({"at": "30s", "loseNode": {"of": {"clique": "llm-0-a", "index": 1}}}, manifest=without_delay())
    marked = [change for change in changes_of_pods(quiet) if change.after and change.latest_object.deleting]
    assert marked[0].at == 70 * SECOND + 5 * MINUTE
    assert sum(not is_live_pod(pod) for pod in last_pods(quiet)) == 1


def without_delay() -> Json:
    manifest = set_raw(clique_raw("a", 2, 2))
    del manifest["spec"]["template"]["terminationDelay"]
    return manifest


def last_pods(found: SimulationResult) -> list[Pod]:
    pods: dict[str, Pod] = {}
    for change in changes_of_pods(found):
        if isinstance(change.after, Pod):
            pods[change.after.uid] = change.after
        else:
            pods.pop(change.latest_object.uid, None)
    return list(pods.values())


def test_sm030_a_restored_node_stops_its_deleted_pods() -> None:
    where = {"of": {"clique": "llm-0-a", "index": 1}}
    short = run({"at": "30s", "loseNode": where}, {"at": "90s", "restoreNode": {"node": "n-1"}})
    assert all(pod.ready for pod in last_pods(short))
    assert len(last_pods(short)) == 2
    long = run({"at": "30s", "loseNode": where}, {"at": "9m", "restoreNode": {"node": "n-1"}}, manifest=without_delay())
    assert [pod.deleting for pod in last_pods(long)] == [False, False]
    assert entries_of(long, PodChangeKind.GONE)[0][0] == 9 * MINUTE + 3 * SECOND


def test_sm030_a_removed_node_removes_its_pods() -> None:
    found = run({"at": "30s", "removeNode": {"of": {"clique": "llm-0-a", "index": 1}}}, manifest=without_delay())
    assert entries_of(found, PodChangeKind.GONE) == [(70 * SECOND, "node n-1 is gone")]
    assert [pod.ready for pod in last_pods(found)] == [True, True]


def test_sm020_a_cordoned_node_gets_nothing_new() -> None:
    cordons = [{"at": "0s", "cordon": {"node": f"n-{index}"}} for index in range(3)]
    assert run(*cordons).clique_states[0].placed == 0
    assert (
        run(*cordons, {"at": "1m", "uncordon": {"node": "n-0"}}, {"at": "2m", "uncordon": {"node": "n-2"}})
        .clique_states[0]
        .ready
        == 2
    )


@pytest.mark.parametrize("gang_aware", [False, True])
def test_sm070_what_no_node_has_is_named(*, gang_aware: bool) -> None:
    def why(pools: list[Json]) -> str:
        raw = scenario(scheduler={"gangAware": gang_aware}).as_json
        raw["spec"]["nodes"] = pools
        found = Simulation(Scenario.model_validate(raw, context=WRITTEN)).run()
        (message,) = (
            one.content.why for one in found.history.entries if isinstance(one.content, UnplacedGangHistoryEntry)
        )
        return message.partition("; ")[2]

    assert why([]) == "the scenario has no nodes"
    assert why([{"name": "n", "capacity": {"cpu": 8}}]) == "no node has gpu"
    assert why([{"name": "n", "capacity": {"gpu": 0}}]) == ""


def test_sm030_an_autoscaler_keeps_to_its_bounds() -> None:
    clique = clique_raw("a", 2, 1, autoScalingConfig={"minReplicas": 2, "maxReplicas": 3})
    found = run({"at": "1m", "autoscale": {"name": "llm-0-a", "replicas": 9}}, manifest=set_raw(clique))
    assert found.clique_states[0].replicas == 3
    assert [detail for _, detail in entries_of(found, NoteKind.SCALED)] == ["replicas 2 to 3"]
    same = run({"at": "1m", "autoscale": {"name": "llm-0-a", "replicas": 1}}, manifest=set_raw(clique))
    assert entries_of(same, NoteKind.SCALED) == []


def test_sm002_a_refused_update_changes_nothing() -> None:
    other = set_raw(clique_raw("b", 1, 1))
    found = run({"at": "1m", "applySet": {"manifest": other}}, {"at": "2m", "applySet": {"manifest": {"kind": 1}}})
    assert found.history.refused == 2
    assert [standing.name for standing in found.clique_states] == ["llm-0-a"]
    refused = next(one.content for one in found.history.entries if isinstance(one.content, RefusedApplyHistoryEntry))
    assert any("spec.template" in str(objection) for objection in refused.objections)


@pytest.mark.req("SM-002")
def test_sm007_events_apply_to_the_pod_of_that_time() -> None:
    gone = ({"at": "30s", "deletePod": {"clique": "llm-0-a", "index": 0}},)
    found = run(*gone, {"at": "2m", "failPod": {"clique": "llm-0-a", "index": 0}})
    pods = [change.after for change in changes_of_pods(found) if change.before is None]
    first, second, _third = (pod for pod in pods if isinstance(pod, Pod) and pod.index == 0)
    assert first.uid != second.uid
    failed = [
        change.latest_object.uid for change in changes_of_pods(found) if getattr(change.after, "phase", "") == "Failed"
    ]
    assert failed[0] == second.uid


ON_NO_OBJECT: list[tuple[Json, Json, str]] = [
    ({}, {"deletePod": {"clique": "llm-7-a"}}, "there is no PodClique llm-7-a"),
    ({}, {"failPod": {"clique": "llm-0-a", "index": 7}}, "there is no pod 7 of llm-0-a"),
    ({}, {"crashPod": {"clique": "llm-7-a"}}, "there is no PodClique llm-7-a"),
    ({}, {"scale": {"kind": "PodClique", "name": "x", "replicas": 1}}, "there is no PodClique x"),
    (
        {},
        {"scale": {"kind": "PodClique", "name": "llm-0-a", "replicas": 2}},
        "PodClique llm-0-a has 2 replicas already",
    ),
    ({}, {"autoscale": {"name": "llm-0-a", "replicas": 1}}, "there is no autoscaler llm-0-a"),
    ({}, {"deleteSet": {"name": "x"}}, "there is no PodCliqueSet x"),
    ({}, {"loseNode": {"node": "x"}}, "there is no node x"),
    ({}, {"restoreNode": {"node": "n-0"}}, "node n-0 is not lost"),
    ({}, {"restoreNode": {"of": {"clique": "x"}}}, "there is no PodClique x"),
    ({}, {"uncordon": {"node": "n-0"}}, "node n-0 is open already"),
    ({}, {"addNodes": {"name": "n", "count": 2}}, "node n-0 exists already"),
    ({}, {"holdForeign": {"kind": "PodGang", "name": "x"}}, "there is no PodGang x"),
    ({}, {"gateForeign": {"clique": "x"}}, "there is no pod 0 of x"),
    ({}, {"editStatus": {"clique": "x"}}, "there is no PodClique x"),
    ({"removeNode": {"node": "n-0"}}, {"cordon": {"node": "n-0"}}, "there is no node n-0"),
    ({"loseNode": {"node": "n-0"}}, {"loseNode": {"node": "n-0"}}, "node n-0 is lost already"),
    ({"cordon": {"node": "n-2"}}, {"cordon": {"node": "n-2"}}, "node n-2 is cordoned already"),
    (
        {"holdForeign": {"kind": "PodClique", "name": "llm-0-a"}},
        {"holdForeign": {"kind": "PodClique", "name": "llm-0-a"}},
        "PodClique/llm-0-a is held already",
    ),
    ({"deletePod": {"clique": "llm-0-a"}}, {"deletePod": {"clique": "llm-0-a"}}, "is being deleted already"),
    ({"deletePod": {"clique": "llm-0-a"}}, {"crashPod": {"clique": "llm-0-a"}}, "is being deleted already"),
    ({"deleteSet": {"name": "llm"}}, {"deleteSet": {"name": "llm"}}, "PodCliqueSet llm is being deleted already"),
]


@pytest.mark.parametrize(("before", "event", "why"), ON_NO_OBJECT, ids=lambda value: next(iter(value), "")[:20])
@pytest.mark.req("SM-040")
def test_sm007_an_event_without_effect_is_shown_and_counted(before: Json, event: Json, why: str) -> None:
    earlier = ({"at": "30s", **before},) if before else ()
    found = run(*earlier, {"at": "30100ms", **event})
    ((at, message),) = entries_of(found, NoteKind.NO_EFFECT)
    (name,) = event
    assert at == 30_100
    assert message.startswith(f"{name} had no effect: ")
    assert why in message
    assert found.history.without_effect == 1
    assert "1 event without effect" in simulation_timeline_page(found).plain_text.partition("\n")[0]
    assert simulation_run_as_json(found)["summary"]["withoutEffect"] == 1


def test_sm001_fields_without_a_value_are_no_fields() -> None:
    """As an API server takes them, in what the checks read too."""
    raw = set_raw(clique_raw("a", 1, 1))
    raw["spec"]["template"] |= {"podCliqueScalingGroups": None, "terminationDelay": None}
    pod_spec = raw["spec"]["template"]["cliques"][0]["spec"]["podSpec"]
    pod_spec |= {"resourceClaims": None, "initContainers": None}
    pod_spec["containers"] += [{"name": "b", "resources": None}, {"name": "c", "resources": {"limits": None}}]
    found = Simulation(scenario_of(raw, nodes=1), checked()).run()
    assert found.violation is None
    assert {pod.ready for pod in last_pods(found)} == {True}


def test_sm007_an_event_on_a_pod_without_a_node() -> None:
    found = run({"at": "30s", "failPod": {"clique": "llm-0-a"}}, nodes=1)
    assert "has no node yet" in entries_of(found, NoteKind.NO_EFFECT)[0][1]
    lost = run({"at": "30s", "loseNode": {"of": {"clique": "llm-0-a"}}}, nodes=1)
    assert "has no node" in entries_of(lost, NoteKind.NO_EFFECT)[0][1]


@pytest.mark.parametrize("watch", [0, 200, 3000])
def test_sm011_the_operator_sees_late(watch: int) -> None:
    eyes, found = watched(operator={"watch": f"{watch}ms"})
    written = {id(change.after): change.at for change in found.changes}
    looks = 0
    for snapshot, _ in eyes.seen:
        now = (snapshot.now - found.scenario.spec.start).total_seconds() * SECOND
        for pod in (pod for _, pod in snapshot.pods() if pod.node):  # the others it knows by its own writes
            assert written[id(pod)] + watch <= now
            looks += 1
    assert looks


def test_sm011_own_writes_are_known_at_once() -> None:
    found = run(operator={"watch": "3s"})
    made = [change.at for change in found.changes if change.before is None]
    assert made[:2] == [0, 3000]
    assert max(made) < 3500


def test_sm011_a_new_operator_knows_only_what_it_lists() -> None:
    refused = {"at": "0s", "refuseWrites": {"kind": "Pod", "writes": 99}}
    eyes, _ = watched(refused, {"at": "10s", "crashOperator": {"down": "1s"}}, until="20s")
    before = [snapshot for snapshot, _ in eyes.seen if snapshot.now.second < 11]
    after = [snapshot for snapshot, _ in eyes.seen if snapshot.now.second >= 11]
    assert before[-1].attempts
    assert after[0].attempts == ()


def test_sm011_a_failed_write_is_tried_again() -> None:
    eyes, found = watched({"at": "0s", "refuseWrites": {"code": 403, "kind": "PodClique", "writes": 9}})
    refused = [answer for answer in eyes.answers if answer.outcome is AttemptOutcome.REFUSED]
    assert len(refused) == 9
    moments = sorted({at for at, _ in entries_of(found, WriteEffect.FAILED)})
    waits = [later - sooner for sooner, later in pairwise(moments)]
    assert all(wait <= 2**place * SECOND for place, wait in enumerate(waits, start=1))
    endless, _ = watched({"at": "0s", "refuseWrites": {"code": 403, "kind": "Pod", "writes": 99}}, until="4m")
    tries = [snapshot.now for snapshot, plan in endless.seen if plan.steps]
    assert max(later - sooner for sooner, later in pairwise(tries)).total_seconds() <= 61
    assert found.clique_states[0].ready == 2


def test_sm040_faults_end() -> None:
    eyes, found = watched(
        {"at": "0s", "refuseWrites": {"code": 503, "writes": 100_000}},
        {"at": "10s", "jumpClock": {"ahead": "1s", "span": "20s"}},
    )
    assert found.rested
    assert found.clique_states[0].ready == 2
    assert any(answer.outcome is AttemptOutcome.DONE for answer in eyes.answers)
    assert min(at for at, _ in entries_of(found, WriteEffect.CREATED)) >= 30 * SECOND + FAULTS_STOP_AFTER


def test_sm051_an_expectation_is_judged_at_the_end_of_its_moment() -> None:
    ready_at = next(at for at, _ in entries_of(run(), PodChangeKind.READY))
    expect = [{"at": f"{ready_at}ms", "ready": 2}, {"at": f"{ready_at - 1}ms", "ready": {"llm-0-a": 0}}]
    assert run(expect=expect).unmet == ()
    wrong = [
        {"at": f"{ready_at}ms", "ready": 0},
        {"at": "end", "nodes": 7, "images": {"llm-0-a": "x"}, "exists": ["Pod/x"], "gone": ["PodClique/llm-0-a"]},
    ]
    message = [miss.message for miss in run(expect=wrong).unmet]
    assert message == [
        f"at {ready_at / 1000:g}s: expected ready 0, found 2",
        "at the end: expected nodes 7, found 2",
        "at the end: expected image of llm-0-a x, found example.com/engine:1",
        "at the end: expected Pod/x there, found gone",
        "at the end: expected PodClique/llm-0-a gone, found there",
    ]


def test_sm051_never_is_never() -> None:
    crash = {"at": "30s", "crashPod": {"clique": "llm-0-a", "recovers": "10m"}}
    never = [{"never": what} for what in ("terminated", "breached", "unschedulable", "refused")]
    said = {miss.message.partition(":")[0] for miss in run(crash, expect=never, nodes=2).unmet}
    assert {"never terminated", "never breached"} <= said
    assert "never refused" not in said
    assert run(expect=never).unmet == ()


def test_sm040_a_run_may_be_cut_short() -> None:
    short = Simulation(scenario({"at": "10m", "relist": {}}), SimulationOptions(until=5 * SECOND)).run()
    assert (short.end, short.rested) == (5 * SECOND, False)
    assert Simulation(scenario(until="3s")).run().end == 3 * SECOND


def test_sm010_lanes_follow_the_cliques() -> None:
    found = run({"at": "30s", "crashPod": {"clique": "llm-0-a", "recovers": "10m"}})
    (lane,) = pod_clique_timelines(found.changes)
    assert (lane.name, lane.gang, lane.replica) == ("llm-0-a", "llm-0", 0)
    assert lane.samples[-1].counts == (2, 0, 0, 0)
    ((since, until),) = lane.breached
    assert until is not None
    assert until - since >= MINUTE - SECOND  # transition times have whole seconds


def test_sm040_an_event_is_one_thing() -> None:
    event = ScenarioEvent.model_validate({"at": "1m", "relist": {}}, context=WRITTEN)
    assert (event.kind, event.at) == ("relist", MINUTE)


def test_sm002_a_dump_of_a_real_cluster_goes_on(tmp_path: Path) -> None:
    """Only missing objects are created; then a pod crashes, and the set can be updated or refused."""
    dump = Path(__file__).parent.parent / "snapshots" / "s2-healthy.yaml"
    spec = {
        "cluster": str(dump),
        "start": "2026-11-21T09:40:00Z",
        "nodes": [{"name": "spare", "count": 20, "capacity": {"gpu": "1"}}],
        "events": [
            {"at": "1m", "crashPod": {"clique": "qwen-0-worker", "index": 1}},
            {"at": "2m", "applySet": {"manifest": set_raw(clique_raw("x", 1, 1), replicas=1)}},
        ],
    }
    file = tmp_path / "scenario.yaml"
    head = {"apiVersion": "grove.io/v1alpha1", "kind": "Scenario", "metadata": {"name": "dump"}}
    file.write_text(format_yaml_document({**head, "spec": spec}), encoding="utf-8")
    read = read_scenario(str(file))
    assert read.scenario is not None, read.faults
    assert read.cluster is not None
    assert len(read.manifests) == 3
    found = Simulation(read.scenario, checked(), dump=read.cluster, manifests=read.manifests).run()
    assert found.violation is None
    assert all(standing.ready >= standing.needed for standing in found.clique_states)
    assert sum(standing.pods for standing in found.clique_states) > 20
    drawn = with_random_events(read.scenario, 3, dump=read.cluster)
    assert Simulation(drawn, checked(), dump=read.cluster).run().violation is None


def test_sm051_every_termination_counts() -> None:
    crashes = [{"at": at, "crashPod": {"clique": "llm-0-a", "recovers": "10m"}} for at in ("30s", "5m")]
    found = run(*crashes, expect=[{"at": "3m", "terminations": 1}, {"at": "end", "terminations": 2}])
    assert found.unmet == ()
    both = set_raw(clique_raw("a", 1, 1), clique_raw("b", 1, 1))
    together = [{"at": "30s", "crashPod": {"clique": f"llm-0-{name}", "recovers": "10m"}} for name in "ab"]
    assert run(*together, manifest=both).history.terminations == 1
