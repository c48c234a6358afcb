"""Laws of gang termination on generated clusters: breaches, their times, counts, and findings."""

from datetime import timedelta
from itertools import product

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.gang_termination.design.clique_judgement import BREACH_TABLE, judge_clique_breach
from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement, SetTerminationJudgement
from grove_core.areas.gang_termination.design.wanted_statuses import status_counts_of_set, wanted_conditions_of_clique
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel import reasons
from grove_core.kernel.admission import Admit
from grove_core.kernel.conditions import Condition, ConditionStatus, condition_of
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import CliqueStatus
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import (
    RandomCluster,
    busy_clusters,
    cluster_of,
    clusters,
    storms,
)
from grove_core.testing.cluster_builder import START
from grove_core.testing.invariants.reference_verdicts import verdicts_required_by_specification
from tests.property.strategies.worlds import deleted, with_namesake
from tests.property.workload.life import Life
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw


class TestOracle:
    """The core agrees with a slow, literal transcription of the design document (O5)."""

    @given(st.one_of(busy_clusters(), storms(), clusters()))
    @pytest.mark.req("GT-002")
    @pytest.mark.req("GT-015")
    @pytest.mark.req("GT-019")
    @pytest.mark.req("GT-030")
    @pytest.mark.req("GT-040")
    @pytest.mark.req("GT-041")
    @pytest.mark.req("GT-043")
    def test_breaches_and_their_times(self, generated: RandomCluster) -> None:
        judgement, expected = (
            judge_gang_termination_by_design(generated.snapshot),
            verdicts_required_by_specification(generated.snapshot),
        )
        ours = {judged.clique.ref: judged.breach for judged in judgement.cliques}
        ours |= {judged.group.ref: judged.breach for judged in judgement.groups}
        assert expected.breach == ours
        since = {judged.clique.ref: judged.since for judged in judgement.cliques}
        since |= {judged.group.ref: judged.since for judged in judgement.groups}
        assert expected.since == since
        assert expected.available == {judged.clique.ref: judged.was_available for judged in judgement.cliques}

    @given(st.one_of(busy_clusters(), storms(), clusters()))
    @pytest.mark.req("GT-032")
    @pytest.mark.req("GT-033")
    @pytest.mark.req("GT-035")
    @pytest.mark.req("GT-037")
    @pytest.mark.req("GT-050")
    @pytest.mark.req("GT-051")
    @pytest.mark.req("GT-055")
    @pytest.mark.req("GT-060")
    def test_deletions_and_the_next_round(self, generated: RandomCluster) -> None:
        plan, expected = reconcile(generated.snapshot), verdicts_required_by_specification(generated.snapshot)
        event(f"deletes {min(len(expected.deletes), 5)}")
        assert {ref.name for ref in expected.deletes} == deleted(plan)
        assert min(expected.wakes, default=None) == plan.wake_at


@pytest.mark.req("GT-012")
@pytest.mark.req("GT-013")
@pytest.mark.req("GT-014")
@pytest.mark.req("GT-016")
@pytest.mark.parametrize(("ready", "was", "updating"), list(product((0, 1, 2, 3), (True, False, None), (False, True))))
def test_gt011_the_whole_breach_table(ready: int, was: bool | None, updating: bool) -> None:
    """Every combination (GT2), in the documented order of rows."""
    whole = cluster_of(b"").cliques[0]
    clique = replace(whole, min_available=2, status=CliqueStatus(recorded=True, was_available=was, updating=updating))
    pod = cluster_of(b"").pods[0]
    judged = judge_clique_breach(clique, [replace(pod, ready=number < ready) for number in range(3)], START)
    if ready >= 2:
        assert (judged.breach, judged.why) == (ConditionStatus.FALSE, TerminationReason.SUFFICIENT_READY_PODS)
        assert judged.was_available == (True if not updating else was)
    elif was is None:
        assert (judged.breach, judged.why) == (ConditionStatus.FALSE, TerminationReason.AVAILABILITY_NOT_RECORDED)
    elif not was:
        assert (judged.breach, judged.why) == (ConditionStatus.FALSE, TerminationReason.NEVER_AVAILABLE)
    elif updating:
        assert (judged.breach, judged.why) == (ConditionStatus.UNKNOWN, TerminationReason.UPDATE_IN_PROGRESS)
    else:
        assert (judged.breach, judged.why) == (ConditionStatus.TRUE, TerminationReason.INSUFFICIENT_READY_PODS)


