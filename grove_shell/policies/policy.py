"""A policy after it was read, and what its evaluation finds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any

from grove_shell.policies.expressions import CompiledExpression, Environment


@unique
class PolicyAction(Enum):
    """What follows from a violated rule."""

    DENY = "Deny"
    WARN = "Warn"


@unique
class PolicySubject(Enum):
    """What a policy is evaluated for: each PodCliqueSet, or the plan as a whole."""

    SET = "set"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """A variable or a match condition."""

    name: str
    expression: CompiledExpression


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One rule.

    Attributes:
        expression: must be true.
        message: printed where it is not.
        message_expression: gives that message; None where there is none.
    """

    name: str
    expression: CompiledExpression
    message: str
    message_expression: CompiledExpression | None
    action: PolicyAction


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyExample:
    """One example of a policy, with what it shows.

    Attributes:
        given: ``set``, ``plan``, or ``files`` with ``now``, ``until`` and ``rules``, as it is written.
        violates: names of the rules that are violated.
        undecided: names of the rules that cannot be evaluated.
    """

    name: str
    given: Mapping[str, Any]
    violates: frozenset[str]
    undecided: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A policy, sound and compiled.

    Attributes:
        file: where it was read.
        environment: of its expressions.
        match_conditions: it is evaluated where all of them are true.
    """

    name: str
    file: str
    environment: Environment
    subject: PolicySubject
    variables: tuple[NamedExpression, ...] = ()
    match_conditions: tuple[NamedExpression, ...] = ()
    rules: tuple[PolicyRule, ...]
    examples: tuple[PolicyExample, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """The result of one rule for one PodCliqueSet, or for the plan.

    Attributes:
        subject: ``inference/llama``; empty for the plan as a whole.
        holds: whether the expression is true.
        is_decided: whether it could be evaluated; where not, ``holds`` is False.
        message: why it does not hold; empty where it does.
    """

    rule: str
    action: PolicyAction
    subject: str
    holds: bool
    is_decided: bool = True
    message: str = ""


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """The results of one policy.

    Attributes:
        checked: for how many sets, or plans, its rules were evaluated; the others do not match.
        results: of every rule, in the order of the plan and of the policy.
    """

    policy: str
    file: str
    checked: int
    results: tuple[RuleResult, ...]

    @property
    def violations(self) -> tuple[RuleResult, ...]:
        """The rules that do not hold."""
        return tuple(one for one in self.results if not one.holds)


def are_denied(results: Iterable[PolicyResult]) -> bool:
    """Return whether any rule that denies does not hold (PO-004)."""
    return any(one.action is PolicyAction.DENY for result in results for one in result.violations)


def policy_results_as_json(results: Iterable[PolicyResult]) -> list[dict[str, Any]]:
    """Return the results as the field ``policies`` of a plan document (CL-061)."""
    return [
        {
            "policy": result.policy,
            "file": result.file,
            "checked": result.checked,
            "violations": [
                {
                    "rule": one.rule,
                    "action": one.action.value,
                    **({"set": one.subject} if one.subject else {}),
                    "evaluated": one.is_decided,
                    "message": one.message,
                }
                for one in result.violations
            ],
        }
        for result in results
    ]
