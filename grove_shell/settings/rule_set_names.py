"""Names of rule sets in flags and configuration files (GF-100)."""

import re
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator

from grove_core.rule_sets.named import rule_set, rule_sets
from grove_core.rule_sets.released import FIELD

_VERSION = "v0.1.0-"


def canonical_rule_set(name: str) -> str:
    """Return the full name of a rule set, as in plans.

    Args:
        name: ``design``, ``field``, ``field@v0.1.0-alpha.8``, or in short ``field@alpha.8``.

    Raises:
        ValueError: there is no such rule set; the message lists the known ones or suggests one.
    """
    kind, at, release = name.strip().partition("@")
    whole = f"{kind}@{release}" if release.startswith("v") else f"{kind}@{_VERSION}{release.removeprefix('0.1.0-')}"
    found = rule_sets().get(kind) if not at else rule_sets().get(whole)
    if found is not None:
        return found.name
    newest = rule_set(FIELD).name.partition("@")[2]
    if at and kind == FIELD and _is_newer(release, newest):
        raise ValueError(f"what is known: the newest release is {newest}; plain field has its rules")
    near = get_close_matches(whole if at else kind, rule_sets(), n=1, cutoff=0.5)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    raise ValueError(f"design, field, or field@RELEASE up to {newest}{hint}")


def _is_newer(release: str, newest: str) -> bool:
    """Return whether a release is at least as new as the newest known one, or the development head."""
    numbers, known = (re.findall(r"\d+", text.partition("alpha")[2]) for text in (release, newest))
    return release == "main" or bool(numbers and int(numbers[0]) >= int(known[0]))


RuleSetName = Annotated[str, AfterValidator(canonical_rule_set)]
