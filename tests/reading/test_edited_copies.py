"""An edited copy of what `kubectl get -o yaml` printed, and manifests of other namespaces (IN-032, IN-041, IN-039)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

import grove_shell as grove
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.resources.podcliqueset import PlannedSetChange
from grove_shell.cli.main import run_command_line
from grove_shell.policies.policy_input import policy_input
from grove_shell.reading.cluster_reading import load_input_files
from tests.docs.test_plan_schema import VALIDATOR
from tests.golden.tracing import ROOT

HEALTHY: Final = ROOT / "tests" / "snapshots" / "s2-healthy.json"
NOW: Final = ("--now", "2026-11-21T09:38:48Z")
DECIDED: Final = frozenset({"terminate", "unknown"})
"""Classes that the edit of a test does not contain."""
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
    """Whichever of the files comes first, the one with the edit is to be changed."""
    dump = written(tmp_path / "dump.json", json.loads(HEALTHY.read_text(encoding="utf-8")))
    copy = stored("qwen")
    assert not load_input_files([dump, written(tmp_path / name, copy)]).faults, "the same object twice is one"
    copy["spec"]["replicas"] = 1
    edit = written(tmp_path / name, copy)
    assert run_command_line(["plan", "-f", dump, "-f", edit, *NOW], "grove") == 1
    reported = capsys.readouterr().err
    fault = f"  {edit}: document 1, PodCliqueSet llm-serving/qwen, metadata.uid: expected no uid in an edit: "
    assert f"{fault}with one it is the set of a cluster, which {dump} has, got two specs of this set\n" in reported


def test_in032_two_specs_in_files_alike_are_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Either of them may be the edit."""
    copy = stored("qwen")
    first = written(tmp_path / "a.json", copy)
    copy["spec"]["replicas"] = 1
    second = written(tmp_path / "z.json", copy)
    assert run_command_line(["plan", "-f", second, "-f", first, *NOW], "grove") == 1
    reported = capsys.readouterr().err
    assert (
        f"  {first}: document 1, PodCliqueSet llm-serving/qwen, metadata.uid: expected no uid in the edit, " in reported
    )
    assert f"which is in this file or in {second}: " in reported


def test_in032_a_stored_set_beside_an_old_manifest_is_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The set of ``--old`` stands in no file of stored objects."""
    copy = stored("qwen")
    old = written(tmp_path / "old.json", {**copy, "metadata": {"name": "qwen", "namespace": "llm-serving"}})
    copy["spec"]["replicas"] = 1
    edit = written(tmp_path / "edit.json", copy)
    assert run_command_line(["plan", "--old", old, "-f", edit, *NOW], "grove") == 1
    assert f"  {edit}: document 1, PodCliqueSet llm-serving/qwen, metadata.uid: expected no uid in an edit: " in (
        capsys.readouterr().err
    )


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
    (root,) = load_input_files(paths).cluster.sets
    assert (root.edit is PlannedSetChange.OF_MORE) is is_edit


@pytest.mark.req("IN-087", "IN-039")
@pytest.mark.parametrize("selected", [("-n", "llm-serving"), ("embed",)], ids=["by namespace", "by name"])
@pytest.mark.parametrize("namespace", ["prod", "llm-serving"], ids=["a new set", "an edit"])
def test_in087_a_manifest_that_is_not_selected_is_named_and_fails_checks(
    namespace: str, selected: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = stored("qwen")
    manifest["metadata"] = {"name": "qwen", "namespace": namespace}
    manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = "example.com/other:1"
    del manifest["status"]
    words = ["plan", "-f", str(HEALTHY), "-f", written(tmp_path / "edit.json", manifest), *selected, *NOW]
    is_planned = selected == ("-n", namespace)
    for check in ("restart", "change", "terminate", "unknown"):
        assert (run_command_line([*words, "--fail-on", check], "grove") == 0) == (is_planned and check in DECIDED)
    assert (run_command_line([*words, "--max-restarted-gpus", "1000"], "grove") == 0) is is_planned
    assert run_command_line([*words, "--detailed-exitcode"], "grove") == 2
    capsys.readouterr()
    assert run_command_line(words, "grove") == 0
    page = capsys.readouterr().out
    note = f"note: manifests of sets that are not selected are not planned: {namespace}/qwen"
    assert (note in page.splitlines()) is not is_planned
    assert page.startswith("1 manifest not planned; ") is not is_planned
    assert ("applied to" in page) is is_planned
    assert run_command_line([*words, "-o", "json"], "grove") == 0
    document = json.loads(capsys.readouterr().out)
    VALIDATOR.validate(document)
    assert document.get("notPlanned", []) == ([] if is_planned else [f"{namespace}/qwen"])
    assert plan_document_as_json(plan_document_from_json(document), decisions=False).get("notPlanned", []) == (
        document.get("notPlanned", [])
    )
    assert policy_input(plan_document_from_json(document), ())["unknown"] is not is_planned


@pytest.mark.req("IN-087")
def test_in087_a_manifest_that_changes_nothing_is_not_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = stored("qwen")
    manifest["metadata"] = {"name": "qwen", "namespace": "llm-serving"}
    del manifest["status"]
    files = [str(HEALTHY), written(tmp_path / "edit.json", manifest)]
    words = ["plan", "-f", files[0], "-f", files[1], "embed", *NOW]
    assert run_command_line([*words, "--fail-on", "unknown"], "grove") == 0
    assert "not planned" not in capsys.readouterr().out
    manifest["spec"]["replicas"] = 3
    written(tmp_path / "edit.json", manifest)
    assert grove.plan(grove.read(files, now=NOW[1]), sets="embed").unknown == (
        "llm-serving/qwen: its manifest is not planned",
    )
