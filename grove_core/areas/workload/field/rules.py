"""The clauses of specs/workload_field.md: one member for each decision of the Go operator's rules.

A reason that is equally true of the design is a member of ``WorkloadReason`` there, and has no member here.
"""

from enum import unique

from grove_core.kernel.reasons import Rule


@unique
class GoOperatorWorkloadReason(Rule):
    """Why an object of a set is treated as it is."""
