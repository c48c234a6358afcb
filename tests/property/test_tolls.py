"""What a deletion says that it takes along (PL-019)."""

import pytest
from hypothesis import given

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.steps import Delete, Toll
from grove_core.plan.toll import Tolls
from grove_core.reconcile import reconcile
from grove_core.resources.gpus import gpus_of
from tests.property.strategies.worlds import World, worlds
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw


@given(worlds())
def test_pl019_every_pod_goes_with_one_deletion(world: World) -> None:
    """What all deletions take along together are the pods of the deleted cliques, each once."""
    snapshot = world.snapshot
    plan = reconcile(snapshot)
    tolls = {step.target: step.action.takes for step in plan.steps if isinstance(step.action, Delete)}
    gone = {clique.uid for clique in snapshot.cliques if clique.ref in tolls}
    if "Pod" in snapshot.not_collected:
        assert not any(tolls.values())
        return
    cliques = [toll for ref, toll in tolls.items() if ref.kind == "PodClique"]
    pods = [pod for uid in gone for pod in snapshot.pods_of.get(uid, ()) if not pod.deleting]
    assert sum((toll for toll in cliques if toll is not None), Toll()) == Toll(
        len(pods), sum(pod.ready for pod in pods), 0
    )


def test_pl019_a_group_takes_what_is_not_deleted_by_itself() -> None:
    life = Life(
        set_raw(
            clique_raw(
                "w", 2, pod_spec={"containers": [{"name": "m", "resources": {"limits": {"nvidia.com/gpu": 4}}}]}
            ),
            groups=({"name": "pool", "cliqueNames": ["w"], "replicas": 2, "minAvailable": 1},),
        )
    )
    life.settle()
    seen = life.look()
    assert seen is not None
    group, member = life.group("llm-0-pool").ref, life.clique("llm-0-pool-0-w").ref
    assert Tolls(seen, {group}).of(group) == Toll(pods=4, ready=4, gpus=16)
    assert Tolls(seen, {group, member}).of(group) == Toll(pods=2, ready=2, gpus=8)
    assert Tolls(seen, {group, member}).of(member) == Toll(pods=2, ready=2, gpus=8)
    pod = life.pods("llm-0-pool-0-w")[0].ref
    assert Tolls(seen, {pod}).of(pod) == Toll(pods=1, ready=1, gpus=4)
    assert Tolls(seen, {group}).of(pod) is None
    assert Tolls(seen, set()).of(seen.root.ref) is None


@pytest.mark.parametrize(
    ("pod_spec", "gpus"),
    [
        ({}, 0),
        ({"containers": [{"name": "m"}]}, 0),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}] * 2}, 16),
        ({"containers": [{"resources": {"requests": {"nvidia.com/gpu": 2}}}]}, 2),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "many"}}}, "x", {"resources": 3}]}, 0),
        ({"containers": [], "initContainers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}] * 3}, 1),
        ({"containers": "x", "initContainers": None}, 0),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1" * 5000}}}]}, 0),
    ],
)
def test_pl019_what_a_pod_holds(pod_spec: object, gpus: int) -> None:
    frozen = freeze(pod_spec)
    assert isinstance(frozen, FrozenMap)
    assert gpus_of(frozen) == gpus
