"""By the rules of the Go operator an incomplete termination goes on, and is not repeated without end."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.judge import judge_gang_termination_by_go_operator
from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.conditions import Condition, condition_of, is_condition_true
from grove_core.kernel.gang_terminations import GangTermination, TerminationBasis
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
    Delete,
    Make,
    SetStatus,
    Step,
    StepStage,
    gangs_terminated_by,
    termination_causes,
)
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.plan.plan import Plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED, TERMINATION_IN_PROGRESS
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_core.testing import RandomCluster
from grove_core.testing.cluster_builder import START
from tests.property.few_examples import RARELY
from tests.property.gang_termination_field.worlds import field_clusters, field_storm, field_storms
from tests.property.strategies.worlds import is_termination

HOLD: Final = "storage.example.com/flush"
SHARES: Final = st.floats(min_value=0, max_value=1, exclude_max=True)
FAILURES: Final = st.sampled_from([AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE])


def ends_of_set(root: Ref, plan: Plan) -> list[Step]:
    """Return the deletions of terminated replicas of the set."""

    def is_of_set(step: Step) -> bool:
        return root in {one.replica.without_replica for one in gangs_terminated_by(step)}

    return [step for step in plan.steps if is_termination(step) and is_of_set(step)]


def flag_in(group: ScalingGroup) -> Condition | None:
    return condition_of(group.status.conditions, TERMINATION_IN_PROGRESS)


def of_long_ago(action: Delete) -> tuple[GangTermination, ...]:
    """Return the terminations of a deletion, with a deadline before all times of the snapshot."""
    return tuple(replace(one, deadline=START - timedelta(days=399)) for one in action.terminates)


@dataclass
class Unwilling:
    """A cluster in which one object cannot be deleted."""

    there: InMemoryCluster
    kept: Ref
    outcome: AttemptOutcome

    def attempt(self, step: Step) -> Attempt:
        if step.target == self.kept and is_termination(step):
            return Attempt(step, self.outcome, "no")
        return self.there.attempt_step(step)

    def observe(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        return self.there.snapshot_of_set(root, now, attempts)


class TestPL028:
    """A status MUST NOT report the termination of a replica while a deletion of that termination was refused, failed or
    is withheld. The rest of the status does not wait for it.
    """

    @given(
        field_storms(),
        SHARES,
        FAILURES,
    )
    @pytest.mark.req("GF-075")
    @pytest.mark.req("PL-014")
    def test_no_group_is_flagged_for_a_termination_that_did_not_happen(
        self, generated: RandomCluster, part: float, outcome: AttemptOutcome
    ) -> None:
        before = generated.snapshot
        plan = reconcile(before, NEWEST)
        flags = [step for step in plan.steps if isinstance(step.action, SetStatus) and step.action.report]
        ends = [
            step
            for step in plan.steps
            if is_termination(step)
            and any(termination_causes(step.action) & termination_causes(flag.action) for flag in flags)
        ]
        if not ends:
            return
        kept = ends[int(part * len(ends))]
        there = Unwilling(InMemoryCluster((before,)), kept.target, outcome)
        untroubled = InMemoryCluster((before,))
        execute_steps_sequentially(there.attempt, plan.steps)
        execute_steps_sequentially(untroubled.attempt_step, plan.steps)
        waiting = {flag.target for flag in flags if termination_causes(flag.action) & termination_causes(kept.action)}
        found, as_planned = (
            {group.ref: group.status for group in seen.groups if group.ref in waiting}
            for seen in (
                there.observe(before.root.ref, before.now),
                untroubled.snapshot_of_set(before.root.ref, before.now),
            )
            if seen is not None
        )
        for ref, status in found.items():
            assert not is_condition_true(condition_of(status.conditions, TERMINATION_IN_PROGRESS))
            others = [one for one in as_planned[ref].conditions if one.type != TERMINATION_IN_PROGRESS]
            assert [one for one in status.conditions if one.type != TERMINATION_IN_PROGRESS] == others
            assert replace(status, conditions=()) == replace(as_planned[ref], conditions=())
        event(f"{outcome.value}, {len(waiting)} groups wait")
        refused = reconcile(replace(before, attempts=(Attempt(kept, AttemptOutcome.REFUSED, "no"),)), NEWEST)
        reported = {held.target: held.because[0].rule.requirement for held in refused.withheld}
        assert {reported[target] for target in waiting} <= {"PL-028"}


class TestGF091:
    """If some deletions of a terminated replica failed and the breach that caused them remains, the missing parts of
    the replica MUST count as before their deletion. The replica is not skipped (GF-070), and its scaling groups are
    breached only by the breaches that caused the termination.
    """

    @given(field_storms(), SHARES, FAILURES)
    @example(
        field_storm(
            bytes.fromhex(
                "b5769fa0f1483f95a90d9df2f130d60fcf04bd93f50ae69514da8c659ce2b10cccdaebf990d19838b0d7ec0b3e97818ecb96c4dbadbe172296d5234a"
            ),
            bytes.fromhex("42b24c6ba4e6ed24ec636a8ac0a1271e5866279238aaf84e"),
        ),
        0.5,
        AttemptOutcome.CONFLICT,
    )
    @pytest.mark.req("GF-070")
    @pytest.mark.req("WL-076")
    def test_what_went_is_not_made_anew_and_the_rest_follows(
        self, generated: RandomCluster, part: float, outcome: AttemptOutcome
    ) -> None:
        before = replace(generated.snapshot, complete=EVERY_KIND)  # so that what is missing is made
        root = before.root.ref
        plan = reconcile(before, NEWEST)
        ends = ends_of_set(root, plan)
        if not ends or any(one.deleting for one in (*before.groups, *before.cliques)):  # the cause goes by itself
            return
        kept = ends[int(part * len(ends))]
        of_it = {step.target for step in ends if termination_causes(step.action) & termination_causes(kept.action)}
        there = Unwilling(InMemoryCluster((before,)), kept.target, outcome)
        execute_steps_sequentially(there.attempt, plan.steps)
        after = there.observe(root, before.now, (Attempt(kept, outcome, "no"),))
        assert after is not None
        gone = replace(after, cliques=tuple(one for one in after.cliques if not one.deleting))
        then = reconcile(gone, NEWEST)
        assert not of_it & {step.target for step in then.steps if isinstance(step.action, Make)}
        ended = {step.target for step in then.steps if is_termination(step)}
        assert (kept.target in ended) == (outcome is not AttemptOutcome.REFUSED)
        event(f"{outcome.value} of {min(len(of_it), 5)}")

    @given(field_storms(), SHARES, FAILURES, st.booleans())
    def test_responses_about_other_objects_do_not_count(
        self, generated: RandomCluster, part: float, outcome: AttemptOutcome, anew: bool
    ) -> None:
        before = generated.snapshot
        ends = [step for step in reconcile(before, NEWEST).steps if is_termination(step)]
        if not ends:
            return
        failed = ends[int(part * len(ends))]
        assert isinstance(failed.action, Delete)
        strange = tuple(
            (ref, replace(guard, uid="another")) if anew else (replace(ref, name="another"), guard)
            for ref, guard in failed.action.rests_on
        )
        action = replace(failed.action, basis=TerminationBasis(strange, of_long_ago(failed.action)))
        of_another = replace(failed, action=action)
        seen = replace(before, cliques=tuple(clique for clique in before.cliques if clique.ref != failed.target))
        known = replace(seen, attempts=(Attempt(of_another, outcome, "no"),))
        assert reconcile(known, NEWEST) == reconcile(seen, NEWEST)
        event(f"{outcome.value}, another {'incarnation' if anew else 'name'}")


class TestGF092:
    """A scaling group MUST count as ``GangTerminationInProgress`` from the termination of its replica of the set until
    its ``MinAvailableBreached`` is ``False``, even if the condition could not be written or another client completed
    the termination. No other part of the replica is protected by it.
    """

    @given(field_storms(), SHARES, FAILURES)
    @pytest.mark.req("GF-051")
    @pytest.mark.req("PL-028")
    def test_nothing_is_terminated_again_for_a_missing_flag(
        self, generated: RandomCluster, part: float, outcome: AttemptOutcome
    ) -> None:
        before = replace(generated.snapshot, complete=EVERY_KIND)
        plan = reconcile(before, NEWEST)
        flags = [step for step in plan.steps if isinstance(step.action, SetStatus) and step.action.report]
        if not flags:
            return
        failed = flags[int(part * len(flags))]
        there, untroubled = InMemoryCluster((before,)), InMemoryCluster((before,))
        execute_steps_sequentially(there.attempt_step, [step for step in plan.steps if step != failed])
        execute_steps_sequentially(untroubled.attempt_step, plan.steps)
        seen = there.snapshot_of_set(before.root.ref, before.now, (Attempt(failed, outcome, "no"),))
        as_planned = untroubled.snapshot_of_set(before.root.ref, before.now)
        assert seen is not None
        assert as_planned is not None
        then, wanted = reconcile(seen, NEWEST), reconcile(as_planned, NEWEST)
        assert {step.target for step in then.steps if is_termination(step)} == {
            step.target for step in wanted.steps if is_termination(step)
        }
        (planned,) = (one for one in as_planned.groups if one.ref == failed.target)
        again = [step for step in then.steps if step.target == failed.target and isinstance(step.action, SetStatus)]
        held = [one for one in then.withheld if one.target == failed.target]
        stored = condition_of(planned.status.conditions, MIN_AVAILABLE_BREACHED)
        is_well = not is_condition_true(stored) or stored.last_transition_time > before.now
        if outcome is AttemptOutcome.REFUSED:
            assert held or is_well
        else:
            assert any(step.action.report for step in again if isinstance(step.action, SetStatus)) or is_well
        event(f"{outcome.value}, well again: {is_well}")


@pytest.mark.req("GF-092")
class TestAFlagCountsWhereOthersCompletedTheTermination:
    """Where the responses to a termination of a replica of the set show that a part of it could not be deleted, and
    that termination is complete all the same (GF-091), a scaling group of that replica whose breach is not younger than
    the end of the delay MUST count as flagged, and the flag is written.
    """

    @given(field_storms(), SHARES, FAILURES)
    @pytest.mark.req("GF-051")
    @pytest.mark.req("GF-070")
    def test_nothing_is_terminated_again_where_another_client_deletes_the_cause(
        self, generated: RandomCluster, part: float, outcome: AttemptOutcome
    ) -> None:
        before = generated.snapshot
        root = before.root.ref
        ends = [step for step in ends_of_set(root, reconcile(before, NEWEST)) if step.stage is StepStage.CAUSE]
        if not ends:
            return
        failed = ends[int(part * len(ends))]
        (index,) = {one.replica_index for one in before.cliques if one.ref == failed.target}
        due_at = next(str(dict(reason.facts)["until"]) for reason in failed.because if "until" in dict(reason.facts))
        gone = tuple(one for one in before.cliques if one.replica_index != index)
        flagged_before = {one.ref for one in before.groups if is_condition_true(flag_in(one))}
        for seen in judge_gang_termination_by_go_operator(
            replace(before, cliques=gone, attempts=(Attempt(failed, outcome, "no"),)), GoOperatorRuleGeneration.F3
        ).groups:
            group, breach = seen.group, seen.breach
            if group.replica_index == index and not group.deleting and breach is not None:
                is_ended = seen.is_breached and format_time(breach.last_transition_time) <= due_at
                assert seen.has_termination_flag == (is_ended or group.ref in flagged_before)
                assert not (is_ended and seen.actionable_breach(timedelta()))
                event(f"{outcome.value}: flagged {seen.has_termination_flag}")


class TestGF090:
    """While a standalone PodClique or a scaling group is past its delay and is being deleted, no PodClique and no pod
    of its replica MUST be created, even if the replica is skipped for a missing PodClique (GF-070).
    """

    @pytest.mark.req("PL-002")
    @pytest.mark.req("WL-076")
    @pytest.mark.parametrize("rules", dict.fromkeys(rule_sets().values()), ids=lambda rules: rules.name)
    @RARELY
    @given(field_clusters(), st.integers(min_value=0, max_value=7), st.booleans())
    def test_nothing_is_terminated_twice_while_a_finalizer_keeps_the_cause(
        self, rules: RuleSet, generated: RandomCluster, which: int, held: bool
    ) -> None:
        seen = replace(generated.snapshot, complete=EVERY_KIND)  # so that what is missing is made
        if held and which < len(seen.cliques):
            clique = replace(seen.cliques[which], deleting=True, finalizers=(HOLD,))
            seen = replace(seen, cliques=(*seen.cliques[:which], clique, *seen.cliques[which + 1 :]))
        forecast = forecast_until_settled(InMemoryCluster((seen,)), seen, rules, limit=None, until=None)
        ended = Counter(step.target.name for round_ in forecast.rounds for step in round_.steps if is_termination(step))
        assert max(ended.values(), default=0) <= 1
        event(f"{min(len(ended), 3)} end in {min(len(forecast.rounds), 6)} rounds")
