"""Why a plan deletes an object, or does not (AF-007, AF-008): every object of arbitrary clusters."""

from hypothesis import given
from hypothesis import strategies as st

from grove_core.deletion_reasons import deletion_reasons_in_plan, findings_on_object
from grove_core.kernel.questions import BREACH, TERMINATION
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.testing import RandomCluster, clusters, storms


@given(st.one_of(clusters(), storms()))
def test_af007_an_object_has_the_reasons_of_the_step_that_deletes_it(generated: RandomCluster) -> None:
    plan = reconcile(generated.snapshot)
    deletions = {step.target: step for step in plan.steps if isinstance(step.action, Delete)}
    for clique in generated.snapshot.cliques:
        found = deletion_reasons_in_plan(plan, clique.ref, clique.uid)
        step = deletions.get(clique.ref)
        assert (found is None) == (step is None)
        assert deletion_reasons_in_plan(plan, clique.ref, "another uid") is None
        if found is None or step is None:
            continue
        assert isinstance(step.action, Delete)
        assert (found.because, found.terminates) == (step.because, step.action.terminates)
        assert found == deletion_reasons_in_plan(plan, clique.ref, "")
        triggers = {one.trigger for one in found.terminates}
        assert triggers <= {one.subject for one in found.breaches}, "the breach of each trigger is among them"
        assert all(one.question == BREACH for one in found.breaches)


@given(st.one_of(clusters(), storms()))
def test_af007_later_rounds_count_where_the_plan_has_no_deletion(generated: RandomCluster) -> None:
    plan = reconcile(generated.snapshot)
    empty = replace(plan, steps=())
    for step in plan.steps:
        if isinstance(step.action, Delete):
            found = deletion_reasons_in_plan(empty, step.target, step.action.guard.uid, plan.steps)
            assert found is not None
            assert found.because == step.because


@given(st.one_of(clusters(), storms()))
def test_af008_the_verdicts_instead_are_those_on_the_object_and_its_replicas(generated: RandomCluster) -> None:
    snapshot = generated.snapshot
    plan = reconcile(snapshot)
    for clique in snapshot.cliques:
        within = clique.enclosing_replicas(snapshot.root.ref)
        found = findings_on_object(plan, clique.ref, within)
        assert found == tuple(
            one
            for one in plan.findings
            if one.question in {BREACH, TERMINATION} and one.subject in {clique.ref, *within}
        )
