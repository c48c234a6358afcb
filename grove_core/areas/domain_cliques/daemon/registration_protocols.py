"""Protocols: which object daemons register in, and how they write to it."""

from collections.abc import Iterator
from datetime import timedelta
from enum import Enum, unique
from typing import Final

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.structs import Struct

NODES_PER_RACK: Final = 18
"""Compute trays of one NVL72 rack: the largest number of daemons in one clique."""
MAX_CLIQUE_SIZE: Final = 10_000
"""Host names have a number of four digits (DC-003)."""


@unique
class RegistrationProtocol(Enum):
    """Where daemons register, and how they write.

    Attributes:
        short_name: as flags and files spell it.
        sharded: whether each clique has an object of its own; if not, all entries are in the domain's status.
        uses_apply: whether writes are server-side applies; if not, they are read-modify-write with a resourceVersion.
        manager: the field manager, or its prefix.
    """

    RMW = ("rmw", False, False, "compute-domain-daemon")
    SSA = ("ssa", False, True, "cd-writer")
    SHARDED = ("sharded", True, True, "cd-daemon")
    SHARDED_RMW = ("sharded-rmw", True, False, "compute-domain-daemon")

    def __init__(self, short_name: str, sharded: bool, uses_apply: bool, manager: str) -> None:  # noqa: FBT001 - columns
        self.short_name = short_name
        self.sharded = sharded
        self.uses_apply = uses_apply
        self.manager = manager


def registration_protocol_by_name(short_name: str) -> RegistrationProtocol | None:
    """Return the protocol ``rmw``, ``ssa``, ``sharded`` or ``sharded-rmw``; None for any other name."""
    return next((found for found in RegistrationProtocol if found.short_name == short_name), None)


class DaemonRegistrationSettings(Struct, frozen=True, kw_only=True):
    """How the daemons of a domain register.

    Attributes:
        limit: indices go from 0 to below it.
        has_pods: whether daemons run in pods that can be labelled and listed; false in an experiment without pods.
        reads_other_registry: whether entries in the other registry count too (DC-065); needed while a feature gate may
            be flipped.
        first_backoff, max_backoff: delay after a failed request; doubled with each failure in a row.
        rival_timeout: how long a settled daemon waits for a rival with its index to move (DC-026).
        recheck_interval: time between two reads of an object that is not watched.
    """

    protocol: RegistrationProtocol = RegistrationProtocol.SSA
    limit: int = NODES_PER_RACK
    has_pods: bool = True
    reads_other_registry: bool = True
    first_backoff: timedelta = timedelta(milliseconds=5)
    max_backoff: timedelta = timedelta(seconds=6)
    rival_timeout: timedelta = timedelta(seconds=30)
    recheck_interval: timedelta = timedelta(seconds=10)


def registration_protocol_problems(protocol: str, limit: int, clique_size: int = 1) -> tuple[ObjectProblem, ...]:
    """Return every problem of a protocol name, an index limit and a clique size (CL-005)."""
    return tuple(_problems(protocol, limit, clique_size))


def _problems(protocol: str, limit: int, clique_size: int) -> Iterator[ObjectProblem]:
    if registration_protocol_by_name(protocol) is None:
        known = ", ".join(found.short_name for found in RegistrationProtocol)
        yield ObjectProblem(path="protocol", expected=f"one of {known}", got=f'"{protocol}"')
    if not 1 <= limit <= MAX_CLIQUE_SIZE:
        yield ObjectProblem(path="limit", expected=f"an integer from 1 to {MAX_CLIQUE_SIZE}", got=str(limit))
    elif not 1 <= clique_size <= limit:
        yield ObjectProblem(
            path="clique size", expected=f"an integer from 1 to the limit of {limit}", got=str(clique_size)
        )
