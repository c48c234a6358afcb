"""Scenario files: all faults at once, and written scenarios read back."""

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_shell.simulator.scenario.scenario_events import ScenarioEvent
from grove_shell.simulator.scenario.scenario_field_types import ObjectNamesFieldMarker, ScenarioPart
from grove_shell.simulator.scenario.scenario_reader import read_scenario
from grove_shell.simulator.simulation import Simulation
from grove_shell.views.renderers import format_yaml_document
from tests.oracles import checked
from tests.simulation.random_runs import random_run
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw
from tests.simulation.scenario_files import HEAD, Json, faults, read


def test_sm001_all_faults_at_once_with_their_places(tmp_path: Path) -> None:
    bad = set_raw(clique_raw("a", 2, 3))
    spec: Json = {
        "sets": [bad, {"file": "nowhere.yaml"}, {"file": 1}, "x", {"kind": "Pod"}],
        "nodes": [{"name": "", "count": 0, "capacity": {"cpu": "8 cores"}, "size": 1}],
        "kubelet": {"start": 3},
        "scheduler": {"gangAware": "yes"},
        "start": "tomorrow",
        "events": [
            {"at": 5, "scale": {"kind": "Pod", "name": "x", "replicas": -1}},
            {"at": "5m"},
            {"at": "5m", "relist": {}, "touch": {"kind": "Pod"}},
            {"at": "5m", "loseNode": {}},
            {"at": "5m", "applySet": {"manifest": {"file": "empty.yaml"}}},
            {"explode": {}},
        ],
        "expect": [{"at": "end"}, {"never": "hungry"}, {"at": "1m", "ready": {"a": "all"}}],
    }
    (tmp_path / "empty.yaml").write_text("{kind: Pod, apiVersion: v1}", encoding="utf-8")
    found = read(tmp_path, spec, metadata={"name": "x", "mood": "bad"})
    seen = faults(found)
    assert seen["metadata.mood"] == ("unknown field; known: name, description", '"bad"')
    assert seen["spec.sets[0].spec.template.cliques[0].spec.minAvailable"][1] == "3"
    assert seen["spec.sets[2]"] == ("a manifest, or file: PATH and nothing else", "an object with 1 key")
    assert seen["spec.sets[3]"] == ("an object", '"x"')
    assert seen["spec.sets[4].kind"] == ("PodCliqueSet", '"Pod"')
    assert seen["spec.nodes[0].name"] == ("a name", '""')
    assert seen["spec.nodes[0].count"] == ("a whole number of at least 1", "0")
    assert seen["spec.nodes[0].capacity.cpu"][0].startswith("a quantity such as")
    assert seen["spec.nodes[0].size"][1] == "1"
    assert seen["spec.kubelet.start"] == ('a duration such as "90s" or "1h30m"', "3")
    assert seen["spec.scheduler.gangAware"] == ("true or false", '"yes"')
    assert seen["spec.start"][0].startswith("a time such as")
    assert seen["spec.events[0].at"] == ('a duration such as "90s" or "1h30m"', "5")
    assert seen["spec.events[0].scale.kind"][0] == "one of PodCliqueSet, PodCliqueScalingGroup, PodClique"
    assert seen["spec.events[0].scale.replicas"] == ("a whole number of at least 0", "-1")
    assert seen["spec.events[1]"] == ("at, and exactly one kind of event", "at")
    assert seen["spec.events[2]"][1] == "at, relist, touch"
    assert seen["spec.events[3].loseNode"][0] == "either node, or of: {clique, index}"
    assert seen["spec.events[4].applySet.file"] == ("a file with a PodCliqueSet", "empty.yaml")
    assert seen["spec.events[5].at"] == ("a value", "nothing")
    assert seen["spec.events[5].explode"][0].startswith("unknown field; known: ")
    assert seen["spec.expect[0]"][1] == "at"
    assert seen["spec.expect[1].never"][0].startswith("one of terminated, breached")
    assert seen["spec.expect[2].ready"][0] == "a number, or numbers by name of a PodClique"
    assert any(fault.file.endswith("nowhere.yaml") for fault in found.faults)


