"""Points are run one after the other, or some at once in processes of their own; each run is handed on when it ends."""

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
    """Run everything that is scheduled, until nothing is left; whoever stops listening ends what runs.

    Raises:
        ChildProcessError: a process ended in the middle of a run.
    """
    if engine.at_once > 1 and schedule.left > 1:
        yield from _side_by_side(schedule, engine)
        return
    while (point := schedule.take()) is not None:
        run = engine.run(point)
        schedule.note(run)
        yield run


class _WorkerProcess:
    """A process that plays one point after the other."""

    def __init__(self, engine: Engine) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, other = context.Pipe()
        self.process = context.Process(target=_work, args=(engine, other), daemon=True)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that asked
        try:
            self.process.start()
        finally:
            signal.signal(signal.SIGINT, before)
        other.close()

    def end(self) -> None:
        """End the process, whatever it plays."""
        self.process.terminate()
        self.process.join()


def _work(engine: Engine, line: "Connection[Any, Any]") -> None:
    gc.disable()  # what a run makes goes when it ends, not in between
    while True:
        point: Point = line.recv()
        line.send(engine.run(point))


def _side_by_side(schedule: Schedule, engine: Engine) -> Generator[Run]:
    players = [_WorkerProcess(engine) for _ in range(min(engine.at_once, schedule.left))]
    try:
        idle: list[Any] = [player.line for player in players]
        busy = set[Any]()
        while True:
            while idle and (point := schedule.take()) is not None:
                line = idle.pop()
                line.send(point)
                busy.add(line)
            if not busy:
                return
            for ended in wait(busy):
                run = _received(ended)
                busy.remove(ended)
                idle.append(ended)
                schedule.note(run)
                yield run
    finally:
        for player in players:
            player.end()


def _received(line: Any) -> Run:  # noqa: ANN401 - a connection, which says what it is only to type checkers
    try:
        run: Run = line.recv()
    except (EOFError, OSError) as fault:
        raise ChildProcessError("a process ended in the middle of a run; what is done is kept") from fault
    return run
