"""Very many worlds: ``python -m tests.property.domain_cliques.seed_sweep --seeds 20000 -j 2``.

Each seed is a small cluster of its own, with nodes, a protocol and faults drawn for it. The table says how many worlds
each protocol had, which faults happened, how long it took, and which promise was broken where.
"""

import argparse
import gc
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import Pool
from typing import Final

from tests.property.domain_cliques.random_run import run_seed

CHUNK: Final = 100


@dataclass
class Tally:
    """What some worlds had in them; ``broken`` is by seed."""

    worlds: int = 0
    seconds: float = 0.0
    commits: int = 0
    protocols: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    broken: dict[int, str] = field(default_factory=dict)

    def add(self, other: "Tally") -> None:
        self.worlds += other.worlds
        self.seconds += other.seconds
        self.commits += other.commits
        self.protocols.update(other.protocols)
        self.happened.update(other.happened)
        self.broken.update(other.broken)


def chunk(job: tuple[int, int]) -> Tally:
    """Some worlds, one after the other."""
    first, count = job
    tally, start = Tally(), time.process_time()
    gc.disable()
    for seed in range(first, first + count):
        told = run_seed(seed)
        tally.worlds += 1
        tally.commits += told.commits
        tally.protocols[told.protocol.short_name] += 1
        tally.happened.update(told.happened)
        if told.broken is not None:
            tally.broken[seed] = f"{told.protocol.short_name}: {told.broken}"
    gc.enable()
    gc.collect()
    tally.seconds = time.process_time() - start
    return tally


def lines_of(tally: Tally, elapsed: float) -> Iterator[str]:
    """The table."""
    rate = tally.worlds / tally.seconds if tally.seconds else 0.0
    yield f"{tally.worlds:,} worlds, {len(tally.broken):,} violations, {tally.commits:,} changes of the store"
    yield f"{elapsed:.0f} s, {tally.seconds:.0f} s of processor time, {rate:.0f} worlds/s of processor time"
    yield "worlds of each protocol:"
    yield from (f"  {word:<22} {count:>8,}" for word, count in sorted(tally.protocols.items()))
    yield "faults:"
    yield from (f"  {what:<22} {count:>8,}" for what, count in tally.happened.most_common())
    yield from (f"world {seed}: {says}" for seed, says in sorted(tally.broken.items())[:20])


def main(arguments: list[str]) -> int:
    """Play, print the table; 3 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.property.domain_cliques.seed_sweep")
    parser.add_argument("--seeds", type=int, default=1000, help="how many worlds")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("-j", type=int, default=1, dest="jobs", help="processes")
    options = parser.parse_args(arguments)
    tally, start, end = Tally(), time.monotonic(), options.first + options.seeds
    jobs = [(seed, min(CHUNK, end - seed)) for seed in range(options.first, end, CHUNK)]
    with Pool(options.jobs) as pool:
        for done in pool.imap(chunk, jobs):
            tally.add(done)
    sys.stdout.write("".join(f"{line}\n" for line in lines_of(tally, time.monotonic() - start)))
    return 3 if tally.broken else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
