"""What a policy is evaluated for, what is not known, and the limits (PO-002, PO-003, PO-004, PO-006)."""

import time
from pathlib import Path

import pytest

from grove_shell.policies.policy_results import PolicyAction, PolicyResult, PolicyRuleResult, denied_policy_names
from tests.policies.policy_files import one_rule, policy_object, problems, results_on, sound

PROD = {"namespace": "prod", "name": "llama"}
DEV = {"namespace": "dev", "name": "llama"}
IN_PROD = {"name": "in-prod", "expression": 'set.namespace == "prod"'}


def test_po002_only_sets_that_meet_every_match_condition(tmp_path: Path) -> None:
    policy = sound(tmp_path, one_rule("false"), matchConditions=[IN_PROD])
    assert [one.subject for one in results_on(policy, PROD, DEV)] == ["prod/llama"]


def test_po002_a_false_condition_beside_one_that_cannot_be_evaluated(tmp_path: Path) -> None:
    unsure = {"name": "unsure", "expression": "set.unknown"}
    policy = sound(tmp_path, one_rule("true"), matchConditions=[unsure, IN_PROD])
    assert results_on(policy, DEV) == ()
    (found,) = results_on(policy, PROD)
    assert (found.holds, found.is_decided) == (False, False)
    assert found.message == 'cannot be evaluated: match condition unsure: Key not found in map : "unknown"'


def test_po002_once_for_the_plan(tmp_path: Path) -> None:
    policy = sound(tmp_path, one_rule("plan.sets.map(s, s.gpus).sum() <= 64"), forEach="plan")
    assert [one.holds for one in results_on(policy, {"gpus": 32}, {"gpus": 32})] == [True]
    assert [one.holds for one in results_on(policy, {"gpus": 32}, {"gpus": 33})] == [False]


@pytest.mark.parametrize(
    "expression",
    [
        "set.restarted.gpus <= 64",
        "!(set.restarted.gpus > 64)",
        "variables.gpus <= 64",
        "variables.twice <= 64",
        "set.name",
        'duration(set.name) > duration("1m")',
        "set.labels.all(l, l != set.restarted.x)",
        "1 / 0 == 1",
    ],
)
def test_po003_what_cannot_be_evaluated_is_violated(expression: str, tmp_path: Path) -> None:
    variables = [
        {"name": "gpus", "expression": "set.restarted.gpus"},
        {"name": "twice", "expression": "variables.gpus * 2"},
    ]
    policy = sound(tmp_path, one_rule(expression), variables=variables)
    (found,) = results_on(policy, {**PROD, "labels": {"a": "b"}})
    assert (found.holds, found.is_decided) == (False, False)
    assert found.message.startswith("cannot be evaluated: ")


def test_po003_a_variable_that_is_not_needed_spoils_nothing(tmp_path: Path) -> None:
    variables = [{"name": "gpus", "expression": "set.restarted.gpus"}]
    policy = sound(tmp_path, one_rule("true"), variables=variables)
    assert [one.holds for one in results_on(policy, PROD)] == [True]


def test_po003_a_variable_counts_only_where_it_is_reached(tmp_path: Path) -> None:
    variables = [{"name": "gpus", "expression": "set.restarted.gpus"}]
    policy = sound(tmp_path, one_rule("!has(set.edit) || variables.gpus <= 64"), variables=variables)
    assert [one.holds for one in results_on(policy, PROD)] == [True]
    (found,) = results_on(policy, {**PROD, "edit": {}})
    assert found.message == 'cannot be evaluated: variables.gpus: Key not found in map : "restarted"'


def test_po003_the_message_says_that_the_set_is_not_decided(tmp_path: Path) -> None:
    (found,) = results_on(sound(tmp_path, one_rule("set.classes == []")), {**PROD, "unknown": True})
    assert found.message.endswith('Key not found in map : "classes" (it is not decided what the plan does)')


def test_po003_a_message_that_cannot_be_evaluated(tmp_path: Path) -> None:
    rule = one_rule("false", message="plain words", messageExpression="string(set.restarted.gpus)")
    assert [one.message for one in results_on(sound(tmp_path, rule), PROD)] == ["plain words"]
    without = one_rule("1 >\n 2", messageExpression="string(set.restarted.gpus)")
    assert [one.message for one in results_on(sound(tmp_path, without), PROD)] == ["failed expression: 1 > 2"]


