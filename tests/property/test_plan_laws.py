"""The laws of planning on arbitrary snapshots (specs/planning.md)."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.conditions import condition_of
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import FrozenMap, canonical_json, thaw_json
from grove_core.kernel.gang_terminations import TerminationBasis
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
    Delete,
    DropFinalizer,
    Make,
    SetStatus,
    Step,
    StepStage,
    TerminationStatusReport,
    termination_causes,
)
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import DesiredChanges, FieldsToApply, ObjectToDelete, StatusToWrite, TerminationDeletion
from grove_core.plan.forecast import one_round_forecast
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import BrokenPlanLaw, broken_laws_in_plan
from grove_core.plan.planner import plan_from_wants, steps_for_objects_without_root
from grove_core.reconcile import reconcile
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.rule_sets.rule_set_by_name import rule_set, rule_sets
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster, cluster_of, clusters
from grove_core.testing.cluster_builder import START
from tests.property.strategies.worlds import is_termination
from tests.property.terminating_sets import ENDING

ROUNDS_TO_REST = 6  # delete; release; what the group and the set look like then; and twice as many to be sure


def document_of(plan: Plan, at: datetime) -> PlanDocument:
    return PlanDocument(rules=plan.rules, as_of=at, not_collected=(), forecasts=(one_round_forecast(plan, at),))


def text_of(plan: Plan, at: datetime = START) -> str:
    return json.dumps(plan_document_as_json(document_of(plan, at), decisions=True))


def without_new_times(step: Step, snapshot: Snapshot) -> Any:
    """A step with the transition times of conditions that turn in this very moment taken out."""
    if not isinstance(step.action, SetStatus):
        return (step.target, step.action)
    stored = {clique.ref: clique.status.conditions for clique in snapshot.cliques}
    stored |= {group.ref: group.status.conditions for group in snapshot.groups}
    fields = thaw_json(step.action.fields)
    for condition in fields.get("conditions", ()):
        before = condition_of(stored[step.target], condition["type"])
        if before is None or before.status.value != condition["status"]:
            condition["lastTransitionTime"] = "now"
    return (step.target, canonical_json(fields))


class TestPL001:
    """Equal input MUST give equal output, and equal snapshots equal plans, byte for byte. The order of files and
    objects does not matter. Objects of other sets or topologies change a plan only by the names they occupy (WL-027).
    Snapshots and plans are immutable; copies equal the originals.
    """

    @given(clusters())
    def test_twice_is_the_same(self, generated: RandomCluster) -> None:
        assert text_of(reconcile(generated.snapshot)) == text_of(reconcile(generated.snapshot))


class TestPL002:
    """If no other client writes, a bounded number of reconciles MUST reach a plan without steps, even if all recorded
    results of writes are lost. Later plans stay without steps until time alone changes a decision.
    """

    @given(clusters())
    def test_a_quiet_world_comes_to_rest(self, generated: RandomCluster) -> None:
        memory = InMemoryCluster((generated.snapshot,))
        rounds = play(memory, generated.snapshot, carry=True)
        event(f"rounds {rounds}")
        items = dict(memory.items)
        assert play(memory, generated.snapshot, carry=True) == 0
        assert memory.items == items


def play(memory: InMemoryCluster, start: Snapshot, *, carry: bool) -> int:
    """Rounds until rest; fails where there are too many."""
    attempts: tuple[Attempt, ...] = ()
    for count in range(ROUNDS_TO_REST + 1):
        seen = memory.snapshot_of_set(start.root.ref, start.now, attempts)
        if seen is None:
            return count
        plan = reconcile(seen)
        assert broken_laws_in_plan(plan, seen) == ()
        if plan.settled:
            return count
        attempts = tuple(memory.attempt_step(step) for step in plan.steps) if carry else forget(memory, plan)
    pytest.fail(f"no rest after {ROUNDS_TO_REST} rounds")


def forget(memory: InMemoryCluster, plan: Plan) -> tuple[Attempt, ...]:
    for step in plan.steps:
        memory.attempt_step(step)
    return ()


class TestLegality:
    """PL-001, PL-003, PL-004, PL-011 and PL-013 as the independent checker states them."""

    @given(clusters())
    @pytest.mark.req("PL-003")
    @pytest.mark.req("PL-004")
    @pytest.mark.req("PL-013")
    def test_no_plan_is_illegal(self, generated: RandomCluster) -> None:
        snapshot = generated.snapshot
        plan = reconcile(snapshot)
        assert broken_laws_in_plan(plan, snapshot) == ()
        for finding in plan.findings:
            for reason in finding.because:
                event(reason.rule.code)

    @given(clusters())
    def test_pl003_every_verdict_has_a_reason(self, generated: RandomCluster) -> None:
        assert all(finding.because for finding in reconcile(generated.snapshot).findings)

    @given(generated=clusters())
    @pytest.mark.parametrize("crime", ["twice", "reasonless", "stranger", "stale", "unsorted", "release", "empty"])
    def test_pl004_the_checker_sees_what_is_illegal(self, generated: RandomCluster, crime: str) -> None:
        snapshot = generated.snapshot
        plan = reconcile(snapshot)
        if len({step.sort_key for step in plan.steps}) < 2:
            return
        assert broken_laws_in_plan(spoiled(plan, crime), snapshot)

    @given(clusters())
    @example(cluster_of(ENDING))
    def test_pl004_the_checker_sees_a_second_deletion(self, generated: RandomCluster) -> None:
        cliques = tuple(replace(clique, deleting=True) for clique in generated.cliques)
        leaving = replace(generated, cliques=cliques).snapshot
        deletes = tuple(step for step in reconcile(generated.snapshot).steps if is_termination(step))
        plan = replace(reconcile(leaving), steps=deletes)
        assert len(broken_laws_in_plan(plan, leaving)) >= len(deletes)

    def test_pl015_what_an_end_rests_on_stays_as_it_was_judged(self) -> None:
        """Its fields are written a round later; a plan that writes them now is reported."""
        snapshot = cluster_of(ENDING).snapshot
        deletes = [step for step in reconcile(snapshot).steps if is_termination(step)]
        owner = snapshot.root
        wants = [
            ObjectToDelete(
                step.target,
                step.action.guard,
                step.because,
                termination=TerminationDeletion(TerminationBasis(((owner.ref, owner.guard),), step.action.terminates)),
            )
            for step in deletes
            if isinstance(step.action, Delete)
        ]
        change = FieldsToApply(owner.ref, owner.guard, FrozenMap({"metadata": "x"}), deletes[0].because)
        plan = plan_from_wants(AreaResult(DesiredChanges((*wants, change))), snapshot)
        assert [step.target for step in plan.steps] == [want.target for want in wants]
        wrong = replace(plan, steps=(*steps_for_objects_without_root([change]), *plan.steps))
        law = BrokenPlanLaw("PL-015", owner.ref.short, "to stay as it was judged", "other fields")
        assert broken_laws_in_plan(wrong, snapshot) == (law,)

    def test_pl015_what_an_end_rested_on_that_is_through_may_change(self) -> None:
        """Only its flag is still to be written; the present holder of the cause's name is another."""
        snapshot = cluster_of(ENDING).snapshot
        because = reconcile(snapshot).steps[0].because
        owner, part = snapshot.root, snapshot.cliques[0]
        reported = StatusToWrite(
            part.ref, part.guard, FrozenMap({"conditions": ()}), because, report=TerminationStatusReport((owner.ref,))
        )
        change = FieldsToApply(owner.ref, owner.guard, FrozenMap({"metadata": "x"}), because)
        plan = plan_from_wants(AreaResult(DesiredChanges((reported, change))), snapshot)
        assert [step.target for step in plan.steps] == [owner.ref, part.ref]
        assert not broken_laws_in_plan(plan, snapshot)

    def test_pl003_a_want_without_a_reason_is_a_fault_of_ours(self) -> None:
        snapshot = cluster_of(b"").snapshot
        want = ObjectToDelete(snapshot.root.ref, snapshot.root.guard, ())
        with pytest.raises(BrokenInvariant, match=r"^PL-003: want without a reason: ObjectToDelete\("):
            plan_from_wants(AreaResult(DesiredChanges((want,))), snapshot, rules="design")

    def test_a_plan_names_the_rules_that_judged(self) -> None:
        snapshot = cluster_of(ENDING).snapshot
        for rules in rule_sets().values():
            assert rule_set(reconcile(snapshot, rules).rules) is rules

    @given(clusters())
    def test_pl011_only_what_differs_is_written(self, generated: RandomCluster) -> None:
        snapshot = generated.snapshot
        stored: dict[Any, Any] = {clique.ref: clique.status for clique in snapshot.cliques}
        stored |= {group.ref: group.status for group in snapshot.groups}
        stored[snapshot.root.ref] = snapshot.root.status
        for step in reconcile(snapshot).steps:
            if isinstance(step.action, SetStatus):
                status, fields = stored[step.target], step.action.fields
                assert fields
                for key in fields.keys() - {"conditions"}:
                    assert getattr(status, status.FIELDS[key]) != fields[key]
                held = [condition.as_json for condition in status.conditions]
                conditions = fields.get("conditions", ())
                assert isinstance(conditions, tuple)
                assert all(condition not in held for condition in conditions)


