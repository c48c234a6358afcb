"""`grove simulate --from`: a dump, edits and lost nodes without a scenario file."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT
from tests.html.reading import run as run_any

DUMP: Final = ROOT / "examples" / "real-cluster.yaml"
EDIT: Final = ROOT / "examples" / "edits" / "qwen-new-image.yaml"
SNAPSHOTS: Final = ROOT / "tests" / "snapshots"
WORKERS: Final = "deepseek-0-prefill-0-pw"
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
            (("s.yaml", "--lose-node", "a"), 64, "--edit, --lose-node and --ready-after work only with --from"),
            (
                ("s.yaml", "--ready-after", "5m"),
                64,
                "work only with --from; a scenario has events and kubelet.recovers",
            ),
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


def first_terminations(steps: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return PodClique -> the time of its first termination, of (time, PodClique) in the order of time."""
    found: dict[str, str] = {}
    for at, clique in steps:
        found.setdefault(clique, at)
    return found


def simulated(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    _, page, _ = run(capsys, *words, "-o", "json")
    document: dict[str, Any] = json.loads(page)
    return document


def ready_workers(document: dict[str, Any]) -> int:
    (found,) = (one["ready"] for one in document["cliques"] if one["name"] == WORKERS)
    return int(found)


def unready_pods(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The two pods of the dump that run and are not ready."""
    pods = [one for one in items if one["kind"] == "Pod" and one["metadata"]["name"].startswith(WORKERS)]
    return [one for one in pods if not one["status"]["containerStatuses"][0]["ready"]]


@pytest.mark.req("SM-106")
class TestPodsThatAreNotReadyInTheDump:
    """They stay so, and the first lines count them."""

    @pytest.mark.parametrize(
        ("dump", "cliques"),
        [
            ("s3a-breach-standalone-notready", 2),
            ("s4a-breach-in-one-pcsg-replica", 4),
            ("s4d-pcsg-breached-both-replicas", 13),
        ],
    )
    def test_what_a_plan_predicts_is_terminated_then(
        self, dump: str, cliques: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = str(SNAPSHOTS / f"{dump}.yaml")
        done = run_any("plan", "-f", path, "--now", "dump", "--until", "1m10s", "-o", "json")
        planned = first_terminations(
            (round_["at"], step["target"]["name"])
            for plan in json.loads(done.out)["plans"]
            for round_ in plan["rounds"]
            for step in round_["steps"]
            if step["action"] == "delete" and step["because"][0]["rule"].endswith("Terminated")
        )
        history = simulated(capsys, "--from", path, "--until", "1m10s")["history"]
        found = first_terminations(
            (one["at"], one["subject"]["name"]) for one in history if one["what"] == "terminates"
        )
        assert found == planned
        assert len(planned) == cliques

    def test_the_first_lines_say_so(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, page, _ = run(capsys, "--from", str(DUMP), "--until", "70s")
        assert page.splitlines()[0].endswith("2 terminations")
        assert page.splitlines()[2].startswith("2 pods are not ready in the dump and stay so; --ready-after")
        assert simulated(capsys, "--from", str(DUMP), "--until", "1s")["unreadyAtStart"] == {
            "pods": 2,
            "readyAfter": None,
        }

    def test_they_are_ready_after_the_given_time(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("--from", str(DUMP), "--ready-after", "50s", "--until", "70s")
        _, page, _ = run(capsys, *words)
        assert page.splitlines()[0].endswith("1 termination"), "only of the replica that lacks room"
        assert page.splitlines()[2] == "2 pods are not ready in the dump, and ready after 50s"
        assert f"  50s  kubelet          2 pods of {WORKERS} ready" in page
        assert simulated(capsys, *words)["unreadyAtStart"] == {"pods": 2, "readyAfter": "50s"}

    @pytest.mark.parametrize(
        ("phase", "state", "stay", "ready"),
        [
            ("Pending", {"waiting": {"reason": "ContainerCreating"}}, 0, 3),
            ("Pending", {"waiting": {"reason": "PodInitializing"}}, 0, 3),
            ("Pending", {"waiting": {"reason": "ImagePullBackOff"}}, 2, 1),
            ("Running", {"waiting": {"reason": "CrashLoopBackOff"}}, 2, 1),
            ("Running", {"running": {"startedAt": "2026-11-21T09:38:37Z"}}, 2, 1),
        ],
    )
    def test_what_starts_goes_on_starting(
        self,
        phase: str,
        state: dict[str, Any],
        stay: int,
        ready: int,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        items = dumped()
        for pod in unready_pods(items):
            pod["status"]["phase"] = phase
            pod["status"]["containerStatuses"][0]["state"] = state
        path = saved(tmp_path / "dump.json", items)
        found = simulated(capsys, "--from", path, "--until", "20s")
        assert (found["unreadyAtStart"]["pods"], ready_workers(found)) == (stay, ready)
        found = simulated(capsys, "--from", path, "--until", "20s", "--ready-after", "10s")
        assert ready_workers(found) == 3

    def test_pods_of_a_lost_node_are_ready_when_it_is_back(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        items = dumped()
        pods = unready_pods(items)
        pods[0]["status"]["containerStatuses"][0]["ready"] = True  # only the control plane says that it is not
        (is_ready,) = (one for one in pods[0]["status"]["conditions"] if one["type"] == "Ready")
        del is_ready["reason"]
        node_name = pods[0]["spec"]["nodeName"]
        spec = {
            "cluster": Path(saved(tmp_path / "dump.json", items)).name,
            "nodes": [{"name": node_name, "capacity": {GPU: 8}}],
            "events": [{"at": "1s", "loseNode": {"node": node_name}}, {"at": "5s", "restoreNode": {"node": node_name}}],
            "until": "20s",
        }
        raw = {"apiVersion": "grove.io/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}, "spec": spec}
        (tmp_path / "s.yaml").write_text(json.dumps(raw), encoding="utf-8")
        assert ready_workers(simulated(capsys, str(tmp_path / "s.yaml"))) == 2

    def test_an_event_decides_about_its_pod(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (pod, _) = unready_pods(dumped())
        index = int(pod["metadata"]["labels"]["grove.io/podclique-pod-index"])
        crash = {"at": "1s", "crashPod": {"clique": WORKERS, "index": index, "recovers": "30s"}}
        spec = {"cluster": str(DUMP), "kubelet": {"recovers": "10s"}, "events": [crash]}
        raw = {"apiVersion": "grove.io/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}, "spec": spec}
        (tmp_path / "s.yaml").write_text(json.dumps(raw), encoding="utf-8")
        ready = [
            ready_workers(simulated(capsys, str(tmp_path / "s.yaml"), "--until", at)) for at in ("9s", "20s", "40s")
        ]
        assert ready == [1, 2, 3]

    def test_a_time_for_no_pod_is_said(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = str(SNAPSHOTS / "s2-healthy.yaml")
        _, page, _ = run(capsys, "--from", path, "--ready-after", "5m", "--until", "1s")
        assert page.splitlines()[2] == "no pod has to be ready after 5m: none of a dump is not ready"
        _, page, _ = run(capsys, "--from", path, "--until", "1s")
        assert page.splitlines()[2] == ""
