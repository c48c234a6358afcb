"""Sets in mode `annotations`, and in-memory clusters to reconcile them in."""

from typing import Any, Final

from hypothesis import strategies as st

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import replace
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, MnnvlConfiguration, MnnvlMode
from grove_core.resources.owned_object import OwnedObject
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import NOW, ROUNDS, applied, clique_raw, raw_sets, set_raw

Json = dict[str, Any]
SCOPED: Final = Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))
ENABLED, SCOPE, CLASS = "grove.io/mnnvl-enabled", "grove.io/mnnvl-scope", "grove.io/mnnvl-device-class"
SHARED: Final = ("ComputeDomain", "ResourceClaim")
GPUS: Final[Json] = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}


def with_configuration(snapshot: Snapshot, configuration: Configuration = SCOPED) -> Snapshot:
    return replace(snapshot, configuration=configuration)


@st.composite
def annotated_sets(draw: st.DrawFn) -> Json:
    """Any valid set, with any annotations that admission accepts."""
    raw = draw(raw_sets())

    def some(*scopes: str) -> Json:
        found = {
            ENABLED: draw(st.sampled_from(["", "true", "true", "false"])),
            SCOPE: draw(st.sampled_from(["", *scopes])),
            CLASS: draw(st.sampled_from(["", "a.example.com"])),
        }
        return {key: text for key, text in found.items() if text}

    raw["metadata"]["annotations"] = some("replica")
    template = raw["spec"]["template"]
    for clique in template["cliques"]:
        clique["annotations"] = some("replica", "clique")
        if draw(st.booleans()):
            clique["spec"]["podSpec"] = GPUS
    for group in template["podCliqueScalingGroups"]:
        group["annotations"] = some("replica", "scalingGroupReplica")
    return raw


def shared_in(world: InMemoryCluster) -> dict[tuple[str, str], ComputeDomain | OwnedObject]:
    """Domains and claims that are shared by annotation, by kind and name."""
    return {
        (ref.kind, ref.name): item
        for ref, item in world.items.items()
        if isinstance(item, ComputeDomain | OwnedObject)
        and ref.kind in SHARED
        and "grove.io/mnnvl-managed" in item.labels
    }


def converged(world: InMemoryCluster, root: Ref, configuration: Configuration = SCOPED) -> Snapshot:
    """The snapshot after reconciling until no step is left; every plan satisfies all laws."""
    attempts: tuple[Attempt, ...] = ()
    world.configuration = configuration
    for _ in range(2 * ROUNDS):
        seen = world.snapshot_of_set(root, NOW, attempts)
        assert seen is not None
        plan = reconcile(seen)
        assert not broken_laws_in_plan(plan, seen)
        if not plan.steps:
            return replace(seen, attempts=())
        attempts = execute_steps_sequentially(world.attempt_step, plan.steps)
    raise AssertionError("no rest")


def converged_set(raw: Json) -> tuple[InMemoryCluster, Snapshot]:
    start = with_configuration(applied(raw))
    world = InMemoryCluster((start,))
    return world, converged(world, start.root.ref)


def half_shared(replicas: int = 1) -> Snapshot:
    """A converged set of a clique with scope `replica` and one that shares nothing."""
    cliques = (clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"}), clique_raw("b"))
    return converged_set(set_raw(*cliques, replicas=replicas))[1]


def without(labels: FrozenMap, *keys: str) -> FrozenMap:
    return FrozenMap({key: text for key, text in labels.items() if key not in keys})
