"""The scheduler alone: gangs all or nothing, nodes within capacity, deterministic placement."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.structs import replace
from grove_core.resources.pod import Pod
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.cluster.simulated_nodes import nodes_of_pool, pod_resource_requests
from grove_shell.simulator.recording.simulation_history import UnplacedGangHistoryEntry
from grove_shell.simulator.scenario.scenario import ScenarioSchedulerSpec
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent, ScenarioNodePool
from grove_shell.simulator.scenario.scenario_field_types import parse_quantity_as_thousandths
from grove_shell.simulator.simulation import Simulation
from tests.oracles import checked
from tests.property.few_examples import RARELY
from tests.simulation.sample_sets import clique_raw, random_scenario, scenario_of, set_raw

Json = dict[str, Any]
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


def placed(seed: int, nodes: int, gpus: int, *, gang_aware: bool = True) -> Simulation:
    scenario = random_scenario(seed, mnnvl=False)
    changes = {
        "nodes": (ScenarioNodePool(name="n", count=nodes, capacity={"gpu": str(gpus)}),),
        "scheduler": ScenarioSchedulerSpec(gang_aware=gang_aware),
    }
    scenario = scenario.model_copy(update={"spec": scenario.spec.model_copy(update=changes)})
    simulation = Simulation(scenario, checked())
    assert simulation.run().violation is None
    return simulation


def pods_by_clique(cluster: SimulatedCluster) -> dict[str, list[Pod]]:
    return {clique.ref.name: cluster.server.pods[clique.uid] for clique in cluster.all_cliques()}


@RARELY
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 3))
@pytest.mark.req("SM-020")
def test_sm020_a_gang_is_placed_as_one_or_not_at_all(seed: int, nodes: int, gpus: int) -> None:
    simulation = placed(seed, nodes, gpus)
    pods = pods_by_clique(simulation.cluster)
    for gang in (item for item in simulation.cluster.server.items.values() if item.ref.kind == "PodGang"):
        counts = [
            (sum(bool(pod.node) for pod in pods[group.name]), group.min_replicas)
            for group in gang.groups  # type: ignore[union-attr]  # picked by its kind
        ]
        assert all(count >= least for count, least in counts) or not any(count for count, _ in counts)
    for node in simulation.nodes.values():
        assert sum(pod.node == node.name for found in pods.values() for pod in found) <= gpus


@RARELY
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 3))
def test_sm020_without_gangs_each_pod_that_fits_is_placed(seed: int, nodes: int, gpus: int) -> None:
    simulation = placed(seed, nodes, gpus, gang_aware=False)
    pods = [pod for found in pods_by_clique(simulation.cluster).values() for pod in found if not pod.gated]
    assert sum(bool(pod.node) for pod in pods) == min(len(pods), nodes * gpus)


@RARELY
@given(st.integers(0, 1000), st.integers(0, 100))
def test_sm020_a_gated_pod_waits(seed: int, order: int) -> None:
    simulation = placed(seed, 6, 3)
    pods = [pod for found in pods_by_clique(simulation.cluster).values() for pod in found]
    pod = Random(order).choice(pods)
    simulation.scheduler.pending.clear()
    simulation.cluster.put_pod(replace(pod, node="", scheduled=False, gated=True, ready=False, phase="Pending"))
    simulation.cluster.deliver_changes()
    assert pod.uid not in simulation.scheduler.pending


def one(pool: Json, pod_spec: Json, *, cordoned: bool = False) -> str:
    """Return the node of a single pod."""
    clique = clique_raw("a", 1, 1)
    clique["spec"]["podSpec"] |= pod_spec
    scenario = scenario_of(set_raw(clique))
    scenario = scenario.model_copy(
        update={"spec": scenario.spec.model_copy(update={"nodes": (ScenarioNodePool.model_validate(pool),)})}
    )
    simulation = Simulation(scenario)
    for node in simulation.nodes.values():
        node.cordoned = cordoned
    simulation.run()
    (pods,) = pods_by_clique(simulation.cluster).values()
    return pods[0].node


@pytest.mark.parametrize(
    ("pool", "pod_spec", "node"),
    [
        ({"name": "n", "capacity": {"gpu": "1"}}, {}, "n"),
        ({"name": "n", "capacity": {}}, {}, ""),
        ({"name": "n", "capacity": {"gpu": "1"}, "labels": {"zone": "b"}}, {"nodeSelector": {"zone": "a"}}, ""),
        ({"name": "n", "capacity": {"gpu": "1"}, "labels": {"zone": "a"}}, {"nodeSelector": {"zone": "a"}}, "n"),
        ({"name": "n", "capacity": {"gpu": "1"}}, {"nodeSelector": {"kubernetes.io/hostname": "n"}}, "n"),
        ({"name": "n", "capacity": {"gpu": "1", "pods": "0"}}, {}, ""),
        (
            {"name": "n", "capacity": {"gpu": "1", "cpu": "500m"}},
            {"initContainers": [{"resources": {"requests": {"cpu": "0.6"}}}]},
            "",
        ),
    ],
)
def test_sm020_a_node_must_suit(pool: Json, pod_spec: Json, node: str) -> None:
    assert one(pool, pod_spec) == node
    assert one(pool, pod_spec, cordoned=True) == ""


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1", 1000), ("500m", 500), ("0.1", 100), ("1k", 10**6), ("1Ki", 1024_000), ("2e3", 2 * 10**6), ("1E", 10**21),
     ("1n", 1), (".5", 500), ("5.", 5000), ("-1", None), ("1 Gi", None), ("Gi", None), ("", None), ("1gb", None)],
)  # fmt: skip
def test_sm020_quantities_are_read_as_kubernetes_writes_them(text: str, amount: int | None) -> None:
    assert parse_quantity_as_thousandths(text) == amount


def test_sm020_a_pod_asks_for_its_containers_or_its_largest_init_container() -> None:
    spec = freeze(
        {
            "containers": [
                {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "gpu": 1}}},
                {"resources": {"limits": {"cpu": "500m"}}},
                {"resources": {"limits": {"cpu": True, "gpu": "much"}}},
                {},
            ],
            "initContainers": [{"resources": {"requests": {"cpu": "4"}}}, {"resources": {"requests": {"gpu": 0.5}}}],
        }
    )
    assert isinstance(spec, FrozenMap)
    assert pod_resource_requests(spec).amounts == {"cpu": 4000, "gpu": 1000, "pods": 1000}


def test_sm020_names_of_nodes() -> None:
    assert [node.name for node in nodes_of_pool(ScenarioNodePool(name="n", count=2))] == ["n-0", "n-1"]
    assert [node.name for node in nodes_of_pool(ScenarioNodePool(name="n"))] == ["n"]


@pytest.mark.parametrize("gang_aware", [True, False])
def test_sm070_an_unplaced_gang_is_shown_once(gang_aware: bool) -> None:
    """Three useless nodes are added, then a useful one; two namespaces have a gang of the same name."""
    manifest = set_raw(clique_raw("a", 2, 2))
    sets = tuple({**manifest, "metadata": {"name": "llm", "namespace": space}} for space in ("dev", "prod"))
    useless = [
        ScenarioEvent(at=at, add_nodes=ScenarioNodePool(name=f"u{at}", count=1)) for at in (10_000, 20_000, 30_000)
    ]
    useful = ScenarioEvent(at=40_000, add_nodes=ScenarioNodePool(name="good", count=2, capacity={"gpu": "2"}))
    scenario = scenario_of(manifest)
    spec = {
        "sets": sets,
        "nodes": (ScenarioNodePool(name="n", count=1),),
        "events": (*useless, useful),
        "scheduler": ScenarioSchedulerSpec(gang_aware=gang_aware),
        "until": 60_000,
    }
    run = Simulation(scenario.model_copy(update={"spec": scenario.spec.model_copy(update=spec)}), checked()).run()
    assert run.violation is None
    unplaced = [one.content for one in run.history.entries if isinstance(one.content, UnplacedGangHistoryEntry)]
    assert sorted((one.subject.namespace, one.subject.name) for one in unplaced) == [
        ("dev", "llm-0"),
        ("prod", "llm-0"),
    ]
    assert [one.ready for one in run.clique_states] == [2, 2]
