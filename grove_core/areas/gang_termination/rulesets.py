"""Every rule set by the name a user gives it: the design's, and those of the existing operator by release (GF-100).

Most runs judge by the design, and start faster without a look at the others (P11).
"""

from collections.abc import Mapping
from types import MappingProxyType

from grove_core.areas.gang_termination.design.ruleset import DESIGN
from grove_core.areas.gang_termination.ruling import RuleSet


def rule_sets() -> Mapping[str, RuleSet]:
    """All of them, for who lists them."""
    from grove_core.areas.gang_termination.field.rulesets import BY_NAME  # noqa: PLC0415 - as above

    return MappingProxyType({DESIGN.name: DESIGN, **BY_NAME})


def rule_set(name: str) -> RuleSet:
    """The one of that name. Raises KeyError where there is none."""
    if name == DESIGN.name:
        return DESIGN
    from grove_core.areas.gang_termination.field.rulesets import BY_NAME  # noqa: PLC0415 - as above

    return BY_NAME[name]
