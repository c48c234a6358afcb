"""Sequences in memory and on a server; the smallest one in which they differ."""

import asyncio
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grove_shell.in_memory.in_memory_cluster import InMemoryCluster
from tests.honesty.memory import play
from tests.honesty.moves import Move, drawn
from tests.honesty.server import Server
from tests.honesty.transcripts import Difference, Transcript, difference

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
    """The same sequence without whatever it can do without: of all that are shorter by a part, one that still parts.

    Parts of every size are tried at once: one that differs waits for the server's patience, and a round as long as one.
    """
    best = _cut(found)
    for _ in range(_MOST_ROUNDS):
        tried = await asyncio.gather(*(_both(server, moves, make, found.seed) for moves in _shorter(best.moves)))
        parted = [_cut(one) for one in tried if one.parted is not None]
        if not parted:
            break
        best = min(parted, key=lambda one: len(one.moves))
    return best


def _shorter(moves: Sequence[Move]) -> Iterator[Sequence[Move]]:
    """The sequence without its first half, its second half, each of its quarters, and so on, down to each move."""
    size = len(moves) // 2
    while size:
        yield from (cut for at in range(0, len(moves), size) if (cut := [*moves[:at], *moves[at + size :]]))
        size //= 2


async def _both(server: Server, moves: Sequence[Move], make: Make, seed: int) -> Played:
    expected = play(moves, make)
    real = await server.play(f"honest-{secrets.token_hex(5)}", moves, expected)
    return Played(seed, tuple(moves), real, difference(expected, real))


def _cut(found: Played) -> Played:
    """Nothing after the move at which the servers differ."""
    assert found.parted is not None
    return Played(found.seed, found.moves[: found.parted.at], found.server, found.parted)
