"""Runs scheduled points in this process, or in parallel in worker processes."""

import gc
import multiprocessing
import signal
from collections.abc import Generator
from multiprocessing.connection import Connection, wait
from typing import Any

from grove_shell.converge.engine import Engine
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Run
from grove_shell.converge.schedule import Schedule


def run_scheduled(schedule: Schedule, engine: Engine) -> Generator[Run]:
    """Run all scheduled points and yield each finished run; closing the generator terminates unfinished runs.

    Raises:
        ChildProcessError: a worker process ended during a run.
    """
    if engine.max_parallel > 1 and schedule.left > 1:
        yield from _run_in_parallel(schedule, engine)
        return
    while (point := schedule.take()) is not None:
        run = engine.run(point)
        schedule.record(run)
        yield run


class _WorkerProcess:
    """A process that runs one point at a time."""

    def __init__(self, engine: Engine) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, other = context.Pipe()
        self.process = context.Process(target=_work, args=(engine, other), daemon=True)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent process handles an interrupt
        try:
            self.process.start()
        finally:
            signal.signal(signal.SIGINT, before)
        other.close()

    def end(self) -> None:
        """Terminate the process."""
        self.process.terminate()
        self.process.join()


def _work(engine: Engine, line: "Connection[Any, Any]") -> None:
    gc.disable()  # faster: reference counts free the objects of a run
    while True:
        point: Point = line.recv()
        line.send(engine.run(point))


def _run_in_parallel(schedule: Schedule, engine: Engine) -> Generator[Run]:
    workers = [_WorkerProcess(engine) for _ in range(min(engine.max_parallel, schedule.left))]
    try:
        idle: list[Any] = [worker.line for worker in workers]
        busy = set[Any]()
        while True:
            while idle and (point := schedule.take()) is not None:
                line = idle.pop()
                line.send(point)
                busy.add(line)
            if not busy:
                return
            for ended in wait(busy):
                run = _receive(ended)
                busy.remove(ended)
                idle.append(ended)
                schedule.record(run)
                yield run
    finally:
        for worker in workers:
            worker.end()


def _receive(line: Any) -> Run:  # noqa: ANN401 - Connection is generic only for type checkers
    try:
        run: Run = line.recv()
    except (EOFError, OSError) as fault:
        raise ChildProcessError("a worker process ended during a run; finished runs are kept") from fault
    return run
