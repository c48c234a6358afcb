"""Random events in random order: the operator deletes nothing that is needed, and the set ends as wanted."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.steps import Create, Delete
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.testing.tape import ByteChoices
from tests.property.few_examples import RARELY
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

RAW: Final = set_raw(
    clique_raw("a", 2),
    clique_raw("b", 3, minAvailable=2),
    clique_raw("c", 1),
    clique_raw("d", 2, minAvailable=1),
    groups=(
        {"name": "pool", "cliqueNames": ["c"], "replicas": 2, "minAvailable": 1},
        {"name": "solo", "cliqueNames": ["d"], "replicas": 1, "minAvailable": 1},
    ),
    replicas=2,
)


def scale_set(life: Life, number: int) -> None:
    life.edit(replicas=number % 4)


def scale_part(life: Life, number: int) -> None:
    parts = [item for item in life.world.items.values() if isinstance(item, PodClique | ScalingGroup)]
    if parts:
        part = parts[number % len(parts)]
        life.scale(part.ref.name, part.min_available + number // 16 % 3)


def edit_template(life: Life, number: int) -> None:
    life.new_image(f"v{number % 4}", *(("a",), ("b", "c"), (), ("d",))[number // 4 % 4])


def change_strategy(life: Life, number: int) -> None:
    if number % 4 == 0:
        life.on_delete()


def lose_readiness(life: Life, number: int) -> None:
    pods = [pod for pod in life.all_pods() if pod.ready]
    if pods:
        life.world.put_pod(replace(pods[number % len(pods)], ready=False, trouble="CrashLoopBackOff"))


def end_a_pod(life: Life, number: int) -> None:
    pods = [pod for pod in life.all_pods() if not pod.deleting]
    if pods:
        life.world.put_pod(replace(pods[number % len(pods)], ready=False, phase=("Failed", "Succeeded")[number % 2]))


def delete_something(life: Life, number: int) -> None:
    refs = [*(pod.ref for pod in life.all_pods()), *(ref for ref in life.world.items if ref != life.ref)]
    if refs:
        life.world.delete_object(refs[number % len(refs)])


def take_a_hash_away(life: Life, number: int) -> None:
    cliques = [item for item in life.world.items.values() if isinstance(item, PodClique)]
    if cliques:
        life.world.put_object(replace(cliques[number % len(cliques)], template_hash=""))


def make_ready(life: Life, _: int) -> None:
    life.kubelet()


def look(life: Life, _: int) -> None:
    life.round()


HAPPENINGS: Final[tuple[Callable[[Life, int], None], ...]] = (
    look,
    make_ready,
    look,
    edit_template,
    scale_set,
    scale_part,
    lose_readiness,
    end_a_pod,
    delete_something,
    take_a_hash_away,
    change_strategy,
)


def play(data: bytes) -> Life:
    """Run a tape from a set at rest to the next rest."""
    life, tape = Life(RAW), ByteChoices(data)
    life.settle()
    while not tape.spent:
        happening = tape.pick(HAPPENINGS)
        happening(life, tape.byte())
        if happening is not look and tape.byte() % 2:
            life.round()
    life.settle()
    return life


@RARELY
@given(st.binary(max_size=60))
@pytest.mark.req("WL-215")
@pytest.mark.req("WL-219")
@pytest.mark.req("WL-224")
@pytest.mark.req("WL-020")
@pytest.mark.req("PL-002")
def test_whatever_happens_it_ends_as_wanted_and_nothing_falls_below_its_minimum(data: bytes) -> None:
    life = play(data)
    seen = life.look()
    assert seen is not None
    assert reconcile(replace(seen, attempts=())).settled
    on_delete = seen.root.spec.update_strategy.type == "OnDelete"
    assert {clique.replica_index for clique in seen.cliques} == set(range(seen.root.spec.replicas))
    for clique in seen.cliques:
        pods = seen.pods_of[clique.uid]
        assert len(pods) == clique.replicas
        assert all(pod.ready for pod in pods)
        assert on_delete or {pod.template_hash for pod in pods} <= {clique.template_hash}
        assert not clique.status.updating
    assert seen.root.status.updated == seen.root.spec.replicas or on_delete
    assert seen.root.status.available == seen.root.spec.replicas
    assert not seen.root.status.updating
    fresh = Life({**RAW})
    fresh.edit(replicas=seen.root.spec.replicas)
    fresh.settle()
    for group in seen.groups:
        fresh.scale(group.ref.name, group.replicas)
    fresh.settle()
    assert {ref for ref in life.world.items if ref != life.ref} == {
        ref for ref in fresh.world.items if ref != fresh.ref
    }


@pytest.mark.parametrize("grouped", [False, True])
def test_wl076_a_termination_that_broke_off_makes_nothing_new_first(grouped: bool) -> None:
    """The companions are gone, the operator was killed, the cause is still there."""
    pool = ({"name": "pool", "cliqueNames": ["a", "b"], "replicas": 2, "minAvailable": 1},)
    raw = set_raw(
        clique_raw("a", 2, minAvailable=2), clique_raw("b", 1), groups=pool if grouped else (), terminationDelay="1m"
    )
    life = Life(raw)
    life.settle()
    cause, companion = (life.clique(f"llm-0-pool-0-{name}" if grouped else f"llm-0-{name}") for name in "ab")
    for pod in life.pods(cause.ref.name):
        life.world.put_pod(replace(pod, ready=False))
    while (plan := life.round()) is not None and plan.steps:
        pass
    life.world.delete_object(companion.ref)
    life.now += timedelta(minutes=2)
    life.attempts = ()
    seen = life.look()
    assert seen is not None
    plan = reconcile(seen)
    assert [step.target for step in plan.steps if isinstance(step.action, Delete)] == [cause.ref]
    assert not [step for step in plan.steps if isinstance(step.action, Create)]
    life.settle()
    again = life.clique(companion.ref.name)
    assert again.uid != companion.uid
    assert life.clique(cause.ref.name).uid != cause.uid


def test_pl001_what_was_seen_stays_as_it_was_seen() -> None:
    """A kept snapshot is compared with a later one: by an observer, a recorder, a plan that is made again."""
    life = Life(set_raw(clique_raw("a", 2)))
    seen = []
    for _ in range(10):
        look = life.look()
        assert look is not None
        seen.append((look, repr(look)))
        life.round()
        life.kubelet()
    assert [repr(look) for look, _ in seen] == [as_seen for _, as_seen in seen]
