"""The rule set of the design documents."""

from typing import Final

from grove_core.areas.gang_termination.design.result import terminate_by_design
from grove_core.rule_sets.rule_set import RuleSet

DESIGN: Final = RuleSet("design", terminate_by_design)