@pytest.mark.req("GT-068")
@pytest.mark.parametrize(
    ("ready", "preempted", "stored", "why"),
    [
        (1, 1, None, TerminationReason.PODS_PREEMPTED),
        (1, 0, None, TerminationReason.INSUFFICIENT_READY_PODS),
        (3, 1, None, TerminationReason.SUFFICIENT_READY_PODS),
        (3, 2, None, TerminationReason.PODS_PREEMPTED),
        (2, 1, (ConditionStatus.FALSE, "SufficientReadyPods"), TerminationReason.PODS_PREEMPTED),
        (1, 0, (ConditionStatus.TRUE, "PodsPreempted"), TerminationReason.PODS_PREEMPTED),
        (1, 0, (ConditionStatus.FALSE, "PodsPreempted"), TerminationReason.PODS_PREEMPTED),
        (1, 0, (ConditionStatus.TRUE, "InsufficientReadyPods"), TerminationReason.INSUFFICIENT_READY_PODS),
        (2, 0, (ConditionStatus.TRUE, "PodsPreempted"), TerminationReason.SUFFICIENT_READY_PODS),
    ],
)
def test_gt068_a_breach_by_preemption_keeps_its_reason_until_it_ends(
    ready: int, preempted: int, stored: tuple[ConditionStatus, str] | None, why: TerminationReason
) -> None:
    found = cluster_of(b"")
    conditions = () if stored is None else (Condition(MIN_AVAILABLE_BREACHED, *stored, "", START),)
    status = CliqueStatus(recorded=True, was_available=True, conditions=conditions)
    clique = replace(found.cliques[0], min_available=2, status=status)
    pods = [replace(found.pods[0], ready=number < ready, preempted=number < preempted) for number in range(3)]
    judged = judge_clique_breach(clique, pods, START)
    assert judged.why is why
    assert judged.breach is (ConditionStatus.FALSE if ready >= 2 else ConditionStatus.TRUE)


def test_gt068_a_reason_of_an_earlier_release_is_preemption_too(monkeypatch: pytest.MonkeyPatch) -> None:
    found = cluster_of(b"")
    breach = Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "Displaced", "", START)
    status = CliqueStatus(recorded=True, was_available=True, conditions=(breach,))
    clique = replace(found.cliques[0], min_available=2, status=status)
    assert judge_clique_breach(clique, [], START).why is TerminationReason.INSUFFICIENT_READY_PODS
    monkeypatch.setattr(reasons, "FORMER_CODES", {"Displaced": "PodsPreempted"})
    assert judge_clique_breach(clique, [], START).why is TerminationReason.PODS_PREEMPTED


def test_gt014_the_last_row_of_the_table_always_applies() -> None:
    last = BREACH_TABLE[-1]
    assert all(
        last.question(ready, 1, was, updating) for ready, was, updating in product((0, 1), (True, None), (True,))
    )


class TestGT016:
    """``wasAvailable`` of a new PodClique MUST be ``false``. It becomes ``true`` once ``readyReplicas >= minAvailable >
    0`` while no update of the PodClique runs. It never changes from ``true`` for one uid.
    """

    @given(clusters())
    @pytest.mark.req("GT-016")
    def test_it_only_ever_rises(self, generated: RandomCluster) -> None:
        for judged in judge_gang_termination_by_design(generated.snapshot).cliques:
            before = judged.clique.status.was_available
            enough = judged.ready >= judged.clique.min_available and not judged.clique.status.updating
            assert judged.was_available is True if before or enough else not judged.was_available


def all_conditions(
    snapshot: Snapshot, judgement: SetTerminationJudgement
) -> list[tuple[CliqueJudgement, tuple[Condition, ...]]]:
    placements = status_counts_of_set(snapshot, judgement).placements
    return [
        (judged, wanted_conditions_of_clique(judged, placements[judged.clique.ref], snapshot))
        for judged in judgement.cliques
    ]


class TestGT019:
    """``lastTransitionTime`` of a condition MUST change only when the status of the condition changes, to the
    snapshot's time in whole seconds. The message depends on counts and thresholds, never on the time that has passed.
    """

    @given(clusters(), st.timedeltas(min_value=timedelta(), max_value=timedelta(days=2)))
    @pytest.mark.req("GT-019")
    def test_time_passes_and_conditions_stay(self, generated: RandomCluster, passed: timedelta) -> None:
        later = generated.at(generated.now + passed).snapshot
        judgement = judge_gang_termination_by_design(later)
        for judged, conditions in all_conditions(later, judgement):
            for condition in conditions:
                stored = condition_of(judged.clique.status.conditions, condition.type)
                kept = stored is not None and stored.status is condition.status
                assert (condition.last_transition_time == (stored.last_transition_time if stored else None)) or not kept
                assert kept or condition.last_transition_time == later.now.replace(microsecond=0)

    @given(clusters(), st.timedeltas(min_value=timedelta(), max_value=timedelta(days=2)))
    def test_gt019_messages_do_not_age(self, generated: RandomCluster, passed: timedelta) -> None:
        now, later = generated.snapshot, generated.at(generated.now + passed).snapshot
        first, second = (
            all_conditions(now, judge_gang_termination_by_design(now)),
            all_conditions(later, judge_gang_termination_by_design(later)),
        )
        for (_, before), (_, after) in zip(first, second, strict=True):
            assert [condition.message for condition in before] == [condition.message for condition in after]


