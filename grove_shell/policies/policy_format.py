"""The form of a policy file: a PlanPolicy, with its examples under ``tests``. Unknown fields are errors."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field
from pydantic import model_validator as validator

from grove_core.kernel.time_formats import parse_duration, parse_time
from grove_core.resources.naming_rules import is_dns_subdomain
from grove_shell.settings.shared_settings import StrictSettingsModel

POLICY_KIND: Final = "PlanPolicy"
_MOST: Final = 100
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _identifier(text: str) -> str:
    if not _IDENTIFIER.fullmatch(text):
        raise ValueError("a name of letters, digits and _, which expressions can use")
    return text


def _rule_name(text: str) -> str:
    if not is_dns_subdomain(text):
        raise ValueError("a name of lower case letters, digits, '-' and '.'")
    return text


def _duration(text: str) -> str:
    if parse_duration(text) is None:
        raise ValueError('a duration such as "6h"')
    return text


def _time(text: str) -> str:
    if parse_time(text) is None:
        raise ValueError('a time such as "2026-11-20T09:00:00Z"')
    return text


Text = Annotated[str, Field(min_length=1)]
RuleName = Annotated[str, AfterValidator(_rule_name)]


class PolicyMetadata(StrictSettingsModel):
    """``metadata``."""

    name: RuleName


class PolicyVariableFormat(StrictSettingsModel):
    """One of ``variables``."""

    name: Annotated[str, AfterValidator(_identifier)]
    expression: Text


class MatchConditionInFile(StrictSettingsModel):
    """One of ``matchConditions``."""

    name: RuleName
    expression: Text


class RuleInFile(StrictSettingsModel):
    """One of ``rules``."""

    name: RuleName
    expression: Text
    message: Text | None = None
    message_expression: Text | None = None
    action: Literal["Deny", "Warn"] = "Deny"


class PolicySpec(StrictSettingsModel):
    """``spec``."""

    for_each: Literal["set", "plan"] = "set"
    variables: Annotated[tuple[PolicyVariableFormat, ...], Field(strict=False, max_length=_MOST)] = ()
    match_conditions: Annotated[tuple[MatchConditionInFile, ...], Field(strict=False, max_length=_MOST)] = ()
    rules: Annotated[tuple[RuleInFile, ...], Field(strict=False, min_length=1, max_length=_MOST)]


class PolicyExampleInput(StrictSettingsModel):
    """``given`` of an example: the fields of a set, those of a plan, or files that are planned.

    Attributes:
        files: named from the folder of the policy file.
        now: the time of the plan; needed with ``files``.
        until, rules: as the options of ``grove plan``, for ``files``.
    """

    set: dict[str, Any] | None = None
    plan: dict[str, Any] | None = None
    files: Annotated[tuple[Text, ...], Field(strict=False)] = ()
    now: Annotated[str, AfterValidator(_time)] | None = None
    until: Annotated[str, AfterValidator(_duration)] | None = None
    rules: str | None = None

    @validator(mode="after")
    def _one(self) -> "PolicyExampleInput":
        if (self.set is not None) + (self.plan is not None) + bool(self.files) != 1:
            raise ValueError("one of set, plan and files")
        if self.files and self.now is None:
            raise ValueError("now beside files: else the result would depend on the clock")
        if not self.files and (self.until is not None or self.rules is not None):
            raise ValueError("until and rules only beside files")
        return self


class PolicyTestFormat(StrictSettingsModel):
    """One of ``tests``."""

    name: Text
    given: PolicyExampleInput
    violates: Annotated[tuple[RuleName, ...], Field(strict=False)] = ()
    undecided: Annotated[tuple[RuleName, ...], Field(strict=False)] = ()


class PolicyInFile(StrictSettingsModel):
    """A PlanPolicy."""

    api_version: Literal["policy.grove.io/v1alpha1"]
    kind: Literal["PlanPolicy"]
    metadata: PolicyMetadata
    spec: PolicySpec
    tests: Annotated[tuple[PolicyTestFormat, ...], Field(strict=False)] = ()
