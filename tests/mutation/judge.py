"""A plugin of pytest (``-p tests.mutation.judge``): judges mutants in forks of one session that has read every test.

One session runs every test once and notes how long it takes and which functions of the core it enters. In another one
each mutant that was asked for gets a fork, which runs the tests that enter its function, the fastest first, until one
fails. They are two, for what a test leaves in a cache would hide a mutant from the next one.

Rule for this file: a verdict is written down as soon as it is known, so a session may be stopped at any moment.
"""

import json
import os
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol
from mutmut.mutation import trampoline

ASKED: Final = "GROVE_MUTANTS"
"""Names the file with what to do: files ``reach`` and ``verdicts``, ``names`` with the hashes of their functions, how
many ``jobs`` at once, and the ``seconds`` of tests that a mutant may take."""

KILLED, SURVIVED, TIMEOUT, NO_TESTS = "killed", "survived", "timeout", "no tests"
_EXITS: Final = {0: SURVIVED, 1: KILLED}
_SETUP_S: Final = 5

Reach = Mapping[str, Sequence[tuple[float, str]]]
"""Function -> seconds and id of each test that enters it, the fastest first."""


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Find out which tests enter which function, if that is not known yet; else judge what was asked for."""
    asked = json.loads(Path(os.environ[ASKED]).read_text(encoding="utf-8"))
    kept = Path(asked["reach"])
    if kept.is_file():
        _judge_all(session.items, asked, json.loads(kept.read_text(encoding="utf-8")))
    else:
        kept.write_text(json.dumps(_reach_of(session.items)), encoding="utf-8")
    return True


def _judge_all(items: Sequence[pytest.Item], asked: Mapping[str, Any], reach: Reach) -> None:
    known = {item.nodeid: item for item in items}
    running: dict[int, tuple[str, str]] = {}
    with Path(asked["verdicts"]).open("a", encoding="utf-8", buffering=1) as out:

        def reap() -> None:
            pid, status = os.waitpid(-1, 0)
            name, of = running.pop(pid)
            verdict = _EXITS.get(os.waitstatus_to_exitcode(status), TIMEOUT)
            out.write(json.dumps([name, verdict, of]) + "\n")

        for name, of in asked["names"]:
            near = [(seconds, known[test]) for seconds, test in reach.get(function_of(name), ()) if test in known]
            if not near:
                out.write(json.dumps([name, NO_TESTS, of]) + "\n")
                continue
            if len(running) == asked["jobs"]:
                reap()
            pid = os.fork()
            if pid == 0:
                os._exit(_judge(name, near, asked["seconds"]))
            running[pid] = name, of
        while running:
            reap()


def function_of(mutant: str) -> str:
    """The function that a mutant is of, as mutmut names it."""
    return mutant.rpartition("__mutmut_")[0]


def _judge(name: str, near: Sequence[tuple[float, pytest.Item]], seconds: float) -> int:
    """In a fork: 1 as soon as a test fails, 0 if none does; ended by the system where it takes far too long."""
    trampoline.get_mutant_under_test = lambda: name
    os.environ["MUTANT_UNDER_TEST"] = name
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    so_far = spent.ru_utime + spent.ru_stime
    chosen = list(_within(near, seconds))
    limit = int(so_far + _SETUP_S + 5 * sum(one for one, _ in near[: len(chosen)]))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    for item, following in zip(chosen, [*chosen[1:], None], strict=True):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            return 1
    return 0


def _within(near: Sequence[tuple[float, pytest.Item]], seconds: float) -> Iterator[pytest.Item]:
    spent = 0.0
    for cost, item in near:
        if spent and spent + cost > seconds:
            return
        spent += cost
        yield item


def _reach_of(items: Sequence[pytest.Item]) -> Reach:
    """Run every test once; one that fails without a mutant is left out."""
    reach: dict[str, list[tuple[float, str]]] = defaultdict(list)
    entered: set[str] = set()
    trampoline.set_mutant_under_test("stats")
    trampoline.record_trampoline_hit = lambda name, **_: entered.add(name)
    for item, following in zip(items, [*items[1:], None], strict=True):
        entered.clear()
        start = time.perf_counter()
        reports = runtestprotocol(item, log=False, nextitem=following)
        took = time.perf_counter() - start
        if any(report.failed for report in reports):
            sys.stderr.write(f"left out, for it fails without a mutant: {item.nodeid}\n")
            continue
        for function in entered:
            reach[function].append((round(took, 4), item.nodeid))
    return {function: sorted(tests) for function, tests in reach.items()}
