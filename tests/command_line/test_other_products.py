"""What other products hold or evict, as `plan` and `explain` say it."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

GATED: Final = ROOT / "tests/golden/workload/wl246_the_gate_of_another_product/given.yaml"
APART: Final = ROOT / "tests/golden/topology/tp131_pods_in_two_racks/given.yaml"
NOW: Final = ("--now", "2026-11-20T09:00:00Z")
KUEUE: Final = "kueue.x-k8s.io/admission: Kueue removes it when it admits the pod"


def items_of(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)["items"]
    return found


def written(path: Path, items: list[dict[str, Any]]) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    run_command_line([*words, *NOW], "grove")
    return capsys.readouterr().out


def gated_pod() -> dict[str, Any]:
    return next(one for one in items_of(GATED) if one["kind"] == "Pod" and one["spec"].get("schedulingGates"))


@pytest.mark.req("CL-082")
class TestGates:
    """A gate that another product removes."""

    def test_plan_names_the_product(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert f"               {KUEUE}: kubectl describe workloads" in said(capsys, "plan", "-f", str(GATED))

    def test_explain_names_the_queue(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        items, pod = items_of(GATED), gated_pod()
        for one in items:
            if one["kind"] == "PodClique":
                one["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "team-a"
        page = said(capsys, "explain", f"pod/{pod['metadata']['name']}", "-f", written(tmp_path / "c.json", items))
        assert f"    {KUEUE}; its queue is team-a: kubectl describe workloads.kueue.x-k8s.io -n " in page

    def test_an_unknown_product_is_not_guessed(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        text = GATED.read_text("utf-8").replace("kueue.x-k8s.io/admission", "example.com/hold")
        (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
        page = said(capsys, "plan", "-f", str(tmp_path / "c.yaml"))
        assert "example.com/hold: the product that has set it removes it" in page
        assert "Kueue" not in page


@pytest.mark.req("CL-082", "WL-257")
@pytest.mark.parametrize(
    ("scheduler", "scheduled", "warns"),
    [("kai-scheduler", 2, True), ("kai-scheduler", 3, False), ("kai-scheduler", 0, False), ("volcano", 2, False)],
)
def test_cl082_kai_evicts_a_gang_below_its_minimum(
    scheduler: str, scheduled: int, warns: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, pods = items_of(APART), 0
    for one in items:
        if one["kind"] == "PodClique":
            one["spec"]["podSpec"]["schedulerName"] = scheduler
        if one["kind"] == "Pod":
            placed = {"type": "PodScheduled", "status": "True" if pods < scheduled else "False"}
            one["status"]["conditions"] = [{**placed, "lastTransitionTime": "2026-11-20T08:00:00Z"}]
            pods += 1
    path = written(tmp_path / "c.json", items)
    for words in (("explain", "pclq/train-0-worker"), ("plan",)):
        page = said(capsys, *words, "-f", path)
        assert ("kai-scheduler evicts all scheduled pods of its gang" in page) == warns
    assert ("  EVICTION   PodClique train-0-worker: " in page) == warns


@pytest.mark.req("CL-081")
class TestPlacement:
    """Where pods stand, by the required constraints of their gang."""

    POD: Final = "pod/train-0-worker-x9bdl"

    def test_broken(self, capsys: pytest.CaptureFixture[str]) -> None:
        lines = said(capsys, "explain", self.POD, "-f", str(APART)).splitlines()
        at = lines.index("  placement: broken  PodGang/train-0")
        assert lines[at + 2 : at + 4] == ["    this pod stands in nn-2", "    other pods in nn-1: 2"]

    def test_kept(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "c.yaml").write_text(APART.read_text("utf-8").replace("nn-2", "nn-1"), encoding="utf-8")
        page = said(capsys, "explain", "pclq/train-0-worker", "-f", str(tmp_path / "c.yaml"))
        assert "  placement: kept  PodGang/train-0" in page.splitlines()
        assert "misplaced" not in said(capsys, "topology", "list", "-f", str(tmp_path / "c.yaml"))

    def test_unknown_without_the_node(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        items = [one for one in items_of(APART) if one["kind"] != "Node"]
        path = written(tmp_path / "c.json", items)
        lines = said(capsys, "explain", self.POD, "-f", path).splitlines()
        assert "  placement: unknown  PodGang/train-0" in lines
        assert "    the Node of this pod is not in the input (kubectl get nodes -o json)" in lines
        listed = said(capsys, "topology", "list", "-f", path)
        assert "whether the pods of ml/train stand where they have to is not known: add the nodes" in listed

    def test_not_placed_yet(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        items = items_of(APART)
        for one in items:
            if one["metadata"]["name"] == "train-0-worker-x9bdl":
                del one["spec"]["nodeName"]
        page = said(capsys, "explain", self.POD, "-f", written(tmp_path / "c.json", items))
        assert "  placement: not placed yet  PodGang/train-0" in page.splitlines()

    def test_the_document_has_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        (answer,) = json.loads(said(capsys, "explain", "pg/train-0", "-f", str(APART), "-o", "json"))["answers"]
        (placement,) = answer["placements"]
        assert placement["broken"]
        assert set(placement["domains"]) == {"nn-1", "nn-2"}

    def test_topology_list_reports_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        page = said(capsys, "topology", "list", "-f", str(APART))
        assert "  misplaced: ml/train: PodClique train-0-worker: its pods have to share one value of " in page
        document = json.loads(said(capsys, "topology", "list", "-f", str(APART), "-o", "json"))
        (user,) = document["topologies"][0]["users"]
        assert [why["requirement"] for why in user["misplaced"]] == ["TP-131"]
        assert user["placementKnown"]
