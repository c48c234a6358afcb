"""Evaluates policies on the forecast of an update, as ``grove plan --policy`` evaluates them on a plan (WH-048)."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from grove_core.document.plan_document import PlanDocument
from grove_core.resources.configuration import Configuration
from grove_shell.policies.policy_results import PolicyAction, PolicyResult, RuleResult
from grove_shell.webhooks.edit_forecast import ForecastOfEdit

if TYPE_CHECKING:
    from grove_shell.policies.policy import Policy


class PolicyFindings(NamedTuple):
    """What policies say of an update.

    Attributes:
        objections: of violated rules that deny, with their policy.
        warnings: of violated rules that warn, and of all rules that could not be evaluated.
    """

    objections: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def policy_findings(
    policies: "Sequence[Policy]", edit: ForecastOfEdit, configuration: Configuration, now: datetime
) -> PolicyFindings:
    """Return what policies say of an update; a rule that cannot be evaluated denies nothing (WH-048)."""
    if not policies:
        return PolicyFindings()
    from grove_shell.policies.evaluation import evaluate_policies  # noqa: PLC0415 - it imports the CEL library
    from grove_shell.policies.policy_input import policy_input  # noqa: PLC0415 - as above

    document = PlanDocument(
        rules=edit.rules.name,
        as_of=now,
        not_collected=(),
        forecasts=(edit.forecast,),
        configuration=configuration,
    )
    found = [
        (result, violated)
        for result in evaluate_policies(policies, policy_input(document, [edit.root]))
        for violated in result.violations
    ]
    return PolicyFindings(
        objections=tuple(_sentence(*one) for one in found if _denies(one[1])),
        warnings=tuple(_sentence(*one) for one in found if not _denies(one[1])),
    )


def _denies(violated: RuleResult) -> bool:
    return violated.is_decided and violated.action is PolicyAction.DENY


def _sentence(result: PolicyResult, violated: RuleResult) -> str:
    return f"policy {result.policy}/{violated.rule}: {violated.message}"
