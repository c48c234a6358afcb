"""The ready policies, by their examples and on real plans (PO-005, CL-063)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from grove_shell.policies.ready_policies import ready_policy_meaning, ready_policy_names, ready_policy_path
from tests.policies.policy_files import without_pods

ROOT: Final = Path(__file__).parent.parent.parent
REAL: Final = ("-f", str(ROOT / "examples/real-cluster.yaml"), "--now", "2026-11-21T09:40:15Z")
EDIT: Final = ("-f", str(ROOT / "examples/edits/qwen-new-image.yaml"), "--rules", "design", "llm-serving/qwen")
DEGRADED: Final = ("-f", str(ROOT / "examples/degraded.yaml"), "--now", "2026-11-20T09:00:00Z")


def changed(name: str, folder: Path, values: dict[str, str]) -> str:
    """The file of a ready policy with other values of its variables, as a user edits it."""
    policy: Any = yaml.safe_load(ready_policy_path(name).read_text(encoding="utf-8"))
    for variable in policy["spec"]["variables"]:
        variable["expression"] = values.pop(variable["name"], variable["expression"])
    for condition in policy["spec"].get("matchConditions", ()):
        condition["expression"] = values.pop(condition["name"], condition["expression"])
    assert not values
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(policy), encoding="utf-8")
    return str(path)


def violated(path: str, code: int, capsys: pytest.CaptureFixture[str], *words: str) -> list[tuple[str, bool, str]]:
    assert run_command_line(["plan", *words, "--policy", path, "-o", "json"], "grove") == code
    (result,) = json.loads(capsys.readouterr().out)["policies"]
    assert result["checked"]
    return [(one["rule"], one["evaluated"], one["message"]) for one in result["violations"]]


def test_cl063_five_of_them_are_listed_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["policy", "list"], "grove") == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) == len(ready_policy_names()) == 5
    for name in ready_policy_names():
        assert f"{name} " in shown
        assert ready_policy_meaning(name) in shown
        assert run_command_line(["policy", "print", name], "grove") == 0
        assert capsys.readouterr().out == ready_policy_path(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ready_policy_names())
@pytest.mark.req("CL-063")
def test_po005_each_passes_its_test(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["policy", "test", str(ready_policy_path(name))], "grove") == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(", 0 failed; 0 rules not shown")


def test_no_termination_on_a_real_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changed("no-termination-in-namespace", tmp_path, {"namespaces": '["inference"]'})
    assert ("no-termination", True, "a gang of inference/llama-70b is terminated") in violated(
        path, 3, capsys, *DEGRADED
    )
    assert violated(path, 0, capsys, *DEGRADED, "inference/mixtral") == []


def test_restarted_gpus_on_a_real_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changed("max-restarted-gpus", tmp_path, {"most": "11"})
    assert violated(path, 3, capsys, *REAL, *EDIT) == [("at-most", True, "pods with 12 GPUs restart, and 11 may")]
    path = changed("max-restarted-gpus", tmp_path, {"most": "12"})
    assert violated(path, 0, capsys, *REAL, *EDIT) == []


def test_ready_parts_on_a_real_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changed("min-ready-during-update", tmp_path, {"percent": "51"})
    message = "qwen-1-worker: 2 of 4 ready at the lowest, and 51 percent are needed"
    assert violated(path, 3, capsys, *REAL, *EDIT) == [("parts-stay-ready", True, message)]
    path = changed("min-ready-during-update", tmp_path, {"percent": "50"})
    assert violated(path, 0, capsys, *REAL, *EDIT) == []


def test_delays_on_a_real_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    production = 'set.namespace == "llm-serving"'
    path = changed("min-termination-delay", tmp_path, {"production": production})
    assert violated(path, 3, capsys, *REAL, *EDIT) == [
        ("set-delay", True, "terminationDelay is 30s, at least 900s is needed")
    ]
    path = changed("min-termination-delay", tmp_path, {"production": production, "least": 'duration("30s")'})
    assert violated(path, 0, capsys, *REAL, *EDIT) == []


def test_a_plan_of_partial_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("-f", without_pods(tmp_path), *DEGRADED[2:], "inference/llama-70b")
    found = violated(str(ready_policy_path("complete-input")), 3, capsys, *words)
    assert [(rule, decided) for rule, decided, _ in found] == [("all-decided", True), ("all-collected", True)]
    ((rule, decided, message), *_) = violated(
        changed("no-termination-in-namespace", tmp_path, {"namespaces": '["inference"]'}), 3, capsys, *words
    )
    assert (rule, decided) == ("no-termination", False)
    assert "it is not decided what the plan does" in message
