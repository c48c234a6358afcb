"""Manifests of topologies beside the stored topologies that they change (IN-082)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

Json = dict[str, Any]
CASE: Final = ROOT / "tests" / "golden" / "topology" / "tp025_another_topology_while_pending"
CONFIG: Final = ("--config", str(CASE / "operator.yaml"))
NOW: Final = ("--now", "2026-11-20T09:00:00Z")
KEY: Final = "example.com/subblock"
CLOUDS: Final = ("-f", "examples/topology/clouds/cluster.yaml", "-f", "examples/edits/aws-p5-zone-ids.yaml")


def levels(key: str = KEY) -> list[Json]:
    return [{"domain": "zone", "key": "topology.kubernetes.io/zone"}, {"domain": "rack", "key": key}]


def manifest(path: Path, spec: list[Json], *, kind: str = "ClusterTopology", **meta: str) -> str:
    raw = {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": {"name": "gcp-a3", **meta}}
    path.write_text(json.dumps({**raw, "spec": {"levels": spec}}), encoding="utf-8")
    return str(path)


def planned(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line(["plan", "-f", str(CASE / "given.yaml"), *NOW, *words], "grove") == 0
    return capsys.readouterr().out


def gang_keys(text: str) -> list[str]:
    """Return the node labels that the plan writes into PodGangs."""
    steps = [step for plan in json.loads(text)["plans"] for round_ in plan["rounds"] for step in round_["steps"]]
    specs = [step["object"].get("spec") for step in steps if step["target"]["kind"] == "PodGang"]
    return [str(one["topologyConstraint"]["packConstraint"]["required"]) for one in specs if one]


@pytest.mark.parametrize("rules", ["design", "field"])
def test_in082_pending_gangs_follow_the_levels_of_the_manifest(
    rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit = manifest(tmp_path / "edit.json", levels())
    json_plan = ("-o", "json", "--rules", rules)
    assert gang_keys(planned(capsys, *CONFIG, *json_plan)) == ["cloud.google.com/gce-topology-subblock"]
    assert gang_keys(planned(capsys, *CONFIG, *json_plan, "-f", edit)) == [KEY]
    page = planned(capsys, *CONFIG, "-f", edit)
    note = "note: planned as if the manifest in the input had just been applied to ClusterTopology/gcp-a3\n"
    assert note in page
    assert "no effect" not in page
    same = manifest(tmp_path / "edit.json", stored_levels())
    assert note not in planned(capsys, *CONFIG, "-f", same), "nothing is changed"


def stored_levels() -> list[Json]:
    items = yaml.load((CASE / "given.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
    return next(list(one["spec"]["levels"]) for one in items if one["metadata"]["name"] == "gcp-a3")


def test_in082_while_the_feature_is_off_levels_have_no_effect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = planned(capsys, "--rules", "design", "-f", manifest(tmp_path / "edit.json", levels()))
    assert "  Topology-aware scheduling is off, so the levels of topologies have no effect: give --config.\n" in page


def test_in082_an_edit_that_admission_refuses_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = "examples/topology/operator.yaml"
    assert run_command_line(["plan", *CLOUDS, *NOW, "--config", config, "--rules", "design"], "grove") == 1
    assert (
        "ClusterTopology aws-p5, spec.levels: expected it to not change while pods are placed by them:"
        " ml-team/inference-llama, got" in capsys.readouterr().err
    )
    assert run_command_line(["plan", *CLOUDS, *NOW, "--config", config, "--rules", "field"], "grove") == 0
    assert "applied to ClusterTopology/aws-p5" in capsys.readouterr().out, "the Go operator has no such rule"
    for rules in ("design", "field"):
        edit = manifest(tmp_path / "edit.json", [*levels(), {"domain": "rack", "key": KEY}])
        words = ["plan", "-f", str(CASE / "given.yaml"), "-f", edit, *NOW, *CONFIG, "--rules", rules]
        assert run_command_line(words, "grove") == 1
        assert "spec.levels[2].domain: expected" in capsys.readouterr().err


def test_in082_two_manifests_that_differ_are_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edits = [manifest(tmp_path / f"{name}.json", levels(name)) for name in ("a", "b")]
    words = [*CONFIG, *NOW, "-f", edits[0], "-f", edits[1]]
    assert run_command_line(["plan", "-f", str(CASE / "given.yaml"), *words], "grove") == 1
    assert "one topology of this name" in capsys.readouterr().err
    stored = manifest(tmp_path / "c.json", levels(), uid="another")
    assert run_command_line(["plan", "-f", str(CASE / "given.yaml"), *CONFIG, *NOW, "-f", stored], "grove") == 1
    assert "one topology of this name" in capsys.readouterr().err, "two stored ones are no edit"


def test_in082_the_order_of_files_does_not_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    json_plan = ("-o", "json", "--rules", "design", *NOW, *CONFIG)
    (tmp_path / "m.yaml").write_bytes((CASE / "given.yaml").read_bytes())
    for name in ("a.json", "z.json"):
        manifest(tmp_path / name, levels())
        assert run_command_line(["plan", "-f", str(tmp_path), *json_plan], "grove") == 0
        assert gang_keys(capsys.readouterr().out) == [KEY]
        (tmp_path / name).unlink()
