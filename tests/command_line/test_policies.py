"""`grove plan --policy`: where violations are shown, and what they return (CL-061, PO)."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft202012Validator

from docs.generator.plan_format import schema
from grove_core.document.document_reading import plan_document_from_json
from grove_shell.cli.main import run_command_line
from tests.command_line.process import ROOT
from tests.policies.policy_files import one_rule, policy_object, without_pods, written

DEGRADED: Final = ("plan", "-f", str(ROOT / "examples/degraded.yaml"), "--now", "2026-11-20T09:00:00Z")
MANIFEST: Final = ("plan", "-f", str(ROOT / "examples/manifests/disaggregated.yaml"), "--now", "2026-11-20T09:00:00Z")
DENY: Final = policy_object(one_rule('!("terminate" in set.classes)', message="is terminated"), name="calm")
WARN: Final = policy_object(one_rule("false", message="think of it", action="Warn"), name="thoughtful")


def shown(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> tuple[list[str], str]:
    assert run_command_line(words, "grove") == code
    printed = capsys.readouterr()
    return printed.out.splitlines(), printed.err


def test_cl061_violations_stand_before_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warn, deny = written(tmp_path, WARN, name="a.yaml"), written(tmp_path, DENY, name="b.yaml")
    lines, problem = shown(
        capsys, *DEGRADED, "--policy", warn, "--policy", deny, "inference/llama-70b", "inference/mixtral", code=3
    )
    assert lines[:6] == [
        "  DENIED     inference/llama-70b: is terminated  calm/one",
        "  WARNED     inference/llama-70b: think of it  thoughtful/one",
        "  WARNED     inference/mixtral: think of it  thoughtful/one",
        "2 policies checked, 0 without a violation",
        "",
        "1 replica to terminate now, with 9 pods (5 ready) and 8 GPUs; 16 objects to create",
    ]
    assert problem == "failed by --policy: calm\n"


@pytest.mark.req("PO-004")
def test_cl061_a_folder_of_policies_of_which_one_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, WARN, name="a.yaml")
    written(tmp_path, DENY, name="b.yaml")
    lines, problem = shown(capsys, *DEGRADED, "--policy", str(tmp_path), "inference/mixtral", code=0)
    assert lines[:2] == [
        "  WARNED     inference/mixtral: think of it  thoughtful/one",
        "2 policies checked, 1 without a violation",
    ]
    assert problem == ""


def test_po002_a_policy_that_matches_nothing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conditions = [{"name": "nowhere", "expression": 'set.namespace == "prd"'}]
    path = written(tmp_path, policy_object(one_rule("false"), name="lost", matchConditions=conditions))
    lines, _ = shown(capsys, *DEGRADED, "--policy", path, "inference/mixtral", code=0)
    assert lines[:2] == ["1 policy checked, 1 without a violation", "note: nothing in this plan matches lost"]


def test_cl061_the_document_has_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, path = tmp_path / "plan.json", written(tmp_path, DENY, WARN)
    words = (*DEGRADED, "--policy", path, "inference/llama-70b", "-o", "json", "--out", str(out))
    lines, problem = shown(capsys, *words, code=3)
    document: Any = json.loads("\n".join(lines))
    Draft202012Validator(schema()).validate(document)
    assert list(document)[2] == "policies"
    violation = {"rule": "one", "set": "inference/llama-70b", "evaluated": True}
    assert document["policies"] == [
        {
            "policy": "calm",
            "file": path,
            "checked": 1,
            "violations": [{**violation, "action": "Deny", "message": "is terminated"}],
        },
        {
            "policy": "thoughtful",
            "file": path,
            "checked": 1,
            "violations": [{**violation, "action": "Warn", "message": "think of it"}],
        },
    ]
    assert "DENIED     inference/llama-70b: is terminated" in problem
    assert json.loads(out.read_text(encoding="utf-8")) == document
    assert plan_document_from_json(document).rules == "design"


def test_cl061_an_input_without_sets_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(capsys, *DEGRADED, "--policy", written(tmp_path, DENY), "-n", "nowhere", code=3)


@pytest.mark.req("CL-005")
def test_po001_problems_of_policies_and_of_the_input_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, policy_object(one_rule("set.nam == 1")))
    words = ("plan", "-f", "nosuch.yaml", "--policy", path)
    on_rule = f"  {path}: document 1, PlanPolicy tested, spec.rules[0].expression"
    for more in ((), ("--keep-going",)):
        printed, problem = shown(capsys, *words, *more, code=1)
        assert printed == []
        first, *found, last = problem.splitlines()
        assert first == "2 problems in the input"
        assert found == [
            f'{on_rule} 1:5: set has no field "nam"; did you mean name?',
            "  nosuch.yaml: no such file",
        ]
        assert last == "Nothing was decided."


def test_po003_fields_of_a_set_that_is_decided_and_of_one_that_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every field that a policy may read, on a set that is new, and what is left where no pod was collected."""
    always = "has(set.namespace) && has(set.labels) && has(set.annotations) && has(set.spec) && has(set.isNew)"
    planned = "has(set.classes) && has(set.restarted) && has(set.removed) && has(set.added) && has(set.rounds)"
    path = written(
        tmp_path,
        policy_object(one_rule(f"{always} && {planned} && set.isNew && !set.unknown"), name="decided"),
        policy_object(one_rule("plan.restarted.gpus == 0 && plan.classes.size() > 0"), name="whole", forEach="plan"),
    )
    shown(capsys, *MANIFEST, "--rounds", "2", "--policy", path, code=0)
    neither = planned.replace("&&", "||")
    path = written(
        tmp_path,
        policy_object(one_rule(f"{always} && set.unknown && !set.isNew && !({neither})"), name="undecided"),
        policy_object(one_rule("plan.unknown && !has(plan.restarted) && !has(plan.classes)"), name="a", forEach="plan"),
    )
    shown(capsys, "plan", "-f", without_pods(tmp_path), *DEGRADED[3:], "--policy", path, "inference/llama-70b", code=0)


