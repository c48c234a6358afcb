"""Gangs that groups of the Workload API place, under the simulated scheduler."""

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import COMPOSITE_KIND, COMPOSITES, POD_GANG, POD_GROUP_KIND, WORKLOADS
from grove_shell.cli.main import run_command_line
from grove_shell.settings.shared_settings import SchedulingSettings
from grove_shell.simulator.actors.gang_preemption import PodsPreemptedTogether
from grove_shell.simulator.actors.workload_groups_as_gangs import GroupTrees
from grove_shell.simulator.cluster.simulated_nodes import SimulatedNode
from grove_shell.simulator.recording.simulation_history import UnplacedGangHistoryEntry
from grove_shell.simulator.scenario.scenario import Scenario, ScenarioSchedulerSpec
from grove_shell.simulator.scenario.scenario_events import ScenarioNodePool
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions
from tests.property.few_examples import RARELY
from tests.simulation.sample_sets import clique_raw, random_scenario, scenario_of, set_raw

EXAMPLES = Path(__file__).parents[2] / "examples/kubernetes-gangs"
EXAMPLE = EXAMPLES / "scenario.yaml"


def played(scenario: Scenario, nodes: int, gpus: int) -> Simulation:
    """A scenario with so many nodes of so many GPUs, and an operator that makes groups."""
    spec = scenario.spec
    changes = {
        "nodes": (ScenarioNodePool(name="n", count=nodes, capacity={"gpu": str(gpus)}),),
        "scheduler": ScenarioSchedulerSpec(gang_aware=True),
        "operator": spec.operator.model_copy(update={"scheduling": SchedulingSettings(backend="kubernetes")}),
    }
    simulation = Simulation(scenario.model_copy(update={"spec": spec.model_copy(update=changes)}), SimulationOptions())
    simulation.run()
    return simulation


@RARELY
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 3))
@pytest.mark.req("SM-020")
def test_sm020_a_gang_in_groups_is_placed_as_one_or_not_at_all(seed: int, nodes: int, gpus: int) -> None:
    cluster = played(random_scenario(seed, mnnvl=False), nodes, gpus).cluster
    cliques = list(cluster.all_cliques())
    pods = {clique.ref.name: cluster.server.pods[clique.uid] for clique in cliques}
    trees = GroupTrees(cluster.server.items.values())
    for clique in cliques:
        found = trees.gang_of_pod_group("ml", clique.ref.name, str(clique.labels[POD_GANG]))
        assert found is not None
        counts = [(sum(bool(pod.node) for pod in pods[group.name]), group.min_replicas) for group in found.gang.groups]
        assert all(count >= least for count, least in counts) or not any(count for count, _ in counts)
    assert not [ref for ref in cluster.server.items if ref.kind == "PodGang"]


def test_sm020_a_gang_without_room_is_reported_by_its_root_group() -> None:
    simulation = played(scenario_of(set_raw(clique_raw("a", 3, 3))), 2, 1)
    entries = [one.content for one in simulation.history.entries if isinstance(one.content, UnplacedGangHistoryEntry)]
    assert entries[0].subject == Ref(COMPOSITES, COMPOSITE_KIND, "ml", "llm-0")


@pytest.mark.parametrize(
    "missing", [Ref(WORKLOADS, POD_GROUP_KIND, "ml", "llm-0-a"), Ref(COMPOSITES, COMPOSITE_KIND, "ml", "llm-0")]
)
def test_sm020_pods_wait_for_a_group_that_is_missing(missing: Ref) -> None:
    simulation = played(scenario_of(set_raw(clique_raw("a", 3, 3))), 2, 1)
    items = dict(simulation.cluster.server.items)
    assert GroupTrees(items.values()).gang_of_pod_group("ml", "llm-0-a", "llm-0") is not None
    del items[missing]
    assert GroupTrees(items.values()).gang_of_pod_group("ml", "llm-0-a", "llm-0") is None


