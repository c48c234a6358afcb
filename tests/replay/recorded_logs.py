"""Decision logs of played clusters: what an operator of a scenario saw, recorded as a real one records it."""

import io
from functools import cache
from pathlib import Path
from typing import Final

from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import PlannedRound
from grove_shell.replay.decision_log_recorder import DecisionLogRecorder
from grove_shell.replay.log_format import DecisionLog
from grove_shell.simulator.scenario.reading import read_scenario
from grove_shell.simulator.simulation import Simulation, SimulationOptions

ROOT: Final = Path(__file__).parents[2]
SCENARIOS: Final = (
    "examples/scenarios/node-loss.yaml",
    "examples/scenarios/gang-scheduling.yaml",
    "examples/scenarios/topologies.yaml",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "golden" / "simulation").glob("*/scenario.yaml")),
)


def look_at(snapshot: Snapshot, plan: Plan, name: str = "a plan") -> PlannedRound:
    """A look as an operator's followers hear of it."""
    root = snapshot.root.ref
    return PlannedRound(
        root_key=(root.namespace, root.name), plan_name=name, observation=snapshot, plan=plan, planning_seconds=0.0
    )


class Seen:
    """An operator's mind that remembers what it was shown, and writes it down."""

    def __init__(self, rules: RuleSet = DESIGN) -> None:
        self.rules = rules
        self.out = io.StringIO()
        self.recorder = DecisionLogRecorder(DecisionLog(self.out), rules.name, "")
        self.snapshots: list[Snapshot] = []

    def decide(self, snapshot: Snapshot) -> Plan:
        plan = reconcile(snapshot, self.rules)
        self.snapshots.append(snapshot)
        self.recorder.on_planned(look_at(snapshot, plan, f"plan-{len(self.snapshots)}"))
        return plan


@cache
def played(scenario: str, rules: RuleSet = DESIGN) -> Seen:
    """What the operator of a scenario saw."""
    read = read_scenario(str(ROOT / scenario))
    assert read.scenario is not None
    seen = Seen(rules)
    Simulation(
        read.scenario, SimulationOptions(decide=seen.decide, rules=rules), dump=read.cluster, manifests=read.manifests
    ).run()
    return seen
