"""What could not be written of a breach counts all the same (GT-067), by whatever rules."""

from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus, condition_of, is_condition_true
from grove_core.kernel.frozen import FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.rules import WithheldStepReason
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import breach_condition_of, object_after_status_write
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set, rule_sets
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.unwritten_breach_changes import with_unwritten_breach_changes
from grove_core.testing import RandomCluster, clusters, storms
from grove_core.testing.cluster_builder import START
from tests.property.gang_termination_field.worlds import field_storms
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw

FAILURES: Final = st.sampled_from([AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE])
Broken = PodClique | ScalingGroup


def reported(one: Broken, condition: Condition) -> Step:
    because: tuple[Reason, ...] = (WithheldStepReason.REFUSED_BEFORE.because(one.ref, detail="drawn"),)
    return Step(
        StepStage.STATUS, one.ref, SetStatus(FrozenMap({"conditions": (condition.as_json,)}), one.guard), because
    )


def breach(status: ConditionStatus, seconds: float = 0) -> Condition:
    return Condition(MIN_AVAILABLE_BREACHED, status, "Drawn", "", START + timedelta(seconds=seconds))


def stored(one: Broken) -> Condition | None:
    return condition_of(one.status.conditions, MIN_AVAILABLE_BREACHED)


def as_written(snapshot: Snapshot, steps: dict[Ref, Step]) -> Snapshot:
    """As if these statuses had been stored."""

    def written(one: Any) -> Any:
        action = steps[one.ref].action if one.ref in steps else None
        return object_after_status_write(one, action.fields) if isinstance(action, SetStatus) else one

    return replace(snapshot, groups=tuple(map(written, snapshot.groups)), cliques=tuple(map(written, snapshot.cliques)))


def breaches_after(snapshot: Snapshot, plan: Plan) -> dict[Ref, tuple[ConditionStatus, object] | None]:
    """What is stored of breaches once the statuses of a plan are written."""
    steps = {step.target: step for step in plan.steps if isinstance(step.action, SetStatus)}
    after = as_written(snapshot, steps)
    parts: tuple[Broken, ...] = (*after.groups, *after.cliques)
    found = {one.ref: stored(one) for one in parts}
    return {ref: None if one is None else (one.status, one.last_transition_time) for ref, one in found.items()}


def deletions(plan: Plan) -> set[Ref]:
    return {step.target for step in plan.steps if isinstance(step.action, Delete)}


