"""The page and the document of ``grove policy test``."""

from collections.abc import Iterable, Sequence
from typing import Any

from grove_shell.policies.policy_examples import ExampleOutcome, PolicyTestResult
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import count_with_noun


def policy_test_page(results: Sequence[PolicyTestResult]) -> StyledTextPage:
    """Return the page: each policy with its examples, and the rules that they do not show."""
    page = StyledTextPage()
    for result in results:
        page.add_line((result.policy.name, "bold"), f"  {result.policy.file}")
        for outcome in result.outcomes:
            _example(page, outcome)
        for names, what in ((result.never_violated, "violated"), (result.never_holding, "holding")):
            for name in names:
                page.add_line(("  MISSING  ", "bold yellow"), f"no example shows rule {name} {what}")
    examples = sum(len(result.outcomes) for result in results)
    failed = sum(not outcome.is_as_expected for result in results for outcome in result.outcomes)
    missing = sum(len({*result.never_violated, *result.never_holding}) for result in results)
    words = f"{count_with_noun(examples, 'example')}, {failed:,} failed; {count_with_noun(missing, 'rule')} not shown"
    page.add_line((words, "bold red" if failed or missing else "bold green"))
    return page


def _example(page: StyledTextPage, outcome: ExampleOutcome) -> None:
    label = ("  ok       ", "green") if outcome.is_as_expected else ("  FAILED   ", "bold red")
    page.add_line(label, f"{outcome.example.name}: {_shown(outcome.violated, outcome.undecided)}")
    if outcome.is_as_expected:
        return
    page.add_line(f"           expected: {_shown(outcome.example.violates, outcome.example.undecided)}")
    for one in outcome.results:
        if not one.holds:
            page.add_line(f"           {one.rule}: {one.message}")
    if not outcome.results:
        page.add_line("           the match conditions are not met")


def _shown(violated: Iterable[str], undecided: Iterable[str]) -> str:
    """Return which rules are violated and which cannot be evaluated."""
    parts = (("violates", sorted(violated)), ("cannot be evaluated:", sorted(undecided)))
    return "; ".join(f"{words} {', '.join(names)}" for words, names in parts if names) or "allowed"


def policy_test_as_json(results: Sequence[PolicyTestResult]) -> dict[str, Any]:
    """Return the results as JSON."""
    return {
        "passed": all(result.is_passed for result in results),
        "policies": [
            {
                "policy": result.policy.name,
                "file": result.policy.file,
                "neverViolated": list(result.never_violated),
                "neverHolding": list(result.never_holding),
                "examples": [_outcome_as_json(outcome) for outcome in result.outcomes],
            }
            for result in results
        ],
    }


def _outcome_as_json(outcome: ExampleOutcome) -> dict[str, Any]:
    return {
        "name": outcome.example.name,
        "passed": outcome.is_as_expected,
        "violated": sorted(outcome.violated),
        "undecided": sorted(outcome.undecided),
        "messages": [one.message for one in outcome.results if not one.holds],
    }
