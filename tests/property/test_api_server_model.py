"""The stateful model: whatever goes wrong, nothing is ended early, what must end ends, and then all is quiet.

Two drivers of one simulator: a byte tape for volume and small counterexamples, a rule-based machine where the readable
list of steps matters. And the proof that the suite has teeth: every known mistake is caught.
"""

import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from grove_core.kernel.steps import AttemptOutcome
from tests.property.few_examples import RARELY
from tests.property.gang_termination.mutants import MUTANTS
from tests.property.recorded_faults import play
from tests.property.simulated_rounds import CLIQUES, DELAY, GROUP, PODS, Simulation, Violated

WORLDS_TO_KILL = 2000


@RARELY
@given(st.binary(min_size=20, max_size=200))
@pytest.mark.req("GT-016")
@pytest.mark.req("GT-033")
@pytest.mark.req("GT-050")
@pytest.mark.req("WL-001")
def test_pl002_every_world_ends_well(tape: bytes) -> None:
    event(f"terminations {min(play(tape).terminations, 6)}")


@pytest.mark.req("GT-019")
@pytest.mark.req("GT-013")
@pytest.mark.req("GT-032")
@pytest.mark.req("GT-052")
@pytest.mark.parametrize("mutant", list(MUTANTS))
def test_gt016_every_known_mistake_is_caught(mutant: str) -> None:
    killed_by = next((seed for seed in range(WORLDS_TO_KILL) if dies(mutant, seed)), None)
    assert killed_by is not None, f"{mutant} survived {WORLDS_TO_KILL} worlds"


def dies(mutant: str, seed: int) -> bool:
    tape = random.Random(seed)
    try:
        play(tape.randbytes(tape.randrange(20, 200)), MUTANTS[mutant]())
    except Violated:
        return True
    return False


names = st.sampled_from(CLIQUES)
pods = st.integers(min_value=0, max_value=PODS - 1)


class Cluster(RuleBasedStateMachine):
    """The same simulator, step by readable step."""

    def __init__(self) -> None:
        super().__init__()
        self.simulation = Simulation()
        self.simulation.quiet_rounds()

    @rule(name=names, pod=pods)
    def a_pod_becomes_ready(self, name: str, pod: int) -> None:
        self.simulation.set_ready(name, pod, ready=True)

    @rule(name=names, pod=pods)
    def a_pod_fails(self, name: str, pod: int) -> None:
        self.simulation.set_ready(name, pod, ready=False)

    @rule(seconds=st.integers(min_value=1, max_value=90))
    def time_passes(self, seconds: int) -> None:
        self.simulation.pass_time(timedelta(seconds=seconds))

    @rule(kinds=st.integers(min_value=0, max_value=15))
    def the_operator_reconciles(self, kinds: int) -> None:
        self.simulation.catch_up(kinds)
        self.simulation.look()

    @rule(writes=st.integers(min_value=0, max_value=5))
    def the_operator_dies_between_writes(self, writes: int) -> None:
        self.simulation.catch_up(15)
        self.simulation.look(crash_after=writes)

    @rule(outcome=st.sampled_from([AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE]))
    def the_server_refuses(self, outcome: AttemptOutcome) -> None:
        self.simulation.look(outcome=outcome)

    @rule()
    def answers_get_lost(self) -> None:
        self.simulation.look(lie=True)

    @rule(name=st.sampled_from([*CLIQUES, GROUP.name]), updating=st.booleans())
    def a_rollout_begins_or_ends(self, name: str, updating: bool) -> None:
        self.simulation.set_updating(name, updating=updating)

    @rule(name=names)
    def another_client_writes(self, name: str) -> None:
        self.simulation.touch(name)

    @invariant()
    def the_watcher_sees_every_status(self) -> None:
        self.simulation.observe_statuses()

    def teardown(self) -> None:
        """Whatever happened, the cluster comes to rest and what must end has ended."""
        self.simulation.settle()


TestPL010: Any = Cluster.TestCase
"""After all attempts are lost the cluster MUST still come to rest."""
TestPL010.pytestmark = pytest.mark.no_cover  # other laws reach all that it does, in a sixth of the time


def test_gt033_the_simulator_terminates_what_outlives_its_delay() -> None:
    simulation = Simulation()
    for name in CLIQUES:
        for pod in range(PODS):
            simulation.set_ready(name, pod, ready=True)
    simulation.quiet_rounds()
    for pod in range(PODS):
        simulation.set_ready("llm-0-router", pod, ready=False)
    simulation.quiet_rounds()
    simulation.pass_time(DELAY)
    simulation.quiet_rounds()
    assert simulation.terminations == len(CLIQUES)
