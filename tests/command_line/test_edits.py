"""What `grove plan` says of an edit: the verdict, the changed fields, the pods that go, and the checks for CI (ED)."""

import copy
import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

CASES: Final = ROOT / "tests" / "golden" / "edits"
ONE_AT_A_TIME: Final = ("-f", str(CASES / "ed002_one_pod_at_a_time" / "given.yaml"))
FIELD: Final = ("--rules", "field", "--now", "2026-11-21T09:38:48Z")
CRASHES: Final = ROOT / "examples" / "real-cluster.yaml"


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run_command_line(["plan", *words], "grove") == code
    return capsys.readouterr().out


def test_ed002_the_verdict_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    first = printed(capsys, *ONE_AT_A_TIME, *FIELD).splitlines()[0]
    assert first.startswith("restarts 3 pods with 3 GPUs, one at a time; emb: never fewer than 2 of 3 ready; ")


def test_ed002_verbose_gives_the_reason_for_each_pod(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, *ONE_AT_A_TIME, *FIELD, "-v")
    assert "embed-0-emb-8dspp on kwok-01 (1 GPU): the oldest ready pod of an old template" in shown


def test_ed002_the_document_has_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    document: Any = json.loads(printed(capsys, *ONE_AT_A_TIME, *FIELD, "-o", "json"))
    (plan,) = document["plans"]
    assert plan["edit"]["update"]["restarted"] == {"pods": 3, "gpus": 3}
    assert [[pod["pod"]["name"] for pod in stage["deleted"]] for stage in plan["edit"]["update"]["stages"]] == [
        ["embed-0-emb-8dspp"],
        ["embed-0-emb-ftdgt"],
        ["embed-0-emb-btt7n"],
        [],
    ]


