"""`grove simulate --from`: a dump, edits and lost nodes without a scenario file."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

DUMP: Final = ROOT / "examples" / "real-cluster.yaml"
EDIT: Final = ROOT / "examples" / "edits" / "qwen-new-image.yaml"
GPU: Final = "nvidia.com/gpu"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_command_line(["simulate", *words], "grove")
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def dumped() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.load(DUMP.read_text("utf-8"), yaml.CSafeLoader)["items"]
    return found


def saved(path: Path, items: list[dict[str, Any]]) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def node(name: str, gpus: int) -> dict[str, Any]:
    status = {"allocatable": {GPU: str(gpus), "cpu": "64", "memory": "512Gi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def full_nodes(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Nodes that have exactly the GPUs of the pods on them."""
    used: Counter[str] = Counter()
    for one in items:
        if one["kind"] == "Pod" and one["spec"].get("nodeName"):
            limits = [container["resources"].get("limits", {}) for container in one["spec"]["containers"]]
            used[one["spec"]["nodeName"]] += sum(int(found.get(GPU, 0)) for found in limits)
    return [node(name, gpus) for name, gpus in sorted(used.items())]


def busiest_node(items: list[dict[str, Any]]) -> str:
    """The node with most pods of qwen-0-worker."""
    names: list[str] = [
        one["spec"]["nodeName"]
        for one in items
        if one["kind"] == "Pod" and one["metadata"]["name"].startswith("qwen-0-worker")
    ]
    return max(sorted(names), key=names.count)


@pytest.mark.req("CL-084")
class TestFromADump:
    """Without a scenario file."""

    def test_without_nodes_the_room_of_a_lost_node_is_gone(self, capsys: pytest.CaptureFixture[str]) -> None:
        lost = busiest_node(dumped())
        _, page, notes = run(capsys, "--from", str(DUMP), "--lose-node", lost, "--until", "10m")
        assert notes.startswith("note: no Node is in the dump: each node that a pod names has the GPUs of its pods")
        assert f"node {lost} is lost" in page
        assert "not placed: it needs" in page

    def test_an_edit_is_played_to_its_end(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, page, _ = run(capsys, "--from", str(DUMP), "--edit", str(EDIT), "--until", "10m")
        assert code == 0
        assert "applies PodCliqueSet qwen" in page
        assert "1 of 1 expectation met" in page.splitlines()[0]

    def test_an_update_that_does_not_end_is_in_the_first_line(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        _, page, _ = run(capsys, "--from", str(DUMP), "--edit", str(EDIT), "--until", "10m")
        assert "1 update not at an end" in page.splitlines()[0], "two pods have no room"
        items = dumped()
        path = saved(tmp_path / "dump.json", [*items, *full_nodes(items), node("spare", 64)])
        _, page, _ = run(capsys, "--from", path, "--edit", str(EDIT), "--until", "10m")
        assert "PodCliqueSet qwen: the update is complete" in page
        assert "not at an end" not in page

    def test_a_manifest_without_a_namespace_is_of_that_of_the_set(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        raw = yaml.load(EDIT.read_text("utf-8"), yaml.CSafeLoader)
        del raw["metadata"]["namespace"]
        (tmp_path / "edit.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
        named = run(capsys, "--from", str(DUMP), "--edit", str(EDIT), "--until", "1m")
        assert run(capsys, "--from", str(DUMP), "--edit", str(tmp_path / "edit.yaml"), "--until", "1m") == named

    def test_a_refused_edit_fails(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        raw = yaml.load(EDIT.read_text("utf-8"), yaml.CSafeLoader)
        raw["spec"]["replicas"] = -1
        (tmp_path / "edit.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
        code, page, _ = run(capsys, "--from", str(DUMP), "--edit", str(tmp_path / "edit.yaml"), "--until", "1m")
        assert code == 3
        assert "PodCliqueSet qwen is refused" in page

    @pytest.mark.parametrize(
        ("words", "code", "message"),
        [
            ((), 64, "give a scenario file, or --from with a dump; not both"),
            (("s.yaml", "--from", "d.json"), 64, "give a scenario file, or --from with a dump; not both"),
            (("s.yaml", "--lose-node", "a"), 64, "--edit and --lose-node work only with --from"),
            (("--from", "-"), 64, "--from and --edit read files, not standard input"),
            (
                ("--from", str(DUMP), "--lose-node", "kwok-0"),
                64,
                "--lose-node kwok-0: no such node; did you mean kwok-0",
            ),
            (("--from", str(DUMP), "--edit", str(DUMP.parent / "scenarios/node-loss.yaml")), 1, "a PodCliqueSet"),
            (("--from", "nowhere.json"), 1, "nowhere.json: no such file"),
            (("--from", str(DUMP.parent / "manifests/disaggregated.yaml")), 1, "(--edit applies a manifest), got none"),
        ],
    )
    def test_a_wrong_use_is_explained(
        self, words: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found, page, errors = run(capsys, *words)
        assert (found, page) == (code, "")
        assert message in errors
        assert "note:" not in errors


@pytest.mark.parametrize("spare", [False, True])
def test_sm020_pods_of_a_dump_take_their_room(spare: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items, lost = dumped(), busiest_node(dumped())
    more = [node("spare", 64)] if spare else []
    path = saved(tmp_path / "dump.json", [*items, *full_nodes(items), *more])
    _, page, notes = run(capsys, "--from", path, "--lose-node", lost, "--until", "10m")
    assert notes == ""
    assert ("placed on spare" in page, "not placed: it needs" in page) == (spare, not spare)


@pytest.mark.req("CL-084")
@pytest.mark.parametrize(("state", "placed"), [("ready", True), ("cordoned", False), ("not ready", False)])
def test_cl084_nodes_are_as_in_the_dump(
    state: str, placed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, lost, spare = dumped(), busiest_node(dumped()), node("spare", 64)
    if state == "cordoned":
        spare["spec"] = {"unschedulable": True}
    if state == "not ready":
        spare["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    path = saved(tmp_path / "dump.json", [*items, *full_nodes(items), spare])
    _, page, _ = run(capsys, "--from", path, "--lose-node", lost, "--until", "10m")
    assert ("placed on spare" in page) is placed
