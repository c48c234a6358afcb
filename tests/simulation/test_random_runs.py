"""Random runs keep every promise; operators with a known mistake break one, in a small scenario."""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_shell.simulator.operator.simulated_operator_process import SimulatedOperatorProcess
from grove_shell.simulator.random_events.randomized_scenario import RANDOM_EVENT_KINDS
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent
from grove_shell.simulator.simulation import Simulation
from tests.simulation.domain_mutants import DOMAIN_MUTANTS
from tests.simulation.group_mutants import GROUP_MUTANTS
from tests.simulation.mutants import MUTANTS, names_pods_at_random, terminates_at_once
from tests.simulation.random_runs import CHUNK, Tally, chunk, lines_of, main, played, random_run, smallest
from tests.simulation.sample_sets import random_scenario
from tests.simulation.shared_domain_mutants import SHARED_DOMAIN_MUTANTS, switched_on
from tests.simulation.topology_mutants import TOPOLOGY_MUTANTS, stirred

RUNS = 200
ENOUGH = 120
SOME = 20
# mistakes are found without, and sooner
SLOW_ANSWERS = frozenset({"slow_answers", "change_hashes"})
# seeds that once showed a defect of the operator or of a check
ONCE_BROKEN = (
    4238,
    4897,
    6356,
    10872,
    12820,
    13333,
    19704,
    30829,
    41701,
    70005,
    3_003_976,
    3_008_214,
    3_010_474,
    3_024_947,
    3_235_194,
    3_322_811,
    3_323_334,
    6_038_655,
    6_047_260,
    6_075_819,
    6_094_728,
    7_064_508,
    7_067_912,
    8_000_845,
    8_009_845,
    8_034_380,
    9_080_529,
    10_021_342,
    11_042_179,
    12_043_649,
)
# at which seed the rarer mistakes show
FOUND_AT = {
    "ensures nothing": 9,
    "packs while off": 9,
    "annotates later": 11,
    "evicts": 15,
    "writes no condition": 88,
    "forgets an index": 12,
    "keeps the condition": 12,
    "tries only once": 12,
    "waits for ever": 12,
    "takes any domain for its own": 13,
    "deletes pods twice": 15,
    "tidies by labels": 12,
    "follows always": 15,
    "thinks it was available": 17,
    "leaves the default": 18,
    "makes domains while off": 20,
    "never clears the condition": 23,
    "joins alone": 25,
    "all wait": 31,
    "makes domains for running replicas": 36,
    "deletes domains in use": 41,
    "ignores owners": 51,
    "judges anew": 84,
    "never wakes": 114,
    "uses a domain in deletion": 117,
}
SLOW = SLOW_ANSWERS | {"scale", "autoscale", "apply_set", "delete_set"}


@pytest.mark.parametrize("part", range(4))
@pytest.mark.req("SM-051")
def test_sm064_random_runs_keep_every_promise(part: int) -> None:
    size = ENOUGH // 4
    for seed in range(part * size, (part + 1) * size):
        violation = played(random_run(seed)).violation
        assert violation is None, f"python -m tests.simulation.random_runs --first {seed} --seeds 1 --shrink"


@pytest.mark.parametrize("seeds", [range(20), range(20, 40), ONCE_BROKEN], ids=["some", "more", "once broken"])
def test_sm064_random_runs_of_all_areas_keep_every_promise(seeds: Iterable[int]) -> None:
    for seed in seeds:
        violation = played(random_run(seed, mnnvl=True, topologies=True)).violation
        assert violation is None, (
            f"python -m tests.simulation.random_runs --mnnvl --topologies --first {seed} --seeds 1"
        )


def seeds_for(mistake: str, count: int = RUNS) -> Iterator[int]:
    """Yield all seeds, from the one at which the mistake was last found."""
    first = FOUND_AT.get(mistake, 0)
    yield from (*range(first, count), *range(first))


@pytest.mark.parametrize("mistake", MUTANTS)
def test_sm064_every_known_mistake_is_found(mistake: str) -> None:
    make, codes = MUTANTS[mistake]
    runs = (random_run(seed, without=SLOW) for seed in seeds_for(mistake))
    found = (run.violation.code for scenario in runs if (run := played(scenario, make())).violation is not None)
    assert any(code in codes for code in found)


def test_sm064_an_operator_that_forgets_responses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatedOperatorProcess, "_apply_response", lambda *_: None)
    runs = (played(random_run(seed, without=SLOW), names_pods_at_random()) for seed in range(RUNS))
    found = (run.violation.code for run in runs if run.violation is not None)
    assert any(code in {"RS1", "RS4", "PL", "O9"} for code in found)


@pytest.mark.parametrize("mistake", DOMAIN_MUTANTS)
def test_sm064_every_known_mistake_about_domains_is_found(mistake: str) -> None:
    make, codes = DOMAIN_MUTANTS[mistake]
    runs = (random_run(seed, mnnvl=True, mode="operator") for seed in seeds_for(mistake))
    found = (run.violation.code for scenario in runs if (run := played(scenario, make())).violation is not None)
    assert any(code in codes for code in found)


