"""Gangs that groups of the Workload API place, under the simulated scheduler."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import COMPOSITES, POD_GANG, WORKLOADS
from grove_core.resources.owned_object import COMPOSITE_KIND, POD_GROUP_KIND
from grove_shell.cli.main import run_command_line
from grove_shell.settings.shared_settings import SchedulingSettings
from grove_shell.simulator.actors.gang_of_groups import GroupTrees
from grove_shell.simulator.recording.simulation_history import UnplacedGangHistoryEntry
from grove_shell.simulator.scenario.scenario import Scenario, ScenarioSchedulerSpec
from grove_shell.simulator.scenario.scenario_events import ScenarioNodePool
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions
from tests.property.few_examples import RARELY
from tests.simulation.sample_sets import clique_raw, random_scenario, scenario_of, set_raw

EXAMPLE = Path(__file__).parents[2] / "examples/kubernetes-gangs/scenario.yaml"


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


def test_sm020_the_example_of_groups_meets_its_expectations() -> None:
    assert run_command_line(["simulate", str(EXAMPLE)], "grove") == 0


@pytest.mark.parametrize("more", [["--check"], ["--seeds", "1"]])
def test_sm020_checks_of_podgangs_are_not_made_of_groups(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["simulate", str(EXAMPLE), *more], "grove") == 64
    assert "scheduling.backend" in capsys.readouterr().err
