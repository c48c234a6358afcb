"""Laws of gang termination on generated clusters: what is terminated, when, and what is kept."""

from datetime import datetime, timedelta

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.areas.gang_termination.design.scaling_group_judgement import scaling_group_termination_delay
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.termination_deletions import (
    RulesByLevel,
    TerminationsOfSet,
    replica_termination,
    terminated_clique_deletions,
)
from grove_core.areas.gang_termination.verdicts import MinAvailableBreach, Terminate
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.conditions import Condition, ConditionStatus, condition_of
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.gang_terminations import GangTermination, GangTerminationReasons, TerminationBasis
from grove_core.kernel.steps import AttemptOutcome, Delete, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.testing import (
    RandomCluster,
    cluster_of,
    clusters,
    storms,
    stormy,
)
from tests.property.strategies.worlds import deleted, is_termination
from tests.property.workload.life import Life
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw

TWO_GANGS = bytes({0: 1, 6: 1, 7: 1, 31: 3, 33: 15, 41: 1}.get(place, 0) for place in range(42))
"""Drawn numbers of a set in which the delay of a second gang of the same PodClique ends hours after the first."""


class TestGT031:
    """A set without a ``terminationDelay`` greater than zero MUST keep every replica, whatever is breached. Its
    conditions are still computed.
    """

    @given(clusters())
    def test_no_delay_no_deletion(self, generated: RandomCluster) -> None:
        template = generated.root.spec.template.model_copy(update={"termination_delay": None})
        root = replace(generated.root, spec=generated.root.spec.model_copy(update={"template": template}))
        off = replace(generated, root=root)
        plan = reconcile(off.snapshot)
        assert deleted(plan) == set()
        assert plan.wake_at is None
        assert [judged.breach for judged in judge_gang_termination_by_design(off.snapshot).cliques] == [
            judged.breach for judged in judge_gang_termination_by_design(generated.snapshot).cliques
        ]


class TestGT033:
    """When the breach of a standalone clique or scaling group of a PodCliqueSet replica has lasted for its delay,
    the plan MUST delete every PodClique of that replica, healthy ones included, unless GT-037, GT-064 or GT-065
    applies.
    """

    @given(clusters())
    @pytest.mark.req("GT-036")
    def test_exactly_its_cliques(self, generated: RandomCluster) -> None:
        snapshot = generated.snapshot
        judgement, gone = judge_gang_termination_by_design(snapshot), deleted(reconcile(snapshot))
        ended = {replica.number for replica in judgement.replicas if replica.fate == Terminate()}
        for clique in snapshot.cliques:
            if clique.replica_index in ended and not clique.deleting:
                assert clique.ref.name in gone
            elif clique.ref.name in gone:
                assert clique.is_in_scaling_group

    @given(clusters())
    def test_gt032_only_what_was_breached_for_its_delay(self, generated: RandomCluster) -> None:
        """(GT5, GT14) By the stored condition, without pause, whatever the clock does."""
        delays = [delay for delay in all_delays(generated) if delay is not None]
        for step in reconcile(generated.snapshot).steps:
            if is_termination(step):
                stored = [stored_breach(clique) for clique in generated.cliques]
                stored += [condition_of(group.status.conditions, MIN_AVAILABLE_BREACHED) for group in generated.groups]
                ages = [
                    generated.now - condition.last_transition_time
                    for condition in stored
                    if condition is not None and condition.status is ConditionStatus.TRUE
                ]
                assert max(ages) >= min(delays)


def stored_breach(clique: PodClique) -> Condition | None:
    return condition_of(clique.status.conditions, MIN_AVAILABLE_BREACHED)


def all_delays(generated: RandomCluster) -> list[timedelta | None]:
    template = generated.root.spec.template
    return [template.termination_delay, *(group.termination_delay for group in template.pod_clique_scaling_groups)]


@pytest.mark.req("GT-037")
class TestDeletionIsTheReason:
    """The deletion of a set is the reason at both levels, with a delay or without."""

    @given(storms(), st.booleans())
    def test_the_deletion_is_the_reason_at_both_levels(self, generated: RandomCluster, delayed: bool) -> None:
        template = generated.root.spec.template
        if not delayed:
            template = template.model_copy(update={"termination_delay": None})
        spec = generated.root.spec.model_copy(update={"template": template})
        plan = reconcile(replace(generated, root=replace(generated.root, spec=spec, deleting=True)).snapshot)
        kept = {one.because[0].rule for one in plan.findings if one.question == "termination" and one.verdict == "Keep"}
        assert kept <= {TerminationReason.SET_BEING_DELETED, TerminationReason.GROUP_NOTHING_BREACHED}


