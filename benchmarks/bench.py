"""One run of the benchmarks: how much is measured, with which files, in which processes."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

from benchmarks.data.lists import Form, write_list
from benchmarks.samples import Numbers, Runs, Samples

_ROOT: Final = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much to measure. Exponents span ``few`` to ``many``, or to ``most`` for decisions.

    Attributes:
        rounds: how often each thing is timed; start-up, which is short, ``starts`` times.
        looked_at: so many pods are looked at by one measurement of decisions, in as many rounds as it takes.
        warm: whether each program runs once before it is measured.
    """

    few: int
    some: int
    many: int
    most: int
    rounds: int
    starts: int
    looked_at: int = 50_000
    warm: bool = True


FULL: Final = Sizes(few=1_000, some=10_000, many=100_000, most=1_000_000, rounds=5, starts=11)
QUICK: Final = Sizes(few=1_000, some=1_000, many=10_000, most=100_000, rounds=5, starts=11)
TINY: Final = Sizes(few=80, some=80, many=160, most=160, rounds=1, starts=1, looked_at=160, warm=False)


@dataclass(frozen=True)
class Bench:
    """One run: a folder for its files, and how much to measure."""

    folder: Path
    sizes: Sizes
    _decisions: dict[int, Mapping[str, list[float]]] = field(default_factory=dict)

    def file(self, form: Form, pods: int, *, owners: bool = False, annotated: bool = False) -> str:
        """A list of that many pods; written when first asked for."""
        path = self.folder / f"{'cluster' if owners else 'pods'}-{pods}{'-annotated' * annotated}{form.value}"
        if not path.exists():
            write_list(path, form, pods, owners=owners, annotated=annotated)
        return str(path)

    @property
    def environment(self) -> dict[str, str]:
        """Of the processes that are measured: compiled modules are kept, as in an installation, but in our folder."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return kept | {"PYTHONPYCACHEPREFIX": str(self.folder / "pycache")}

    def probe(self, name: str, options: Numbers) -> Numbers:
        """Measure in a fresh process."""
        command = [sys.executable, "-m", "benchmarks.probes", name, json.dumps(options)]
        done = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, env=self.environment)
        answer: Numbers = json.loads(done.stdout)
        return answer

    def in_turn(self, *probes: tuple[str, Numbers], rounds: int = 0) -> list[list[Numbers]]:
        """Run some probes one after the other, round by round; for each the list of its answers."""
        answers: list[list[Numbers]] = [[] for _ in probes]
        for _ in range(rounds or self.sizes.rounds):
            for (name, options), found in zip(probes, answers, strict=True):
                found.append(self.probe(name, options))
        return answers

    def decisions(self, pods: int) -> Mapping[str, list[float]]:
        """Decision times of a cluster; measured once, for several rows ask for them."""
        if pods not in self._decisions:
            whole = pods <= self.sizes.many
            sizes = self.sizes
            options = {"pods": pods, "rounds": sizes.rounds, "looked_at": sizes.looked_at, "whole_plans": whole}
            self._decisions[pods] = self.probe("decisions", options)
        return self._decisions[pods]

    def commands_in_order(self, commands: Sequence[Sequence[str]], rounds: int) -> list[Runs]:
        """Times of some programs, after one run of each that warms up unless the sizes are tiny."""
        times: list[list[tuple[float, float]]] = [[] for _ in commands]
        for measured in range(-1 if self.sizes.warm else 0, rounds):
            for command, found in zip(commands, times, strict=True):
                start, used = perf_counter(), _processor_time_of_children()
                subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.DEVNULL, env=self.environment)
                if measured >= 0:
                    found.append((perf_counter() - start, _processor_time_of_children() - used))
        return [Runs(*(Samples(values, "s") for values in zip(*found, strict=True))) for found in times]


def _processor_time_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
