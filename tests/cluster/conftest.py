"""Control planes as fixtures. Without ``--cluster`` the tests of this folder are skipped: each starts five programs."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import binaries
from tests.cluster.plane import ControlPlane
from tests.cluster.toolchain import NotBuilt

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--cluster"):
        return
    skip = pytest.mark.skip(reason="needs a control plane: nox -s cluster, or pytest --cluster tests/cluster")
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """Path of each program that is there."""
    return binaries.find()


def started(programs: dict[str, Path], *, gang_scheduling: bool = False) -> ControlPlane:
    """A control plane that can be entered; the test is skipped where programs are missing."""
    try:
        return ControlPlane(programs, gang_scheduling=gang_scheduling)
    except NotBuilt as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def control_plane(programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """A control plane that all tests share; each keeps to a namespace and nodes of its own."""
    with started(programs) as plane:
        yield plane


@pytest.fixture(scope="session")
def gang_plane(programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """A second one beside it, whose scheduler places gangs as a whole."""
    if binaries.from_assets():
        pytest.skip(f"gangs need Kubernetes 1.35, and {binaries.ASSETS} names a server of another build")
    with started(programs, gang_scheduling=True) as plane:
        yield plane


def _fresh_namespace(plane: ControlPlane) -> Iterator[str]:
    name = f"test-{secrets.token_hex(4)}"
    api = plane.api()
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    api.delete("namespaces", name)


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace of this test alone, in the shared control plane."""
    yield from _fresh_namespace(control_plane)
