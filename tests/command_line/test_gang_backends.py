"""The back end of gangs on the command line: the configuration, the preflight, a plan, and what a dump lacks."""

import json
from pathlib import Path
from typing import Any

import pytest

from grove_shell.cli.main import run_command_line
from tests.golden.test_golden import HERE

Json = dict[str, Any]
CASES = HERE / "scheduling"
LIST = ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "Pod", "PodGang")


def configured(folder: Path, backend: str) -> str:
    path = folder / "operator.yaml"
    path.write_text(
        "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
        f"scheduling: {{backend: {backend}}}\n",
        encoding="utf-8",
    )
    return str(path)


def capture(folder: Path, level: str) -> str:
    path = folder / "capture.json"
    taken: Json = {
        "apiVersion": "snapshot.grove.io/v1",
        "kind": "Snapshot",
        "metadata": {"name": "snapshot"},
        "takenAt": "2026-11-20T09:00:00Z",
        "server": "https://cluster.example.com",
        "offers": {"workloadApi": level} if level else {},
        "collected": [{"kind": kind, "namespace": ""} for kind in LIST],
        "notCollected": [],
    }
    stored: Json = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "chat", "namespace": "ml", "uid": "1", "resourceVersion": "1"},
        "spec": {
            "replicas": 1,
            "template": {
                "cliques": [
                    {"name": "a", "spec": {"roleName": "a", "podSpec": {"containers": [{"name": "a", "image": "i"}]}}}
                ]
            },
        },
    }
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [taken, stored]}), encoding="utf-8")
    return str(path)


@pytest.mark.req("SC-005")
@pytest.mark.parametrize(
    ("backend", "level", "code", "words"),
    [
        ("kubernetes", "hierarchical", 0, "would start"),
        ("kubernetes", "flat", 1, "would not start: scheduling.backend is kubernetes, and the server serves no"),
        ("kubernetes", "none", 1, "would not start: scheduling.backend is kubernetes, and the server serves no"),
        ("kubernetes", "", 1, "unknown: whether the cluster has CompositePodGroups"),
        ("auto", "none", 0, "would start"),
    ],
)
def test_cl032_the_preflight_looks_for_the_workload_api(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], backend: str, level: str, code: int, words: str
) -> None:
    given = ["-f", capture(tmp_path, level), "--config", configured(tmp_path, backend)]
    assert run_command_line(["validate", "--preflight", *given], "grove") == code
    assert capsys.readouterr().out.startswith(words)


@pytest.mark.req("SC-005")
def test_sc005_a_plan_for_an_operator_that_would_not_start_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["-f", capture(tmp_path, "flat"), "--config", configured(tmp_path, "kubernetes")]
    assert run_command_line(["plan", *given], "grove") == 1
    assert "scheduling.backend: expected auto, podgang, got kubernetes" in " ".join(capsys.readouterr().err.split())


def test_in030_another_word_for_a_back_end_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["-f", capture(tmp_path, "none"), "--config", configured(tmp_path, "kueue")]
    assert run_command_line(["plan", *given], "grove") == 1
    err = capsys.readouterr().err
    assert "scheduling.backend" in err
    assert "'auto', 'podgang' or 'kubernetes'" in err


def test_in047_another_level_in_a_capture_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["plan", "-f", capture(tmp_path, "half")], "grove") == 1
    assert "offers.workloadApi" in capsys.readouterr().err


@pytest.mark.req("SC-027")
def test_sc027_a_dump_without_podgroups_fails_on_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    folder = CASES / "sc027_pod_groups_not_collected"
    given = ["-f", str(folder / "given.yaml"), "--now", "2026-11-20T09:00:00Z", "--rules", "design"]
    assert run_command_line(["plan", *given, "--fail-on", "unknown"], "grove") == 3
    said = capsys.readouterr()
    assert "PodGroup" in said.out + said.err


@pytest.mark.req("SC-026")
def test_sc026_explain_names_the_group_of_somebody_else(capsys: pytest.CaptureFixture[str]) -> None:
    folder = CASES / "sc026_a_group_of_somebody_else"
    given = ["-f", str(folder / "given.yaml"), "--config", str(folder / "operator.yaml"), "--rules", "design"]
    assert run_command_line(["plan", *given, "--now", "2026-11-20T09:00:00Z"], "grove") == 0
    assert "chat-0-router: a group with that name exists, and is without a controller" in capsys.readouterr().out
