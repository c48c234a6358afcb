"""``--complete``: a dump that was taken right after a set was created, before anything of it exists."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.cli.main import run_command_line

Json = dict[str, Any]
NOW: Final = ("--now", "2026-11-20T09:00:02Z", "--rules", "field")
CLIQUE: Final = {
    "name": "w",
    "spec": {"roleName": "w", "replicas": 2, "minAvailable": 2, "podSpec": {"containers": []}},
}
CREATED: Final = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {
        "name": "new",
        "namespace": "ml",
        "uid": "5a2d",
        "resourceVersion": "7",
        "creationTimestamp": "2026-11-20T09:00:00Z",
        "generation": 1,
    },
    "spec": {"replicas": 1, "template": {"terminationDelay": "4h", "cliques": [CLIQUE]}},
    "status": {"currentGenerationHash": "5b64f44ff9f65c7bb67c", "observedGeneration": 1},
}


@pytest.fixture
def dump(tmp_path: Path) -> str:
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [CREATED]}), encoding="utf-8")
    return str(path)


def created(capsys: pytest.CaptureFixture[str], dump: str, *words: str) -> set[str]:
    assert run_command_line(["plan", "-f", dump, *NOW, *words, "-o", "json"], "grove") == 0
    (plan,) = json.loads(capsys.readouterr().out)["plans"]
    steps = [step for round_ in plan["rounds"] for step in round_["steps"]]
    return {step["target"]["kind"] for step in steps if step["action"] == "create"}


def test_in054_without_it_nothing_is_known(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert created(capsys, dump) == set()
    assert run_command_line(["plan", "-f", dump, *NOW], "grove") == 0
    assert "--complete pcs,pcsg,pclq,pods,podgangs" in capsys.readouterr().out


@pytest.mark.parametrize(
    "kinds", ["pcs,pcsg,pclq,podgangs,pods", "podcliques.grove.io,PodCliqueScalingGroup,pg,po,pcs"]
)
def test_in054_what_is_missing_of_complete_kinds_is_created(
    kinds: str, dump: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert created(capsys, dump, "--complete", kinds) == {"PodClique", "PodGang", "Pod"}


def test_in054_all_kinds(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert {"PodClique", "PodGang", "Pod", "Service", "Role"} <= created(capsys, dump, "--complete", "all")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["-f", "x", "--complete", "pclqs"], "'pclqs' is none of all, "),
        (["--live", "--complete", "all"], "--complete is about files"),
    ],
)
def test_cl009_a_wrong_use_is_explained(words: list[str], shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["plan", *words], "grove") == 64
    assert shown in capsys.readouterr().err
