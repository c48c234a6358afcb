"""Every rule set by the name a user gives it: the design's, and those of the existing operator by release (GF-100).

Most runs judge by the design, and start faster without a look at the others (P11).
"""

from collections.abc import Mapping
from types import MappingProxyType

from grove_core.areas.gang_termination.design import DESIGN
from grove_core.areas.gang_termination.ruling import RuleSet


def rule_sets() -> Mapping[str, RuleSet]:
    """All of them; ``field`` alone is the newest release, and a plan names it with its release."""
    from grove_core.areas.gang_termination.field.rulesets import BY_RELEASE, FIELD, NEWEST  # noqa: PLC0415 - as above

    named = ((rules.name, rules) for rules in (DESIGN, *BY_RELEASE.values()))
    return MappingProxyType(dict(((FIELD, NEWEST), *named)))


def rule_set(name: str) -> RuleSet:
    """The one of that name. Raises KeyError where there is none."""
    return DESIGN if name == DESIGN.name else rule_sets()[name]
