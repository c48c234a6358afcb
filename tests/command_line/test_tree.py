"""``grove tree``: states, counts and deadlines as a tree of text."""

import json
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.kernel.refs import Ref
from grove_shell.cli.main import run_command_line
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.tree.object_states import ObjectState
from grove_shell.views.tree.tree_nodes import PodRow, TreeNode, TreeNodeKind
from grove_shell.views.tree.tree_page import ASCII_SIGNS, BOX_SIGNS, add_tree, tree_symbols_for_encoding
from tests.command_line.process import ROOT, on_a_terminal
from tests.html.reading import HOSTILE, parsed, run

DEGRADED: Final = ("-f", str(ROOT / "examples/degraded.yaml"), "--now", "2026-11-20T09:00:00Z")
SNAPSHOTS: Final = ROOT / "tests/snapshots"
NOW: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
QWEN: Final = """\
inference/qwen                         waiting inside  0 of 1 replica available
└─ replica 0                           waiting        ends 10:15:00Z, in 1h15m
   ├─ qwen-0-decode                    breached       ends 10:15:00Z, in 1h15m; 1 of 2 ready, 2 needed
   │  ├─ qwen-0-decode-l4gcg           not ready      1 GPU on gpu-04; CrashLoopBackOff
   │  └─ qwen-0-decode-rzfgd           ready          1 GPU on gpu-03
   ├─ qwen-0-router                    ready          ends 10:15:00Z, in 1h15m; 1 of 1 ready, 1 needed
   │  └─ qwen-0-router-p688h           ready          on gpu-02
   └─ qwen-0-pool (scaling group)      ready          1 of 1 available, 1 needed
      └─ replica 0                     ready
         └─ qwen-0-pool-0-pf           ready          ends 10:15:00Z, in 1h15m; 1 of 1 ready, 1 needed
            └─ qwen-0-pool-0-pf-mjcxl  ready          1 GPU on gpu-05
"""


@pytest.mark.skipif(shutil.which("jq") is None, reason="the example in --help is for jq")
def test_cl096_the_example_for_json_shows_every_deadline(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["tree", "--help"], "grove") == 0
    (query,) = re.findall(r"jq '([^']+)'", capsys.readouterr().out)
    assert run_command_line(["tree", *DEGRADED, "inference/qwen", "-o", "json"], "grove") == 0
    document = capsys.readouterr().out
    found = subprocess.run(["jq", "-c", query], input=document, capture_output=True, text=True, check=True)
    ends = [json.loads(line) for line in found.stdout.splitlines()]
    assert {one["endsAt"] for one in ends} == {"2026-11-20T10:15:00Z"}
    assert len(ends) == QWEN.count("ends 10:15:00Z")
    assert (ends[0]["subject"]["replica"], ends[0]["state"]) == (0, "waiting")


def node(level: str, name: str, *children: TreeNode, **more: Any) -> TreeNode:
    subject = Ref("grove.io", level, "ml", name)
    state = more.pop("state", ObjectState.READY)
    return TreeNode(subject=subject, level=TreeNodeKind(level), name=name, state=state, children=children, **more)


def pods(count: int, state: ObjectState = ObjectState.READY, trouble: str = "") -> tuple[PodRow, ...]:
    names = (f"{state.name.lower()}-{number}" for number in range(count))
    return tuple(PodRow(Ref("", "Pod", "ml", name), name, state, "node-1", trouble, 2) for name in names)


def text_of(tree: TreeNode, *, width: int | None = None, full: bool = False, ascii_only: bool = False) -> str:
    page = StyledTextPage()
    add_tree(page, tree, NOW, width=width, signs=ASCII_SIGNS if ascii_only else BOX_SIGNS, full=full)
    return page.plain_text