def spoiled(plan: Plan, crime: str) -> Plan:
    first, *rest = plan.steps
    assert not isinstance(first.action, Make)
    match crime:
        case "twice":
            return replace(plan, steps=(first, first, *rest))
        case "reasonless":
            return replace(plan, steps=(replace(first, because=()), *rest))
        case "stranger":
            return replace(plan, steps=(replace(first, target=replace(first.target, name="stranger")), *rest))
        case "stale":
            guard = replace(first.action.guard, resource_version="0")
            return replace(plan, steps=(replace(first, action=replace(first.action, guard=guard)), *rest))
        case "unsorted":
            return replace(plan, steps=tuple(reversed(plan.steps)))
        case "release":
            action = DropFinalizer("somebody.else/finalizer", first.action.guard)
            return replace(plan, steps=(replace(first, action=action), *rest))
        case _:
            return replace(plan, steps=(replace(first, action=SetStatus(FrozenMap({}), first.action.guard)), *rest))


@pytest.mark.req("PL-001")
class TestTheOrderOfObjectsDoesNotMatter:
    """The order of the objects in a snapshot MUST NOT change the plan."""

    @given(clusters(), st.randoms(use_true_random=False))
    def test_shuffled_is_the_same(self, generated: RandomCluster, random: Any) -> None:
        groups: list[ScalingGroup] = random.sample(generated.groups, len(generated.groups))
        cliques: list[PodClique] = random.sample(generated.cliques, len(generated.cliques))
        pods: list[Pod] = random.sample(generated.pods, len(generated.pods))
        cluster = index_cluster(sets=(generated.root,), groups=groups, cliques=cliques, pods=pods)
        assert reconcile(cluster.snapshot_of(generated.root, generated.now)) == reconcile(generated.snapshot)


