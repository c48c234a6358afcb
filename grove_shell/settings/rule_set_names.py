"""Names of rule sets in flags and configuration files (GF-100)."""

import re
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator

from grove_core.areas.gang_termination.field.go_operator_rule_generations import MAIN, RELEASES
from grove_core.rule_sets.go_operator import FIELD
from grove_core.rule_sets.named import rule_sets

_VERSION = "v0.1.0-"


def full_rule_set_name(name: str) -> str:
    """Return the full name of a rule set, as in plans.

    Args:
        name: ``design``, ``field``, ``field@v0.1.0-alpha.11``, or in short ``field@alpha.11``; ``field@main``.

    Raises:
        ValueError: there is no such rule set; the message lists the known ones or suggests one.
    """
    kind, at, release = name.strip().partition("@")
    is_whole = release == MAIN or release.startswith("v")
    whole = f"{kind}@{release}" if is_whole else f"{kind}@{_VERSION}{release.removeprefix('0.1.0-')}"
    found = rule_sets().get(kind) if not at else rule_sets().get(whole)
    if found is not None:
        return found.name
    oldest, newest = next(iter(RELEASES)), list(RELEASES)[-1]
    if at and kind == FIELD:
        if _alpha_of(release) >= _alpha_of(newest):
            raise ValueError(f"what is known: the newest release is {newest}; plain field has its rules")
        if 0 < _alpha_of(release) < _alpha_of(oldest):
            raise ValueError(f"what is known: field@RELEASE from {oldest} to {newest}; older ones are not predicted")
    near = get_close_matches(whole if at else kind, rule_sets(), n=1, cutoff=0.5)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    raise ValueError(f"design, field, or field@RELEASE from {oldest} to {newest}, field@main{hint}")


def _alpha_of(release: str) -> float:
    """Return the number of an alpha release; 0 for what is no such release."""
    numbers = re.findall(r"\d+", release.partition("alpha")[2])
    return int(numbers[0]) if numbers else 0


RuleSetName = Annotated[str, AfterValidator(full_rule_set_name)]
