"""The clauses of the workload area."""

from enum import unique

from grove_core.kernel.reasons import Clause, Rule


@unique
class Why(Rule):
    """Why an object of a set is treated as it is."""

    LET_GO = Clause("WL-001", "it is being deleted, and {finalizer} has nothing left to wait for")
