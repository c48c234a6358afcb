"""Reads configuration files, with the reader and the fault reports of manifests."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from grove_core.kernel.errors import Problem
from grove_shell.reading.faults import Fault
from grove_shell.reading.items import fault_in
from grove_shell.reading.sources import items_of, standard_input

T = TypeVar("T")
Reader = Callable[[Mapping[str, Any]], tuple[T, tuple[Problem, ...]]]


def configuration(path: str | None, read: Reader[T]) -> tuple[T, tuple[Fault, ...]]:
    """Return the configuration and its faults; the defaults without a file (IN-030).

    A file must have exactly one configuration (CL-055).
    """
    faults: list[Fault] = []
    found = [] if path is None else [(item, *read(item.value)) for item in items_of(path, faults, standard_input())]
    for item, _, problems in found:
        where = str(item.value.get("kind") or "")
        faults.extend(fault_in(item, where, (one.path, one.expected, one.got), None) for one in problems)
    if path is not None and len(found) != 1 and not faults:
        faults.append(Fault(file=path, expected="one configuration", got=str(len(found) or "none")))
    return found[0][1] if found else read({})[0], tuple(faults)
