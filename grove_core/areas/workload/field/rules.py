"""The clauses of specs/workload_field.md: one member for each decision of the Go operator's rules.

A reason that is equally true of the design is a member of ``WorkloadReason`` there, and has no member here.
"""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class GoOperatorWorkloadReason(Rule):
    """Why an object of a set is treated as it is."""

    TEMPLATE_OF_ANOTHER_CLIQUE = RuleSentence(
        "WF-110",
        "it is made from the template of clique {other}, because its name ends with that: a defect of the operator; "
        "rename {clique}, or write it before {other}",
    )
    GANG_FOLLOWS_TOPOLOGY = RuleSentence("WF-132", "its topology constraints differ from the set's")
