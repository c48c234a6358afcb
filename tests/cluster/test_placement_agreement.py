"""``grove topology check`` and ``grove simulate`` beside the scheduler of Kubernetes, for drawn gangs and nodes.

By hand, for many more: ``pytest --cluster --gangs 400 tests/cluster/test_placement_agreement.py``.
"""

import contextlib
import io
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_shell.cli.main import run_command_line
from grove_shell.settings.shared_settings import SchedulingSettings, TopologySettings
from grove_shell.simulator.scenario.scenario import ScenarioSchedulerSpec
from grove_shell.simulator.scenario.scenario_events import ScenarioNodePool
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions
from tests.cluster.api import Api, Json
from tests.cluster.drawn_gangs import ALL_LEVELS, GPU, HOST, DrawnGang, drawn_gang
from tests.cluster.operators import Operator
from tests.cluster.plane import ControlPlane
from tests.cluster.racks import QUIET_SECONDS
from tests.cluster.scenes import condition, is_living
from tests.simulation.sample_sets import scenario_of

pytestmark = pytest.mark.groups

TOPOLOGY: Final = "drawn"
AT_ONCE: Final = 25
TRIES: Final = 3
SET: Final = "drawn"


def topology() -> Json:
    spec = {"levels": list(ALL_LEVELS)}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": TOPOLOGY}, "spec": spec}


