"""Runs of small scenarios, and a recorder of their plans."""

from typing import Any

from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.recording.simulation_history import EntryKind, SimulationActor
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_field_types import WRITTEN
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions, SimulationResult
from grove_shell.views.simulation.simulation_run_document import history_entry_fields
from tests.oracles import checked
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw

Json = dict[str, Any]


def scenario(*events: Json, manifest: Json | None = None, nodes: int = 3, **spec: Any) -> Scenario:
    raw = scenario_of(manifest or set_raw(clique_raw("a", 2, 2)), nodes=nodes, gpus=1).as_json
    raw["spec"] |= {"events": list(events), **spec}
    return Scenario.model_validate(raw, context=WRITTEN)


def run(*events: Json, check: bool = True, **more: Any) -> SimulationResult:
    found = Simulation(scenario(*events, **more), checked() if check else SimulationOptions()).run()
    assert found.violation is None, found.violation
    return found


def entries_of(found: SimulationResult, what: EntryKind) -> list[tuple[int, str]]:
    """Return time and detail of the entries of a kind."""
    entries = (entry for entry in found.history.entries if entry.kind is what)
    return [(entry.at, history_entry_fields(entry.content)[2]) for entry in entries]


def changes_of_pods(found: SimulationResult) -> list[ObjectChange]:
    return [change for change in found.changes if change.kind == "Pod"]


class PlanRecorder:
    """Records the snapshot of each plan, and the attempts of its steps."""

    def __init__(self) -> None:
        self.seen: list[tuple[Snapshot, Plan]] = []
        self.answers: list[Attempt] = []

    def on_operator_plan(self, _actor: SimulationActor, seen: Observation, plan: Plan) -> None:
        if isinstance(seen, Snapshot):
            self.seen.append((seen, plan))

    def on_operator_write(self, _actor: SimulationActor, _seen: Observation, attempt: Attempt) -> None:
        self.answers.append(attempt)

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, objection: Reason | None) -> None:
        pass

    def on_operator_crash(self, actor: SimulationActor, writes: int) -> None:
        pass


def watched(*events: Json, **more: Any) -> tuple[PlanRecorder, SimulationResult]:
    eyes = PlanRecorder()
    found = Simulation(scenario(*events, **more), SimulationOptions(observers=(eyes,))).run()
    return eyes, found
