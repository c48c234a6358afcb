"""Scenarios under the released operator's rules: terminations, recoveries, dumps (SM-098, SM-100, SM-002)."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.cli.main import run_command_line as grove
from grove_shell.reading.newest_time import newest_timestamp_in_object
from grove_shell.simulator.recording.simulation_history import WriteEffect
from grove_shell.simulator.scenario.scenario import ScenarioKubeletSpec, ScenarioPodTimings
from grove_shell.simulator.scenario.scenario_reader import read_scenario
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions, SimulationResult
from tests.golden.tracing import ROOT
from tests.simulation.run_helpers import changes_of_pods, entries_of, scenario
from tests.simulation.sample_sets import clique_raw, set_raw

Json = dict[str, Any]
SNAPSHOTS: Final = Path(__file__).parent.parent / "snapshots"
RECOVERS: Final = {"recovers": "5s"}
CRASHES: Final = {"at": "2m", "crashPod": {"clique": "llm-0-a", "index": 0, "recovers": "30m"}}


def played(*events: Json, rules: str = "field", **more: Any) -> SimulationResult:
    return Simulation(scenario(*events, **more), SimulationOptions(rules=rule_set(rules))).run()


def written(path: Path, **spec: Any) -> str:
    raw = {"apiVersion": "grove.io/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}, "spec": spec}
    path.write_text(json.dumps(raw), encoding="utf-8")
    return str(path)


def dump_of(scenario_of: str) -> SimulationResult:
    read = read_scenario(scenario_of)
    assert read.scenario is not None, read.faults
    options = SimulationOptions(rules=rule_set("field"))
    return Simulation(read.scenario, options, dump=read.cluster, manifests=read.manifests).run()


@pytest.mark.req("GF-012")
def test_sm030_a_crash_loop_ends_its_gang_as_a_plan_says() -> None:
    found = played(CRASHES, expect=[{"at": "10m", "terminations": 1}])
    assert not found.unmet
    assert found.history.terminations == 1
    assert entries_of(found, WriteEffect.TERMINATED) == [(180_000, "")]


@pytest.mark.parametrize("rules", ["design", "field"])
def test_terminations_count_by_every_rule_set(rules: str) -> None:
    closed = [{"at": "1m", "cordon": {"node": f"n-{number}"}} for number in range(3)]
    open_again = [{"at": "5m", "uncordon": {"node": f"n-{number}"}} for number in range(3)]
    lost = {"at": "90s", "deletePod": {"clique": "llm-0-a", "index": 0}}
    found = played(*closed, lost, *open_again, rules=rules, manifest=set_raw(clique_raw("a", 3, 3)))
    assert found.history.terminations == 1
    assert len(entries_of(found, WriteEffect.TERMINATED)) == 1


PROBE: Final = {"tcpSocket": {"port": 80}}
SLOW: Final = ScenarioPodTimings(ready=7_000)


@pytest.mark.parametrize(
    ("probes", "kubelet", "started"),
    [
        ({"readinessProbe": PROBE}, ScenarioKubeletSpec(), True),
        ({}, ScenarioKubeletSpec(), False),
        ({}, ScenarioKubeletSpec(ready=5_000), True),
        ({}, ScenarioKubeletSpec(cliques={"a": SLOW}), True),
        ({}, ScenarioKubeletSpec(cliques={"b": SLOW}), False),
        ({"startupProbe": PROBE, "readinessProbe": PROBE}, ScenarioKubeletSpec(ready=5_000), False),
    ],
)
@pytest.mark.req("GF-012")
def test_sm030_a_pod_is_started_before_it_is_ready_unless_a_probe_says_when(
    probes: Json, kubelet: ScenarioKubeletSpec, *, started: bool
) -> None:
    manifest = set_raw(clique_raw("a", 1, 1))
    manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0] |= probes
    run = played(manifest=manifest, kubelet=kubelet)
    pods = [one.after for one in changes_of_pods(run) if isinstance(one.after, Pod)]
    running = [pod for pod in pods if pod.phase == "Running" and not pod.ready]
    assert {pod.unready for pod in running} == {started}
    assert not any(pod.unready or pod.crashed for pod in pods if pod.ready)


@pytest.mark.req("GF-012")
def test_sm030_a_pod_that_becomes_ready_is_healthy(tmp_path: Path) -> None:
    dump = str(SNAPSHOTS / "s3a-breach-standalone-notready.yaml")
    nodes = [{"name": "kwok", "count": 20, "capacity": {"nvidia.com/gpu": 8}}]
    found = dump_of(
        written(tmp_path / "s.yaml", cluster=dump, start="2026-11-21T09:39:04Z", nodes=nodes, kubelet=RECOVERS)
    )
    assert found.history.terminations == 0
    assert not entries_of(found, WriteEffect.TERMINATED)
    assert [one.ready for one in found.clique_states if one.name == "qwen-0-worker"] == [4]


def test_sm098_a_dump_begins_at_its_newest_time(tmp_path: Path) -> None:
    dump = SNAPSHOTS / "s3a-breach-standalone-notready.yaml"
    start = dump_of(written(tmp_path / "s.yaml", cluster=str(dump))).scenario.spec.start
    assert start == datetime(2026, 11, 21, 9, 38, 49, tzinfo=UTC)
    given = dump_of(written(tmp_path / "g.yaml", cluster=str(dump), start="2026-11-21T09:39:04Z"))
    assert given.scenario.spec.start == datetime(2026, 11, 21, 9, 39, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param("design", {"Service"}, id="design"),
        pytest.param("field", set(), marks=pytest.mark.req("WF-047"), id="field"),
    ],
)
def test_sm100_what_a_dump_leaves_out_exists(
    rules: str, expected: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dump of the five kinds that plans need; where it has Services, a missing one is created, or waits."""
    dump = json.loads((SNAPSHOTS / "s2-healthy.json").read_text(encoding="utf-8"))
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "other", "namespace": "llm-serving"}}
    for more, created in (([], set()), ([service], expected)):
        (tmp_path / "dump.json").write_text(json.dumps({**dump, "items": [*dump["items"], *more]}), encoding="utf-8")
        path = written(tmp_path / "s.yaml", cluster="dump.json", until="1m")
        assert grove(["simulate", path, "--rules", rules, "-o", "json"], "grove") == 0
        history = json.loads(capsys.readouterr().out)["history"]
        assert {one["subject"]["kind"] for one in history if one["what"] == "creates"} == created


