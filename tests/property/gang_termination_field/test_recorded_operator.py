"""Recognises the releases of the Go operator by every mark in the statuses."""

from typing import Final

import pytest

from grove_core.areas.gang_termination.field.go_operator_rule_generations import (
    RELEASES,
    GoOperatorRuleGeneration,
    releases_matching_statuses,
)
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED, TERMINATION_IN_PROGRESS
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.testing import cluster_of
from grove_core.testing.cluster_builder import START

WORLD: Final = cluster_of(b"\x01\x00\x00\x00\x00\x01")
NOTHING: Final = CliqueStatus(recorded=True, scheduled=1)


def breach(status: ConditionStatus, reason: str, message: str = "") -> Condition:
    return Condition(MIN_AVAILABLE_BREACHED, status, reason, message, START)


SPARED: Final = breach(ConditionStatus.FALSE, "InsufficientScheduledPods", "Insufficient scheduled pods")
HUSHED: Final = breach(ConditionStatus.FALSE, "InsufficientScheduledPods", "breach suppressed")
BELOW: Final = breach(ConditionStatus.TRUE, "ScheduledReplicasBelowMinAvailable")
FINE: Final = breach(ConditionStatus.FALSE, "SufficientReadyPods")
WHOLE: Final = breach(
    ConditionStatus.FALSE, "SufficientAvailable...", "PCSG replicas not in breach (2) meets MinAvailable (1)"
)
FLAG: Final = Condition(TERMINATION_IN_PROGRESS, ConditionStatus.TRUE, "GangTerminationActive", "", START)


def cliques(*conditions: Condition, scheduled: int = 1) -> list[PodClique]:
    whole = replace(WORLD.cliques[0], deleting=False)
    return [
        replace(whole, status=replace(NOTHING, scheduled=scheduled, conditions=(condition,)))
        for condition in conditions
    ]


def of_an_older_name(known: list[PodClique]) -> list[PodClique]:
    return [replace(one, status=replace(one.status, old_spelling=True)) for one in known]


def groups(*conditions: Condition) -> list[ScalingGroup]:
    whole = WORLD.groups[0]
    return [replace(whole, status=replace(whole.status, conditions=(condition,))) for condition in conditions]


ANY: Final = tuple(RELEASES)
F2: Final = tuple(release for release, found in RELEASES.items() if found is GoOperatorRuleGeneration.F2)
F3: Final = tuple(release for release, found in RELEASES.items() if found is GoOperatorRuleGeneration.F3)
OLDER: Final = ()


@pytest.mark.parametrize(
    ("of_cliques", "of_groups", "releases"),
    [
        (cliques(FINE), groups(FINE), ANY),
        (cliques(FINE), groups(FLAG), F3),
        (cliques(FINE), groups(WHOLE), F3),
        (cliques(BELOW, scheduled=0), [], F3),
        (cliques(BELOW), [], ANY),
        (cliques(SPARED), [], OLDER),
        (of_an_older_name(cliques(FINE)), [], OLDER),
        (of_an_older_name(cliques(FINE)), groups(FLAG), F3),
        (of_an_older_name(cliques(HUSHED)), [], F2),
        (of_an_older_name(cliques(BELOW)), [], ANY),
        (cliques(SPARED, HUSHED), [], F2),
        (cliques(SPARED, BELOW), [], F2),
        (cliques(SPARED), groups(BELOW), F2),
        (cliques(SPARED), groups(WHOLE), F3),
    ],
)
def test_gf111_the_trace_of_a_generation(
    of_cliques: list[PodClique], of_groups: list[ScalingGroup], releases: tuple[str, ...]
) -> None:
    assert releases_matching_statuses(of_cliques, of_groups) == releases