@pytest.mark.req("PL-001")
class TestForeignObjectsDoNotMatter:
    """Objects that belong to no root, or to another root, MUST NOT change the plan of a root, except by the names that
    they occupy (WL-027).
    """

    @given(clusters(), st.binary(max_size=200))
    def test_a_second_set_changes_nothing(self, generated: RandomCluster, tape: bytes) -> None:
        other = cluster_of(tape, name="other")
        cluster = index_cluster(
            sets=(other.root, generated.root),
            groups=(*other.groups, *generated.groups),
            cliques=(*other.cliques, *generated.cliques),
            pods=(*other.pods, *generated.pods),
        )
        assert reconcile(cluster.snapshot_of(generated.root, generated.now)) == reconcile(generated.snapshot)


class TestPL008:
    """Between ``now`` and ``wakeAt`` the passing of time alone MUST NOT change the steps of a plan; without ``wakeAt``
    it never changes them.
    """

    @given(clusters(), st.floats(min_value=0, max_value=1, exclude_max=True))
    def test_nothing_changes_before_waking(self, generated: RandomCluster, share: float) -> None:
        first = reconcile(generated.snapshot)
        end = first.wake_at or generated.now + timedelta(days=400)
        moment = generated.now + (end - generated.now) * share
        assume_before = moment if moment < end else generated.now
        later = reconcile(generated.at(assume_before).snapshot)
        assert [without_new_times(step, generated.snapshot) for step in first.steps] == [
            without_new_times(step, generated.snapshot) for step in later.steps
        ]

    @given(clusters())
    def test_something_changes_at_waking(self, generated: RandomCluster) -> None:
        memory = InMemoryCluster((generated.snapshot,))
        play(memory, generated.snapshot, carry=True)
        rested = memory.snapshot_of_set(generated.root.ref, generated.now)
        if rested is None:
            return
        plan = reconcile(rested)
        if plan.wake_at is None:
            event("never wakes")
            return
        event("wakes")
        assert plan.wake_at > generated.now
        requeued = reconcile(replace(rested, now=plan.wake_at))
        assert any(isinstance(step.action, Delete) for step in requeued.steps)