class TestCL096:
    """`grove tree` MUST show each replica, scaling group, PodClique and pod of a set, and those that the plan creates
    now, each with its state as a word, the number of its ready pods and its deadline. These are the states of the HTML
    page.
    """

    def test_a_set_that_waits(self) -> None:
        done = run("tree", *DEGRADED, "inference/qwen")
        assert done.code == 0
        assert done.out.partition("\n\n")[2] == QWEN

    def test_every_object_and_state(self, tmp_path: Path) -> None:
        page = tmp_path / "plan.html"
        run("plan", *DEGRADED, "--html", str(page))
        elements = [found for _, found in parsed(page.read_text(encoding="utf-8")).tags if found.get("data-state")]
        of_page = {str(found["id"]): found["data-state"] for found in elements if found.get("id")}
        full = run("tree", *DEGRADED, "-v").out
        found = json.loads(run("tree", *DEGRADED, "-o", "json").out)
        states: dict[str, str] = {}

        def collect(one: dict[str, Any]) -> None:
            if one["level"] == "clique":
                states[one["subject"]["name"]] = one["state"]
                states.update({pod["name"]: pod["state"] for pod in one["pods"]})
            for child in one.get("children", ()):
                collect(child)

        for one in found["sets"]:
            collect(one)
        items = yaml.safe_load((ROOT / "examples/degraded.yaml").read_text(encoding="utf-8"))["items"]
        names = {item["metadata"]["name"] for item in items if item["kind"] in {"PodClique", "Pod"}}
        assert names
        assert names <= states.keys()
        assert {name: of_page[name] for name in states if name in of_page} == {
            name: state for name, state in states.items() if name in of_page
        }
        for name, state in states.items():
            assert re.search(rf"─ {re.escape(name)} +{state}", full), name

    def test_numbers(self) -> None:
        found = json.loads(run("tree", *DEGRADED, "inference/qwen", "-o", "json").out)
        (replica,) = found["sets"][0]["children"]
        assert replica["endsAt"] == "2026-11-20T10:15:00Z"
        decode = replica["children"][0]
        assert [decode[key] for key in ("present", "wanted", "needed")] == [1, 2, 2]
        assert decode["because"][0]["requirement"].startswith("GT-")

    def test_created_parts(self) -> None:
        text = run("tree", "-f", str(ROOT / "examples/manifests/disaggregated.yaml"), "--now", "2026-11-20T09:00:00Z")
        assert text.code == 0
        assert re.search(r"llama-0-decode +created", text.out)
        assert "pods to create" in text.out

    def test_nothing_to_show(self, tmp_path: Path) -> None:
        assert run("tree", *DEGRADED, "no-such-set").code == 64
        empty = tmp_path / "empty.json"
        empty.write_text('{"kind": "List", "apiVersion": "v1", "items": []}', encoding="utf-8")
        for output in ("human", "json"):
            done = run("tree", "-f", str(empty), "-o", output)
            assert done.code == 3
            assert "no PodCliqueSet" in (done.out if output == "human" else done.errors)

    def test_without_pods_nothing_is_counted(self, tmp_path: Path) -> None:
        items = yaml.safe_load((ROOT / "examples/degraded.yaml").read_text(encoding="utf-8"))["items"]
        path = tmp_path / "no-pods.json"
        path.write_text(json.dumps({"kind": "List", "items": [one for one in items if one["kind"] != "Pod"]}))
        done = run("tree", "-f", str(path), "--now", "2026-11-20T09:00:00Z", "inference/qwen")
        assert "pods are not collected" in done.out
        assert "not collected" in done.out.partition("\n\n")[0]
        assert not re.search(r"\d of \d ready", done.out)

    @pytest.mark.parametrize("kind", ["Pod", "PodClique", "PodCliqueScalingGroup"])
    def test_what_is_not_decided_is_unknown_and_never_ready(self, tmp_path: Path, kind: str) -> None:
        items = json.loads((SNAPSHOTS / "s2-healthy.json").read_text(encoding="utf-8"))["items"]
        path = tmp_path / "part.json"
        path.write_text(json.dumps({"kind": "List", "items": [one for one in items if one["kind"] != kind]}))
        done = run("tree", "-f", str(path), "llm-serving/deepseek")
        assert "undecided" in done.out.partition("\n")[0]
        rows = done.out.partition("\n\n")[2]
        states = set(re.findall(r"^.*(?:deepseek|replica \d|group\)) +(\w+)", rows, re.MULTILINE))
        assert states == {"unknown"}
        assert not re.search(r"\d of \d available", rows)
        assert (" ready " in rows) == (kind == "PodCliqueScalingGroup")  # a PodClique with all its pods ready
        found = json.loads(run("tree", "-f", str(path), "llm-serving/deepseek", "-o", "json").out)
        assert {one["state"] for one in found["sets"]} == {"unknown"}

    @pytest.mark.req("WF-060")
    def test_a_set_that_is_being_deleted(self, tmp_path: Path) -> None:
        """Under the Go operator nothing is left but its finalizer: the garbage collector deletes all parts."""
        found = json.loads((SNAPSHOTS / "s2-healthy.json").read_text(encoding="utf-8"))
        for one in found["items"]:
            if (one["kind"], one["metadata"]["name"]) == ("PodCliqueSet", "qwen"):
                one["metadata"] |= {"deletionTimestamp": "2026-11-21T09:38:40Z", "deletionGracePeriodSeconds": 0}
        path = tmp_path / "deleted.json"
        path.write_text(json.dumps(found))
        rows = run("tree", "-f", str(path)).out.partition("\n\n")[2]
        assert re.search(r"^llm-serving/qwen +being deleted +2 of 2", rows, re.MULTILINE)
        done = run("plan", "-f", str(path), "--fail-on", "delete")
        assert done.out.startswith("nothing to terminate in 3 PodCliqueSets; 1 object to delete\n")
        assert done.code == 3
        assert "DELETE     round 1: PodCliqueSet qwen: it is being deleted and goes at once" in done.out
        assert "10 pods (10 ready) and 16 GPUs" in " ".join(done.out.split())

    def test_an_update_that_runs_is_not_unknown(self) -> None:
        done = run("tree", "-f", str(SNAPSHOTS / "s5a-rolling-update-early.yaml"), "llm-serving/qwen")
        assert "unknown" not in done.out
        assert re.search(r"qwen-0-worker +withheld +3 of 4 ready, 3 needed", done.out)  # and not the gate of one pod
        assert re.search(r"qwen-0-worker-szn7h +gated", done.out)


