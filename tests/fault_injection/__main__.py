"""Runs many seeds and prints those that failed: ``python -m tests.fault_injection --first 0 --seeds 100``."""

import argparse
import sys

from tests.fault_injection.random_events import CHANGES, FAIR, SELDOM, UNSEEN, random_run

CHOICES = {"changes": CHANGES, "fair": FAIR, "seldom": SELDOM, "unseen": UNSEEN}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fault_injection", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--what", choices=CHOICES, help="what happens; without it each in turn")
    parser.add_argument("--rules", default="design", help="by which the operators judge: design, field, field@RELEASE")
    parser.add_argument("--log", action="store_true", help="print what the operator said in those that went wrong")
    options = parser.parse_args()
    wrong = ends = 0
    for seed in range(options.first, options.first + options.seeds):
        what = options.what or tuple(CHOICES)[seed % len(CHOICES)]
        run = random_run(seed, CHOICES[what], options.rules)
        wrong, ends = wrong + bool(run.faults), ends + run.ends
        for words in run.faults:
            sys.stdout.write(f"{seed}, {what}: {words}\n")
        if run.faults and options.log:
            sys.stdout.write(run.log.getvalue())
        sys.stdout.flush()
    sys.stdout.write(f"{options.seeds} lives, {wrong} went wrong, {ends} deletions of cliques\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
