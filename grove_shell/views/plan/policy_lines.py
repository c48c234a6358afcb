"""Lines of policy results: what is violated stands above everything else of a plan (CL-061)."""

from collections.abc import Sequence
from typing import Final

from grove_shell.policies.policy_results import PolicyAction, PolicyResult, PolicyRuleResult
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import join_names_with_commas, padded_entry_label

_MOST: Final = 20


def add_policy_results(page: StyledTextPage, results: Sequence[PolicyResult], *, full: bool) -> None:
    """Add the violations, those that deny first, and how many policies hold; nothing without policies.

    Args:
        full: whether to list every violation, else at most twenty of a policy.
    """
    if not results:
        return
    for action in PolicyAction:
        for result in results:
            found = [one for one in result.violations if one.action is action]
            _violations(page, result.policy, found if full else found[:_MOST])
            if len(found) > _MOST and not full:
                page.add_line(f"  and {len(found) - _MOST:,} more of policy {result.policy}")
    holding = sum(not result.violations for result in results)
    checked = "1 policy" if len(results) == 1 else f"{len(results):,} policies"
    page.add_line((f"{checked} checked, {holding:,} without a violation", "dim"))
    if unmatched := [result.policy for result in results if not result.checked]:
        page.add_line(("note: ", "bold"), f"nothing in this plan matches {join_names_with_commas(unmatched, None)}")
    page.add_line()


def _violations(page: StyledTextPage, policy: str, found: Sequence[PolicyRuleResult]) -> None:
    for one in found:
        label = ("DENIED", "bold red") if one.action is PolicyAction.DENY else ("WARNED", "bold yellow")
        page.add_line(
            (padded_entry_label(label[0]), label[1]),
            (one.subject or "plan", "bold"),
            f": {one.message}",
            (f"  {policy}/{one.rule}", "dim"),
        )
