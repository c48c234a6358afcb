"""Sets of one name in several namespaces are kept apart, in the cluster and in the checks."""

from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_events import ApplySetScenarioEvent, ScenarioEvent
from grove_shell.simulator.simulation import Simulation
from tests.oracles import checked
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw

MANIFEST = set_raw(clique_raw("a", 2, 2), clique_raw("b", 1, 1))
DEV, PROD = (
    {**MANIFEST, "metadata": {**MANIFEST["metadata"], "namespace": namespace}} for namespace in ("dev", "prod")
)


def two_of_a_name(*, later: bool) -> Scenario:
    scenario = scenario_of(MANIFEST)
    events = (ScenarioEvent(at=5_000, apply_set=ApplySetScenarioEvent(manifest=PROD)),) if later else ()
    changed = {"sets": (DEV,) if later else (DEV, PROD), "events": events}
    return scenario.model_copy(update={"spec": scenario.spec.model_copy(update=changed)})


def test_sm080_two_sets_of_one_name_are_two() -> None:
    for later in (False, True):
        simulation = Simulation(two_of_a_name(later=later), checked())
        run = simulation.run()
        assert run.violation is None
        assert [(one.namespace, one.name, one.pods, one.ready) for one in run.clique_states] == [
            ("dev", "llm-0-a", 2, 2),
            ("dev", "llm-0-b", 1, 1),
            ("prod", "llm-0-a", 2, 2),
            ("prod", "llm-0-b", 1, 1),
        ]
        server = simulation.cluster.server
        uids = [item.uid for item in server.items.values()] + [
            pod.uid for found in server.pods.values() for pod in found
        ]
        assert len(set(uids)) == len(uids) > 20