@pytest.mark.req("WF-047")
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.9"])
def test_sm100_an_edit_creates_nothing_that_the_dump_left_out(rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An edit reconciles its set, which the Go operator does not do for a missing Role alone (WF-047)."""
    dump, edit = str(SNAPSHOTS / "s2-healthy.json"), str(ROOT / "examples/edits/qwen-new-image.yaml")
    assert grove(["simulate", "--from", dump, "--edit", edit, "--rules", rules, "-o", "json"], "grove") == 0
    history = json.loads(capsys.readouterr().out)["history"]
    assert {one["subject"]["kind"] for one in history if one["what"] == "creates"} == {"Pod"}


@pytest.mark.parametrize(
    ("raw", "newest"),
    [
        ({}, None),
        ({"metadata": 5, "status": None}, None),
        ({"metadata": {"creationTimestamp": "2026-11-20T09:00:00Z"}}, 9),
        ({"metadata": {"deletionTimestamp": "2026-11-20T11:00:00Z"}, "spec": {"at": "2026-11-20T12:00:00Z"}}, None),
        ({"metadata": {"managedFields": [{"time": "2026-11-20T10:00:00Z"}, {"time": "soon"}]}}, 10),
        ({"status": {"conditions": [{"lastTransitionTime": "2026-11-20T10:00:00Z", "type": "Ready", "n": 3}]}}, 10),
    ],
)
def test_sm098_which_times_show_when_an_object_was_observed(raw: Json, newest: int | None) -> None:
    assert newest_timestamp_in_object(raw) == (None if newest is None else datetime(2026, 11, 20, newest, tzinfo=UTC))


def edited(image: str) -> Json:
    manifest = set_raw(clique_raw("a", 2, 2))
    manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = image
    return {"at": "1m", "applySet": {"manifest": manifest}}


@pytest.mark.parametrize("rules", ["field", "design"])
@pytest.mark.req("WF-012")
def test_sm098_an_edit_is_simulated_by_the_rules_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rules: str
) -> None:
    spec = scenario(edited("example.com/engine:2")).as_json["spec"]
    path = written(tmp_path / "s.yaml", **spec)
    assert grove(["simulate", path, "--rules", rules], "grove") == 0
    shown = capsys.readouterr().out
    first, second, *_ = shown.splitlines()
    assert not first.startswith("NOT PREDICTED")
    assert second.startswith(f"as of 2026-11-20 09:00:00Z, rules '{rules}")
    assert ("it is deleted before its successor exists" in shown) is (rules == "field")
    assert grove(["simulate", path, "--rules", rules, "-o", "json"], "grove") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rulesFrom"] == {"kind": "option"}
    assert document["notPredicted"] == []


@pytest.mark.req("GF-134")
def test_sm098_a_newer_release_is_shown_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = json.loads((SNAPSHOTS / "s2-healthy.json").read_text(encoding="utf-8"))
    dump["items"].append(
        {"apiVersion": "grove.io/v1alpha1", "kind": "PodGangMap", "metadata": {"name": "m", "uid": "u"}}
    )
    (tmp_path / "dump.json").write_text(json.dumps(dump), encoding="utf-8")
    path = written(tmp_path / "s.yaml", cluster="dump.json", until="1s")
    assert grove(["simulate", path], "grove") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(
        "NOT PREDICTED: the steps simulated for 3 PodCliqueSets are not those of the operator there"
    )
    assert shown.count("a release newer than") == 4, "once beside the rules, once for each set"


@pytest.mark.parametrize(("rules", "delay"), [("field", 4 * 3600), ("design", None)])
@pytest.mark.req("WL-198")
@pytest.mark.req("GF-001")
def test_sm002_an_edit_has_the_delay_that_admission_fills_in(rules: str, delay: int | None) -> None:
    """The set leaves it out, and so does the edit."""
    manifest, edit = set_raw(clique_raw("a", 2, 2)), edited("example.com/engine:2")
    for raw in (manifest, edit["applySet"]["manifest"]):
        del raw["spec"]["template"]["terminationDelay"]
    simulation = Simulation(scenario(edit, manifest=manifest), SimulationOptions(rules=rule_set(rules)))
    simulation.run()
    (root,) = (one for one in simulation.cluster.server.items.values() if isinstance(one, PodCliqueSet))
    found = root.spec.template.termination_delay
    assert (None if found is None else found.total_seconds()) == delay


@pytest.mark.req("WL-198")
def test_sm002_an_edit_keeps_what_it_leaves_out_and_takes_out_what_was_applied(tmp_path: Path) -> None:
    """The dump's set has labels that kubectl did not apply; the second edit takes out what the first one applied."""
    dump = SNAPSHOTS / "s2-healthy.yaml"
    (stored,) = (
        one
        for one in yaml.load(dump.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
        if one["kind"] == "PodCliqueSet" and one["metadata"]["name"] == "embed"
    )
    cliques = json.loads(json.dumps(stored["spec"]["template"]["cliques"]))
    first, second = (
        {
            "apiVersion": stored["apiVersion"],
            "kind": "PodCliqueSet",
            "metadata": {"name": "embed", "namespace": stored["metadata"]["namespace"], "labels": labels},
            "spec": {"replicas": 1, "template": {"cliques": cliques}},
        }
        for labels in ({"team": "a"}, {})
    )
    path = written(
        tmp_path / "s.yaml",
        cluster=str(dump),
        until="2m",
        events=[
            {"at": "10s", "applySet": {"manifest": first}},
            {"at": "1m", "applySet": {"manifest": second}},
        ],
    )
    read = read_scenario(path)
    assert read.scenario is not None, read.faults
    simulation = Simulation(
        read.scenario, SimulationOptions(rules=rule_set("field")), dump=read.cluster, manifests=read.manifests
    )
    simulation.run()
    root = simulation.cluster.find_object("PodCliqueSet", "embed")
    assert isinstance(root, PodCliqueSet)
    assert root.spec.template.termination_delay is not None
    assert "team" not in root.labels


@pytest.mark.req("WF-160")
@pytest.mark.req("WF-166")
def test_sm002_sets_of_a_scenario_are_admitted_by_the_operator_that_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clique without a role, as in public samples, and with zero replicas."""
    raw = set_raw(clique_raw("a", 0, 1))
    del raw["spec"]["template"]["cliques"][0]["spec"]["roleName"]
    later = {"at": "1m", "deletePod": {"clique": "llm-0-a", "index": 0}}
    for spec in ({"sets": [raw], "events": [later]}, {"events": [{"at": "5s", "applySet": {"manifest": raw}}, later]}):
        path = written(tmp_path / "scenario.json", nodes=[{"name": "n", "count": 1, "capacity": {"gpu": "8"}}], **spec)
        assert grove(["simulate", path, "--rules", "field", "-o", "json"], "grove") == 0
        history = json.loads(capsys.readouterr().out)["history"]
        created = [one for one in history if (one["what"], one["subject"]["kind"]) == ("creates", "Pod")]
        assert len(created) == 2, "one, and one after the first was deleted"
    assert grove(["simulate", path, "--rules", "design"], "grove") == 1
