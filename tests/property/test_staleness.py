"""A reviewed plan is still the plan, or it is stale (PL-020)."""

from typing import Final

from hypothesis import example, given
from hypothesis import strategies as st

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import Apply, Create, Delete, DeletionImpact, DropFinalizer, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan_staleness import changes_since_reviewed_plan
from grove_core.reconcile import reconcile
from grove_core.testing import RandomCluster, cluster_of, clusters
from tests.property.strategies.worlds import is_termination
from tests.property.terminating_sets import ENDING
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

GUARD: Final = Guard("uid", "7")


def aimed_at(step: Step, version: str) -> Step:
    """The same step on another version of the same object."""
    action = step.action
    if isinstance(action, Apply | SetStatus | Delete | DropFinalizer):
        return replace(step, action=replace(action, guard=Guard(action.guard.uid, version)))
    return step


@given(clusters(), st.permutations(range(6)))
def test_pl020_versions_and_order_are_no_news(generated: RandomCluster, order: list[int]) -> None:
    steps = reconcile(generated.snapshot).steps
    moved = [aimed_at(step, "later") for step in steps]
    moved.sort(key=lambda step: order[len(step.target.name) % 6])
    assert changes_since_reviewed_plan(steps, moved) == ()


@given(clusters())
def test_pl020_a_step_more_or_less_is_reported(generated: RandomCluster) -> None:
    steps = reconcile(generated.snapshot).steps
    for step in steps:
        rest = [other for other in steps if other is not step]
        gone, come = changes_since_reviewed_plan(steps, rest), changes_since_reviewed_plan(rest, steps)
        assert [(change.target, change.what, change.now) for change in gone] == [(step.target, "step", "")]
        assert [(change.target, change.what, change.before) for change in come] == [(step.target, "step", "")]
        assert step.target.short in str(gone[0])


@given(clusters(), st.integers(1, 50))
@example(cluster_of(ENDING), 1)
def test_pl020_a_fact_that_an_end_rests_on_is_reported(generated: RandomCluster, more: int) -> None:
    """Another number of pods, another moment since when: whatever the reviewer saw."""
    for step in filter(is_termination, reconcile(generated.snapshot).steps):
        first, *others = step.because
        name, value = first.facts[0]
        changed = f"{value}{more}" if isinstance(value, str) else value + more
        other = first._replace(facts=((name, changed), *first.facts[1:]))
        (found,) = changes_since_reviewed_plan([step], [replace(step, because=(other, *others))])
        assert (found.before, found.now) == (str(value), str(changed))
        assert isinstance(step.action, Delete)
        impact = (step.action.takes or DeletionImpact()) + DeletionImpact(pods=1)
        (found,) = changes_since_reviewed_plan([step], [replace(step, action=replace(step.action, takes=impact))])
        assert found.what == "what is written"


def test_pl020_another_rule_behind_the_same_step_is_reported() -> None:
    """Also where neither of the two has a fact."""
    ref = Life(set_raw(clique_raw("a", 1))).ref
    one, other = [why for why in WorkloadReason if not why.fact_names][:2]
    before, now = (Step(StepStage.CLEANUP, ref, Delete(GUARD), (why.because(ref),)) for why in (one, other))
    assert changes_since_reviewed_plan([before], [before]) == ()
    reported = {
        (change.what.partition(" ")[0], change.before, change.now)
        for change in changes_since_reviewed_plan([before], [now])
    }
    assert reported == {(one.code, "a reason", ""), (other.code, "", "a reason")}
    status = [replace(step, action=SetStatus(FrozenMap({"replicas": 1}), GUARD)) for step in (before, now)]
    assert changes_since_reviewed_plan(status[:1], status[1:]) == ()


def test_pl020_what_is_created_and_written_counts() -> None:
    life = Life(set_raw(clique_raw("a", 2)))
    seen = life.look()
    assert seen is not None
    steps = reconcile(seen).steps
    (clique,) = (step for step in steps if step.target.kind == "PodClique")
    assert isinstance(clique.action, Create)
    other = replace(clique, action=Create(FrozenMap({**clique.action.manifest, "kind": "x"})))
    assert [change.what for change in changes_since_reviewed_plan([clique], [other])] == ["what is written"]
    fields = [FrozenMap({"replicas": number, "lastTransitionTime": number}) for number in (1, 1, 2)]
    one, same, another = (Step(StepStage.STATUS, life.ref, SetStatus(each, GUARD), clique.because) for each in fields)
    assert changes_since_reviewed_plan([one], [same]) == ()
    (found,) = changes_since_reviewed_plan([one], [another])
    assert (found.what, found.before, found.now) == ("what is written", '{"replicas":1}', '{"replicas":2}')
    long = replace(one, action=SetStatus(FrozenMap({"selector": "x" * 500}), GUARD))
    assert len(str(changes_since_reviewed_plan([one], [long])[0])) < 300


def test_pl020_another_change_is_another() -> None:
    ref = Life(set_raw(clique_raw("a", 1))).ref
    because = (WorkloadReason.FINALIZER_REMOVED.because(ref, finalizer="one"),)
    one, other = (
        Step(StepStage.WORKLOAD, ref, Apply(FrozenMap({"spec": (number,)}), GUARD), because) for number in (1, 2)
    )
    assert changes_since_reviewed_plan([one], [one]) == ()
    assert [change.what for change in changes_since_reviewed_plan([one], [other])] == ["what is written"]


def test_pl020_a_release_of_another_finalizer_is_another() -> None:
    life = Life(set_raw(clique_raw("a", 1)))
    because = (WorkloadReason.FINALIZER_REMOVED.because(life.ref, finalizer="one"),)
    one, other = (Step(StepStage.CLEANUP, life.ref, DropFinalizer(name, GUARD), because) for name in ("one", "other"))
    assert [change.what for change in changes_since_reviewed_plan([one], [other])] == ["what is written"]
