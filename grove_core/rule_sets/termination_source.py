"""Which operator a rule set terminates gangs like, whatever its name (LT-008)."""

from functools import partial

from grove_core.areas.gang_termination.field.wants import gang_termination_by_go_operator
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.sparing import base_of


def terminates_as_go_operator(rules: RuleSet) -> bool:
    """Return whether the gang termination of a rule set is the Go operator's, with or without spared replicas."""
    base = base_of(rules)
    if base is not None:
        return terminates_as_go_operator(base)
    judge = rules.gang_termination
    return isinstance(judge, partial) and judge.func is gang_termination_by_go_operator