def test_po004_a_rule_denies_unless_it_warns(tmp_path: Path) -> None:
    rules = (one_rule("false"), {"name": "two", "expression": "false", "action": "Warn"})
    found = results_on(sound(tmp_path, *rules), PROD)
    assert [one.action for one in found] == [PolicyAction.DENY, PolicyAction.WARN]
    denies, warns = (PolicyResult(one.rule, "file", 1, (one,)) for one in found)
    held = PolicyRuleResult(rule="three", action=PolicyAction.DENY, subject="", holds=True)
    assert denied_policy_names((warns, denies, PolicyResult("three", "file", 1, (held,)))) == ("one",)


def test_durations_and_times_are_compared_as_such(tmp_path: Path) -> None:
    rule = one_rule('duration("1h30m") == duration("90m") && now > timestamp("2026-11-20T08:59:59Z") + variables.none')
    policy = sound(tmp_path, rule, variables=[{"name": "none", "expression": 'duration("0s")'}])
    assert [one.holds for one in results_on(policy, PROD)] == [True]


@pytest.mark.parametrize("steps", [9_999, 10_000])
def test_po006_steps_of_loops_are_limited(steps: int, tmp_path: Path) -> None:
    policy = sound(tmp_path, one_rule("set.rounds.all(r, r > 0)"))
    (found,) = results_on(policy, {**PROD, "rounds": [1] * steps})
    assert found.is_decided is (steps < 10_000)


def test_po006_loops_within_loops_end(tmp_path: Path) -> None:
    begun = time.monotonic()
    policy = sound(tmp_path, one_rule("set.rounds.all(a, set.rounds.all(b, set.rounds.all(c, a + b + c > 0)))"))
    (found,) = results_on(policy, {**PROD, "rounds": [1] * 5_000})
    assert found.message == "cannot be evaluated: Iteration budget exceeded"
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("first", ['"0123456789"', "[1, 2, 3]"])
def test_po006_variables_that_double_end(first: str, tmp_path: Path) -> None:
    variables = [{"name": "v0", "expression": first}]
    variables += [{"name": f"v{n + 1}", "expression": f"variables.v{n} + variables.v{n}"} for n in range(40)]
    policy = sound(tmp_path, one_rule("variables.v40 == variables.v0"), variables=variables)
    (found,) = results_on(policy, PROD)
    assert found.message.endswith("it gives more than 100,000 characters or values")


def test_po006_the_nesting_of_a_variable_is_limited(tmp_path: Path) -> None:
    variables = [{"name": "v0", "expression": "[1]"}]
    variables += [{"name": f"v{n + 1}", "expression": f"[variables.v{n}, variables.v{n}]"} for n in range(14)]
    found = problems(tmp_path, policy_object(one_rule("true"), variables=variables))
    assert found[0].endswith("type nesting limit of 13 exceeded")


def test_po006_a_plan_is_converted_once_for_all_rules(tmp_path: Path) -> None:
    rounds = [{"steps": [{"action": "delete", "target": {"name": f"pod-{index}"}}]} for index in range(9_000)]

    def seconds(rules: int) -> float:
        policy = sound(
            tmp_path, *({"name": f"r{n}", "expression": "set.rounds[0].steps.size() == 1"} for n in range(rules))
        )
        begun = time.monotonic()
        assert all(one.holds for one in results_on(policy, {**PROD, "rounds": rounds}))
        return time.monotonic() - begun

    assert seconds(60) < 15 * seconds(1)


@pytest.mark.parametrize(
    "expression",
    [
        'set["namespace"] == "prod" && set.name == "llama"',
        'set.name == "llama" && [set].exists(s, s.namespace == "prod")',
        'set\n  .namespace == "prod" && set.?name.orValue("") == "llama"',
        'has(.set.name) && .set.namespace == "prod"',
        "has(set // of the plan\n.name)",
        '"set" in {"set": 1} && set == {"namespace": "prod", "name": "llama"}',
    ],
)
def test_po006_every_field_is_there_that_an_expression_reads(expression: str, tmp_path: Path) -> None:
    assert [one.holds for one in results_on(sound(tmp_path, one_rule(expression)), PROD)] == [True]


def test_characters_that_are_no_text_violate(tmp_path: Path) -> None:
    (found,) = results_on(sound(tmp_path, one_rule('set.name == "a"')), {**PROD, "name": "\ud800"})
    assert not found.is_decided
