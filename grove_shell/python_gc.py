"""Pauses Python's garbage collection of reference cycles, and exempts objects from it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def python_gc_paused() -> Iterator[None]:
    """Switch it off inside a ``with`` block (IN-012).

    Loading and planning create very many objects and no cycles, so a collection finds nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def resume_python_gc() -> None:
    """Switch it on for a command that runs until it is stopped (CL-003)."""
    gc.enable()


def exempt_existing_objects_from_gc() -> None:
    """Collect once, and leave everything that exists now out of later collections.

    For a process that has started: its modules and caches stay until its end, and a collection that visits them takes
    longer than most responses.
    """
    gc.collect()
    gc.freeze()
