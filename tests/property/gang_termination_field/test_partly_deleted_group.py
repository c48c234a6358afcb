"""Which replicas of a scaling group count while a termination has deleted members of it (GF-091)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.clique_judgement import (
    judge_clique_from_pods,
    judge_clique_from_stored_status,
)
from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.incomplete_terminations import (
    CompleteGroupReplica,
    IncompleteTerminations,
    UnwrittenTerminationFlag,
    complete_group_replicas,
    expected_members_by_replica,
)
from grove_core.areas.gang_termination.field.scaling_group_judgement import (
    judge_scaling_group_from_cliques,
    set_replica_terminated_condition,
)
from grove_core.areas.gang_termination.field.verdicts import GoOperatorCliqueJudgement, GoOperatorGroupJudgement
from grove_core.areas.gang_termination.status_counts import PodCounts
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED, TERMINATION_IN_PROGRESS
from grove_core.resources.podclique import CliqueStatus
from grove_core.resources.scaling_group import ScalingGroup
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw

POOL: Final = {"name": "g", "cliqueNames": ["x", "y"], "replicas": 3, "minAvailable": 2}
SEEN: Final = at_rest(applied(set_raw(clique_raw("x"), clique_raw("y"), groups=(POOL,))))
(GROUP,) = SEEN.groups
MEMBERS: Final = {f"{one.group_replica_index}-{one.ref.name[-1]}": one for one in SEEN.cliques}
NOTHING: Final = IncompleteTerminations()
STATES: Final = st.sampled_from(["well", "sick", "gone", "leaving"])


def sighting(name: str, state: str) -> GoOperatorCliqueJudgement:
    clique = replace(MEMBERS[name], deleting=state == "leaving")
    breached = ConditionStatus.TRUE if state == "sick" else ConditionStatus.FALSE
    return judge_clique_from_stored_status(clique, GoOperatorRuleGeneration.F3)._replace(
        breach=Condition(MIN_AVAILABLE_BREACHED, breached, "Drawn", "", NOW),
        placed=Condition(CLIQUE_SCHEDULED, ConditionStatus.TRUE, "Drawn", "", NOW),
    )


def found_among(states: dict[str, str]) -> list[GoOperatorCliqueJudgement]:
    return [sighting(name, state) for name, state in states.items() if state != "gone"]


def as_before(states: dict[str, str], *causes: Ref) -> Sequence[CompleteGroupReplica]:
    return tuple(
        complete_group_replicas(GROUP, expected_members_by_replica(GROUP, found_among(states)), frozenset(causes))
    )


def unbreached(found: Sequence[CompleteGroupReplica]) -> set[int]:
    return {one.number for one in found if not one.is_breached}


WELL: Final = dict.fromkeys(MEMBERS, "well")
NAMED: Final = MEMBERS["0-x"].ref
OTHER: Final = MEMBERS["1-x"].ref


@pytest.mark.parametrize(
    ("states", "causes", "left"),
    [
        pytest.param({}, (), {0, 1, 2}, id="all are there"),
        pytest.param({"1-y": "gone"}, (), {0, 1, 2}, id="one went with another's end"),
        pytest.param({"1-y": "leaving"}, (), {0, 1, 2}, id="one is going with another's end"),
        pytest.param({"1-y": "gone", "1-x": "sick"}, (), {0, 2}, id="one went, and what stays of its replica is sick"),
        pytest.param({"0-x": "gone"}, (NAMED,), {0, 1, 2}, id="all that was breached went"),
        pytest.param({"0-x": "gone", "1-x": "sick"}, (GROUP.ref, NAMED, OTHER), {2}, id="one of two breached went"),
        pytest.param({"0-x": "gone", "1-x": "well"}, (GROUP.ref, NAMED, OTHER), {1, 2}, id="the other has recovered"),
        pytest.param({"0-x": "sick", "1-y": "gone"}, (GROUP.ref, NAMED), {2}, id="the cause stays as it is"),
        pytest.param({"0-x": "well", "1-y": "gone"}, (GROUP.ref, NAMED), {0, 1, 2}, id="the cause has recovered"),
        pytest.param({"0-x": "leaving", "1-y": "gone"}, (GROUP.ref, NAMED), {0, 1, 2}, id="the cause is going"),
        pytest.param({"0-x": "gone", "1-y": "gone"}, (GROUP.ref,), {2}, id="the cause was what is missing"),
    ],
)
def test_gf091_what_is_missing_is_as_it_was(states: dict[str, str], causes: tuple[Ref, ...], left: set[int]) -> None:
    found = as_before(WELL | states, *causes)
    assert unbreached(found) == left
    assert all(one.is_scheduled for one in found)
    whole = {int(name[0]) for name in MEMBERS} - {int(name[0]) for name, state in states.items() if is_missing(state)}
    assert {one.number for one in found if one.is_available and not one.has_deleted_members} <= whole
    assert {one.number for one in found if not one.has_deleted_members} == whole


def is_missing(state: str) -> bool:
    return state in {"gone", "leaving"}


@pytest.mark.req("GF-091")
@given(
    st.fixed_dictionaries(dict.fromkeys(MEMBERS, STATES)),
    st.sets(st.sampled_from(sorted(MEMBERS))),
    st.booleans(),
)
def test_gf031_a_termination_does_not_change_whole_replicas(
    states: dict[str, str], named: set[str], group: bool
) -> None:
    causes = {MEMBERS[name].ref for name in named} | ({GROUP.ref} if group else set())
    before = tuple(complete_group_replicas(GROUP, expected_members_by_replica(GROUP, found_among(states)), None))
    found = as_before(states, *causes)
    assert [one for one in found if not one.has_deleted_members] == sorted(before, key=lambda one: one.number)
    assert [one.number for one in found] == list(range(GROUP.replicas))
    stay = {name for name in named if not is_missing(states[name])}
    stands = group and (not named or bool(stay)) and all(states[name] == "sick" for name in stay)
    if stands:
        assert unbreached(found) == unbreached(before), "a cause that stays is as breached as it was"
    else:
        lost = named if stay else set[str]()
        spared = {index for index in range(GROUP.replicas) if all(is_spared(states, lost, index, s) for s in "xy")}
        assert unbreached(found) == spared
    event(f"{len(found) - len(before)} taken, stands: {stands}")


def is_spared(states: dict[str, str], lost: set[str], index: int, short: str) -> bool:
    """Return whether a member counts as not breached: it is healthy, or missing and not a cause."""
    name = f"{index}-{short}"
    return states[name] == "well" or (is_missing(states[name]) and name not in lost)


DELAY: Final = timedelta(hours=4)
FLAG: Final = Condition(TERMINATION_IN_PROGRESS, ConditionStatus.TRUE, "Drawn", "", NOW - timedelta(hours=1))


def looked_at(
    group: ScalingGroup,
    states: dict[str, str],
    generation: GoOperatorRuleGeneration = GoOperatorRuleGeneration.F3,
    failed: IncompleteTerminations = NOTHING,
) -> GoOperatorGroupJudgement:
    return judge_scaling_group_from_cliques(
        group, found_among(states), DELAY, NOW, generation, looks=True, failed=failed
    )


def with_conditions(*conditions: Condition) -> ScalingGroup:
    return replace(GROUP, status=replace(GROUP.status, conditions=conditions))


def breached_since(moment: datetime) -> Condition:
    return Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "Drawn", "", moment)


SICK: Final = {**WELL, "0-x": "sick", "1-x": "sick"}


@pytest.mark.parametrize(
    ("stored", "tried", "reported"),
    [
        pytest.param((breached_since(NOW - DELAY),), NOW, True, id="of this breach"),
        pytest.param((breached_since(NOW),), NOW, True, id="of one that began in that second"),
        pytest.param((breached_since(NOW),), NOW - DELAY, False, id="of an earlier one"),
        pytest.param((breached_since(NOW - DELAY), FLAG), NOW, False, id="it was written after all"),
    ],
)
def test_gf092_a_flag_is_written_again_for_its_breach(
    stored: tuple[Condition, ...], tried: datetime, *, reported: bool
) -> None:
    failed = IncompleteTerminations(unwritten_flags=FrozenDict({GROUP.ref: UnwrittenTerminationFlag(tried, (NAMED,))}))
    found = looked_at(with_conditions(*stored), SICK, failed=failed)
    assert found.unwritten_flag_causes == ((NAMED,) if reported else ())
    assert found.flag == (
        set_replica_terminated_condition(GROUP, NOW) if reported else FLAG if FLAG in stored else None
    )


@pytest.mark.parametrize("generation", GoOperatorRuleGeneration)
def test_gf101_generations_without_flags_write_none(generation: GoOperatorRuleGeneration) -> None:
    failed = IncompleteTerminations(unwritten_flags=FrozenDict({GROUP.ref: UnwrittenTerminationFlag(NOW, (NAMED,))}))
    found = looked_at(with_conditions(breached_since(NOW - DELAY)), SICK, generation, failed)
    assert found.has_termination_flag == generation.requires_breach_history
    assert found.unwritten_flag_causes == ((NAMED,) if generation.requires_breach_history else ())


@pytest.mark.req("GF-021")
@pytest.mark.req("GF-084")
def test_gf029_what_is_not_looked_at_is_as_it_is_stored() -> None:
    clique = MEMBERS["0-x"]
    status = replace(clique.status, replicas=1, ready=2, scheduled=3, gated=4, updated=5, observed=None)
    reported, nothing = replace(clique, status=status), replace(clique, status=CliqueStatus())
    assert (
        judge_clique_from_stored_status(reported, GoOperatorRuleGeneration.F3).counts,
        judge_clique_from_stored_status(reported, GoOperatorRuleGeneration.F3).left,
    ) == (
        PodCounts(1, 2, 3, 4, 5),
        3,
    )
    assert (
        judge_clique_from_stored_status(nothing, GoOperatorRuleGeneration.F3).counts,
        judge_clique_from_stored_status(nothing, GoOperatorRuleGeneration.F3).left,
    ) == (
        PodCounts(0, 0, 0, 0, 0),
        0,
    )
    (pod, *_) = SEEN.pods_of[clique.uid]
    seen = judge_clique_from_pods(
        reported, (replace(pod, scheduled=True, unready=True),), NOW, GoOperatorRuleGeneration.F3
    )
    assert (seen.counts.scheduled, seen.left) == (1, 0)


@pytest.mark.parametrize("deleting", [False, True])
def test_gf060_a_group_being_deleted_terminates_none_of_its_replicas(*, deleting: bool) -> None:
    found = looked_at(replace(GROUP, deleting=deleting), {**WELL, "0-x": "sick"})
    assert bool(found.fates) == (not deleting)


@pytest.mark.parametrize("generation", GoOperatorRuleGeneration)
def test_gf031_surplus_members_do_not_count(generation: GoOperatorRuleGeneration) -> None:
    smaller = replace(GROUP, replicas=2)
    assert looked_at(smaller, {**WELL, "2-x": "sick"}, generation).unbreached == 2