class TestCL128:
    """`grove tree` and the HTML page MUST count the replicas of a scaling group that are available: all their
    PodCliques exist and have the ready pods that they need.
    """

    REAL: Final = ("-f", str(ROOT / "examples/real-cluster.yaml"), "--now", "2026-11-21T09:40:15Z")

    def test_a_replica_with_too_few_ready_pods_is_not_counted(self, tmp_path: Path) -> None:
        page = run("tree", *self.REAL, "llm-serving/deepseek").out
        assert re.search(r"deepseek-0-prefill \(scaling group\) .* 1 of 2 available, 1 needed", page)
        assert re.search(r"deepseek-0-decode \(scaling group\) .* 2 of 2 available, 1 needed", page)
        path = tmp_path / "plan.html"
        run("plan", *self.REAL, "llm-serving/deepseek", "--html", str(path))
        assert "1 of 2 replicas available, at least 1 needed" in path.read_text(encoding="utf-8")


class TestCL097:
    """On a terminal of 60 columns or more no line of a tree MUST be wider than it; the guides continue beside wrapped
    text. Where the encoding has no box-drawing characters, the guides are ASCII. Without `-v` pods that are alike stand
    on one line.
    """

    TREE = node(
        "set",
        "s" * 50,
        node(
            "replica",
            "replica 0",
            node(
                "group",
                "g" * 60,
                node(
                    "group replica",
                    "replica 1",
                    node(
                        "clique",
                        "c" * 63,
                        pods=(*pods(3), *pods(2, ObjectState.UNSCHEDULED, "Unschedulable: " + "0/20 nodes fit " * 20)),
                        counts="2 of 3 pods ready, at least 2 needed",
                        ends_at=datetime(2026, 11, 21, 9, tzinfo=UTC),
                    ),
                ),
            ),
            state=ObjectState.ENDS,
            ends_at=NOW,
        ),
        counts="1 of 2 replicas available",
    )

    @pytest.mark.parametrize("width", [60, 61, 80, 100, 200])
    @pytest.mark.parametrize("full", [False, True])
    def test_no_line_is_wider(self, width: int, *, full: bool) -> None:
        text = text_of(self.TREE, width=width, full=full)
        assert [line for line in text.splitlines() if len(line) > width] == []
        words = " ".join(re.sub("[│├└─]", " ", text).split())
        for part in ("replica 1", "ends 2026-11-21T09:00:00Z, in 24h; 2 of 3 pods ready, at least 2 needed"):
            assert part in words
        assert words.count("0/20 nodes fit") == 20 * (2 if full else 1)
        inside = [line for line in text.splitlines() if "nodes fit" in line and "2 pods" not in line]
        assert {line[:3] for line in inside} <= {"   ", "│  "}

    def test_on_a_terminal(self) -> None:
        said = on_a_terminal("tree", *DEGRADED, "inference/mixtral", COLUMNS="60", NO_COLOR="1").decode()
        lines = said.replace("\r\n", "\n").splitlines()
        assert max(map(len, lines)) <= 60
        assert "└─ mixtral-0-router" in said

    def test_ascii(self) -> None:
        assert tree_symbols_for_encoding("ascii") is ASCII_SIGNS
        assert tree_symbols_for_encoding("latin-1") is ASCII_SIGNS
        assert tree_symbols_for_encoding("utf-8") is tree_symbols_for_encoding(None) is BOX_SIGNS
        assert text_of(self.TREE, width=60, ascii_only=True).isascii()
        said = on_a_terminal("tree", *DEGRADED, "inference/qwen", NO_COLOR="1", PYTHONIOENCODING="ascii")
        assert b"`- replica 0" in said
        assert b"\\u" not in said

    def test_pods_alike(self) -> None:
        clique = node("clique", "c", pods=(*pods(4), *pods(1, ObjectState.GATED)))
        text = text_of(node("set", "s", clique))
        assert "4 ready pods" in text
        assert "gated-0" in text
        assert [f"ready-{number}" in text_of(node("set", "s", clique), full=True) for number in range(4)] == [True] * 4
        assert "ready-1" not in text

    def test_ready_replicas_are_counted(self) -> None:
        many = node("set", "s", *(node("replica", f"replica {number}") for number in range(5_000)))
        text = text_of(many)
        assert len(text.splitlines()) == 10
        assert "4,992 more replicas, all ready" in text
        assert len(text_of(many, full=True).splitlines()) == 5_001

    def test_names_are_text(self) -> None:
        text = text_of(node("set", "s", node("clique", HOSTILE)))
        assert text.replace("\n", "").isprintable()
