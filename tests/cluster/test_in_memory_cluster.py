"""The same requests to the in-memory server and to a real API server: the model must not have promised too much."""

import asyncio
import os
from collections.abc import Callable
from typing import Final

import pytest

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from tests.cluster.plane import ControlPlane
from tests.recorded_api_server.comparing import Played, compare, model, shrunk
from tests.recorded_api_server.mutants import MUTANTS
from tests.recorded_api_server.record import RECORDED, write
from tests.recorded_api_server.server import serving

SEEDS: Final = range(2000 if os.environ.get("HYPOTHESIS_PROFILE") == "night" else 200)
FEW: Final = range(10)  # the mistake shows in three of them


def played(
    plane: ControlPlane, seeds: range, make: Callable[[], InMemoryCluster] = model
) -> tuple[list[Played], Played | None]:
    """Every sequence on both servers; of the first that differs the shortest form."""

    async def scenario() -> tuple[list[Played], Played | None]:
        async with serving(str(plane.kubeconfig())) as server:
            found = await compare(server, seeds, make)
            parted = next((one for one in found if one.parted is not None), None)
            return found, None if parted is None else await shrunk(server, parted, make)

    return asyncio.run(scenario())


def reported(found: Played) -> str:
    assert found.parted is not None
    return f"seed {found.seed}\n{found.parted.reported(found.moves)}"


@pytest.mark.req("SM-080")
def test_sm080_a_server_does_as_the_world_in_memory(quiet_plane: ControlPlane, *, bless: bool) -> None:
    found, parted = played(quiet_plane, SEEDS)
    assert parted is None, reported(parted)
    assert len(found) == len(SEEDS)
    if bless:
        write(one for one in found if one.seed in RECORDED)


def test_sm080_a_wrong_model_is_reported_briefly(quiet_plane: ControlPlane) -> None:
    _, parted = played(quiet_plane, FEW, MUTANTS["writes in vain"])
    assert parted is not None
    assert len(parted.moves) <= 4, reported(parted)
    assert "on the server: written: nothing" in reported(parted)
