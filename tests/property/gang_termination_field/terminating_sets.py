"""Rule set of a generation, and whether a fate is to be terminated."""

from grove_core.areas.gang_termination.field.rule_generations import RELEASES, RuleGeneration
from grove_core.rule_sets.go_operator import BY_RELEASE
from grove_core.rule_sets.rule_set import RuleSet


def rules_of(generation: RuleGeneration) -> RuleSet:
    return next(BY_RELEASE[release] for release, found in RELEASES.items() if found is generation)


def ends(fate: object) -> bool:
    return type(fate).__name__ == "Terminate"
