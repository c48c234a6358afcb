"""Findings during an update and a deletion: old cliques and pods, foreign finalizers."""

import pytest

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import SET_FINALIZER
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

TWO = set_raw(clique_raw("a", 2), clique_raw("b", 1), replicas=2)


def reported(plan: Plan, rule: WorkloadReason) -> dict[str, dict[str, object]]:
    """Name of the object -> facts, of findings with that reason."""
    return {
        finding.subject.name: dict(why.facts)
        for finding in plan.findings
        for why in finding.because
        if why.rule is rule
    }


def test_wl228_exactly_those_of_the_old_template_are_reported() -> None:
    """Until the last of them took over the present one."""
    life = Life(TWO)
    life.settle()
    old = {name: life.clique(name).template_hash for name in ("llm-0-a", "llm-0-b", "llm-1-a", "llm-1-b")}
    assert not reported(reconcile(life.look() or pytest.fail("gone")), WorkloadReason.OLD_TEMPLATE)
    life.new_image("v2", "a")
    seen = 0
    for _ in range(60):
        look = life.look()
        assert look is not None
        outdated = {name for name in old if name.endswith("-a") and life.clique(name).template_hash == old[name]}
        found = reported(reconcile(look), WorkloadReason.OLD_TEMPLATE)
        assert found.keys() == outdated
        seen += len(outdated)
        life.round()
        life.kubelet()
    assert seen
    assert life.clique("llm-1-a").template_hash != old["llm-1-a"]


def test_wl229_pods_of_an_old_template_are_counted() -> None:
    """In every round with a clique that took over the present template, and in no other."""
    life = Life(TWO)
    life.settle()
    life.new_image("v2", "a")
    counted: set[tuple[int, int]] = set()
    for _ in range(60):
        look = life.look()
        assert look is not None
        for name, facts in reported(reconcile(look), WorkloadReason.OLD_PODS).items():
            pods = life.pods(name)
            present = life.clique(name).template_hash
            assert facts["pods"] == str(len(pods)) or facts["pods"] == len(pods)
            old = sum(pod.template_hash != present for pod in pods if not pod.deleting)
            assert int(str(facts["outdated"])) == old > 0
            counted.add((old, len(pods)))
        life.round()
        life.kubelet()
    assert counted


@pytest.mark.parametrize(("others", "said"), [(("a.example/x", "b.example/y"), "a.example/x, b.example/y"), ((), "")])
def test_wl234_a_clique_that_else_holds_a_set_is_named(others: tuple[str, ...], said: str) -> None:
    life = Life(TWO)
    life.settle()
    life.world.put_object(replace(life.root, finalizers=(SET_FINALIZER, *others)))
    life.world.delete_object(life.ref)
    life.settle()
    if not others:
        assert life.look() is None
        return
    look = life.look()
    assert look is not None
    (held,) = reconcile(look).withheld
    assert (held.target, held.because[0].rule) == (life.ref, WorkloadReason.HELD_BY_OTHERS)
    assert dict(held.because[0].facts)["finalizers"] == said