class TestGT023:
    """A PodClique that is being deleted MUST count as missing, for its scaling group and for its set. It gets no
    verdict on a breach and no status.
    """

    @given(clusters())
    def test_it_is_as_if_it_were_gone_already(self, generated: RandomCluster) -> None:
        gone = replace(generated, cliques=tuple(clique for clique in generated.cliques if not clique.deleting))
        with_it, without = reconcile(generated.snapshot), reconcile(gone.snapshot)
        assert deleted(with_it) == deleted(without)
        assert with_it.wake_at == without.wake_at


class TestGT024:
    """If the pods, PodCliques or scaling groups that a set has were not collected, its breaches and terminations MUST
    be ``Unknown`` with reason ``NotCollected``. No status is written for the set, and nothing of it is deleted.
    """

    @given(clusters(), st.sampled_from(["Pod", "PodClique", "PodCliqueScalingGroup"]))
    def test_nothing_is_done_without_a_read(self, generated: RandomCluster, kind: str) -> None:
        snapshot = replace(generated.snapshot, not_collected=frozenset({kind}))
        plan = reconcile(snapshot)
        if kind == "PodCliqueScalingGroup" and not generated.root.spec.template.pod_clique_scaling_groups:
            assert plan.findings == reconcile(generated.snapshot).findings
            return
        assert deleted(plan) == set()
        assert {finding.verdict for finding in plan.findings} == {"Unknown"}
        reported = [
            held.because[0].rule for held in plan.withheld if isinstance(held.because[0].rule, TerminationReason)
        ]
        assert reported == [TerminationReason.NOT_COLLECTED]


@pytest.mark.req("GT-038")
class TestNamesOfMissingConstituents:
    """A scaling group may have the name of a standalone clique; neither counts as the other."""

    @given(clusters())
    def test_what_is_missing_does_not_depend_on_names(self, generated: RandomCluster) -> None:
        plan, other = reconcile(generated.snapshot), reconcile(with_namesake(generated).snapshot)
        assert [(one.question, one.verdict) for one in of_set(other)] == [
            (one.question, one.verdict) for one in of_set(plan)
        ]
        assert [rules_of(one) for one in of_set(other)] == [rules_of(one) for one in of_set(plan)]

    @pytest.mark.parametrize("rules", ["design", "field"])
    @pytest.mark.parametrize("there", ["PodClique", "PodCliqueScalingGroup"])
    def test_one_of_two_of_a_name_is_missing(self, there: str, rules: str) -> None:
        group = {"name": "a", "cliqueNames": ["b"], "replicas": 1, "minAvailable": 1}
        raw = set_raw(clique_raw("a"), clique_raw("b"), groups=(group,), terminationDelay="1m")
        assert isinstance(admit(raw).verdict, Admit)
        life = Life(raw)
        life.settle()
        seen = life.look()
        assert seen is not None
        seen = replace(
            seen,
            cliques=tuple(one for one in seen.cliques if (one.ref.name == "llm-0-a") == (there == "PodClique")),
            groups=seen.groups if there == "PodCliqueScalingGroup" else (),
        )
        plan = reconcile(seen, rule_set(rules))
        assert [one.verdict for one in plan.findings if one.question == "availability"] == ["0/1"]


def of_set(plan: Plan) -> list[Finding]:
    return [
        one
        for one in plan.findings
        if one.subject.kind == "PodCliqueSet" and one.question in {"availability", "termination"}
    ]


def rules_of(finding: Finding) -> list[str]:
    return [reason.rule.requirement for reason in finding.because]


class TestGT001:
    """A pod MUST be counted for the PodClique whose uid is in its controller owner reference, and for no other."""

    @given(clusters())
    @pytest.mark.req("GT-002")
    def test_counts_are_over_its_own_pods(self, generated: RandomCluster) -> None:
        judgement = judge_gang_termination_by_design(generated.snapshot)
        counts = status_counts_of_set(generated.snapshot, judgement).counts
        for judged in judgement.cliques:
            own = [pod for pod in generated.pods if pod.owner_uid == judged.clique.uid]
            count = counts[judged.clique.ref]
            assert judged.ready == count.ready == sum(pod.ready for pod in own)
            assert count.scheduled == sum(pod.scheduled for pod in own)
            assert count.gated == sum(pod.gated for pod in own)
            assert count.replicas == sum(not pod.deleting for pod in own)
            assert count.updated == sum(pod.template_hash == "h1" for pod in own)


