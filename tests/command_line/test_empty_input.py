"""An input without anything to judge makes no check green, and says what it holds instead (CL-056, IN-053)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

Json = dict[str, Any]
STATUS: Final[Json] = {
    "kind": "Status",
    "apiVersion": "v1",
    "status": "Failure",
    "message": "podcliquesets.grove.io is forbidden",
    "reason": "Forbidden",
    "code": 403,
}
EVENT: Final[Json] = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "ml"}}
ALL: Final[list[Json]] = [
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ml", "uid": "1", "resourceVersion": "1"},
        "spec": {},
        "status": {},
    },
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "ml", "uid": "2"}},
]
TOPOLOGY: Final[Json] = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "ClusterTopologyBinding",
    "metadata": {"name": "t", "uid": "7", "resourceVersion": "1"},
    "spec": {"levels": [{"domain": "rack", "key": "example.com/rack"}]},
}
INPUTS: Final = {
    "a topology": ([TOPOLOGY], "only 1 topology object"),
    "a topology beside a refusal": ([TOPOLOGY, STATUS], "an error of an API server: podcliquesets.grove.io"),
    "an empty list": ([], "no other object that a decision depends on"),
    "events": ([EVENT] * 3, "only 3 Events"),
    "kubectl get all": (ALL, "only 1 Service, 1 Pod"),
    "a refusal": ([STATUS], "an error of an API server: podcliquesets.grove.io is forbidden (Forbidden, 403)"),
}


@pytest.fixture(params=INPUTS)
def given(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    items, words = INPUTS[request.param]
    raw = items[0] if items == [STATUS] else {"apiVersion": "v1", "kind": "List", "items": items}
    path = tmp_path / "input.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return str(path), words


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--fail-on", "terminate", "--fail-on", "unknown"],
        ["--fail-on", "change"],
        ["--detailed-exitcode"],
        ["-o", "json"],
    ],
)
def test_cl056_it_is_no_success(given: tuple[str, str], more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path, words = given
    assert run_command_line(["plan", "-f", path, *more], "grove") == 3
    said = capsys.readouterr()
    line = said.err.splitlines()[-1] if "json" in more else said.out.splitlines()[0]
    assert line.startswith("nothing was decided: ")
    assert words in line


@pytest.mark.parametrize("more", [[], ["--fail-on", "ends"], ["-o", "json"]])
def test_cl056_nor_of_a_comparison(given: tuple[str, str], more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path, words = given
    assert run_command_line(["compare", "-f", path, *more], "grove") == 3
    said = capsys.readouterr()
    assert words in (said.err if "json" in more else said.out.splitlines()[0])


def test_cl056_bad_input_stays_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.yaml").write_text("kind: [", encoding="utf-8")
    assert run_command_line(["plan", "-f", str(tmp_path / "broken.yaml"), "--keep-going"], "grove") == 1
    assert "broken.yaml" in capsys.readouterr().err


def test_cl056_a_namespace_without_sets(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-f", str(ROOT / "examples" / "degraded.yaml"), "--now", "2026-11-20T09:00:00Z", "-n", "nowhere"]
    for command, fail_on in (("plan", "terminate"), ("compare", "ends")):
        assert run_command_line([command, *words], "grove") == 64
        assert run_command_line([command, *words, "--fail-on", fail_on], "grove") == 3
        assert "not in the input: a PodCliqueSet in namespace nowhere" in capsys.readouterr().err


def test_in053_an_error_beside_sets_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    degraded = list(yaml.load_all((ROOT / "examples" / "degraded.yaml").read_text("utf-8"), yaml.CSafeLoader))
    (tmp_path / "both.yaml").write_text(yaml.safe_dump_all([*degraded, STATUS]), encoding="utf-8")
    assert run_command_line(["plan", "-f", str(tmp_path / "both.yaml"), "--now", "2026-11-20T09:00:00Z"], "grove") == 0
    reported = (
        "warning: the input holds an error of an API server: podcliquesets.grove.io is forbidden (Forbidden, 403)"
    )
    assert reported in capsys.readouterr().out.splitlines()


def test_in053_with_json_it_is_reported_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    degraded = list(yaml.load_all((ROOT / "examples" / "degraded.yaml").read_text("utf-8"), yaml.CSafeLoader))
    (tmp_path / "both.yaml").write_text(yaml.safe_dump_all([*degraded, STATUS]), encoding="utf-8")
    words = ["plan", "-f", str(tmp_path / "both.yaml"), "--now", "2026-11-20T09:00:00Z", "-o", "json", "--rounds", "1"]
    assert run_command_line(words, "grove") == 0
    said = capsys.readouterr()
    json.loads(said.out)
    assert "warning: the input holds an error of an API server: podcliquesets.grove.io is forbidden" in said.err


def test_in053_a_success_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "done.json").write_text(json.dumps({**STATUS, "status": "Success"}), encoding="utf-8")
    assert run_command_line(["plan", "-f", str(tmp_path / "done.json")], "grove") == 3
    assert "error of an API server" not in capsys.readouterr().out
