"""Sequences in memory and on a server; the smallest one in which they differ."""

import asyncio
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from tests.recorded_api_server.memory import play
from tests.recorded_api_server.moves import Move, drawn
from tests.recorded_api_server.server import Server
from tests.recorded_api_server.transcripts import Difference, Transcript, difference

_MOST_ROUNDS: Final = 12
Make = Callable[[], InMemoryCluster]


@dataclass(frozen=True, slots=True)
class Played:
    """A sequence on both servers."""

    seed: int
    moves: tuple[Move, ...]
    server: Transcript
    parted: Difference | None


def model() -> InMemoryCluster:
    """The server that simulations act on."""
    return InMemoryCluster((), lingering=True)


async def compare(server: Server, seeds: Iterable[int], make: Make = model) -> list[Played]:
    """What each seed's sequence became, side by side.

    A collector that is late once is no difference: what parts is played again, and counts if it parts again.
    """
    found = await asyncio.gather(*(_both(server, drawn(seed), make, seed) for seed in seeds))
    again = [one.seed for one in found if one.parted is not None]
    second = await asyncio.gather(*(_both(server, drawn(seed), make, seed) for seed in again))
    return sorted([*(one for one in found if one.parted is None), *second], key=lambda one: one.seed)


async def shrunk(server: Server, found: Played, make: Make = model) -> Played:
    """The same sequence without whatever it can do without: of all that are shorter by a part, one that still parts."""
    best = _cut(found)
    size = max(len(best.moves) // 2, 1)
    for _ in range(_MOST_ROUNDS):
        cuts = [best.moves[:place] + best.moves[place + size :] for place in range(0, len(best.moves), size)]
        tried = await asyncio.gather(*(_both(server, moves, make, found.seed) for moves in cuts if moves))
        parted = [_cut(one) for one in tried if one.parted is not None]
        if parted:
            best = min(parted, key=lambda one: len(one.moves))
        elif size == 1:
            break
        size = max(min(size // 2 if not parted else size, len(best.moves) // 2), 1)
    return best


async def _both(server: Server, moves: Sequence[Move], make: Make, seed: int) -> Played:
    expected = play(moves, make)
    real = await server.play(f"honest-{secrets.token_hex(5)}", moves, expected)
    return Played(seed, tuple(moves), real, difference(expected, real))


def _cut(found: Played) -> Played:
    """Nothing after the move at which the servers differ."""
    assert found.parted is not None
    return Played(found.seed, found.moves[: found.parted.at], found.server, found.parted)
