"""Updates as the Go operator reads them: what they suspend, and findings on its stored statuses."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.judge import judge_gang_termination_by_go_operator
from grove_core.kernel.questions import RISK, TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.reconcile import reconcile
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.scaling_group import scaling_group_from_json
from grove_core.testing import RandomCluster
from tests.property.gang_termination_field.oracle import BREACHED, check_clique, judge_group_as_released
from tests.property.gang_termination_field.oracle import Verdict as Reported
from tests.property.gang_termination_field.terminating_sets import ends, rules_of
from tests.property.gang_termination_field.worlds import field_clusters, field_storm

LONG_AGO = st.integers(1, 10**8).map(lambda seconds: timedelta(seconds=seconds))
BY_GENERATION = pytest.mark.parametrize("generation", list(GoOperatorRuleGeneration), ids=lambda one: one.name)


def since(generated: RandomCluster, started: timedelta, ended: timedelta | None = None) -> RandomCluster:
    """Return the cluster with an update of every clique and group that started so long ago and lasted so long."""
    begin = generated.now - started
    progress = {"updateStartedAt": format_time(begin)}
    if ended is not None:
        progress["updateEndedAt"] = format_time(begin + ended)
    status = {"updateProgress": progress, "observedGeneration": 1}
    meta = {"name": "x", "uid": "x", "labels": {"grove.io/podcliqueset-replica-index": "0"}}
    clique = podclique_from_json({"metadata": meta, "status": status}).status
    group = scaling_group_from_json({"metadata": meta, "status": status}).status

    reported: dict[str, Any] = {
        "updating": clique.updating,
        "old_spelling": clique.old_spelling,
        "progress": clique.progress,
    }
    assert reported == {"updating": group.updating, "old_spelling": group.old_spelling, "progress": group.progress}
    return replace(
        generated,
        cliques=tuple(replace(one, status=replace(one.status, **reported)) for one in generated.cliques),
        groups=tuple(replace(one, status=replace(one.status, **reported)) for one in generated.groups),
    )


def reasons_in(
    generated: RandomCluster, generation: GoOperatorRuleGeneration, question: str
) -> list[tuple[str, Reason]]:
    findings = reconcile(generated.snapshot, rules_of(generation)).findings
    return [(one.subject.short, why) for one in findings if one.question == question for why in one.because]


@BY_GENERATION
@given(field_clusters(), LONG_AGO)
def test_gf080_an_update_that_never_ends_suspends_termination(
    generation: GoOperatorRuleGeneration, generated: RandomCluster, started: timedelta
) -> None:
    judgement = judge_gang_termination_by_go_operator(since(generated, started).snapshot, generation)
    for seen in judgement.cliques:
        if not seen.clique.deleting and seen.clique.status.observed is not None:
            assert seen.why.code == "UpdateInProgress"
            assert not seen.is_breached
    for found in judgement.groups:
        if not found.group.deleting:
            assert found.breach_reason.rule.code == "UpdateInProgress"
            assert {type(fate).__name__ for fate in found.fates.values()} <= {"Suspend"}


@BY_GENERATION
@given(field_clusters(), LONG_AGO, st.one_of(st.just(timedelta(0)), LONG_AGO))
def test_gf080_an_update_that_ended_suspends_nothing(
    generation: GoOperatorRuleGeneration, generated: RandomCluster, started: timedelta, ended: timedelta
) -> None:
    """Whether it ended at its start (OnDelete) or later, each object is judged as if it had never been updated."""
    generated = since(generated, started, ended)
    plain, reported = since(generated, started, timedelta(0)), Reported()
    for clique in generated.cliques:
        check_clique(plain, clique, generation.name, reported)
    for group in generated.groups:
        judge_group_as_released(plain, group, generation.name, reported)
    assert "UpdateInProgress" not in reported.reasons.values()
    judgement = judge_gang_termination_by_go_operator(generated.snapshot, generation)
    for ref, breach in (
        *((one.clique.ref, one.breach) for one in judgement.cliques),
        *((one.group.ref, one.breach) for one in judgement.groups),
    ):
        expected = reported.conditions[ref.name].get(BREACHED)
        assert (breach and breach.status.value) == (expected and expected.status)


@BY_GENERATION
@given(field_clusters(), st.booleans())
def test_gf084_a_finding_says_where_the_timer_would_decide_otherwise(
    generation: GoOperatorRuleGeneration, generated: RandomCluster, settled: bool
) -> None:
    """For exactly the replicas that only one of the two judgements terminates."""
    if settled:
        generated = replace(generated, pods=tuple(replace(pod, ready=True, scheduled=True) for pod in generated.pods))

    def ended(*, looks: bool) -> set[str]:
        judgement = judge_gang_termination_by_go_operator(generated.snapshot, generation, looks=looks)
        of_groups = {
            found.group.ref.at_replica(index).short
            for found in judgement.groups
            for index, fate in found.fates.items()
            if ends(fate)
        }
        root = generated.root.ref
        return of_groups | {root.at_replica(one.number).short for one in judgement.replicas if ends(one.fate)}

    reported = {
        subject for subject, why in reasons_in(generated, generation, TERMINATION) if why.rule.requirement == "GF-084"
    }
    event(f"reports of {min(len(reported), 3)}")
    assert reported == ended(looks=True) ^ ended(looks=False)


def test_gf121_an_update_that_has_lasted_as_long_as_the_delay_is_not_warned_of_yet() -> None:
    generated = field_storm(bytes(range(64)), b"")
    delay = generated.root.spec.template.termination_delay
    assert delay is not None
    for more, warned in ((timedelta(), False), (timedelta(seconds=1), True)):
        found = reasons_in(since(generated, delay + more, None), GoOperatorRuleGeneration.F3, RISK)
        assert any(why.rule.requirement == "GF-121" for _, why in found) is warned


@BY_GENERATION
@given(field_clusters(), LONG_AGO, st.booleans())
def test_gf121_an_update_that_outlasts_the_delay_is_warned_of(
    generation: GoOperatorRuleGeneration, generated: RandomCluster, started: timedelta, is_over: bool
) -> None:
    generated = since(generated, started, timedelta(0) if is_over else None)
    reported = [
        (subject, why) for subject, why in reasons_in(generated, generation, RISK) if why.rule.requirement == "GF-121"
    ]
    delay = generated.root.spec.template.termination_delay
    begun = generated.now - started
    stuck = delay is not None and not is_over and generated.now - begun > delay
    assert sorted(subject for subject, _ in reported) == sorted(
        one.ref.short for one in (*generated.cliques, *generated.groups) if stuck
    )
    assert all(dict(why.facts)["since"] == format_time(begun) for _, why in reported)
