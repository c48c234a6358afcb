"""An asyncio event loop in virtual time: its callbacks are events of the queue of a simulation, and it never waits."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from math import ceil
from typing import Any, Final, TypeVar, TypeVarTuple

from grove_shell.simulator.virtual_time import SECOND, ScheduledCallback, VirtualTimeQueue

_ROUNDING: Final = 1e-6  # milliseconds: a time of the loop is a sum of floats

_Args = TypeVarTuple("_Args")
_T = TypeVar("_T")


class VirtualTimeEventLoop(asyncio.AbstractEventLoop):
    """Runs tasks without sockets and threads; callbacks of one time run in the order in which they were scheduled."""

    def __init__(self, queue: VirtualTimeQueue) -> None:
        self._queue = queue
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: set[_Timer] = set()
        self._is_scheduled = False
        self._is_running = False
        self._is_closed = False
        self._error: Exception | None = None

    @contextmanager
    def raise_first_error(self) -> Iterator[None]:
        """Let the first error of the block end the run, although the task that runs it may catch it."""
        try:
            yield
        except Exception as error:
            if not self._is_closed:
                self._error = self._error or error
            raise

    def time(self) -> float:
        """Return the seconds of virtual time since the start of the run."""
        return self._queue.now / SECOND

    def call_soon(
        self, callback: Callable[[*_Args], object], *args: *_Args, context: Context | None = None
    ) -> asyncio.Handle:
        """Run a callback in this time step."""
        handle = asyncio.Handle(callback, args, self, context)
        self._add(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[[*_Args], object], *args: *_Args, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run a callback at a time.

        Args:
            when: in seconds of :meth:`time`.
            args: of the callback.
            context: that the callback runs in; None for a copy of the present one.
        """
        timer = _Timer(when, callback, args, self, context)
        timer.scheduled = self._queue.schedule(ceil(when * SECOND - _ROUNDING), partial(self._ring, timer))
        self._timers.add(timer)
        return timer

    def call_later(
        self, delay: float, callback: Callable[[*_Args], object], *args: *_Args, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run a callback after a delay.

        Args:
            delay: in seconds of :meth:`time`.
            args, context: as of :meth:`call_at`.
        """
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, _T] | Coroutine[Any, Any, _T],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[_T]:
        """Return a task of this loop."""
        return asyncio.Task(coro, loop=self, name=name, context=context)

    def close(self) -> None:
        """Cancel all timers and tasks; their errors end no run."""
        for timer in tuple(self._timers):
            timer.cancel()
        for task in asyncio.all_tasks(self):
            task.cancel()
        self._is_closed, self._error = True, None
        if not self._is_running:
            self._run_ready()

    def get_debug(self) -> bool:
        """Return False."""
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """End the run with an error that nothing has caught."""
        error = context.get("exception")
        if isinstance(error, Exception) and not self._is_closed:
            self._error = self._error or error

    def _timer_handle_cancelled(self, timer: "_Timer") -> None:
        """Called by asyncio."""
        timer.scheduled.callback = None
        self._timers.discard(timer)

    def _ring(self, timer: "_Timer") -> None:
        self._timers.discard(timer)
        self._add(timer)

    def _add(self, handle: asyncio.Handle) -> None:
        self._ready.append(handle)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._queue.schedule(self._queue.now, self._run_ready)

    def _run_ready(self) -> None:
        self._is_running = True
        outer = asyncio._get_running_loop()  # noqa: SLF001 - made for event loops
        asyncio._set_running_loop(self)  # noqa: SLF001 - as above
        try:
            while self._ready:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()  # noqa: SLF001 - as above
                if self._error is not None:
                    raise self._error
        finally:
            self._is_scheduled = self._is_running = False
            asyncio._set_running_loop(outer)  # noqa: SLF001 - as above


class _Timer(asyncio.TimerHandle):
    __slots__ = ("scheduled",)
    scheduled: ScheduledCallback
    __hash__ = object.__hash__  # two timers of one time and callback are equal