@pytest.mark.parametrize("wrong", ["9min", "END", 5, [1]])
def test_sm001_a_wrong_moment_is_one_fault(wrong: object, tmp_path: Path) -> None:
    spec: Json = {"sets": [set_raw(clique_raw("a", 1, 1))], "nodes": [{"name": "n", "count": 1}]}
    found = faults(read(tmp_path, {**spec, "expect": [{"at": wrong, "pods": 3}, {"at": "end", "pods": 1}]}))
    assert {path: expected for path, (expected, _) in found.items()} == {
        "spec.expect[0].at": 'a duration such as "90s" or "1h30m", or "end"'
    }


@pytest.mark.parametrize("back", [True, False])
@pytest.mark.parametrize(
    "start", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z", "9999-12-31T23:59:00Z"]
)
def test_sm001_no_clock_jumps_off_the_calendar(start: str, back: bool, tmp_path: Path) -> None:
    jump = {"at": "1s", "jumpClock": {"back" if back else "ahead": "2562047h"}}
    spec: Json = {"sets": [set_raw(clique_raw("a", 1, 1))], "nodes": [{"name": "n", "count": 1}], "events": [jump]}
    assert [*faults(read(tmp_path, {**spec, "start": start}))] == ["spec.start"]
    for allowed in ("1970-01-01T00:00:00Z", "2200-12-31T23:59:59Z"):
        scenario = read(tmp_path, {**spec, "start": allowed}).scenario
        assert scenario is not None
        assert Simulation(scenario, checked()).run().violation is None


def test_sm001_what_is_repeated_takes_time(tmp_path: Path) -> None:
    events = [{"at": "1s", "secondLeader": {"span": "5s", "every": every}} for every in ("0s", "0", "1s")]
    assert [*faults(read(tmp_path, {"sets": [set_raw(clique_raw("a", 1, 1))], "events": events})).items()] == [
        ("spec.events[0].secondLeader.every", ("a duration above 0s", '"0s"')),
        ("spec.events[1].secondLeader.every", ("a duration above 0s", '"0"')),
    ]


@pytest.mark.req("SM-030")
@pytest.mark.parametrize("argument", ["--verbose", "--podcliques=", "--podcliques=a", "llm-0-a:1", "--podcliques=a:-1"])
def test_sm001_an_init_container_of_the_users_may_have_our_name(argument: str, tmp_path: Path) -> None:
    manifest = set_raw(clique_raw("a", 1, 1))
    own = {"name": "grove-initc", "image": "example.com/own:1", "args": [argument]}
    manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["initContainers"] = [own]
    scenario = read(
        tmp_path, {"sets": [manifest], "nodes": [{"name": "n", "count": 2, "capacity": {"gpu": "2"}}]}
    ).scenario
    assert scenario is not None
    run = Simulation(scenario, checked()).run()
    assert (run.violation, [one.ready for one in run.clique_states]) == (None, [1])


def test_sm001_two_sets_of_one_name_and_two_scenarios(tmp_path: Path) -> None:
    one = set_raw(clique_raw("a", 1, 1))
    assert faults(read(tmp_path, {"sets": [one, one]})) == {
        "spec.sets[1].metadata.name": ("a name of its own", "ml/llm")
    }
    file = tmp_path / "two.yaml"
    file.write_text(format_yaml_document(HEAD) + "---\n" + format_yaml_document(HEAD), encoding="utf-8")
    (fault,) = read_scenario(str(file)).faults
    assert (fault.expected, fault.got) == ("one Scenario", "2 objects")


@pytest.mark.req("IN-039")
def test_sm002_a_slip_in_a_set_is_a_fault_of_the_scenario(tmp_path: Path) -> None:
    manifest = set_raw(clique_raw("a", 2, 1))
    manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailabe"] = 1
    (path,) = faults(read(tmp_path, {"sets": [manifest]}))
    assert path.endswith("spec.template.cliques[0].spec.minAvailabe")


