"""Many small clusters: ``python -m tests.property.domain_cliques.seed_sweep --seeds 20000 -j 2``.

Each seed is a small cluster with random nodes, protocol and faults. The table shows the number of clusters for each
protocol, the faults, the time, and the violations by seed.
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

CHUNK_SIZE: Final = 100


@dataclass
class SweepCounts:
    """Counts of some runs; violations by seed."""

    clusters: int = 0
    seconds: float = 0.0
    commits: int = 0
    protocols: Counter[str] = field(default_factory=Counter)
    fault_counts: Counter[str] = field(default_factory=Counter)
    violation: dict[int, str] = field(default_factory=dict)

    def add(self, other: "SweepCounts") -> None:
        self.clusters += other.clusters
        self.seconds += other.seconds
        self.commits += other.commits
        self.protocols.update(other.protocols)
        self.fault_counts.update(other.fault_counts)
        self.violation.update(other.violation)


def run_chunk(job: tuple[int, int]) -> SweepCounts:
    """Run some seeds, one after the other."""
    first, count = job
    counts, start = SweepCounts(), time.process_time()
    gc.disable()
    for seed in range(first, first + count):
        result = run_seed(seed)
        counts.clusters += 1
        counts.commits += result.commits
        counts.protocols[result.protocol.short_name] += 1
        counts.fault_counts.update(result.fault_counts)
        if result.violation is not None:
            counts.violation[seed] = f"{result.protocol.short_name}: {result.violation}"
    gc.enable()
    gc.collect()
    counts.seconds = time.process_time() - start
    return counts


def lines_of(counts: SweepCounts, elapsed: float) -> Iterator[str]:
    """The lines of the table."""
    rate = counts.clusters / counts.seconds if counts.seconds else 0.0
    yield f"{counts.clusters:,} clusters, {len(counts.violation):,} violations, {counts.commits:,} changes of the store"
    yield f"{elapsed:.0f} s, {counts.seconds:.0f} s of processor time, {rate:.0f} clusters/s of processor time"
    yield "clusters of each protocol:"
    yield from (f"  {word:<22} {count:>8,}" for word, count in sorted(counts.protocols.items()))
    yield "faults:"
    yield from (f"  {what:<22} {count:>8,}" for what, count in counts.fault_counts.most_common())
    yield from (f"seed {seed}: {message}" for seed, message in sorted(counts.violation.items())[:20])


def main(arguments: list[str]) -> int:
    """Run all seeds and print the table; return 3 if an invariant was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.property.domain_cliques.seed_sweep")
    parser.add_argument("--seeds", type=int, default=1000, help="number of seeds")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("-j", type=int, default=1, dest="jobs", help="processes")
    options = parser.parse_args(arguments)
    counts, start, end = SweepCounts(), time.monotonic(), options.first + options.seeds
    jobs = [(seed, min(CHUNK_SIZE, end - seed)) for seed in range(options.first, end, CHUNK_SIZE)]
    with Pool(options.jobs) as pool:
        for done in pool.imap(run_chunk, jobs):
            counts.add(done)
    sys.stdout.write("".join(f"{line}\n" for line in lines_of(counts, time.monotonic() - start)))
    return 3 if counts.violation else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
