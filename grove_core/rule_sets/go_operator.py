"""The rule sets of the Go operator, one for each release (GF-100)."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.field.go_operator_rule_generations import DEFAULT_DELAY, RELEASES
from grove_core.areas.gang_termination.field.lost_nodes import lost_node_result
from grove_core.areas.gang_termination.field.wants import (
    gang_termination_by_go_operator,
    unpredicted_behaviour_findings,
)
from grove_core.rule_sets.rule_set import RuleSet

FIELD: Final = "field"


BY_RELEASE: Final[Mapping[str, RuleSet]] = MappingProxyType(
    {
        release: RuleSet(
            f"{FIELD}@{release}",
            partial(gang_termination_by_go_operator, generation=generation),
            DEFAULT_DELAY,
            unpredicted_behaviour_findings,
            lost_node_result,
            keeps_topologies=False,
        )
        for release, generation in RELEASES.items()
    }
)
NEWEST: Final = BY_RELEASE[list(RELEASES)[-1]]
_NAMED: Final = tuple((rules.name, rules) for rules in BY_RELEASE.values())
BY_NAME: Final[Mapping[str, RuleSet]] = MappingProxyType(dict(((FIELD, NEWEST), *_NAMED)))
"""The rule sets by the name that a user gives; ``field`` alone is the newest release, and a plan shows its release."""