def unknown_names(path: Path, *events: Json, **spec: Any) -> dict[str, tuple[str, str]]:
    group = ({"name": "g", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1},)
    manifest = set_raw(clique_raw("a", 2, 2), clique_raw("b", 1, 1), groups=group)
    spec = {"sets": [manifest], "nodes": [{"name": "gpu", "count": 3}], "events": list(events), **spec}
    found = read(path, spec)
    return faults(found) if found.scenario is None else {}


def test_sm001_names_that_no_object_can_have(tmp_path: Path) -> None:
    found = unknown_names(
        tmp_path,
        {"at": "5m", "loseNode": {"node": "gpu-7"}},
        {"at": "5m", "loseNode": {"of": {"clique": "llm-0-aa"}}},
        {"at": "5m", "scale": {"kind": "PodCliqueSet", "name": "lm", "replicas": 1}},
        {"at": "5m", "scale": {"kind": "PodCliqueScalingGroup", "name": "llm-1-g", "replicas": 1}},
        {"at": "5m", "deleteSet": {"name": "other/llm"}},
        {"at": "5m", "crashPod": {"clique": "llm-0-g-2-b"}},
        {"at": "5m", "autoscale": {"name": "llm-0-g", "replicas": 1}},
        {"at": "5m", "holdForeign": {"kind": "PodGang", "name": "llm-0-g-1"}},
        {"at": "5m", "editStatus": {"clique": "ml/llm-0-c"}},
        kubelet={"cliques": {"aa": {"start": "1s"}, "b": {}}},
    )
    cliques = "llm-0-a, llm-0-g-0-b, llm-0-g-1-b"
    assert found == {
        "spec.events[0].loseNode.node": (
            "a node that can exist at 5m; known: gpu-0, gpu-1, gpu-2", '"gpu-7"'
        ),
        "spec.events[1].loseNode.of.clique": (
            f"a PodClique that can exist at 5m; known: {cliques}", '"llm-0-aa"'
        ),
        "spec.events[2].scale.name": ("a PodCliqueSet that can exist at 5m; known: llm", '"lm"'),
        "spec.events[3].scale.name": (
            "a PodCliqueScalingGroup that can exist at 5m; known: llm-0-g", '"llm-1-g"'
        ),
        "spec.events[4].deleteSet.name": ("a PodCliqueSet that can exist at 5m; known: ml/llm", '"other/llm"'),
        "spec.events[5].crashPod.clique": (
            "a PodClique that can exist at 5m; known: llm-0-g-0-b, llm-0-g-1-b, llm-0-a", '"llm-0-g-2-b"'
        ),
        "spec.events[6].autoscale.name": (
            "a HorizontalPodAutoscaler that can exist at 5m; there is no HorizontalPodAutoscaler", '"llm-0-g"'
        ),
        "spec.events[7].holdForeign.name": (
            "a PodGang that can exist at 5m; known: llm-0-g-0, llm-0", '"llm-0-g-1"'
        ),
        "spec.events[8].editStatus.clique": (
            "a PodClique that can exist at 5m; known: ml/llm-0-a, ml/llm-0-g-0-b, ml/llm-0-g-1-b", '"ml/llm-0-c"'
        ),
        "spec.kubelet.cliques.aa": ("a clique in the template of a set; known: a, b", '"aa"'),
    }  # fmt: skip


