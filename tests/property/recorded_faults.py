"""What a tape makes happen in the small cluster, event by event, until it rests."""

from datetime import timedelta
from typing import Final

from grove_core.kernel.steps import AttemptOutcome
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.testing.tape import ByteChoices
from tests.property.simulated_rounds import CLIQUES, DELAY, GROUP, PODS, Simulation


def play(data: bytes, rules: RuleSet = DESIGN) -> Simulation:
    """Run one tape to its end, and then to rest. Raises Violated."""
    tape, simulation = ByteChoices(data), Simulation(rules)
    simulation.quiet_rounds()
    if not tape.rarely():
        for name in CLIQUES:
            for pod in range(PODS):
                simulation.set_ready(name, pod, ready=True)
        simulation.quiet_rounds()
    while not tape.spent:
        happen(simulation, tape)
        simulation.observe_statuses()
    simulation.settle()
    return simulation


def happen(simulation: Simulation, tape: ByteChoices) -> None:
    """One event; looking is the most likely one."""
    name = CLIQUES[tape.byte() % len(CLIQUES)]
    event = EVENTS[tape.byte() % len(EVENTS)]
    event(simulation, tape, name)


def look(simulation: Simulation, tape: ByteChoices, _name: str) -> None:
    simulation.catch_up(15)
    simulation.note_availability()
    simulation.look()


def read_through_a_lagging_cache(simulation: Simulation, tape: ByteChoices, _name: str) -> None:
    simulation.catch_up(tape.byte() % 16)
    simulation.look()


def pass_some_time(simulation: Simulation, tape: ByteChoices, _name: str) -> None:
    simulation.pass_time(timedelta(seconds=tape.byte() % 30))


def pass_a_delay(simulation: Simulation, _tape: ByteChoices, _name: str) -> None:
    simulation.pass_time(DELAY)


def lose_a_pod(simulation: Simulation, tape: ByteChoices, name: str) -> None:
    simulation.set_ready(name, tape.byte() % PODS, ready=False)


def gain_a_pod(simulation: Simulation, tape: ByteChoices, name: str) -> None:
    simulation.set_ready(name, tape.byte() % PODS, ready=True)


def restart(simulation: Simulation, _tape: ByteChoices, _name: str) -> None:
    simulation.restart()


def die_between_writes(simulation: Simulation, tape: ByteChoices, _name: str) -> None:
    simulation.catch_up(15)
    simulation.look(crash_after=tape.byte() % 6)


def be_refused(simulation: Simulation, tape: ByteChoices, _name: str) -> None:
    simulation.catch_up(15)
    simulation.look(outcome=tape.pick((AttemptOutcome.REFUSED, AttemptOutcome.UNREACHABLE, AttemptOutcome.CONFLICT)))


def meet_another_writer(simulation: Simulation, _tape: ByteChoices, name: str) -> None:
    simulation.touch(name)


def update(simulation: Simulation, tape: ByteChoices, name: str) -> None:
    simulation.set_updating(tape.pick((name, GROUP.name)), updating=tape.byte() % 2 == 0)


def lose_the_answers(simulation: Simulation, _tape: ByteChoices, _name: str) -> None:
    simulation.catch_up(15)
    simulation.look(lie=True)
    simulation.recreate()


def jump_in_time(simulation: Simulation, tape: ByteChoices, _name: str) -> None:
    simulation.jump(timedelta(seconds=tape.byte() % 40 - 20))


EVENTS: Final = (
    look,
    look,
    look,
    read_through_a_lagging_cache,
    pass_some_time,
    pass_a_delay,
    lose_a_pod,
    lose_a_pod,
    gain_a_pod,
    restart,
    die_between_writes,
    be_refused,
    meet_another_writer,
    update,
    lose_the_answers,
    jump_in_time,
)
