"""What the evaluation of policies finds; without the library of expressions, so that every plan may import it."""

from collections.abc import Iterable
from enum import Enum, unique
from typing import Any

from grove_core.kernel.structs import Struct


@unique
class PolicyAction(Enum):
    """What follows from a violated rule."""

    DENY = "Deny"
    WARN = "Warn"


class PolicyRuleResult(Struct, frozen=True, kw_only=True):
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


class PolicyResult(Struct, frozen=True):
    """The results of one policy.

    Attributes:
        checked: for how many sets, or plans, its rules were evaluated; the others do not match.
        results: of every rule, in the order of the plan and of the policy.
    """

    policy: str
    file: str
    checked: int
    results: tuple[PolicyRuleResult, ...]

    @property
    def violations(self) -> tuple[PolicyRuleResult, ...]:
        """The rules that do not hold."""
        return tuple(one for one in self.results if not one.holds)


def denied_policy_names(results: Iterable[PolicyResult]) -> tuple[str, ...]:
    """Return the names of the policies of which a rule that denies does not hold (PO-004)."""
    return tuple(
        result.policy for result in results if any(one.action is PolicyAction.DENY for one in result.violations)
    )


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