def test_ed001_one_line_for_the_same_change_of_several_cliques(
    capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    *stored, edit = _items("ed003_below_the_minimum")
    for clique in edit["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"]["containers"][0]["image"] = "new:2"
    path = tmp_path / "both.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*stored, edit]}))
    shown = printed(capsys, "-f", str(path), *FIELD)
    assert "EDIT       spec.template.cliques[router,worker].spec.podSpec.containers[main].image" in shown


@pytest.mark.req("WF-167")
def test_ed001_another_form_of_a_quantity_is_no_change_for_the_go_operator(
    capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    """As where one manifest has 1Gi and the next one 1024Mi."""
    *stored, edit = _items("ed003_below_the_minimum")
    (running,) = (item for item in stored if item["kind"] == "PodCliqueSet")
    for written, form in ((running, "1Gi"), (edit, "1024Mi")):
        written["spec"] = copy.deepcopy(running["spec"])
        for clique in written["spec"]["template"]["cliques"]:
            clique["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"memory": form}}
    for clique in (item for item in stored if item["kind"] == "PodClique"):
        clique["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"memory": "1Gi"}}
    path = tmp_path / "both.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*stored, edit]}))
    page = printed(capsys, "-f", str(path), *FIELD, "--fail-on", "restart")
    assert page.startswith("restarts no pod; ")
    assert "memory" not in page
    for clique in edit["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"memory": "1073741824"}}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*stored, edit]}))
    assert "EDIT       spec.template.cliques[router,worker].spec.podSpec" in printed(capsys, "-f", str(path), *FIELD)


def _items(case: str) -> list[Any]:
    found: list[Any] = yaml.safe_load((CASES / case / "given.yaml").read_text(encoding="utf-8"))["items"]
    return found


MANIFEST: Final = ROOT / "examples" / "manifests" / "disaggregated.yaml"


def of_old(tmp_path: Path, change: tuple[str, str]) -> tuple[str, ...]:
    """The options for an edit of the example by a replacement of text, without a cluster."""
    new = tmp_path / "new.yaml"
    new.write_text(MANIFEST.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    return ("--old", str(MANIFEST), "-f", str(new))


def test_ed008_an_edit_without_a_cluster(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = of_old(tmp_path, ("engine:2.1", "engine:2.2"))
    page = printed(capsys, *options, *FIELD)
    assert page.startswith(
        "restarts 38 pods, at most 6 at once; decode: never fewer than 3 of 4 ready; "
        "prefill: never fewer than 2 of 3 replicas available; "
    )
    assert "as --old has it and with every pod ready (pod names are examples)" in page
    assert "node" not in page.partition("RESTART")[2].partition("KEEP")[0]
    printed(capsys, *options, *FIELD, "--fail-on", "restart", code=3)
    by_default = printed(capsys, *options)
    assert "rules 'design': no object shows which operator runs there" in by_default


def test_ed008_nothing_changes_where_both_manifests_are_equal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for rules in ("design", "field"):
        page = printed(capsys, *of_old(tmp_path, ("", "")), "--rules", rules, "--fail-on", "restart")
        assert page.startswith("restarts no pod\n")
        assert "EDIT" not in page


def test_ed008_a_field_that_the_new_manifest_omits_is_removed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = printed(capsys, *of_old(tmp_path, ("        terminationDelay: 2h", "        #")), *FIELD)
    assert "EDIT       spec.template.podCliqueScalingGroups[prefill].terminationDelay" in page
    assert "2h -> (absent)" in page


def test_ed008_a_set_that_only_one_side_has(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = printed(capsys, *of_old(tmp_path, ("name: llama", "name: other")), *FIELD)
    assert page.startswith("creates 42 pods; ")
    assert "note: not in --old, so planned as new: inference/other" in page
    assert "no termination pending: inference/llama" in page


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (CRASHES, MANIFEST, "--old: PodCliqueSet/qwen: expected manifests of PodCliqueSets; what a cluster has"),
        (MANIFEST, CRASHES, "-f: PodCliqueSet/qwen: expected manifests alone, as --old stands for the cluster"),
        (ROOT / "no-such-file.yaml", MANIFEST, "no such file"),
    ],
)
def test_ed008_stored_sets_and_files_without_a_set_are_problems(
    old: Path, new: Path, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["plan", "--old", str(old), "-f", str(new)], "grove") == 1
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("beside", [("--live",), ("-f", str(MANIFEST), "--complete", "all")])
def test_ed008_the_cluster_and_old_exclude_each_other(
    beside: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["plan", "--old", str(MANIFEST), *beside], "grove") == 64
    assert "--old stands for the cluster" in capsys.readouterr().err


def test_ed003_a_fall_below_the_minimum_is_in_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    given = str(CASES / "ed003_below_the_minimum" / "given.yaml")
    assert "; router falls to 0 of 1 ready and needs 1; " in printed(capsys, "-f", given, *FIELD).splitlines()[0]


def test_ed005_an_update_that_stops_is_in_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    given = str(CASES / "ed005_an_update_that_stops" / "given.yaml")
    shown = printed(capsys, "-f", given, "--rules", "design", "--now", "2026-11-20T09:00:00Z")
    restarts = "restarts 2 pods with 2 GPUs, once the update goes on, all of them without the edit too"
    assert shown.startswith(f"{restarts}; 1 update stops before the end; ")
    assert "and 2 pods with 2 GPUs more, once the update goes on\n" in shown


def plan_of_edited_qwen(capsys: pytest.CaptureFixture[str], path: Path, snapshot: str, **spec: Any) -> str:
    """Plan a recorded cluster with other fields in the spec of one set; ``path`` is where the edit is written."""
    given = ROOT / "tests" / "snapshots" / snapshot
    items = yaml.load(given.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
    (qwen,) = (one for one in items if (one["kind"], one["metadata"]["name"]) == ("PodCliqueSet", "qwen"))
    meta = {"name": "qwen", "namespace": qwen["metadata"]["namespace"], "labels": qwen["metadata"].get("labels")}
    edited = {key: qwen[key] for key in ("apiVersion", "kind")} | {"metadata": meta, "spec": {**qwen["spec"], **spec}}
    path.write_text(json.dumps(edited), encoding="utf-8")
    return printed(capsys, "-f", str(given), "-f", str(path), "--now", "dump", "llm-serving/qwen")


def test_ed005_what_stops_it_is_named_where_it_is_held_back_now(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shown = plan_of_edited_qwen(capsys, tmp_path / "qwen.json", "s5a-rolling-update-early.yaml", replicas=1)
    assert "; 1 update stops before the end; " in shown.splitlines()[0]
    (line,) = (line for line in shown.splitlines() if line.startswith("  STOPS"))
    names = "PodClique qwen-0-router, PodClique qwen-0-worker, replica 0"
    assert line == f"  STOPS      {names}: the reason is at HELD BACK"
    held = [line for line in shown.splitlines() if line.startswith("  HELD BACK")]
    assert [line[13:].partition(": ")[0] for line in held] == names.split(", ")
    assert not [line for line in held if "; 0 " in line]


def test_ed001_what_depends_on_the_strategy(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    strategy = {"type": "OnDelete"}
    shown = plan_of_edited_qwen(capsys, tmp_path / "qwen.json", "s2-healthy.yaml", updateStrategy=strategy)
    assert "EDIT       spec.updateStrategy  (how updates replace pods)" in shown


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--fail-on", "restart"), 3, "failed by --fail-on: restart\n"),
        (("--fail-on", "terminate"), 0, ""),
        (("--max-restarted-gpus", "2"), 3, "failed by --max-restarted-gpus: pods with 3 GPUs restart, and 2 may\n"),
        (("--max-restarted-gpus", "3"), 0, ""),
    ],
)
def test_ed010_checks_for_ci(
    options: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["plan", *ONE_AT_A_TIME, *FIELD, *options], "grove") == code
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("kind", ["Pod", "PodClique"])
@pytest.mark.parametrize("options", [("--fail-on", "restart"), ("--max-restarted-gpus", "100")])
@pytest.mark.req("ED-018")
def test_ed010_what_is_unknown_fails(
    options: tuple[str, ...], kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    items = [item for item in _items("ed002_one_pod_at_a_time") if item["kind"] != kind]
    path = tmp_path / "without-a-kind.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert run_command_line(["plan", "-f", str(path), *FIELD, *options], "grove") == 3
    shown = capsys.readouterr()
    assert shown.out.startswith(f"what 1 edit restarts is unknown: {kind}s were not collected; ")


def test_ed010_a_plan_without_an_edit_restarts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    now = ("--now", "2026-11-21T09:40:15Z", "--max-restarted-gpus", "0", "--fail-on", "restart")
    assert "restarts" not in printed(capsys, "-f", str(CRASHES), *now).splitlines()[0]