class TestGT050:
    """While a scaling group's ``replicas`` minus its breached replicas are at least its ``minAvailable``, the plan MUST
    delete all PodCliques of each of its replicas that has a clique past its delay.
    """

    @given(clusters())
    @pytest.mark.req("GT-052")
    @pytest.mark.req("GT-053")
    @pytest.mark.req("GT-054")
    def test_what_is_left_is_enough(self, generated: RandomCluster) -> None:
        for judged in judge_gang_termination_by_design(generated.snapshot).groups:
            if Terminate() in judged.fates.values():
                assert judged.unbreached_replica_count >= judged.group.min_available
                assert not judged.group.status.updating


class TestGT060:
    """``wakeAt`` MUST be the earliest moment at which the delay of a breach ends that its scaling group or set can act
    on. It is absent if there is no such breach.
    """

    @given(clusters())
    def test_not_a_second_too_early(self, generated: RandomCluster) -> None:
        plan = reconcile(generated.snapshot)
        if plan.wake_at is not None:
            before: datetime = plan.wake_at - timedelta(microseconds=1)
            assert deleted(reconcile(generated.at(before).snapshot)) == deleted(plan)


@pytest.mark.req("GT-016")
class TestACliqueThatIsCreatedAgainHasNoRecord:
    """A PodClique without any status MUST start with ``wasAvailable: false``, so that a terminated replica is not
    terminated again before it was available.
    """

    @given(clusters())
    def test_recreated_cliques_are_not_terminated(self, generated: RandomCluster) -> None:
        fresh = tuple(replace(clique, status=CliqueStatus()) for clique in generated.cliques)
        groups = tuple(replace(group, status=replace(group.status, conditions=())) for group in generated.groups)
        born = replace(generated, cliques=fresh, groups=groups, pods=())
        assert deleted(reconcile(born.snapshot)) == set()
        assert all(judged.was_available is False for judged in judge_gang_termination_by_design(born.snapshot).cliques)


class TestGT063:
    """When a replica is terminated, the cause MUST be deleted after everything else. The cause is the clique whose
    delay ended first, or the breached cliques of the scaling group whose delay ended first.
    """

    @given(st.one_of(storms(), clusters()))
    def test_nothing_rests_on_what_goes_before_it(self, generated: RandomCluster) -> None:
        deletes = [step for step in reconcile(generated.snapshot).steps if is_termination(step)]
        before = {step.target for step in deletes if step.stage is StepStage.CLEANUP}
        for step in deletes:
            assert isinstance(step.action, Delete)
            assert not before & {ref for ref, _ in step.action.rests_on}
        event(f"companions {min(len(before), 3)}, causes {min(len(deletes) - len(before), 3)}")

    @given(st.one_of(storms(), clusters()))
    @pytest.mark.req("GT-036")
    @pytest.mark.req("GT-054")
    @pytest.mark.req("PL-015")
    def test_a_plan_is_executed_without_conflicts(self, generated: RandomCluster) -> None:
        """Without other writers no deletion of a plan makes another one fail."""
        snapshot = generated.snapshot
        memory = InMemoryCluster((snapshot,))
        deletes = [step for step in reconcile(snapshot).steps if is_termination(step)]
        attempts = execute_steps_sequentially(memory.attempt_step, deletes)
        assert [attempt.outcome for attempt in attempts] == [AttemptOutcome.DONE] * len(deletes)
        again = memory.snapshot_of_set(generated.root.ref, generated.now)
        assert again is not None
        gone = {step.target for step in deletes}
        assert all(clique.deleting for clique in again.cliques if clique.ref in gone)

    @given(storms())
    @example(stormy(cluster_of(TWO_GANGS)))
    @pytest.mark.req("PL-008")
    def test_the_cause_stays_the_same_as_time_goes_on(self, generated: RandomCluster) -> None:
        now, later = (
            {step.target: step.action for step in reconcile(moment.snapshot).steps if is_termination(step)}
            for moment in (generated, generated.at(generated.now + timedelta(hours=9)))
        )
        ended = {
            replica.number
            for replica in judge_gang_termination_by_design(generated.snapshot).replicas
            if replica.fate == Terminate()
        }
        for clique in generated.cliques:
            if clique.replica_index in ended and clique.ref in now:
                before, after = now[clique.ref], later[clique.ref]
                assert isinstance(before, Delete)
                assert isinstance(after, Delete)
                # The delay of a second gang may end meanwhile; the gangs of before stay, and so does all else.
                assert after.terminates[: len(before.terminates)] == before.terminates
                if before.basis is not None and after.basis is not None:
                    after = replace(after, basis=replace(after.basis, gangs=before.basis.gangs))
                assert after == before


def plan_of(life: Life) -> Plan:
    plan = life.round()
    assert plan is not None
    return plan