@pytest.mark.req("CL-011")
class TestAPlanSurvivesJSON:
    """A plan that is written as JSON and read back MUST equal the original; JSON that is not completely such a plan
    is rejected with what is wrong with it.
    """

    @given(clusters())
    def test_a_plan_survives_json(self, generated: RandomCluster) -> None:
        document = document_of(reconcile(generated.snapshot), generated.now)
        assert (
            plan_document_from_json(json.loads(json.dumps(plan_document_as_json(document, decisions=True)))) == document
        )


@pytest.mark.req("PL-002")
class TestRoundsConvergeWithoutTheirAttempts:
    """After all recorded attempts are lost, a bounded number of rounds MUST still reach a plan without steps."""

    @given(clusters())
    def test_without_memory_it_rests_as_well(self, generated: RandomCluster) -> None:
        with_memory, without = InMemoryCluster((generated.snapshot,)), InMemoryCluster((generated.snapshot,))
        play(with_memory, generated.snapshot, carry=True)
        play(without, generated.snapshot, carry=False)
        assert without.items == with_memory.items


class TestPL012:
    """A refused write MUST be withheld, with the detail of the API server, until a later retry or until the object
    changes. A status that reports another state of a breach is another write. So is the deletion of a terminated part
    for a further breach.
    """

    @given(clusters())
    @pytest.mark.req("PL-013")
    def test_a_refused_step_is_withheld(self, generated: RandomCluster) -> None:
        snapshot = generated.snapshot
        plan = reconcile(snapshot)
        refused = tuple(Attempt(step, AttemptOutcome.REFUSED, "quota exceeded") for step in plan.steps)
        after = reconcile(replace(snapshot, attempts=refused))
        if after.steps:  # an undeletable object is reported, and that is refused too (PL-013)
            deleted = {step.target for step in plan.steps if isinstance(step.action, Delete)}
            assert {step.target for step in after.steps} <= deleted
            assert all(isinstance(step.action, SetStatus) and step.action.is_urgent for step in after.steps)
            refused += tuple(Attempt(step, AttemptOutcome.REFUSED, "quota exceeded") for step in after.steps)
            after = reconcile(replace(snapshot, attempts=refused))
        assert after.steps == ()
        assert {held.target for held in after.withheld} >= {step.target for step in plan.steps}
        for held in after.withheld:
            assert held.because[0].rule.requirement in {"PL-012", "GT-024", "WL-231"}

    @given(clusters(), st.integers(min_value=0, max_value=5))
    @pytest.mark.req("PL-014")
    def test_a_refused_companion_saves_the_cause(self, generated: RandomCluster, which: int) -> None:
        snapshot = generated.snapshot
        deletes = [step for step in reconcile(snapshot).steps if isinstance(step.action, Delete)]
        if len(deletes) <= which:
            return
        refused = deletes[which]
        after = reconcile(replace(snapshot, attempts=(Attempt(refused, AttemptOutcome.REFUSED, "no"),)))
        for step in after.steps:
            if step.stage is StepStage.CAUSE and refused.stage is StepStage.CLEANUP:
                assert not termination_causes(step.action) & termination_causes(refused.action)

    @given(clusters(), st.sampled_from([AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE]))
    def test_what_was_not_refused_is_tried_again(self, generated: RandomCluster, outcome: AttemptOutcome) -> None:
        snapshot = generated.snapshot
        plan = reconcile(snapshot)
        missed = tuple(Attempt(step, outcome, "try later") for step in plan.steps)
        assert reconcile(replace(snapshot, attempts=missed)).steps == plan.steps


@pytest.mark.req("PL-018")
class TestARequestedDeletionIsNotRequestedAgain:
    """A PodClique whose deletion was accepted but is not yet visible MUST count as being deleted."""

    @given(clusters())
    def test_a_lagging_cache_causes_no_second_write(self, generated: RandomCluster) -> None:
        snapshot = generated.snapshot
        plan = reconcile(snapshot)
        done = tuple(Attempt(step, AttemptOutcome.DONE) for step in plan.steps)
        again = reconcile(replace(snapshot, attempts=done))
        deleted = {step.target for step in plan.steps if isinstance(step.action, Delete)}
        assert not {step.target for step in again.steps if isinstance(step.action, Delete)} & deleted
