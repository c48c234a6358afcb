"""Deletion: the pods first, the set last, and nothing stays behind."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from grove_core.areas.workload.rules import Why
from grove_core.kernel.steps import Delete, Outcome
from grove_core.reconcile import let_go, reconcile
from grove_core.resources.keys import SET_FINALIZER
from grove_shell.controller.act import act
from tests.property.workload.life import Life
from tests.property.workload.sets import Json, clique_raw, raw_sets, set_raw

RAW = set_raw(
    clique_raw("a", 2), clique_raw("b", 1), groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 2},), replicas=2
)


@pytest.mark.req("WL-230")
@pytest.mark.req("WL-231")
def test_wl231_a_set_is_not_gone_while_a_pod_of_it_is_there() -> None:
    """(B9, RS12) However slowly the pods stop."""
    life = Life(RAW, lingering=True)
    life.settle()
    life.world.delete(life.ref)
    for _ in range(6):
        plan = life.round()
        assert plan is not None
        assert life.all_pods()
        assert life.ref in life.world.items
        for step in plan.steps:
            assert step.target.kind != "Pod"
            assert not isinstance(step.action, Delete) or step.action.foreground
    assert all(pod.deleting for pod in life.all_pods())
    assert {why.rule for held in (plan.withheld if plan else ()) for why in held.because} == {Why.PARTS_REMAIN}
    life.settle()
    assert not life.world.items
    assert not life.all_pods()


@given(raw_sets())
@settings(max_examples=30)
def test_wl230_nothing_is_left_of_any_set(raw: Json) -> None:
    """No object, no pod, no finalizer (O10)."""
    life = Life(raw, lingering=True)
    life.settle()
    life.world.delete(life.ref)
    life.settle()
    assert not life.world.items
    assert not life.world.pods


def test_wl230_a_set_that_is_deleted_in_the_middle_of_an_update_goes_all_the_same() -> None:
    life = Life(RAW, lingering=True)
    life.settle()
    life.new_image("v2")
    for _ in range(6):
        life.round()
        life.kubelet()
    life.world.delete(life.ref)
    life.settle()
    assert not life.world.items


def test_wl001_cliques_whose_group_is_gone_are_let_go() -> None:
    life = Life(RAW)
    life.settle()
    life.world.delete(life.group("llm-0-pool").ref)
    life.settle()
    assert life.clique("llm-0-pool-0-b").owner_uid == life.group("llm-0-pool").uid
    assert all(clique.status.was_available for clique in [life.clique("llm-0-pool-0-b"), life.clique("llm-0-a")])


def test_wl232_without_a_look_at_the_cliques_the_set_is_held() -> None:
    life = Life(RAW)
    life.settle()
    seen = life.look()
    assert seen is not None
    going = replace(
        seen,
        root=replace(seen.root, deleting=True),
        cliques=(),
        groups=(),
        pods_of={},
        not_collected=frozenset({"PodClique"}),
    )
    plan = reconcile(going)
    assert plan.steps == ()
    assert Why.PARTS_NOT_COLLECTED in {why.rule for held in plan.withheld for why in held.because}
    assert SET_FINALIZER in seen.root.finalizers


def test_wl233_what_is_left_of_a_set_that_is_gone_is_let_go() -> None:
    """An operator that lost its lease makes a group and a clique in the very moment in which the set goes."""
    life = Life(RAW)
    life.settle()
    group, clique = life.group("llm-0-pool"), life.clique("llm-0-a")
    life.world.delete(life.ref)
    life.settle()
    assert not life.world.items
    for part in (group, clique):
        life.world.add(replace(part, deleting=True))
    assert life.world.leftovers() == [life.clique(clique.ref.name), life.group(group.ref.name)]
    for attempt in act(life.world, let_go(life.world.leftovers())):
        assert attempt.outcome is Outcome.DONE
    assert not life.world.items


def test_wl001_a_group_of_an_earlier_set_of_that_name_is_let_go_by_the_new_one() -> None:
    life = Life(RAW)
    life.settle()
    group = life.group("llm-0-pool")
    life.world.put(replace(group, uid="earlier", owner_uid="nobody", deleting=True))
    seen = life.look()
    assert seen is not None
    assert [part.uid for part in seen.groups if part.deleting] == ["earlier"]
    assert group.ref in {step.target for step in reconcile(seen).steps}
