"""What can be counted without a run, if all daemons watch before the first of them writes (CV-010).

Each daemon writes twice: its entry, and later that it is ready. Whoever watches the object is told of each.
"""

from typing import Final

from grove_core.areas.domain_cliques.protocols import Protocol
from grove_shell.converge.model.sizes import SIZES

_WRITES: Final = 2
_CONTROLLER_WRITES: Final = 2
"""To a domain that daemons register in: that it is not ready, and that it is."""


def expected_watch_events(protocol: Protocol, nodes: int, clique_size: int) -> int:
    """Events that the watches of daemons bring: 2 N^2 and 2 N from the controller, or 2 K for each of N daemons."""
    if not protocol.sharded:
        return nodes * (_WRITES * nodes + _CONTROLLER_WRITES)
    return sum(_WRITES * size * size for size in _sizes(nodes, clique_size))


def expected_watch_bytes(protocol: Protocol, nodes: int, clique_size: int) -> int:
    """The bytes of these events: objects grow with the first half of the writes, and stay as large for the other."""
    sizes = SIZES[protocol]
    parts = _sizes(nodes, clique_size) if protocol.sharded else [nodes]
    return sum(
        part * (sum(sizes.stored(entries) for entries in range(1, part + 1)) + part * sizes.stored(part))
        for part in parts
    )


def _sizes(nodes: int, clique_size: int) -> list[int]:
    whole, rest = divmod(nodes, clique_size)
    return [clique_size] * whole + [rest] * bool(rest)