class Trials:
    """Gangs in namespaces with nodes of their own, under one operator for all namespaces."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def placed(self, gangs: Mapping[str, DrawnGang]) -> dict[str, dict[str, str]]:
        """Create gangs by their namespaces, wait until the scheduler has decided, and return the nodes of the pods.

        Returns:
            Namespace -> name of a pod -> its node, for the pods that have one.
        """
        for namespace, gang in gangs.items():
            self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            for node in gang.nodes:
                self.api.add_nodes([node.name], node.labels, **{GPU: str(node.gpus)})
        for gang in gangs.values():
            self.api.create(gang.manifest)
        deadline, since = time.monotonic() + 120, time.monotonic()
        found, missing = self._decided(gangs)
        while missing or time.monotonic() - since < QUIET_SECONDS:
            assert time.monotonic() < deadline, f"not decided: {missing}"
            time.sleep(0.3)
            now, missing = self._decided(gangs)
            if missing or now != found:
                found, since = now, time.monotonic()
        return found

    def close(self, gangs: Mapping[str, DrawnGang]) -> None:
        for namespace in gangs:
            self.api.delete("podcliquesets", SET, namespace)
        deadline = time.monotonic() + 60
        while any(pod["metadata"]["namespace"] in gangs for pod in self.api.all_of("pods")):
            assert time.monotonic() < deadline
            time.sleep(0.3)
        for namespace in gangs:
            self.api.request("DELETE", f"/api/v1/nodes?labelSelector=test%3D{namespace}")
            self.api.delete("namespaces", namespace)

    def _decided(self, gangs: Mapping[str, DrawnGang]) -> tuple[dict[str, dict[str, str]], list[str]]:
        """The nodes of pods, and the namespaces with pods that are missing or that the scheduler has not looked at."""
        pods = defaultdict[str, list[Json]](list)
        for pod in filter(is_living, self.api.all_of("pods")):
            pods[pod["metadata"]["namespace"]].append(pod)
        missing = [
            namespace
            for namespace, gang in gangs.items()
            if len(pods[namespace]) != gang.pods or not all(map(_is_decided, pods[namespace]))
        ]
        nodes = {
            namespace: {
                pod["metadata"]["name"]: pod["spec"]["nodeName"]
                for pod in pods[namespace]
                if pod["spec"].get("nodeName")
            }
            for namespace in gangs
        }
        return nodes, missing


def _is_decided(pod: Json) -> bool:
    return bool(pod["spec"].get("nodeName")) or condition(pod, "PodScheduled").get("reason") == "Unschedulable"


@pytest.fixture
def trials(grove_plane: ControlPlane, no_other_sets: None) -> Iterator[Trials]:
    api = grove_plane.api()
    api.create(topology())
    operator = Operator(grove_plane)
    operator.backend, operator.topology = "kubernetes", {"enabled": True, "levels": list(ALL_LEVELS)}
    operator.start()
    yield Trials(api)
    operator.kill()
    api.patch("clustertopologies", TOPOLOGY, patch={"metadata": {"finalizers": None}})
    api.delete("clustertopologies", TOPOLOGY)


def node_manifests(gang: DrawnGang) -> Iterator[Json]:
    for node in gang.nodes:
        room = {"cpu": "32", "memory": "256Gi", GPU: str(node.gpus), "pods": "110"}
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": node.name, "labels": {HOST: node.name, **node.labels}},
            "status": {"allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
        }


def checked(gang: DrawnGang, folder: Path) -> str:
    """The verdict of ``grove topology check`` on the gang."""
    file = folder / "cluster.json"
    items = [gang.manifest, topology(), *node_manifests(gang)]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        run_command_line(["topology", "check", "-f", str(file), "-o", "json"], "grove")
    (checked,) = json.loads(printed.getvalue())["sets"]
    (found,) = checked["own"]["gangs"]
    verdict: str = found["verdict"]
    return verdict


def simulated(gang: DrawnGang) -> int:
    """How many pods the simulated scheduler places."""
    scenario = scenario_of(podcliqueset_with_defaults(gang.manifest))
    by_topology = TopologySettings.model_validate({"enabled": True, "levels": list(ALL_LEVELS)})
    changes = {"scheduling": SchedulingSettings(backend="kubernetes"), "topology_aware_scheduling": by_topology}
    spec = scenario.spec.model_copy(
        update={
            "operator": scenario.spec.operator.model_copy(update=changes),
            "topologies": (topology(),),
            "scheduler": ScenarioSchedulerSpec(gang_aware=True),
            "nodes": tuple(
                ScenarioNodePool(name=node.name, labels=node.labels, capacity={GPU: str(node.gpus)})
                for node in gang.nodes
            ),
        }
    )
    simulation = Simulation(scenario.model_copy(update={"spec": spec}), SimulationOptions())
    simulation.run()
    return sum(bool(pod.node) for pod in simulation.cluster.all_pods())


def domains_of_parts(gang: DrawnGang, nodes: Mapping[str, str]) -> Iterator[set[str]]:
    """The domains of the nodes of each part with a constraint."""
    labels = {node.name: {HOST: node.name, **node.labels} for node in gang.nodes}
    keys = {level["domain"]: level["key"] for level in ALL_LEVELS}
    template = gang.manifest["spec"]["template"]
    groups = template.get("podCliqueScalingGroups", [])
    parts: list[tuple[Json, tuple[str, ...]]] = [(template, ("drawn-0-",))]
    for group in groups:
        members = tuple(f"drawn-0-pool-{replica}-" for replica in range(group["replicas"]))
        parts += [(group, (member,)) for member in members]
        parts += [
            (one, (f"{member}{one['name']}-",))
            for one in template["cliques"]
            if one["name"] in group["cliqueNames"]
            for member in members
        ]
    parts += [(one, (f"drawn-0-{one['name']}-",)) for one in template["cliques"]]
    for part, prefixes in parts:
        domain = part.get("topologyConstraint", {}).get("pack", {}).get("required")
        if domain:
            yield {labels[node][keys[domain]] for pod, node in nodes.items() if pod.startswith(prefixes)}


@pytest.mark.req("SC-011", "SC-014", "SM-101", "TP-100")
def test_sm101_drawn_gangs_are_placed_as_simulated_and_checked(
    trials: Trials, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """What cannot fit is never placed, and the simulated scheduler places what the real one places.

    A gang that fits and that the real scheduler does not place fails in the simulated one as well: both place parts in
    the order of their names, each pod on the emptiest node, and try no other order. The real scheduler chooses at
    random among nodes that are equally empty, so a gang with another result is placed again, in a namespace of its own.
    """
    seen = defaultdict[tuple[str, bool], int](int)
    count = pytestconfig.getoption("--gangs")
    for first in range(0, count, AT_ONCE):
        left = list(range(first, min(first + AT_ONCE, count)))
        placed = defaultdict[int, set[int]](set)
        for again in range(TRIES):
            gangs = {number: drawn_gang(number, f"gang-{number}-{again}", TOPOLOGY) for number in left}
            for number, pods in _placed_pods(trials, gangs, tmp_path).items():
                placed[number].add(pods)
            left = [number for number, gang in gangs.items() if simulated(gang) not in placed[number]]
            if not again:
                for number, gang in gangs.items():
                    seen[checked(gang, tmp_path), placed[number] != {0}] += 1
            if not left:
                break
        assert not left, {number: placed[number] for number in left}
    assert seen["Fits", True] > seen["Fits", False]
    assert seen["CannotFit", False]


def _placed_pods(trials: Trials, gangs: Mapping[int, DrawnGang], folder: Path) -> dict[int, int]:
    """How many pods of each gang the scheduler of Kubernetes places: all or none, in the domains required."""
    found = {}
    by_namespace = {gang.manifest["metadata"]["namespace"]: number for number, gang in gangs.items()}
    for namespace, nodes in trials.placed({name: gangs[number] for name, number in by_namespace.items()}).items():
        gang = gangs[by_namespace[namespace]]
        assert len(nodes) in {0, gang.pods}, namespace
        assert all(len(domains) <= 1 for domains in domains_of_parts(gang, nodes)), namespace
        assert not (nodes and checked(gang, folder) == "CannotFit"), namespace
        found[by_namespace[namespace]] = len(nodes)
    trials.close({name: gangs[number] for name, number in by_namespace.items()})
    return found
