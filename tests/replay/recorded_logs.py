"""Decision logs of played clusters: what an operator of a scenario saw, recorded as a real one records it."""

import io
from functools import cache
from pathlib import Path
from typing import Final

from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.cache.cache_view import Observation
from grove_shell.replay.decision_log_format import DecisionLog
from grove_shell.replay.decision_log_recorder import DecisionLogRecorder
from grove_shell.simulator.recording.simulation_history import SimulationActor
from grove_shell.simulator.scenario.scenario_reader import read_scenario
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions

ROOT: Final = Path(__file__).parents[2]
SCENARIOS: Final = (
    "examples/scenarios/node-loss.yaml",
    "examples/scenarios/gang-scheduling.yaml",
    "examples/scenarios/topologies.yaml",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "golden" / "simulation").glob("*/scenario.yaml")),
)


def planned_round(snapshot: Snapshot, plan: Plan, name: str = "a plan") -> PlannedReconcileRound:
    """A round as an operator's listeners receive it."""
    root = snapshot.root.ref
    return PlannedReconcileRound(
        root_key=(root.namespace, root.name), plan_name=name, observation=snapshot, plan=plan, planning_seconds=0.0
    )


class Seen:
    """An observer that records the rounds of an operator, as its decision log does."""

    def __init__(self, rules: RuleSet = DESIGN) -> None:
        self.rules = rules
        self.out = io.StringIO()
        self.recorder = DecisionLogRecorder(DecisionLog(self.out), rules.name, "")
        self.snapshots: list[Snapshot] = []

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, objection: Reason | None) -> None:
        pass

    def on_operator_plan(self, _actor: SimulationActor, seen: Observation, plan: Plan) -> None:
        if isinstance(seen, Snapshot):
            self.snapshots.append(seen)
            self.recorder.on_round_planned(planned_round(seen, plan, f"plan-{len(self.snapshots)}"))

    def on_operator_write(self, actor: SimulationActor, seen: Observation, attempt: Attempt) -> None:
        pass

    def on_operator_crash(self, actor: SimulationActor, writes: int) -> None:
        pass


@cache
def played(scenario: str, rules: RuleSet = DESIGN) -> Seen:
    """What the operator of a scenario saw."""
    read = read_scenario(str(ROOT / scenario))
    assert read.scenario is not None
    seen = Seen(rules)
    Simulation(
        read.scenario, SimulationOptions(rules=rules, observers=(seen,)), dump=read.cluster, manifests=read.manifests
    ).run()
    return seen
