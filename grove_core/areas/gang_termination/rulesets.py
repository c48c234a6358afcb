"""Every rule set by the name a user gives it: the design's, and those of the existing operator by release (GF-100)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.design import DESIGN
from grove_core.areas.gang_termination.field.rulesets import BY_RELEASE, FIELD, NEWEST
from grove_core.areas.gang_termination.ruling import RuleSet

BY_NAME: Final[Mapping[str, RuleSet]] = MappingProxyType(
    dict(((FIELD, NEWEST), *((rules.name, rules) for rules in (DESIGN, *BY_RELEASE.values()))))
)
"""``field`` alone is the newest release; a plan names it with its release."""
