"""Very many random runs: ``python -m tests.simulation.random_runs --seeds 20000 -j 2 --state runs.json``.

Each seed gives a small scenario with a set, nodes, events and faults. With a state file a long search can be stopped
and continued. The table shows which kinds of events happened, which rules of the core were a reason, and the runs per
second.
"""

import argparse
import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Final

from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_shell.cache.cache_view import Observation
from grove_shell.settings.shared_settings import MnnvlSettings
from grove_shell.simulator.operator.simulated_operator import Decide
from grove_shell.simulator.random_events.randomized_scenario import smallest_failing_scenario, with_random_events
from grove_shell.simulator.recording.simulation_history import SimulationActor
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationResult
from grove_shell.views.renderers import format_yaml_document
from tests.oracles import checked
from tests.simulation.sample_sets import random_scenario

CHUNK: Final = 50


def random_run(
    seed: int,
    *,
    without: frozenset[str] = frozenset(),
    mnnvl: bool | None = None,
    mode: str | None = None,
    topologies: bool = False,
    groups: bool = False,
) -> Scenario:
    """Return the scenario of a seed; with MNNVL in a mode, without, or at random; with topologies and groups or not."""
    drawn = random_scenario(seed, mnnvl=mnnvl, mode=mode, topologies=topologies, groups=groups)
    return with_random_events(drawn, seed, without=without)


def played(scenario: Scenario, decide: Decide | None = None, *, rules: "RulesSeen | None" = None) -> SimulationResult:
    """Run a scenario with all checks and without history entries."""
    observers = (rules,) if rules is not None else ()
    return Simulation(scenario, checked(counts_only=True, observers=observers, decide=decide)).run()


def smallest(scenario: Scenario, code: str, decide: Decide | None = None) -> Scenario:
    """Return a small scenario that breaks the same promise."""

    def fails(candidate: Scenario) -> bool:
        found = played(candidate, decide).violation
        return found is not None and found.code == code

    return smallest_failing_scenario(scenario, fails)


class RulesSeen:
    """Collects the rules that were a reason in one run."""

    def __init__(self) -> None:
        self.hit: set[str] = set()

    def on_operator_plan(self, _actor: SimulationActor, _seen: Observation, plan: Plan) -> None:
        for because in (
            *(finding.because for finding in plan.findings),
            *(step.because for step in plan.steps),
            *(held.because for held in plan.withheld),
        ):
            self.hit.update(f"{why.rule.requirement} {why.rule.code}" for why in because)

    def on_operator_write(self, actor: SimulationActor, seen: Observation, attempt: Attempt) -> None:
        pass

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, objection: Reason | None) -> None:
        pass

    def on_operator_crash(self, actor: SimulationActor, writes: int) -> None:
        pass


@dataclass
class Tally:
    """Counts of some runs.

    Attributes:
        violations: seed -> code and message.
    """

    runs: int = 0
    seconds: float = 0.0
    terminations: int = 0
    with_mnnvl: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    violations: dict[int, str] = field(default_factory=dict)

    def add(self, other: "Tally") -> None:
        self.runs += other.runs
        self.seconds += other.seconds
        self.terminations += other.terminations
        self.with_mnnvl += other.with_mnnvl
        self.kinds.update(other.kinds)
        self.rows.update(other.rows)
        self.violations.update(other.violations)

    @property
    def as_json(self) -> dict[str, Any]:
        return {**self.__dict__, "violations": {str(seed): message for seed, message in self.violations.items()}}

    @classmethod
    def of(cls, raw: dict[str, Any]) -> "Tally":
        violations = {int(seed): message for seed, message in raw.pop("violations").items()}
        kinds, rows = Counter(raw.pop("kinds")), Counter(raw.pop("rows"))
        return cls(**raw, kinds=kinds, rows=rows, violations=violations)


def chunk(job: tuple[int, int, frozenset[str], bool | None, str | None, bool, bool]) -> Tally:
    """Run some seeds one after the other."""
    first, count, without, mnnvl, mode, topologies, groups = job
    tally, start = Tally(), time.process_time()
    gc.disable()
    for seed in range(first, first + count):
        scenario = random_run(seed, without=without, mnnvl=mnnvl, mode=mode, topologies=topologies, groups=groups)
        rules = RulesSeen()
        run = played(scenario, rules=rules)
        tally.runs += 1
        tally.terminations += run.history.terminations
        tally.with_mnnvl += scenario.spec.operator.mnnvl != MnnvlSettings()
        tally.kinds.update({event.kind for event in scenario.spec.events})
        tally.rows.update(rules.hit)
        if run.violation is not None:
            tally.violations[seed] = f"{run.violation.code} {run.violation.message}"
    gc.enable()
    gc.collect()
    tally.seconds = time.process_time() - start
    return tally


def lines_of(tally: Tally) -> Iterator[str]:
    """Yield the lines of the table."""
    rate = tally.runs / tally.seconds if tally.seconds else 0.0
    yield f"{tally.runs:,} runs, {len(tally.violations):,} violations, {tally.terminations:,} terminations"
    yield f"{rate:.0f} runs/s of processor time; {tally.with_mnnvl:,} runs with MNNVL"
    yield "runs in which an event happened:"
    yield from (f"  {kind:<16} {count:>8,}" for kind, count in tally.kinds.most_common())
    yield "runs in which a rule was a reason:"
    yield from (f"  {rule:<64} {count:>8,}" for rule, count in sorted(tally.rows.items()))
    yield from (f"seed {seed}: {message}" for seed, message in sorted(tally.violations.items())[:20])


def main(arguments: list[str]) -> int:
    """Run the seeds and print the table; return 3 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.random_runs")
    parser.add_argument("--seeds", type=int, default=1000, help="how many runs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("-j", type=int, default=1, dest="jobs", help="processes")
    parser.add_argument("--without", default="", help="kinds of events that are not drawn, with commas")
    parser.add_argument("--state", type=Path, help="file with the counts so far; the search continues from it")
    parser.add_argument("--shrink", action="store_true", help="print a small scenario of the first violation")
    parser.add_argument("--mnnvl", action="store_true", help="MNNVL in every run, not in every third")
    parser.add_argument("--mode", choices=("operator", "annotations"), help="mode of MNNVL in every run that has it")
    parser.add_argument("--topologies", action="store_true", help="topologies in every run")
    parser.add_argument("--groups", action="store_true", help="gangs in groups of the Workload API in every run")
    options = parser.parse_args(arguments)
    tally = Tally()
    if options.state is not None and options.state.exists():
        tally = Tally.of(json.loads(options.state.read_text(encoding="utf-8")))
    without = frozenset(filter(None, options.without.split(",")))
    first, end = options.first + tally.runs, options.first + options.seeds
    mnnvl = True if options.mnnvl else None
    how = (without, mnnvl, options.mode, options.topologies, options.groups)
    jobs = [(seed, min(CHUNK, end - seed), *how) for seed in range(first, end, CHUNK)]
    with Pool(options.jobs) as pool:
        for done in pool.imap(chunk, jobs):
            tally.add(done)
            if options.state is not None:
                options.state.write_text(json.dumps(tally.as_json), encoding="utf-8")
    sys.stdout.write("".join(f"{line}\n" for line in lines_of(tally)))
    if tally.violations and options.shrink:
        seed = min(tally.violations)
        areas = {"mnnvl": mnnvl, "mode": options.mode, "topologies": options.topologies, "groups": options.groups}
        one = random_run(seed, without=without, **areas)
        small = smallest(one, tally.violations[seed].partition(" ")[0])
        sys.stdout.write(format_yaml_document(small.as_json))
    return 3 if tally.violations else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
