"""All rule sets by name (GF-100). Those of the Go operator are imported only when one of them is needed (P11)."""

from collections.abc import Mapping
from types import MappingProxyType

from grove_core.rule_sets.rule_set import DESIGN, RuleSet


def rule_sets() -> Mapping[str, RuleSet]:
    """Return every rule set by its name."""
    from grove_core.rule_sets.go_operator import BY_NAME  # noqa: PLC0415 - as above

    return MappingProxyType({DESIGN.name: DESIGN, **BY_NAME})


def rule_set(name: str) -> RuleSet:
    """Return the rule set with a name. Raises KeyError where there is none."""
    if name == DESIGN.name:
        return DESIGN
    from grove_core.rule_sets.go_operator import BY_NAME  # noqa: PLC0415 - as above

    return BY_NAME[name]
