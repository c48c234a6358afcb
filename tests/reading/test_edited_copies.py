"""An edited copy of what `kubectl get -o yaml` printed, and manifests of other namespaces (IN-032, IN-041, IN-039)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.resources.podcliqueset import PlannedManifestChange
from grove_shell.cli.main import run_command_line
from grove_shell.reading.objects import load
from tests.golden.tracing import ROOT

HEALTHY: Final = ROOT / "tests" / "snapshots" / "s2-healthy.json"
NOW: Final = ("--now", "2026-11-21T09:38:48Z")
Json = dict[str, Any]


def stored(name: str) -> Json:
    items = json.loads(HEALTHY.read_text(encoding="utf-8"))["items"]
    (found,) = (one for one in items if one["kind"] == "PodCliqueSet" and one["metadata"]["name"] == name)
    return dict(found)


def written(path: Path, raw: Json) -> str:
    path.write_text(json.dumps(raw), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", ["a.json", "z.json"])
def test_in032_two_specs_in_one_version_are_a_fault(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever of the files comes first."""
    dump = written(tmp_path / "dump.json", json.loads(HEALTHY.read_text(encoding="utf-8")))
    copy = stored("qwen")
    assert not load([dump, written(tmp_path / name, copy)]).faults, "the same object twice is one"
    copy["spec"]["replicas"] = 1
    assert run_command_line(["plan", "-f", dump, "-f", written(tmp_path / name, copy), *NOW], "grove") == 1
    reported = capsys.readouterr().err
    assert "PodCliqueSet llm-serving/qwen, metadata.uid: expected no uid in an edit" in reported


@pytest.mark.parametrize(("quantity", "is_edit"), [(2, False), ("2", False), ("2000m", False), (3, True)])
def test_in041_a_quantity_in_another_form_is_no_edit(tmp_path: Path, quantity: object, *, is_edit: bool) -> None:
    manifest = stored("qwen")
    manifest["metadata"] = {"name": "qwen", "namespace": "llm-serving"}
    del manifest["status"]
    for clique in manifest["spec"]["template"]["cliques"]:
        for container in clique["spec"]["podSpec"]["containers"]:
            container["resources"] = {kind: {"nvidia.com/gpu": quantity} for kind in ("limits", "requests")}
    before = json.loads(json.dumps(stored("qwen")))
    for clique in before["spec"]["template"]["cliques"]:
        for container in clique["spec"]["podSpec"]["containers"]:
            container["resources"] = {kind: {"nvidia.com/gpu": "2"} for kind in ("limits", "requests")}
    paths = [written(tmp_path / "before.json", before), written(tmp_path / "edit.json", manifest)]
    (root,) = load(paths).cluster.sets
    assert (root.edit is PlannedManifestChange.OF_MORE) is is_edit


def test_in039_a_manifest_of_another_namespace_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = stored("qwen")
    manifest["metadata"] = {"name": "qwen", "namespace": "prod"}
    del manifest["status"]
    edit = written(tmp_path / "edit.json", manifest)
    words = ["plan", "-f", str(HEALTHY), "-f", edit, "-n", "llm-serving", *NOW]
    assert run_command_line(words, "grove") == 0
    reported = "warning: PodCliqueSet prod/qwen: not judged, for its namespace is not llm-serving"
    assert reported in capsys.readouterr().out.splitlines()
