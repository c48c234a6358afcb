"""Expected watch events and bytes in closed form, if all daemons watch before the first of them writes (CV-010).

Each daemon writes twice, its entry and later its readiness, and each watcher of the object gets both events.
"""

from typing import Final

from grove_core.areas.domain_cliques.protocols import Protocol
from grove_shell.converge.model.sizes import SIZES

_WRITES: Final = 2
_CONTROLLER_WRITES: Final = 2
"""Status writes of the controller to the domain: NotReady, then Ready."""


def expected_watch_events(protocol: Protocol, nodes: int, clique_size: int) -> int:
    """Return the watch events of all N daemons: 2 N^2 + 2 N for one object, 2 K for each daemon in cliques of K."""
    if not protocol.sharded:
        return nodes * (_WRITES * nodes + _CONTROLLER_WRITES)
    return sum(_WRITES * size * size for size in _sizes(nodes, clique_size))


def expected_watch_bytes(protocol: Protocol, nodes: int, clique_size: int) -> int:
    """Return the bytes of these events: objects grow with the first half of the writes, and keep their size then."""
    sizes = SIZES[protocol]
    parts = _sizes(nodes, clique_size) if protocol.sharded else [nodes]
    return sum(
        part * (sum(sizes.stored(entries) for entries in range(1, part + 1)) + part * sizes.stored(part))
        for part in parts
    )


def _sizes(nodes: int, clique_size: int) -> list[int]:
    whole, rest = divmod(nodes, clique_size)
    return [clique_size] * whole + [rest] * bool(rest)
