"""What `grove plan` says of an edit: the verdict, the changed fields, the pods that go, and the checks for CI (ED)."""

import copy
import json
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


def test_ed003_a_fall_below_the_minimum_is_in_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    given = str(CASES / "ed003_below_the_minimum" / "given.yaml")
    assert "; router falls to 0 of 1 ready and needs 1; " in printed(capsys, "-f", given, *FIELD).splitlines()[0]


def test_ed005_an_update_that_stops_is_in_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    given = str(CASES / "ed005_an_update_that_stops" / "given.yaml")
    shown = printed(capsys, "-f", given, "--rules", "design", "--now", "2026-11-20T09:00:00Z")
    assert shown.startswith("restarts no pod; 1 update will not end; ")


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


@pytest.mark.parametrize("options", [("--fail-on", "restart"), ("--max-restarted-gpus", "100")])
def test_ed010_what_is_unknown_fails(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    items = [item for item in _items("ed002_one_pod_at_a_time") if item["kind"] != "Pod"]
    path = tmp_path / "without-pods.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert run_command_line(["plan", "-f", str(path), *FIELD, *options], "grove") == 3
    shown = capsys.readouterr()
    assert shown.out.startswith("what 1 edit restarts is unknown: pods were not collected; ")


def test_ed010_a_plan_without_an_edit_restarts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    now = ("--now", "2026-11-21T09:40:15Z", "--max-restarted-gpus", "0", "--fail-on", "restart")
    assert "restarts" not in printed(capsys, "-f", str(CRASHES), *now).splitlines()[0]
