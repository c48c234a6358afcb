"""The order of points, and their runs, in this process or in parallel: all curves grow together by number of nodes."""

import gc
import multiprocessing
import random
import signal
import typing
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from statistics import median
from typing import Any, Final, NamedTuple

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_shell.converge.run_parameters_and_results import ConvergenceRun, ConvergenceRunParameters

TOO_SLOW_S: Final = 300.0
"""A curve ends after its first median above this (CV-020)."""


class ConvergenceCurveParameters(NamedTuple):
    """The parameters that the points of one curve share."""

    protocol: RegistrationProtocol
    clique_size: int


class _Curve:
    """One curve: steps with ascending numbers of nodes, each with the points that differ in the seed alone."""

    def __init__(
        self, points: Iterable[ConvergenceRunParameters], known: Mapping[ConvergenceRunParameters, ConvergenceRun]
    ) -> None:
        steps = defaultdict[int, list[ConvergenceRunParameters]](list)
        for point in points:
            steps[point.nodes].append(point)
        self.steps = [steps[nodes] for nodes in sorted(steps)]
        self.known = known
        self.running = 0
        self.times: list[float] = []
        self.stopped = 0
        self.nodes = 0
        self.advance()

    def take(self) -> ConvergenceRunParameters:
        """Return the next point of the present step."""
        self.running += 1
        return self.steps[0].pop(0)

    def record(self, run: ConvergenceRun) -> None:
        """Record a finished run."""
        self.running -= 1
        self.times.append(run.seconds_to_convergence)
        self.advance()

    def advance(self) -> None:
        """Go to the next step with a point to run, past known runs."""
        while self.steps:
            step = self.steps[0]
            self.nodes = step[0].nodes if step else self.nodes
            self.times += [self.known[point].seconds_to_convergence for point in step if point in self.known]
            step[:] = [point for point in step if point not in self.known]
            if step or self.running:
                return
            if median(self.times) > TOO_SLOW_S:
                self.stopped, self.steps = self.nodes, []
                return
            self.times = []
            self.steps.pop(0)


class RemainingConvergenceRuns:
    """The points to run, without those of known runs."""

    def __init__(
        self,
        points: Iterable[ConvergenceRunParameters],
        known: Mapping[ConvergenceRunParameters, ConvergenceRun],
        seed: int = 0,
    ) -> None:
        """Choose the order of curves at random by the seed, so that drift of the machine affects all of them alike."""
        curves = defaultdict[ConvergenceCurveParameters, list[ConvergenceRunParameters]](list)
        for point in points:
            curves[ConvergenceCurveParameters(point.protocol, point.clique_size)].append(point)
        self._curves = {name: _Curve(found, known) for name, found in curves.items()}
        self._chance = random.Random(seed)  # noqa: S311 - an experiment, no secret

    @property
    def unstarted_point_count(self) -> int:
        """The number of points not started yet; a curve may end before."""
        return sum(len(step) for curve in self._curves.values() for step in curve.steps)

    @property
    def curves_ended_early(self) -> dict[ConvergenceCurveParameters, int]:
        """Curves that ended early, with the number of nodes that was too slow."""
        return {name: curve.stopped for name, curve in self._curves.items() if curve.stopped}

    def take_next_point(self) -> ConvergenceRunParameters | None:
        """Return a point to run now; None if the rest waits for unfinished runs, or nothing is left."""
        ready = [curve for curve in self._curves.values() if curve.steps and curve.steps[0]]
        if not ready:
            return None
        fewest = min(curve.nodes for curve in ready)
        return self._chance.choice([curve for curve in ready if curve.nodes == fewest]).take()

    def record_finished_run(self, run: ConvergenceRun) -> None:
        """Record a finished run."""
        self._curves[ConvergenceCurveParameters(run.point.protocol, run.point.clique_size)].record(run)


class ConvergenceRunEngine(typing.Protocol):
    """Runs points. It is sent to other processes, so it must be picklable."""

    @property
    def world(self) -> str:
        """Where its runs take place: ``model`` or ``cluster``."""
        ...

    @property
    def setting(self) -> str:
        """Machine, versions or constants; runs with different settings are not comparable."""
        ...

    @property
    def max_parallel(self) -> int:
        """The most parallel runs, each in a process of its own; with 1 they run in this process."""
        ...

    def run_point(self, point: ConvergenceRunParameters) -> ConvergenceRun:
        """Run one point; a run that does not converge is a result, not an error."""
        ...


def run_scheduled_points(schedule: RemainingConvergenceRuns, engine: ConvergenceRunEngine) -> Generator[ConvergenceRun]:
    """Run all scheduled points and yield each finished run; closing the generator terminates unfinished runs.

    Raises:
        ChildProcessError: a worker process ended during a run.
    """
    if engine.max_parallel > 1 and schedule.unstarted_point_count > 1:
        yield from _run_in_parallel(schedule, engine)
        return
    while (point := schedule.take_next_point()) is not None:
        run = engine.run_point(point)
        schedule.record_finished_run(run)
        yield run


class _WorkerProcess:
    """A process that runs one point at a time."""

    def __init__(self, engine: ConvergenceRunEngine) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, self._other = context.Pipe()
        self.process = context.Process(target=_work, args=(engine, self._other), daemon=True)

    def start(self) -> None:
        """Start the process; an interrupt meanwhile is raised at the end."""
        with _interrupts_deferred():
            self.process.start()
            self._other.close()

    def end(self) -> None:
        """Terminate the process, if it was started."""
        if self.process.pid is not None:
            self.process.terminate()
            self.process.join()


@contextmanager
def _interrupts_deferred() -> Generator[None]:
    """Block SIGINT until the end; a process started meanwhile never receives it, so only the parent process does."""
    resource_tracker.ensure_running()  # its own start would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(engine: ConvergenceRunEngine, line: "Connection[Any, Any]") -> None:
    gc.disable()  # faster: reference counts free the objects of a run
    while True:
        point: ConvergenceRunParameters = line.recv()
        line.send(engine.run_point(point))


def _run_in_parallel(schedule: RemainingConvergenceRuns, engine: ConvergenceRunEngine) -> Generator[ConvergenceRun]:
    workers = [_WorkerProcess(engine) for _ in range(min(engine.max_parallel, schedule.unstarted_point_count))]
    try:
        for worker in workers:
            worker.start()
        idle: list[Any] = [worker.line for worker in workers]
        busy = set[Any]()
        while True:
            while idle and (point := schedule.take_next_point()) is not None:
                line = idle.pop()
                line.send(point)
                busy.add(line)
            if not busy:
                return
            for ended in wait(busy):
                run = _receive(ended)
                busy.remove(ended)
                idle.append(ended)
                schedule.record_finished_run(run)
                yield run
    finally:
        for worker in workers:
            worker.end()


def _receive(line: Any) -> ConvergenceRun:  # noqa: ANN401 - Connection is generic only for type checkers
    try:
        run: ConvergenceRun = line.recv()
    except (EOFError, OSError) as fault:
        raise ChildProcessError("a worker process ended during a run; finished runs are kept") from fault
    return run
