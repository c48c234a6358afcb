"""Which object daemons register in, and how they write to it: the one choice behind the one interface."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, unique
from typing import Final

from grove_core.kernel.errors import Problem

NODES_PER_RACK: Final = 18
"""Compute trays of one NVL72 rack: so many daemons does a clique have at most."""
MAX_CLIQUE_SIZE: Final = 10_000
"""Hosts are numbered with four digits (DC-005)."""


@unique
class Protocol(Enum):
    """Where daemons register and how they write.

    Attributes:
        sharded: in an object for each clique, else all in the domain's own status.
        applies: by server-side apply, else by reading, modifying and writing back under optimistic concurrency.
        manager: prefix of the field manager.
    """

    RMW = ("rmw", False, False, "compute-domain-daemon")
    SSA = ("ssa", False, True, "cd-writer")
    SHARDED = ("sharded", True, True, "cd-daemon")
    SHARDED_RMW = ("sharded-rmw", True, False, "compute-domain-daemon")

    def __init__(self, word: str, sharded: bool, applies: bool, manager: str) -> None:  # noqa: FBT001 - columns
        self.short_name = word
        self.sharded = sharded
        self.uses_apply = applies
        self.manager = manager


def protocol_for(*, cliques: bool = False, uses_apply: bool = True) -> Protocol:
    """The protocol behind the gate and the setting (DC-001, DC-002).

    Args:
        cliques: the feature gate ``ComputeDomainCliques``.
        uses_apply: whether writes are server-side applies.
    """
    return next(found for found in Protocol if (found.sharded, found.uses_apply) == (cliques, uses_apply))


def protocol_named(word: str) -> Protocol | None:
    """The protocol of that name: ``rmw``, ``ssa``, ``sharded``, ``sharded-rmw``; None where there is none."""
    return next((found for found in Protocol if found.short_name == word), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSettings:
    """How the daemons of a domain register.

    Attributes:
        limit: indices go from 0 to below it.
        has_pods: daemons run in pods that can be labelled and listed; not in an experiment without pods.
        reads_both: also looks at the object of the other gate (DC-065), for as long as a gate may be flipped.
        first_delay, longest_delay: of the back-off: doubled with each failure.
        patience: how long a settled daemon waits for a rival that should move (DC-026).
        recheck: how long until it looks again at what it does not watch.
    """

    protocol: Protocol = Protocol.SSA
    limit: int = NODES_PER_RACK
    has_pods: bool = True
    reads_other_registry: bool = True
    first_backoff: timedelta = timedelta(milliseconds=5)
    max_backoff: timedelta = timedelta(seconds=6)
    rival_timeout: timedelta = timedelta(seconds=30)
    recheck_interval: timedelta = timedelta(seconds=10)


def problems_in_settings(protocol: str, limit: int, clique_size: int = 1) -> tuple[Problem, ...]:
    """Everything that is wrong with a choice of protocol and sizes (DC-007)."""
    return tuple(_problems(protocol, limit, clique_size))


def _problems(protocol: str, limit: int, clique_size: int) -> Iterator[Problem]:
    if protocol_named(protocol) is None:
        known = ", ".join(found.short_name for found in Protocol)
        yield Problem(path="protocol", expected=f"one of {known}", got=f'"{protocol}"')
    if not 1 <= limit <= MAX_CLIQUE_SIZE:
        yield Problem(path="limit", expected=f"an integer from 1 to {MAX_CLIQUE_SIZE}", got=str(limit))
    elif not 1 <= clique_size <= limit:
        yield Problem(path="clique size", expected=f"an integer from 1 to the limit of {limit}", got=str(clique_size))