def test_sm001_an_unknown_field(tmp_path: Path) -> None:
    found = unknown_names(
        tmp_path,
        {"at": "1m", "looseNode": {"node": "gpu-0"}},
        {"at": "1m", "loseNode": {"of": {"clique": "llm-0-a", "indx": 1}}},
        expect=[{"at": "end", "redy": 2}],
        kubelet={"cliques": {"a": {"redy": "1s"}}},
        nods=[],
    )
    closest = {path: expected.partition("known: ")[2].partition(",")[0] for path, (expected, _) in found.items()}
    assert closest["spec.events[0].looseNode"] == "loseNode"
    assert closest["spec.events[1].loseNode.of.indx"] == "index"
    assert closest["spec.expect[0].redy"] == "ready"
    assert closest["spec.kubelet.cliques.a.redy"] == "ready"
    assert closest["spec.nods"] == "nodes"
    assert faults(read(tmp_path, {}, kind="PodCliqueSet"))["kind"] == ("Scenario", '"PodCliqueSet"')


def test_sm001_expectations_name_what_can_ever_exist(tmp_path: Path) -> None:
    later = {"at": "1m", "scale": {"kind": "PodCliqueSet", "name": "llm", "replicas": 2}}
    sound = {"at": "end", "ready": {"llm-1-a": 2}, "gone": ["PodClique/llm-0-g-1-b", "Service/llm-9"]}
    assert unknown_names(tmp_path, later, expect=[sound]) == {}
    odd = {"at": "end", "ready": {"llm-2-a": 0}, "images": {"b": "x"}, "gone": ["PodGang/llm-2"], "exists": ["llm-0-a"]}
    found = unknown_names(tmp_path, later, expect=[{"never": "refused"}, odd])
    assert {path: got for path, (_, got) in found.items()} == {
        "spec.expect[1].exists[0]": '"llm-0-a"',
    }
    del odd["exists"]
    found = unknown_names(tmp_path, later, expect=[{"never": "refused"}, odd])
    assert {path: got for path, (_, got) in found.items()} == {
        "spec.expect[1].ready.llm-2-a": '"llm-2-a"',
        "spec.expect[1].images.b": '"b"',
        "spec.expect[1].gone[0]": '"llm-2"',
    }


NEW: Json = set_raw(clique_raw("new", 1, 1))
LATER: list[tuple[Json, Json]] = [
    ({"addNodes": {"name": "gpu", "count": 8}}, {"loseNode": {"node": "gpu-7"}}),
    ({"scale": {"kind": "PodCliqueSet", "name": "llm", "replicas": 2}}, {"deletePod": {"clique": "llm-1-a"}}),
    (
        {"scale": {"kind": "PodCliqueScalingGroup", "name": "llm-0-g", "replicas": 4}},
        {"deletePod": {"clique": "ml/llm-0-g-3-b"}},
    ),
    (
        {"applySet": {"manifest": {**NEW, "metadata": {"name": "new", "namespace": "ml"}}}},
        {"deletePod": {"clique": "new-0-new"}},
    ),
]


@pytest.mark.parametrize(("bringing", "naming"), LATER)
def test_sm001_earlier_events_may_create_objects(tmp_path: Path, bringing: Json, naming: Json) -> None:
    assert unknown_names(tmp_path, {"at": "2m", **naming}, {"at": "1m", **bringing}) == {}
    assert len(unknown_names(tmp_path, {"at": "1m", **naming}, {"at": "2m", **bringing})) == 1
    hidden = unknown_names(tmp_path, {"at": "2m", **naming}, {"at": "early", **bringing})
    assert list(hidden) == ["spec.events[1].at"]


def test_sm001_a_node_stands_once(tmp_path: Path) -> None:
    nodes = [{"name": "gpu", "count": 2}, {"name": "gpu-1"}]
    assert unknown_names(tmp_path, nodes=nodes) == {"spec.nodes": ("unique node names", '"gpu-1" 2 times')}


def test_sm001_names_of_a_dump_are_known(tmp_path: Path) -> None:
    dump = Path(__file__).parents[2] / "examples" / "degraded.yaml"
    known = [
        {"at": "1m", "deletePod": {"clique": "qwen-0-decode"}},
        {"at": "1m", "loseNode": {"node": "gpu-04"}},
        {"at": "1m", "scale": {"kind": "PodCliqueScalingGroup", "name": "llama-70b-0-decode", "replicas": 3}},
        {"at": "1m", "deletePod": {"clique": "llama-70b-0-decode-2-dw"}},
    ]
    assert unknown_names(tmp_path, *known, sets=[], cluster=str(dump)) == {}
    (expected, got), *_ = unknown_names(
        tmp_path, {"at": "1m", "deleteSet": {"name": "qwem"}}, sets=[], cluster=str(dump)
    ).values()
    assert expected.partition("known: ")[2].startswith("qwen, ")
    assert got == '"qwem"'


