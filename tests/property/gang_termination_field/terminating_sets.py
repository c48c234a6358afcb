"""Rule set of a generation, and whether a fate is to be terminated."""

from grove_core.areas.gang_termination.field.go_operator_rule_generations import RELEASES, GoOperatorRuleGeneration
from grove_core.rule_sets.go_operator import BY_RELEASE
from grove_core.rule_sets.rule_set import RuleSet


def rules_of(generation: GoOperatorRuleGeneration) -> RuleSet:
    return next(BY_RELEASE[release] for release, found in RELEASES.items() if found is generation)


def ends(fate: object) -> bool:
    return type(fate).__name__ == "Terminate"
