"""Sets that wait for nodes longer than their delay, as the Go operator terminates them while their pods start."""

from typing import Any, Final

import pytest

from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.simulator.recording.simulation_history import WriteEffect
from grove_shell.simulator.scenario.scenario import ScenarioKubeletSpec
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions, SimulationResult
from tests.simulation.run_helpers import entries_of, scenario
from tests.simulation.sample_sets import clique_raw, set_raw

Json = dict[str, Any]
SLOWLY: Final = ScenarioKubeletSpec(ready=15_000)
OPENS: Final = {"at": "10m", "addNodes": {"name": "late", "count": 6, "capacity": {"gpu": "1", "pods": "9"}}}
CRASH: Final = {"at": "9m", "crashOperator": {}}


def played(*events: Json, rules: str = "field", **more: Any) -> SimulationResult:
    manifest = set_raw(clique_raw("s", 4, 3), clique_raw("t", 1, 1))
    run = Simulation(
        scenario(*events, manifest=manifest, **{"nodes": 1, "kubelet": SLOWLY, **more}),
        SimulationOptions(rules=rule_set(rules)),
    ).run()
    assert not run.violation
    return run


@pytest.mark.parametrize("events", [(OPENS,), (CRASH, OPENS)], ids=["plain", "after a restart"])
def test_sm038_the_whole_replica_is_terminated_when_its_first_pods_start(events: tuple[Json, ...]) -> None:
    run = played(*events)
    both = [603_200, 603_200]
    assert [at for at, _ in entries_of(run, WriteEffect.TERMINATED)] == both
    assert run.history.terminations == 1
    assert [one.ready for one in run.clique_states] == [4, 1]


@pytest.mark.parametrize("rules", ["design", "field@v0.1.0-alpha.11"])
def test_sm038_no_other_rules_do_so(rules: str) -> None:
    assert played(OPENS, rules=rules).history.terminations == 0


def test_sm038_pods_that_are_ready_when_they_start_end_the_breach() -> None:
    run = played(OPENS, kubelet=ScenarioKubeletSpec())
    assert run.history.terminations == 0
    assert [one.ready for one in run.clique_states] == [4, 1]


def test_sm038_capacity_before_the_delay_is_early_enough() -> None:
    assert played({**OPENS, "at": "30s"}).history.terminations == 0