@pytest.mark.req("GT-025")
class TestAGroupScaledBelowItsMinimumHasLostNothing:
    """Of a scaling group whose ``replicas`` are below its ``minAvailable`` all replicas MUST count as needed, and no
    more.
    """

    def test_a_group_scaled_below_its_minimum_terminates_nothing_until_it_loses_pods(self) -> None:
        raw = set_raw(
            clique_raw("a"),
            clique_raw("b"),
            groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 2},),
            terminationDelay="1m",
        )
        life = Life(raw)
        life.settle()
        life.scale("llm-0-pool", 1)
        life.settle()
        (condition,) = life.group("llm-0-pool").status.conditions
        assert condition.status is ConditionStatus.FALSE
        life.now += timedelta(hours=1)
        assert not [step for plan in life.settle() for step in plan.steps if is_termination(step)]
        pods = life.pods("llm-0-pool-0-b")
        life.world.put_pod(replace(pods[0], ready=False))
        assert not [step for step in plan_of(life).steps if is_termination(step)]
        life.now += timedelta(hours=1)
        ended = life.round()
        assert ended is not None
        assert {step.target.name for step in ended.steps if is_termination(step)} == {"llm-0-a", "llm-0-pool-0-b"}


@pytest.mark.req("GT-044")
def test_gt025_a_group_scaled_below_its_minimum_does_not_make_its_set_unavailable() -> None:
    group = {"name": "pool", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 2}
    life = Life(set_raw(clique_raw("a"), clique_raw("b"), groups=(group,), terminationDelay="1m"))
    life.settle()
    assert life.root.status.available == 1
    life.scale("llm-0-pool", 1)
    life.settle()
    assert life.root.status.available == 1
    pods = life.pods("llm-0-pool-0-b")
    life.world.put_pod(replace(pods[0], ready=False))
    life.round()
    assert life.root.status.available == 0


class TestPL015:
    """A deletion for a breach MUST name the breached PodClique, or the scaling group and up to eight of its breached
    PodCliques, with uid and resource version. The plan changes no field of them. Healthy parts of the gang are deleted
    only while the named objects are unchanged.
    """

    @given(st.one_of(storms(), clusters()))
    def test_a_cause_that_changed_saves_its_companions(self, generated: RandomCluster) -> None:
        snapshot = generated.snapshot
        for step in reconcile(snapshot).steps:
            if not (isinstance(step.action, Delete) and is_termination(step)):
                continue
            assert 1 <= len(step.action.rests_on) <= 9
            for cause, _ in step.action.rests_on if step.stage is StepStage.CLEANUP else ():
                memory = InMemoryCluster((snapshot,))
                memory.put_object(memory.items[cause])
                assert memory.attempt_step(step).outcome is AttemptOutcome.CONFLICT
                assert step.target in memory.items

    @given(storms())
    def test_a_member_that_recovers_saves_the_companions_of_its_group(self, generated: RandomCluster) -> None:
        for step in reconcile(generated.snapshot).steps:
            if (
                isinstance(step.action, Delete)
                and is_termination(step)
                and step.action.rests_on[0][0].kind == "PodCliqueScalingGroup"
            ):
                assert len(step.action.rests_on) > 1
                event("a group is the cause")


def test_gt030_a_group_that_the_template_forgot_has_the_delay_of_the_set() -> None:
    generated = cluster_of(bytes([0] * 8 + [2, 1, 1, 3, 1]))
    for group in generated.groups:
        forgotten = replace(group, ref=replace(group.ref, name="llm-0-forgotten"))
        assert scaling_group_termination_delay(generated.root, forgotten) == generated.root.spec.template.delay


def test_pl015_every_deletion_of_a_termination_has_its_causes() -> None:
    seen = at_rest(applied(set_raw(clique_raw("a", 1), clique_raw("b", 1), replicas=2)))
    first, *_ = seen.cliques
    cause = MinAvailableBreach(first.ref, NOW, timedelta(hours=1))
    end = replica_termination(TerminationReason.DELAY_EXPIRED, [cause], seen.root, {first.ref: first}, {})
    assert (end.rests_on, end.last) == (((first.ref, first.guard),), frozenset({first.uid}))
    words = RulesByLevel(TerminationReason.GANG_TERMINATED, TerminationReason.GROUP_REPLICA_TERMINATED)
    found = list(
        terminated_clique_deletions(
            seen.root.ref, seen.cliques, TerminationsOfSet(FrozenDict({0: end}), FrozenDict()), words
        )
    )
    assert {one.target.name: one.termination is not None and one.termination.is_cause for one in found} == {
        clique.ref.name: clique is first for clique in seen.cliques if clique.replica_index == 0
    }
    assert all(one.because[1] == end.because for one in found)
    for one in found:
        reasons, over = GangTerminationReasons(*one.because), NOW + timedelta(hours=1)
        gang = GangTermination(seen.root.ref.at_replica(0), first.ref, over, reasons)
        assert one.termination is not None
        assert one.termination.basis == TerminationBasis(end.rests_on, (gang,))
