"""A release of the Go operator that is newer than the newest known one, as `plan` and `validate` speak of it."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

Json = dict[str, Any]
CASE: Final = ROOT / "tests" / "golden" / "workload" / "wl207_a_gang_named_with_an_epoch" / "given.yaml"
PLAIN: Final = ROOT / "tests" / "snapshots" / "s2-healthy.json"
NOW: Final = ("--now", "2026-11-21T09:40:00Z")
SET: Final = """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: chat, namespace: ml}
spec:
  replicas: 2
  updateStrategy: {type: Coherent}
  template:
    cliques:
      - name: worker
        rollingUpdate: {maxUnavailable: 1, progressDeadline: 10m}
        spec: {roleName: worker, replicas: 4, minAvailable: 3, podSpec: {containers: [{name: main, image: busybox}]}}
      - name: member
        spec: {roleName: member, replicas: 1, podSpec: {containers: [{name: main, image: busybox}]}}
    podCliqueScalingGroups:
      - {name: pool, cliqueNames: [member], rollingUpdate: {maxUnavailable: 1}}
"""


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run_command_line(list(words), "grove") == code
    return capsys.readouterr().out


@pytest.mark.parametrize("rules", [[], ["--rules", "field"], ["--rules", "design"]])
def test_gf134_it_is_said_on_top_and_fails_a_check(rules: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ("plan", "-f", str(CASE), *NOW, *rules)
    shown = said(capsys, *words, "--fail-on", "unknown", code=3)
    assert shown.startswith("NOT PREDICTED: the steps shown for 1 PodCliqueSet are not those of the operator there")
    marks = "(PodGang embed-0-7f3a9c, kind PodGangMap)"
    assert f"a release newer than v0.1.0-alpha.12-rc1, the newest known here, runs there {marks}" in shown
    if "field" not in rules:
        assert f"of a release newer than v0.1.0-alpha.12-rc1, the newest known here {marks}" in shown
    reported: Json = json.loads(said(capsys, *words, "-o", "json"))
    (plan,) = reported["plans"]
    assert [why["requirement"] for why in plan["notPredicted"]] == ["GF-134"]
    assert reported["summary"] | {"delete": 0, "create": 0} == reported["summary"]
    explained = said(capsys, "explain", "pcs/embed", "-f", str(CASE), *NOW, *rules)
    assert "runs there (PodGang embed-0-7f3a9c, kind PodGangMap): what it does is not predicted" in explained


def put(one: Json, mark: str) -> None:
    template = one["spec"].get("template", {})
    match mark, one["kind"]:
        case "field", "PodCliqueSet":
            template["cliques"][0]["rollingUpdate"] = {"maxUnavailable": 1}
        case "strategy", "PodCliqueSet":
            one["spec"]["updateStrategy"] = {"type": "Coherent"}
        case "condition", "PodClique":
            time = "2026-11-21T09:38:40Z"
            more = {"type": "UpdateInProgress", "status": "False", "reason": "x", "lastTransitionTime": time}
            one["status"]["conditions"].append(more)
        case "status", "PodClique":
            one["status"]["podGangMapping"] = {"embed-0": 3}


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("field", "field spec.template.cliques[0].rollingUpdate of PodCliqueSet"),
        ("strategy", "field spec.updateStrategy.type of PodCliqueSet"),
        ("condition", "condition UpdateInProgress"),
        ("status", "field status.podGangMapping of PodClique"),
    ],
)
def test_gf134_each_mark_reports(mark: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump: Json = json.loads(PLAIN.read_text("utf-8"))
    for one in dump["items"]:
        put(one, mark)
    (tmp_path / "dump.json").write_text(json.dumps(dump), encoding="utf-8")
    assert words in said(capsys, "plan", "-f", str(tmp_path / "dump.json"), *NOW).splitlines()[1]
    assert "newer than" not in said(capsys, "plan", "-f", str(PLAIN), *NOW)


def test_wl161_validate_says_which_release_knows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "set.yaml").write_text(SET, encoding="utf-8")
    shown = said(capsys, "validate", "-f", str(tmp_path / "set.yaml"), code=1)
    lines = [line for line in shown.splitlines() if "OfANewerRelease WL-161" in line]
    assert [line.split(":")[0].strip() for line in lines] == [
        "spec.template.cliques[0].rollingUpdate",
        "spec.template.podCliqueScalingGroups[0].rollingUpdate",
        "spec.updateStrategy.type",
    ]
    assert all("only releases after v0.1.0-alpha.12-rc1 know it" in line for line in lines)


def test_wl158_a_slip_stays_a_slip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw: Json = yaml.load(SET, yaml.CSafeLoader)
    raw["spec"]["updateStrategy"] = {"type": "Coherant"}
    clique, *_ = raw["spec"]["template"]["cliques"]
    clique["rolingUpdate"] = clique.pop("rollingUpdate")
    raw["spec"]["template"].pop("podCliqueScalingGroups")
    (tmp_path / "set.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
    shown = said(capsys, "validate", "-f", str(tmp_path / "set.yaml"), code=1)
    assert "FieldUnknown WL-158" in shown
    assert "UpdateStrategyUnknown WL-126" in shown
    assert "WL-161" not in shown
