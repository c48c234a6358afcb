"""A crash before or after any write leads to the same end; by default of five recorded scenarios."""

from typing import Final

import pytest

from grove_core.kernel.steps import Create
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator import simulation
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_reader import read_scenario
from grove_shell.simulator.simulation_run import SimulationOptions
from tests.simulation.crash_sweep import crash_sweep
from tests.simulation.crash_sweep_scenarios import RECORDED
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw

EDITED: Final = frozenset({"burst_of_edits", "a_gang_loses_a_pod_at_the_gate"})  # users act while the operator is away


def scenario(name: str) -> Scenario:
    found = read_scenario(str(RECORDED / name / "scenario.yaml"))
    assert found.scenario is not None, found.faults
    return found.scenario


def test_sm064_a_crash_at_any_write_leads_to_the_same_end(recorded: str) -> None:
    assert [
        (found.write, found.committed) for found in crash_sweep(scenario(recorded), names=recorded not in EDITED)
    ] == []


def test_sm064_another_end_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator that makes Services only in the first second of its set never makes them after a crash."""

    def forgetful(snapshot: Snapshot) -> Plan:
        plan = reconcile(snapshot)
        late = snapshot.now.second > 0
        steps = tuple(
            step
            for step in plan.steps
            if not (late and isinstance(step.action, Create) and step.target.kind == "Service")
        )
        return Plan(root=plan.root, root_uid=plan.root_uid, rules=plan.rules, steps=steps, findings=plan.findings)

    class Forgetful(simulation.Simulation):
        def __init__(self, played: Scenario, options: SimulationOptions) -> None:
            super().__init__(played, replace(options, decide=forgetful))

    monkeypatch.setattr("tests.simulation.crash_sweep.Simulation", Forgetful)
    found = next(crash_sweep(scenario_of(set_raw(clique_raw("a", 1, 1)))))
    assert not found.committed
    assert found.run.violation is not None or found.missing
