"""Contracts for CrossHair (``crosshair check``), which runs the functions of the product on symbolic values of its own.

``pre:`` is what is assumed of the arguments, ``post:`` what is claimed of the result. ``test_crosshair.py`` requires
that CrossHair confirms the claims on all paths, and that it refutes the last one.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from crosshair import enforce

from grove_core.areas.gang_termination.design.clique_judgement import BREACH_TABLE, clique_was_available
from grove_core.areas.gang_termination.design.scaling_group_judgement import judge_scaling_group_breach
from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement
from grove_core.areas.gang_termination.verdicts import Terminate
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.structs import Struct, replace
from grove_core.resources.podclique import CliqueStatus
from tests.exhaustive.snapshots import NOW, snapshot_of
from tests.exhaustive.states import Clique, Group, Replica, State

_constructor_of: Final = enforce.manual_constructor


def _constructor(kind: type) -> Any:
    """Return what makes a value of a type: a struct is made by its metaclass, in C, and has no `__new__`."""
    return kind if issubclass(kind, Struct) else _constructor_of(kind)


enforce.manual_constructor = _constructor

_ONE: Final = snapshot_of(State((Replica((), (Group(((Clique(),),), 1, 1),)),), (1,), 1))


def rule_of_breach_table(ready: int, needed: int, was: bool | None, updating: bool) -> str:
    """Return the rule of the first row of the breach table that applies (GT-011 to GT-015).

    pre: ready >= 0 and needed >= 0
    post: (__return__ == "GT-011") == (ready >= needed)
    post: (__return__ == "GT-015") == (ready < needed and was is None)
    post: (__return__ == "GT-012") == (ready < needed and was is False)
    post: (__return__ == "GT-013") == (ready < needed and was is True and updating)
    """
    return next(row for row in BREACH_TABLE if row.question(ready, needed, was, updating)).why.requirement


def availability(ready: int, needed: int, recorded: bool, updating: bool) -> bool | None:
    """Return ``wasAvailable`` of a PodClique that was not available before (GT-016).

    pre: ready >= 0 and needed >= 0
    post: (__return__ is True) == (0 < needed <= ready and not updating)
    """
    return clique_was_available(CliqueStatus(recorded=recorded, updating=updating), ready, needed)


def replicas_left(replicas: int, needed: int, ages: list[int]) -> int:
    """Return how many replicas of a scaling group are left after its decision (GT-050, GT-052).

    pre: replicas >= 0 and needed >= 1 and len(ages) <= 2 and all(0 <= age < 1000 for age in ages)
    post: __return__ == replicas or __return__ >= min(needed, replicas)
    """
    group = replace(_ONE.groups[0], replicas=replicas, min_available=needed)
    breached = [
        CliqueJudgement(
            replace(_ONE.cliques[0], group_replica_index=index),
            0,
            True,
            ConditionStatus.TRUE,
            BREACH_TABLE[-1].why,
            datetime(2026, 11, 20, 9, tzinfo=UTC) - timedelta(seconds=age),
        )
        for index, age in enumerate(ages)
    ]
    judged = judge_scaling_group_breach(_ONE.root, group, breached, NOW, None, 99)
    return replicas - sum(isinstance(fate, Terminate) for fate in judged.fates.values())


def wrong_claim(ready: int, needed: int, was: bool | None, updating: bool) -> str:
    """Return the same as the first function; the claim is wrong where both numbers are equal.

    pre: ready >= 0 and needed >= 0
    post: (__return__ == "GT-011") == (ready > needed)
    """
    return rule_of_breach_table(ready, needed, was, updating)
