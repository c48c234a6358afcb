"""Evaluates the examples of a policy, and checks that they show every rule holding and violated (PO-005)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from grove_shell.policies.evaluation import evaluate_policies
from grove_shell.policies.policy import Policy, PolicyExample, PolicySubjectKind
from grove_shell.policies.policy_results import PolicyRuleResult

DEFAULT_NOW: Final = "2026-01-01T00:00:00Z"
PlanFiles = Callable[[Policy, PolicyExample], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """What an example shows.

    Attributes:
        results: of every rule on every set that the policy matches.
    """

    example: PolicyExample
    results: tuple[PolicyRuleResult, ...]

    @property
    def violated(self) -> frozenset[str]:
        """The rules that are violated."""
        return frozenset(one.rule for one in self.results if not one.holds and one.is_decided)

    @property
    def undecided(self) -> frozenset[str]:
        """The rules that cannot be evaluated."""
        return frozenset(one.rule for one in self.results if not one.is_decided)

    @property
    def is_as_expected(self) -> bool:
        """Whether exactly the rules that the example names are violated, and cannot be evaluated."""
        return (self.violated, self.undecided) == (self.example.violates, self.example.undecided)


@dataclass(frozen=True, slots=True)
class PolicyTestResult:
    """The result of testing one policy."""

    policy: Policy
    outcomes: tuple[ExampleOutcome, ...]

    @property
    def never_violated(self) -> tuple[str, ...]:
        """The rules that no example shows violated."""
        return self._besides(one.rule for outcome in self.outcomes for one in outcome.results if _is_violated(one))

    @property
    def never_holding(self) -> tuple[str, ...]:
        """The rules that no example shows holding."""
        return self._besides(one.rule for outcome in self.outcomes for one in outcome.results if one.holds)

    @property
    def is_passed(self) -> bool:
        """Whether every example is as expected, and every rule is shown holding and violated."""
        as_expected = all(outcome.is_as_expected for outcome in self.outcomes)
        return as_expected and not self.never_violated and not self.never_holding

    def _besides(self, shown: Iterable[str]) -> tuple[str, ...]:
        found = frozenset(shown)
        return tuple(rule.name for rule in self.policy.rules if rule.name not in found)


def run_policy_examples(policy: Policy, plan_files: PlanFiles) -> PolicyTestResult:
    """Return the outcome of every example of a policy.

    Args:
        plan_files: returns the plan of the files of an example, as policies see it.
    """
    return PolicyTestResult(policy, tuple(_outcome(policy, example, plan_files) for example in policy.examples))


def _outcome(policy: Policy, example: PolicyExample, plan_files: PlanFiles) -> ExampleOutcome:
    given, as_of = example.given, {"asOf": example.given.get("now", DEFAULT_NOW)}
    if given.get("files"):
        plan = plan_files(policy, example)
    elif policy.subject is PolicySubjectKind.SET:
        plan = {**as_of, "sets": [given["set"]]}
    else:
        plan = {**as_of, **given["plan"]}
    (result,) = evaluate_policies((policy,), plan)
    return ExampleOutcome(example, result.results)


def _is_violated(one: PolicyRuleResult) -> bool:
    return not one.holds and one.is_decided