@pytest.mark.req("SM-102")
@pytest.mark.parametrize("name", ["scenario.yaml", "preemption.yaml"])
def test_sm020_the_examples_of_groups_meet_their_expectations(name: str) -> None:
    assert run_command_line(["simulate", str(EXAMPLES / name)], "grove") == 0


def two_sets(urgent: dict[str, Any], *, pods: int, least: int, nodes: int = 4) -> dict[str, int]:
    """Pods on nodes by PodClique, after an urgent set came to nodes of one GPU that another one fills."""
    scenario = scenario_of(set_raw(clique_raw("a", pods, least)))
    urgent["metadata"]["name"] = "urgent"
    event = {"at": "10m", "applySet": {"manifest": urgent}}
    raw = scenario.as_json
    raw["spec"]["events"] = [event]
    raw["spec"]["nodes"] = [{"name": "n", "count": nodes, "capacity": {"gpu": "1"}}]
    raw["spec"]["operator"] = {"scheduling": {"backend": "kubernetes"}}
    raw["spec"]["scheduler"] = {"priorities": {"urgent": 1000, "low": -1}}
    raw["spec"]["until"] = "20m"
    simulation = Simulation(Scenario.model_validate(raw), SimulationOptions())
    simulation.run()
    return Counter(pod.name.rpartition("-")[0] for pod in simulation.cluster.all_pods() if pod.node)


@pytest.mark.req("SM-102")
@pytest.mark.parametrize(
    ("urgent", "least", "left"),
    [
        (set_raw(clique_raw("b", 2, 2), priorityClassName="urgent"), 4, {"urgent-0-b": 2}),
        (set_raw(clique_raw("b", 2, 2), priorityClassName="urgent"), 2, {"urgent-0-b": 2, "llm-0-a": 2}),
        (set_raw(clique_raw("b", 1, 1), priorityClassName="urgent"), 2, {"urgent-0-b": 1, "llm-0-a": 3}),
        (set_raw(clique_raw("b", 5, 5), priorityClassName="urgent"), 2, {"llm-0-a": 4}),
        (set_raw(clique_raw("b", 2, 2)), 2, {"llm-0-a": 4}),
        (set_raw(clique_raw("b", 2, 2), priorityClassName="low"), 2, {"llm-0-a": 4}),
    ],
)
def test_sm102_pods_of_a_lower_priority_make_room(urgent: dict[str, Any], least: int, left: dict[str, int]) -> None:
    """All pods go where all are needed, single ones where some are not, none where it is not enough."""
    assert two_sets(copy.deepcopy(urgent), pods=4, least=least) == left


@pytest.mark.req("SM-102")
def test_sm102_what_is_spared_first() -> None:
    """The highest priority, then groups before pods, then the group with more pods."""
    found = Simulation(scenario_of(set_raw(clique_raw("a", 1, 1))), SimulationOptions())
    found.run()
    (pod,) = found.cluster.all_pods()
    node = SimulatedNode("n", {}, {})
    units = [
        PodsPreemptedTogether(Ref(COMPOSITES, COMPOSITE_KIND, "ml", "low"), 0, [(pod, node)] * 9),
        PodsPreemptedTogether(pod.ref, 5, [(pod, node)]),
        PodsPreemptedTogether(Ref(WORKLOADS, POD_GROUP_KIND, "ml", "small"), 5, [(pod, node)]),
        PodsPreemptedTogether(Ref(WORKLOADS, POD_GROUP_KIND, "ml", "large"), 5, [(pod, node)] * 2),
        PodsPreemptedTogether(Ref(COMPOSITES, COMPOSITE_KIND, "ml", "high"), 5, [(pod, node)]),
    ]
    ranked = [one.of.name for one in sorted(units, key=lambda one: one.rank)]
    assert ranked == ["high", "large", "small", pod.name, "low"]


@pytest.mark.parametrize("more", [["--check"], ["--seeds", "3"]])
def test_sm051_promises_are_checked_of_groups_as_well(more: list[str]) -> None:
    assert run_command_line(["simulate", str(EXAMPLE), *more], "grove") == 0
