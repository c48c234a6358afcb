"""Evaluates policies on a plan: every rule on every set that a policy matches, or on the plan as a whole."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, assert_never

from grove_core.kernel.structs import Struct
from grove_core.kernel.time_formats import parse_time
from grove_shell.policies.expressions import Bindings, CompiledExpression, NotEvaluated
from grove_shell.policies.policy import NamedExpression, Policy, PolicyRule, PolicySubjectKind
from grove_shell.policies.policy_results import PolicyResult, PolicyRuleResult

_UNBOUND: Final = re.compile(r'No value with name "variables\.(\w+)"')
_UNKNOWN: Final = "it is not decided what the plan does"


class _Holds(Struct, frozen=True):
    """An expression that is true."""


class _Fails(Struct, frozen=True):
    """An expression that is false."""


class _NotDecided(Struct, frozen=True):
    """An expression that is neither true nor false, or was not evaluated.

    Attributes:
        because: why it is neither.
    """

    because: str


_ExpressionVerdict: TypeAlias = _Holds | _Fails | _NotDecided


def evaluate_policies(policies: Iterable[Policy], plan: Mapping[str, Any]) -> tuple[PolicyResult, ...]:
    """Return the result of each policy on a plan (PO-002).

    Args:
        plan: as :func:`~grove_shell.policies.policy_input.policy_input` returns it.
    """
    now = parse_time(str(plan.get("asOf"))) or datetime.min.replace(tzinfo=UTC)
    return tuple(_evaluated(policy, plan, now) for policy in policies)


def _evaluated(policy: Policy, plan: Mapping[str, Any], now: datetime) -> PolicyResult:
    subjects: Sequence[Mapping[str, Any]] = plan["sets"] if policy.subject is PolicySubjectKind.SET else [plan]
    per_subject = [_rules_on_subject(policy, one, now) for one in subjects]
    results = tuple(result for found in per_subject for result in found)
    return PolicyResult(policy.name, policy.file, sum(bool(found) for found in per_subject), results)


def _rules_on_subject(policy: Policy, subject: Mapping[str, Any], now: datetime) -> list[PolicyRuleResult]:
    """Return the result of each rule; nothing where a match condition is false."""
    evaluation = _Evaluation(policy, subject, now)
    undecided_match: _NotDecided | None = None
    for condition in policy.match_conditions:
        verdict = evaluation.verdict_of(condition.expression)
        match verdict:
            case _Holds():
                pass
            case _Fails():
                return []
            case _NotDecided():
                undecided_match = undecided_match or _NotDecided(f"match condition {condition.name}: {verdict.because}")
            case _:
                assert_never(verdict)
    return [evaluation.result_of(rule, undecided_match) for rule in policy.rules]


class _Evaluation:
    """The evaluation of one policy on one subject."""

    def __init__(self, policy: Policy, subject: Mapping[str, Any], now: datetime) -> None:
        is_set = policy.subject is PolicySubjectKind.SET
        self.name = f"{subject.get('namespace')}/{subject.get('name')}" if is_set else ""
        self._is_undecided = bool(subject.get("unknown"))
        self._bindings = Bindings(policy.environment, {policy.subject.value: _reduced(policy, subject)}, now)
        self._failed: dict[str, str] = {}
        needed = frozenset[str]().union(*(one.variables for one in policy.expressions))
        for variable in policy.variables:
            if variable.name in needed:
                self._bind(variable)

    def _bind(self, variable: NamedExpression) -> None:
        """Bind a variable; one without a value stays unbound, which is an error where an expression needs it."""
        try:
            self._bindings.bind(variable.name, self._bindings.evaluate(variable.expression))
        except NotEvaluated as fault:
            self._failed[variable.name] = self._in_words(fault)

    def _in_words(self, fault: NotEvaluated) -> str:
        unbound = _UNBOUND.search(str(fault))
        if unbound is None:
            return str(fault) or "no value"
        return f"variables.{unbound[1]}: {self._failed.get(unbound[1], fault)}"

    def verdict_of(self, expression: CompiledExpression) -> _ExpressionVerdict:
        """Return whether an expression is true, false, or neither."""
        try:
            value = self._bindings.evaluate(expression)
        except NotEvaluated as fault:
            return _NotDecided(self._in_words(fault))
        if not isinstance(value, bool):
            return _NotDecided(f"it gives {type(value).__name__}, not true or false")
        return _Holds() if value else _Fails()

    def result_of(self, rule: PolicyRule, undecided_match: _NotDecided | None) -> PolicyRuleResult:
        """Return the result of one rule; it does not hold where it cannot be evaluated (PO-003).

        Args:
            undecided_match: the match condition that is not decided, if any; then the rule is not evaluated.
        """
        verdict = undecided_match or self.verdict_of(rule.expression)
        match verdict:
            case _Holds():
                return PolicyRuleResult(rule=rule.name, action=rule.action, subject=self.name, holds=True)
            case _Fails():
                message = self._message(rule)
                return PolicyRuleResult(
                    rule=rule.name, action=rule.action, subject=self.name, holds=False, message=message
                )
            case _NotDecided():
                words = f"cannot be evaluated: {verdict.because}" + (f" ({_UNKNOWN})" if self._is_undecided else "")
                return PolicyRuleResult(
                    rule=rule.name, action=rule.action, subject=self.name, holds=False, is_decided=False, message=words
                )
            case _:
                assert_never(verdict)

    def _message(self, rule: PolicyRule) -> str:
        """Return the message of a violated rule; that of ``message`` where its expression gives no text."""
        if rule.message_expression is not None:
            try:
                found = self._bindings.evaluate(rule.message_expression)
            except NotEvaluated:
                return rule.message
            if isinstance(found, str) and found.strip():
                return found
        return rule.message


def _reduced(policy: Policy, subject: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that a policy names, so that no other is converted (PO-006); all where one uses the whole."""
    named = [one.fields for one in (*policy.expressions, *(variable.expression for variable in policy.variables))]
    if None in named:
        return subject
    fields = frozenset[str]().union(*(one for one in named if one is not None))
    return {name: value for name, value in subject.items() if name in fields}
