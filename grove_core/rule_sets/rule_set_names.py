"""Names of rule sets that users write, in full or in short (GF-100, LB-030)."""

import re
from collections.abc import Iterable
from typing import Final

from grove_core.areas.gang_termination.field.go_operator_rule_generations import MAIN, RELEASES
from grove_core.rule_sets.go_operator import BY_NAME, FIELD
from grove_core.rule_sets.rule_set import DESIGN

_VERSION: Final = "v0.1.0-"
_OLDEST: Final = next(iter(RELEASES))
_NEWEST: Final = list(RELEASES)[-1]


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
    known = {DESIGN.name: DESIGN, **BY_NAME}
    found = known.get(whole if at else kind)
    if found is not None:
        return found.name
    hint = _hint(whole if at else kind, known)
    raise ValueError(f"design, field, or field@RELEASE from {_OLDEST} to {_NEWEST}, field@main{hint}")


def _hint(wanted: str, known: Iterable[str]) -> str:
    """Return why a release cannot be named, or the name that was meant; empty where neither is known."""
    kind, at, release = wanted.partition("@")
    with_dot = re.sub(r"alpha-?(?=\d)", "alpha.", wanted)
    meant = [one for one in known if one.startswith(with_dot)] if at and with_dot != wanted else []
    if at and kind == FIELD and not meant:
        if _alpha_of(release) >= _alpha_of(_NEWEST):
            return "; a newer one is not predicted yet, and plain field has the rules of the newest one"
        if 0 < _alpha_of(release) < _alpha_of(_OLDEST):
            return "; older ones are not predicted"
    from difflib import get_close_matches  # noqa: PLC0415 - no right name needs it (P10)

    near = meant or get_close_matches(wanted, known, n=1, cutoff=0.5)
    return f'; did you mean "{near[0]}"?' if near else ""


def _alpha_of(release: str) -> float:
    """Return the number of an alpha release; 0 for what is no such release."""
    numbers = re.findall(r"\d+", release.partition("alpha")[2])
    return int(numbers[0]) if numbers else 0