def test_sm002_sets_have_their_defaults(tmp_path: Path) -> None:
    bare = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "llm"},
        "spec": {"replicas": 1, "template": {"cliques": [clique_raw("a", 2, 1)]}},
    }
    (tmp_path / "set.yaml").write_text(format_yaml_document(bare), encoding="utf-8")
    found = read(tmp_path, {"sets": [{"file": "set.yaml"}]})
    assert found.scenario is not None
    (manifest,) = found.scenario.spec.sets
    assert manifest["metadata"]["namespace"] == "default"
    assert manifest["spec"]["template"]["cliqueStartupType"] == "CliqueStartupTypeAnyOrder"


@given(st.integers(0, 10**6))
def test_sm064_what_is_written_reads_back(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    scenario = random_run(seed)
    file = tmp_path_factory.mktemp("written") / "scenario.yaml"
    file.write_text(format_yaml_document(scenario.as_json), encoding="utf-8")
    assert read_scenario(str(file)).scenario == scenario


LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "a", "5m", "end", "-1s", "8Gi"])
FIELDS = st.sampled_from(
    ["at", "name", "count", "capacity", "scale", "events", "nodes", "sets", "file", "kind", "never"]
)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=3))


@settings(max_examples=40)
@given(ANYTHING, st.sampled_from(["events", "nodes", "sets", "expect", "kubelet", "start", "until"]))
def test_sm001_nothing_in_a_file_is_a_traceback(tmp_path_factory: pytest.TempPathFactory, value: Any, key: str) -> None:
    found = read(tmp_path_factory.mktemp("any"), {key: value})
    assert (found.scenario is None) == bool(found.faults)


def test_sm001_a_dump_that_does_not_read(tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text("{kind: Pod", encoding="utf-8")
    assert read(tmp_path, {"cluster": "dump.yaml"}).scenario is None


def test_sm064_a_scenario_of_the_suite_has_nothing_but_what_differs() -> None:
    raw = scenario_of(set_raw(clique_raw("a", 1, 1))).as_json
    assert raw["spec"].keys() == {"sets", "nodes"}


@pytest.mark.parametrize("where", ["spec.sets", "spec.events[0]"])
def test_sm001_a_set_beyond_all_measure_is_a_fault_at_once(tmp_path: Path, where: str) -> None:
    """All names are computed before the run: two thousand million would take too long."""
    huge = {**set_raw(clique_raw("a", 1, 1)), "spec": {**set_raw(clique_raw("a", 1, 1))["spec"], "replicas": 2**31 - 1}}
    events = [{"at": "1m", "applySet": {"manifest": huge}}, {"at": "2m", "deleteSet": {"name": "x"}}]
    found = read(tmp_path, {"sets": [huge]} if where == "spec.sets" else {"events": events})
    assert faults(found)[where] == ("sets with at most 200,000 objects", f"{3 * (2**31 - 1):,}")


def test_sm001_every_field_with_a_name_is_checked() -> None:
    """A field of an event that holds a name says so, except for names of what the event adds."""
    unmarked = [
        f"{kind}.{field}"
        for kind, event in ScenarioEvent.model_fields.items()
        for model in get_args(event.annotation)
        if isinstance(model, type) and issubclass(model, ScenarioPart)
        for field, info in model.model_fields.items()
        if field in {"name", "clique", "node"}
        and not any(isinstance(mark, ObjectNamesFieldMarker) for mark in info.metadata)
    ]
    assert unmarked == ["add_nodes.name"]