@pytest.mark.req("GT-040")
class TestASurplusReplicaDoesNotCount:
    """A clique whose replica index is not below the ``replicas`` of its scaling group or set MUST NOT count for that
    group or set; its own status is still written.
    """

    @given(clusters())
    @pytest.mark.req("GT-044")
    def test_counts_stay_within_what_is_wanted(self, generated: RandomCluster) -> None:
        judgement = judge_gang_termination_by_design(generated.snapshot)
        counts = status_counts_of_set(generated.snapshot, judgement)
        for judged in judgement.groups:
            usable = counts.usable[judged.group.ref.name]
            assert 0 <= usable.available <= usable.scheduled <= judged.group.replicas
            assert all(index < judged.group.replicas for index in judged.fates)
        assert all(replica.number < generated.root.spec.replicas for replica in judgement.replicas)
        assert len(judgement.cliques) == sum(not clique.deleting for clique in generated.cliques)


class TestGT021:
    """``PodCliqueScheduled`` MUST be ``True`` with reason ``SufficientScheduledPods`` while ``scheduledReplicas >=
    minAvailable``.
    """

    @given(clusters())
    @pytest.mark.req("GT-022")
    def test_placement_is_judged_on_scheduled_pods(self, generated: RandomCluster) -> None:
        judgement = judge_gang_termination_by_design(generated.snapshot)
        found = status_counts_of_set(generated.snapshot, judgement)
        for clique in (judged.clique for judged in judgement.cliques):
            placement = found.placements[clique.ref]
            enough = found.counts[clique.ref].scheduled >= clique.min_available
            assert placement.verdict is (ConditionStatus.TRUE if enough else ConditionStatus.FALSE)
            expected = (
                TerminationReason.SUFFICIENT_SCHEDULED_PODS if enough else TerminationReason.INSUFFICIENT_SCHEDULED_PODS
            )
            assert [reason.rule for reason in placement.because] == [expected]


def test_gt025_a_clique_scaled_to_nothing_is_neither_breached_nor_proven() -> None:
    whole = cluster_of(b"").cliques[0]
    idle = replace(whole, replicas=0, min_available=0, status=CliqueStatus(recorded=True, was_available=False))
    judged = judge_clique_breach(idle, [], START)
    assert (judged.breach, judged.why, judged.was_available) == (
        ConditionStatus.FALSE,
        TerminationReason.SUFFICIENT_READY_PODS,
        False,
    )


@given(clusters())
@pytest.mark.req("GT-001")
def test_pl001_an_object_without_owner_belongs_to_no_set(generated: RandomCluster) -> None:
    stray = tuple(replace(clique, owner_uid="") for clique in generated.cliques)
    assert replace(generated, cliques=stray).snapshot.cliques == ()


@given(clusters())
def test_gt002_cliques_are_judged_alike_however_they_are_looked_at(generated: RandomCluster) -> None:
    cliques = judge_gang_termination_by_design(generated.snapshot).cliques
    assert [cliques[index] for index in range(len(cliques))] == list(cliques)
    assert cliques[:2] == tuple(cliques)[:2]


@given(clusters())
def test_gt026_a_member_without_a_replica_index_has_that_of_its_group(generated: RandomCluster) -> None:
    silent = tuple(
        replace(clique, replica_index=-1) if clique.is_in_scaling_group else clique for clique in generated.cliques
    )
    assert replace(generated, cliques=silent).snapshot == generated.snapshot


def test_gt011_a_clique_that_wants_no_pod_and_has_none_has_enough() -> None:
    """Return a group that a user scaled to zero, with a status to be written."""
    seen = at_rest(applied(set_raw(clique_raw("a"))))
    (clique,) = seen.cliques
    empty = replace(seen, cliques=(replace(clique, replicas=0, min_available=0),), pods_of=FrozenDict())
    (judged,) = judge_gang_termination_by_design(empty).cliques
    assert judged.breach is ConditionStatus.FALSE


@pytest.mark.parametrize("name", ["design", "field"])
@given(st.one_of(busy_clusters(), storms(), clusters()))
def test_a_finding_on_a_clique_has_the_replicas_that_the_clique_is_part_of(name: str, generated: RandomCluster) -> None:
    snapshot = generated.snapshot
    present = {clique.ref: clique for clique in snapshot.cliques if not clique.deleting}
    for found in reconcile(snapshot, rule_set(name)).findings:
        if found.subject in present:
            assert found.within == present[found.subject].enclosing_replicas(snapshot.root.ref), found.question
