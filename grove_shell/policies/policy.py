"""A policy after it was read."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any

from grove_shell.policies.expressions import CompiledExpression, Environment
from grove_shell.policies.policy_results import PolicyAction


@unique
class PolicySubjectKind(Enum):
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
    subject: PolicySubjectKind
    variables: tuple[NamedExpression, ...] = ()
    match_conditions: tuple[NamedExpression, ...] = ()
    rules: tuple[PolicyRule, ...]
    examples: tuple[PolicyExample, ...] = ()

    @property
    def expressions(self) -> tuple[CompiledExpression, ...]:
        """The expressions of match conditions, rules and messages."""
        conditions = [one.expression for one in self.match_conditions]
        rules = [one.expression for one in self.rules]
        messages = [one.message_expression for one in self.rules if one.message_expression is not None]
        return (*conditions, *rules, *messages)
