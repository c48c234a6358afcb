"""The cyclic collector, which has nothing to find where objects are made and kept."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def python_gc_paused() -> Iterator[None]:
    """Keep it off for a while (IN-029).

    Loading and planning make very many objects and no cycles, so each of its walks over them finds nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
