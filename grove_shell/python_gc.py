"""Pauses Python's garbage collection of reference cycles."""

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
