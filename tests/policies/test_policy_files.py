"""What is wrong with a policy file is reported at once, with its place (PO-001); limits are kept (PO-006)."""

import io
from pathlib import Path
from typing import Any, Final

import pytest

from docs.generator.plan_format import schema
from grove_shell.cli.main import run_command_line
from grove_shell.policies.policy_input import SET_FIELDS
from grove_shell.policies.policy_reading import read_policies
from tests.policies.policy_files import one_rule, policy_object, problems, sound, written

NO_BOOLEAN: Final = (
    "document 1, PlanPolicy tested, spec.rules[1].expression: expected an expression that is true or false"
)


def test_po001_all_problems_of_a_file_at_once_with_their_places(tmp_path: Path) -> None:
    first = policy_object(
        {"name": "a", "expression": 'set.namespce == "prod" &&\n  plann.sets.size() > 0'},
        {"name": "b", "expression": 'set.name + "x"'},
        variables=[{"name": "least", "expression": 'duration("15m"'}],
    )
    second = policy_object({"name": "A", "expression": "", "action": "deny"}, name="second", ruls=[])
    on_rule, of_second = (
        "document 1, PlanPolicy tested, spec.rules[0].expression",
        "document 2, PlanPolicy second, spec",
    )
    assert problems(tmp_path, first, second) == [
        "document 1, PlanPolicy tested, spec.variables[0].expression 1:15: Syntax error: missing ')' at '<EOF>'",
        f'{on_rule} 1:5: set has no field "namespce"; did you mean namespace?',
        f'{on_rule} 2:3: unknown name "plann"; "plan" is known only with forEach: plan',
        f"{NO_BOOLEAN}, got one that gives STRING",
        f"{of_second}.rules[0].name: expected a name of lower case letters, digits, '-' and '.', got \"A\"",
        f'{of_second}.rules[0].expression: expected a text, got ""',
        f"{of_second}.rules[0].action: expected 'Deny' or 'Warn', got \"deny\"",
        f"{of_second}.ruls: unknown field ruls; did you mean rules?",
    ]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("has(set.edt)", '1:9: set has no field "edt"; did you mean edit?'),
        ('"set.edt" == set.name', ""),
        ('r"\\d" + "set.edt" == set.name', ""),
        ('[{"edt": 1}].all(set, set.edt > 0)', ""),
        ('set.name.startWith("a")', '1:19: unknown name "startWith"; did you mean startsWith?'),
        ("size(set, 2) > 1", '1:5: no function "size" with these arguments'),
        ("variables.most > 1", '1:1: unknown name "variables.most"; known: set, now'),
        ("now > 3", "1:5: found no matching overload for '_>_' applied to '(google.protobuf.Timestamp, int)'"),
        ("plan.unknown", '1:1: "plan" is known only with forEach: plan'),
        ("true || " * 600 + "true", "1:1: longer than 4,000 characters"),
        ("(" * 40 + "true" + ")" * 40, "1:1: Expression recursion limit exceeded. limit: 32"),
    ],
)
def test_po001_a_problem_within_an_expression(expression: str, problem: str, tmp_path: Path) -> None:
    if not problem:
        assert sound(tmp_path, one_rule(expression)).rules[0].expression.text == expression
        return
    assert problems(tmp_path, policy_object(one_rule(expression))) == [
        f"document 1, PlanPolicy tested, spec.rules[0].expression {problem}"
    ]


def test_po001_types_of_variables_are_checked(tmp_path: Path) -> None:
    variables = [
        {"name": "least", "expression": 'duration("15m")'},
        {"name": "twice", "expression": "variables.least * 2"},
    ]
    (problem,) = problems(tmp_path, policy_object(one_rule("true"), variables=variables))
    assert "spec.variables[1].expression 1:17: found no matching overload for '_*_'" in problem


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"tests": [{"name": "x", "given": {"set": {}}, "violates": ["two"]}]},
            'expected a rule of the policy, got "two"',
        ),
        ({"tests": [{"name": "x", "given": {"plan": {}}}]}, "expected set or files, as forEach is set, got plan"),
        ({"tests": [{"name": "x", "given": {"set": {"nmae": 1}}}]}, "unknown field nmae"),
        ({"tests": [{"name": "x", "given": {}}]}, "expected one of set, plan and files"),
        ({"tests": [{"name": "x", "given": {"files": ["a.yaml"]}}]}, "expected now beside files"),
        (
            {"tests": [{"name": "x", "given": {"files": ["a"], "now": "2026-11-20T09:00:00Z", "rules": "feld"}}]},
            'did you mean "field"?',
        ),
        ({"tests": [{"name": "x", "given": {"set": {}}}] * 2}, 'expected unique names, got "x" 2 times'),
        ({"kind": "Policy", "spec": {}}, 'kind: expected PlanPolicy, got "Policy"'),
        ({"apiVersion": "v1"}, "expected 'policy.grove.io/v1alpha1'"),
        ({"metadata": {}}, "metadata.name: is required"),
        ({"spec": {"rules": []}}, "spec.rules: expected at least one item"),
    ],
)
def test_po001_a_problem_of_a_field(change: dict[str, Any], problem: str, tmp_path: Path) -> None:
    (found,) = problems(tmp_path, {**policy_object(one_rule("true")), **change})
    assert problem in found


def test_po001_two_policies_of_one_name(tmp_path: Path) -> None:
    written(tmp_path, policy_object(one_rule("true")), name="a.yaml")
    written(tmp_path, policy_object(one_rule("false")), name="b.yaml")
    _, faults = read_policies([str(tmp_path)])
    assert [str(fault) for fault in faults] == [
        f'{tmp_path}/b.yaml: metadata.name: expected a name that no other policy has, got "tested"'
    ]


def test_po001_a_missing_file_with_the_name_of_a_ready_policy(tmp_path: Path) -> None:
    _, (fault,) = read_policies([str(tmp_path / "max-restarted-gpus.yaml")])
    assert "grove policy print max-restarted-gpus > max-restarted-gpus.yaml writes the ready policy" in str(fault)


def test_po001_a_file_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n", encoding="utf-8")
    _, (fault,) = read_policies([str(tmp_path / "list.yaml")])
    assert str(fault).endswith("expected a PlanPolicy, got nothing")


def test_po001_every_field_of_a_plan_is_a_field_of_a_set() -> None:
    of_plan = set(schema()["$defs"]["Plan"]["properties"])
    assert of_plan - set(SET_FIELDS) == {"root", "notPredicted", "decisions"}


@pytest.mark.req("IN-026")
def test_a_policy_on_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_command_line(["policy", "print", "complete-input"], "grove") == 0
    printed = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(printed.encode())))
    assert run_command_line(["policy", "test", "-"], "grove") == 0
    assert capsys.readouterr().out.startswith("complete-input  stdin\n")