@pytest.mark.parametrize("mistake", SHARED_DOMAIN_MUTANTS)
def test_sm064_every_known_mistake_about_sharing_is_found(mistake: str) -> None:
    make, codes = SHARED_DOMAIN_MUTANTS[mistake]
    runs = (switched_on(random_run(seed, mnnvl=True, mode="annotations")) for seed in seeds_for(mistake))
    found = (found.code for scenario in runs if (found := Simulation(scenario, make()).run().violation) is not None)
    assert any(code in codes for code in found)


@pytest.mark.parametrize("part", range(2))
@pytest.mark.req("SM-011")
def test_sm064_random_runs_with_topologies_keep_every_promise(part: int) -> None:
    for seed in range(part * SOME, (part + 1) * SOME):
        violation = played(random_run(seed, topologies=True)).violation
        again = f"python -m tests.simulation.random_runs --topologies --first {seed} --seeds 1 --shrink"
        assert violation is None, again


@pytest.mark.parametrize("part", range(2))
@pytest.mark.req("SC-004", "SC-010", "SC-023", "SC-028")
def test_sm064_random_runs_with_groups_keep_every_promise(part: int) -> None:
    """Half of them have topologies, and some MNNVL."""
    for seed in range(part * SOME, (part + 1) * SOME):
        violation = played(random_run(seed, topologies=seed % 2 == 0, groups=True)).violation
        areas = "--groups --topologies" if seed % 2 == 0 else "--groups"
        again = f"python -m tests.simulation.random_runs {areas} --first {seed} --seeds 1 --shrink"
        assert violation is None, again


@pytest.mark.parametrize("mistake", GROUP_MUTANTS)
def test_sm064_every_known_mistake_about_groups_is_found(mistake: str) -> None:
    decide, codes = GROUP_MUTANTS[mistake]
    runs = (random_run(seed, mnnvl=False, groups=True, without=SLOW_ANSWERS) for seed in range(RUNS))
    found = (run.violation.code for scenario in runs if (run := played(scenario, decide)).violation is not None)
    assert any(code in codes for code in found)


@pytest.mark.parametrize("seed", range(SOME // 2))
def test_sm064_forbidden_writes_to_topologies_are_refused(seed: int) -> None:
    assert played(stirred(random_run(seed, topologies=True, mnnvl=False, without=SLOW))).violation is None


@pytest.mark.parametrize("mistake", TOPOLOGY_MUTANTS)
def test_sm064_every_known_mistake_about_topologies_is_found(mistake: str) -> None:
    make, codes = TOPOLOGY_MUTANTS[mistake]
    drawn = (
        random_run(seed, topologies=True, mnnvl=False, without=SLOW_ANSWERS) for seed in seeds_for(mistake, RUNS // 2)
    )
    runs = (found for one in drawn for found in (one, stirred(one)))
    found = (found.code for scenario in runs if (found := Simulation(scenario, make()).run().violation) is not None)
    assert any(code in codes for code in found)


def test_sm064_a_violation_is_shrunk() -> None:
    seed = next(seed for seed in range(RUNS) if broken(random_run(seed, without=SLOW)) == "GT5")
    before = random_run(seed, without=SLOW)
    after = smallest(before, "GT5", terminates_at_once)
    assert broken(after) == "GT5"
    assert len(after.spec.events) <= len(before.spec.events)
    for place in range(len(after.spec.events)):
        fewer = after.with_events((*after.spec.events[:place], *after.spec.events[place + 1 :]))
        assert broken(fewer) != "GT5"


def broken(scenario: Scenario) -> str:
    violation = played(scenario, terminates_at_once).violation
    return "" if violation is None else violation.code


@given(st.integers(0, 10**6))
def test_sm010_events_are_a_function_of_the_seed(seed: int) -> None:
    assert random_run(seed) == random_run(seed)
    assert list(random_run(seed).spec.events) == sorted(random_run(seed).spec.events, key=lambda event: event.at)
    kinds = {event.kind for event in random_run(seed, without=frozenset(RANDOM_EVENT_KINDS[1:])).spec.events}
    assert kinds == {RANDOM_EVENT_KINDS[0]}


def test_sm010_every_kind_of_event_is_drawn() -> None:
    drawn = {event.kind for seed in range(400) for event in random_run(seed).spec.events}
    drawn |= {event.kind for seed in range(100) for event in random_run(seed, topologies=True).spec.events}
    never = ScenarioEvent.model_fields.keys() - drawn - {"at"}
    assert never == {"add_nodes"}


@given(st.integers(0, 10**6))
def test_sm002_drawn_sets_are_sound(seed: int) -> None:
    (manifest,) = random_scenario(seed).spec.sets
    assert Scenario.model_validate(random_scenario(seed).as_json).spec.sets == (manifest,)


def test_sm064_volume_adds_up(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    state = f"{tmp_path}/state.json"
    quiet = ",".join(RANDOM_EVENT_KINDS[3:])
    assert main(["--seeds", "4", "--without", quiet, "--state", state]) == 0
    assert main(["--seeds", "8", "--without", quiet, "--state", state]) == 0
    assert "8 runs, 0 violations" in capsys.readouterr().out
    tally = chunk((0, 2, frozenset(RANDOM_EVENT_KINDS[3:]), None, None, False, False))
    assert Tally.of(tally.as_json) == tally
    assert CHUNK > 0
    assert any("GT-011" in line for line in lines_of(tally))