class TestGT067:
    """If a PodClique or scaling group is stored as breached, has recovered, and the recovery could not be written to
    its status, the recovery and any later breach MUST count as if they were stored.
    """

    @pytest.mark.req("GT-019")
    @pytest.mark.parametrize("rules", [rule_set("design"), NEWEST], ids=["design", "field"])
    @given(
        st.one_of(storms(), clusters(), field_storms()),
        st.randoms(use_true_random=False),
        FAILURES,
    )
    def test_what_failed_decides_as_if_it_were_written(
        self, rules: RuleSet, generated: RandomCluster, chance: Any, outcome: AttemptOutcome
    ) -> None:
        snapshot = generated.snapshot
        steps, tried = dict[Ref, Step](), list[Step]()
        parts: tuple[Broken, ...] = (*snapshot.groups, *snapshot.cliques)
        for one in parts:
            before = stored(one)
            if not is_condition_true(before) or chance.random() < 0.3:
                continue
            span = int((snapshot.now - before.last_transition_time).total_seconds())
            if span < 3:
                continue
            moments = sorted(chance.sample(range(1, span), 2))
            truths = chance.choice(
                [
                    (ConditionStatus.TRUE,),
                    (ConditionStatus.FALSE,),
                    (ConditionStatus.UNKNOWN,),
                    (ConditionStatus.FALSE, ConditionStatus.TRUE),
                ]
            )
            for status, seconds in zip(truths, moments, strict=False):
                at = before.last_transition_time + timedelta(seconds=seconds)
                step = reported(one, Condition(MIN_AVAILABLE_BREACHED, status, "Drawn", "", at))
                tried.append(step)
                if truths[0] is not ConditionStatus.TRUE:
                    steps[one.ref] = step
        vain = replace(snapshot, attempts=tuple(Attempt(step, outcome, "no") for step in tried))
        as_if = as_written(snapshot, steps)
        found, wanted = reconcile(vain, rules), reconcile(as_if, rules)
        assert deletions(found) == deletions(wanted)
        assert found.wake_at == wanted.wake_at
        looked_at = {step.target for step in (*wanted.steps, *found.steps) if isinstance(step.action, SetStatus)}
        if outcome is not AttemptOutcome.REFUSED:  # else what says the same is held back
            after, as_wanted = breaches_after(snapshot, found), breaches_after(as_if, wanted)
            assert {ref: after[ref] for ref in looked_at & after.keys()} == {
                ref: as_wanted[ref] for ref in looked_at & as_wanted.keys()
            }
        event(f"{min(len(steps), 3)} statuses, {min(len(deletions(wanted)), 3)} deletions")

    def test_an_unwritten_breach_starts_no_clock(self) -> None:
        """The other way round a round is as good as the first one: nothing is terminated for what is not stored."""
        (clique,) = SEEN.cliques
        well = with_breach(clique, breach(ConditionStatus.FALSE))
        assert counted_breach(well, breach(ConditionStatus.TRUE, 10)) == breach(ConditionStatus.FALSE)

    def test_the_latest_counts_in_whatever_order(self) -> None:
        (clique,) = SEEN.cliques
        sick = with_breach(clique, breach(ConditionStatus.TRUE))
        over, anew = breach(ConditionStatus.FALSE, 10), breach(ConditionStatus.TRUE, 20)
        assert counted_breach(sick, over, anew) == counted_breach(sick, anew, over) == anew
        assert counted_breach(sick, over, breach(ConditionStatus.TRUE, 5)) == over
        assert counted_breach(sick, over, breach(ConditionStatus.FALSE, 5)) == over
        assert counted_breach(sick, breach(ConditionStatus.FALSE, -1)) == breach(ConditionStatus.TRUE)

    def test_of_one_second_the_one_that_was_tried_later_counts(self) -> None:
        """A relapse within the second of the recovery would have a clock that goes on and on."""
        (clique,) = SEEN.cliques
        sick = with_breach(clique, breach(ConditionStatus.TRUE))
        over, anew = breach(ConditionStatus.FALSE, 10), breach(ConditionStatus.TRUE, 10)
        assert counted_breach(sick, over, anew) == counted_breach(sick, anew, over, anew) == anew
        assert counted_breach(sick, anew, over) == over
        assert counted_breach(sick, over, replace(over, reason="Later")) == replace(over, reason="Later")

    def test_what_was_done_meanwhile_is_passed_over(self) -> None:
        (clique,) = SEEN.cliques
        sick, over = with_breach(clique, breach(ConditionStatus.TRUE)), breach(ConditionStatus.FALSE, 10)
        done = Attempt(reported(replace(clique, uid="another"), over), AttemptOutcome.DONE)
        assert counted_after(sick, done, Attempt(reported(sick, over), AttemptOutcome.CONFLICT, "no")) == over

    def test_it_may_be_over_within_the_second_in_which_it_began(self) -> None:
        """Moments are whole seconds: a clique that was ready again at once would be terminated hours later."""
        (clique,) = SEEN.cliques
        assert counted_breach(
            with_breach(clique, breach(ConditionStatus.TRUE)), breach(ConditionStatus.FALSE)
        ) == breach(ConditionStatus.FALSE)

    def test_a_breach_written_before_the_stored_one_was_read_is_the_same(self) -> None:
        """Its clock would be put off by as long as the answers take."""
        (clique,) = SEEN.cliques
        sick = with_breach(clique, breach(ConditionStatus.TRUE))
        assert counted_breach(sick, breach(ConditionStatus.TRUE, 5)) == breach(ConditionStatus.TRUE)
        assert counted_breach(sick, breach(ConditionStatus.FALSE, -10), breach(ConditionStatus.TRUE, 5)) == breach(
            ConditionStatus.TRUE
        )

    def test_what_was_another_says_nothing(self) -> None:
        (clique,) = SEEN.cliques
        sick, over = with_breach(clique, breach(ConditionStatus.TRUE)), breach(ConditionStatus.FALSE, 10)
        for step in (
            reported(replace(sick, uid="another"), over),
            reported(replace(sick, ref=replace(sick.ref, name="another")), over),
            reported(replace(sick, ref=replace(sick.ref, kind="PodCliqueSet")), over),
            reported(sick, replace(over, type="PodCliqueScheduled")),
            replace(reported(sick, over), action=SetStatus(FrozenMap({"replicas": 3}), sick.guard)),
        ):
            assert counted_after(sick, Attempt(step, AttemptOutcome.CONFLICT, "no")) == breach(ConditionStatus.TRUE)
        assert counted_after(sick, Attempt(reported(sick, over), AttemptOutcome.DONE)) == breach(ConditionStatus.TRUE)
        assert with_unwritten_breach_changes(SEEN) is SEEN


