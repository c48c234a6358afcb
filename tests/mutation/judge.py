"""A plugin of pytest (``-p tests.mutation.judge``): judges mutants in forks of one session that has read every test.

One session runs every test once and notes how long it takes and which functions of the core it enters. In another one
each mutant that was asked for gets a fork, which runs the tests that enter its function, those of its area and of them
the fastest first, until one fails. They are two, for what a test leaves in a cache would hide a mutant from the next.

Rule for this file: a verdict is written down as soon as it is known, so a session may be stopped at any moment.
"""

import json
import os
import resource
import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from _pytest.runner import runtestprotocol
from mutmut.mutation import trampoline

ASKED: Final = "GROVE_MUTANTS"
"""Names the file with what to do: files ``reach`` and ``verdicts``, ``names`` with the hashes of their functions, how
many ``jobs`` at once, and the ``seconds`` of tests that a mutant may take."""

KILLED, SURVIVED, TIMEOUT, NO_TESTS = "killed", "survived", "timeout", "no tests"
_EXITS: Final = {0: SURVIVED, 1: KILLED}
_SETUP_S: Final = 5
_AREAS: Final = "grove_core.areas."
_AREA, _PACKAGE = 2, 1  # which part of a name says where a mutant is

Reach = Mapping[str, Sequence[tuple[float, str]]]
"""Function -> seconds and id of each test that enters it, the fastest first."""


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Find out which tests enter which function, if that is not known yet; else judge what was asked for."""
    asked = json.loads(Path(os.environ[ASKED]).read_text(encoding="utf-8"))
    kept = Path(asked["reach"])
    if kept.is_file():
        _Court(session.items, asked, json.loads(kept.read_text(encoding="utf-8"))).judge_all(Path(asked["verdicts"]))
    else:
        kept.write_text(json.dumps(_reach_of(session.items)), encoding="utf-8")
    return True


class _Court:
    """Forks that judge, and the verdicts they come to.

    A test kills only where it passes without a mutant, in a fork like that of the mutant: one that does not is reported
    and not run again, and the mutants it killed are put to the others.
    """

    def __init__(self, items: Sequence[pytest.Item], asked: Mapping[str, Any], reach: Reach) -> None:
        self._known = {item.nodeid: item for item in items}
        self._reach = reach
        self._jobs, self._seconds = asked["jobs"], asked["seconds"]
        self._due = deque((name, of) for name, of in asked["names"])
        self._running: dict[int, tuple[str, str, Sequence[tuple[float, pytest.Item]], int]] = {}
        self._sound: dict[str, bool] = {}

    def judge_all(self, verdicts: Path) -> None:
        """Every mutant that was asked for."""
        with verdicts.open("a", encoding="utf-8", buffering=1) as out:
            while self._due or self._running:
                while self._due and len(self._running) < self._jobs:
                    name, of = self._due.popleft()
                    near = self._near(name)
                    if near:
                        self._try(name, of, near)
                    else:
                        out.write(json.dumps([name, NO_TESTS, of]) + "\n")
                if self._running:
                    found = self._reap()
                    if found is not None:
                        out.write(json.dumps(found) + "\n")

    def _near(self, name: str) -> Sequence[tuple[float, pytest.Item]]:
        """The tests that a mutant is held against, with their seconds."""
        near = [found for found in self._reach.get(function_of(name), ()) if self._sound.get(found[1], True)]
        area = name.split(".")[_AREA if name.startswith(_AREAS) else _PACKAGE]
        near.sort(key=lambda found: not (f"/{area}/" in found[1] or f"[{area}/" in found[1]))  # others only pass by
        return list(_within([(cost, self._known[test]) for cost, test in near if test in self._known], self._seconds))

    def _try(self, name: str, of: str, near: Sequence[tuple[float, pytest.Item]]) -> None:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            _put_to(name, near, writing)
        os.close(writing)
        self._running[pid] = name, of, near, reading

    def _reap(self) -> tuple[str, str, str] | None:
        """A verdict; none where the test that killed fails anyway."""
        pid, status = os.waitpid(-1, 0)
        name, of, near, reading = self._running.pop(pid)
        with os.fdopen(reading) as reported:
            place = reported.read()
        verdict = _EXITS.get(os.waitstatus_to_exitcode(status), TIMEOUT)
        if verdict == KILLED and not self._passes(near[int(place)]):
            self._due.append((name, of))
            return None
        return name, verdict, of

    def _passes(self, near: tuple[float, pytest.Item]) -> bool:
        """Whether a test passes in a fork without a mutant."""
        test = near[1].nodeid
        if test not in self._sound:
            reading, writing = os.pipe()
            pid = os.fork()
            if pid == 0:
                _put_to("", [near], writing)
            os.close(writing)
            os.close(reading)
            _, status = os.waitpid(pid, 0)
            self._sound[test] = os.waitstatus_to_exitcode(status) == 0
            if not self._sound[test]:
                sys.stderr.write(f"left out, for it fails in a fork without a mutant: {test}\n")
        return self._sound[test]


def function_of(mutant: str) -> str:
    """The function that a mutant is of, as mutmut names it."""
    return mutant.rpartition("__mutmut_")[0]


def _put_to(name: str, near: Sequence[tuple[float, pytest.Item]], writing: int) -> NoReturn:
    """In a fork: ends with 1 as soon as a test fails, and says which; with 0 if none does; else by the system."""
    trampoline.get_mutant_under_test = lambda: name
    os.environ["MUTANT_UNDER_TEST"] = name
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(spent.ru_utime + spent.ru_stime + _SETUP_S + 5 * sum(cost for cost, _ in near))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    items = [item for _, item in near]
    for place, (item, following) in enumerate(zip(items, [*items[1:], None], strict=True)):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            os.write(writing, str(place).encode())
            os._exit(1)
    os._exit(0)


def _within(near: Sequence[tuple[float, pytest.Item]], seconds: float) -> Iterator[tuple[float, pytest.Item]]:
    spent = 0.0
    for cost, item in near:
        if spent and spent + cost > seconds:
            return
        spent += cost
        yield cost, item


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