def test_po007_a_budget_sees_the_pods_of_new_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One set is scaled out, another is new; the first line has the sum."""
    old: Any = yaml.safe_load(Path(MANIFEST[2]).read_text())
    for clique in old["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "2"}}
    scaled, new = json.loads(json.dumps([old, old]))
    scaled["spec"]["replicas"] += 1
    new["metadata"]["name"] = "another"
    before, after = (written(tmp_path, *items, name=name) for name, items in (("o", [old]), ("n", [scaled, new])))
    words = ("plan", "--old", before, "-f", after, "--now", "2026-11-20T09:00:00Z")
    (first, *_), _ = shown(capsys, *words, code=0)
    found = re.search(r"creates ([0-9]+) pods with ([0-9]+) GPUs", first)
    assert found is not None
    pods, gpus = map(int, found.groups())
    whole = f"plan.added.pods == {pods} && plan.added.gpus == {gpus}"
    of_new = "set.isNew ? set.added == set.creates : set.added.pods > 0"
    path = written(
        tmp_path,
        policy_object(one_rule(whole), name="whole", forEach="plan"),
        policy_object(one_rule(of_new), name="of-new"),
    )
    lines, _ = shown(capsys, *words, "--policy", path, code=0)
    assert lines[0] == "2 policies checked, 2 without a violation"


def test_a_plan_without_policies_does_not_load_the_library() -> None:
    code = (
        "import sys; from grove_shell.cli.main import run_command_line;"
        f"run_command_line({list(DEGRADED)!r}, 'grove');"
        "sys.exit('cel_expr_python' in str(list(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=ROOT).returncode == 0


def test_cl061_a_missing_library_is_named() -> None:
    code = (
        "import sys; sys.modules['cel_expr_python'] = None\n"
        "from grove_shell.cli.main import run_command_line\n"
        f"sys.exit(run_command_line([*{DEGRADED!r}, '--policy', 'any.yaml'], 'grove'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (1, "policies need cel-expr-python: pip install 'grove-plan[policies]'\n")