SEEN: Final = at_rest(applied(set_raw(clique_raw("x"), terminationDelay="4h")))


def with_breach(clique: PodClique, condition: Condition) -> PodClique:
    return replace(clique, status=replace(clique.status, conditions=(condition,)))


def counted_after(clique: PodClique, *attempts: Attempt) -> Condition | None:
    (found,) = with_unwritten_breach_changes(replace(SEEN, cliques=(clique,), attempts=attempts)).cliques
    assert found.status.stored_conditions == (() if found == clique else clique.status.conditions)
    return breach_condition_of(found.status)


def counted_breach(clique: PodClique, *conditions: Condition) -> Condition | None:
    return counted_after(clique, *(Attempt(reported(clique, one), AttemptOutcome.CONFLICT, "no") for one in conditions))


@pytest.mark.parametrize(
    ("refused", "tried"),
    [(ConditionStatus.FALSE, False), (ConditionStatus.TRUE, True), (ConditionStatus.UNKNOWN, True), (None, True)],
)
def test_pl012_what_says_otherwise_of_a_breach_is_another_write(
    refused: ConditionStatus | None, *, tried: bool
) -> None:
    (clique,) = SEEN.cliques
    sick = with_breach(
        clique, Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "Drawn", "", NOW - timedelta(hours=1))
    )
    seen = replace(SEEN, cliques=(sick,))
    (wanted,) = (step for step in reconcile(seen).steps if step.target == clique.ref)
    step = wanted if refused is None else reported(sick, replace(breach(refused), last_transition_time=NOW))
    if refused is None:
        step = replace(step, action=SetStatus(FrozenMap({"replicas": 7}), sick.guard))
    again = reconcile(replace(seen, attempts=(Attempt(step, AttemptOutcome.REFUSED, "no"),)))
    assert (clique.ref in {one.target for one in again.steps}) == tried
    assert (clique.ref in {one.target for one in again.withheld}) == (not tried)


@pytest.mark.req("GT-019")
@pytest.mark.parametrize("rules", dict.fromkeys(rule_sets().values()), ids=lambda rules: rules.name)
def test_gt067_a_breach_that_was_over_begins_anew(rules: RuleSet) -> None:
    (clique,) = SEEN.cliques
    sick = with_breach(clique, replace(breach(ConditionStatus.TRUE), last_transition_time=NOW - timedelta(hours=2)))
    sick = replace(sick, status=replace(sick.status, was_available=True, observed=1))
    over = reported(sick, replace(breach(ConditionStatus.FALSE), last_transition_time=NOW - timedelta(hours=1)))
    lost = tuple(replace(pod, scheduled=True, unready=True) for pod in SEEN.pods_of[clique.uid])
    seen = replace(SEEN, cliques=(sick,), pods_of=frozen_dict_of_tuples({clique.uid: lost}))

    def since(attempts: tuple[Attempt, ...]) -> object:
        plan = reconcile(replace(seen, attempts=attempts), rules)
        found = breaches_after(seen, plan)[clique.ref]
        return found and found[1]

    assert since(()) == NOW - timedelta(hours=2)
    assert since((Attempt(over, AttemptOutcome.CONFLICT, "no"),)) == NOW
