"""Skips what needs the Go operator where it was not named, or where no control plane is asked for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.beside.audit import RULES
from tests.beside.go_operator import TOKENS, GoOperator, install_definitions, missing
from tests.cluster import binaries
from tests.cluster.binaries import CONTROLLERS
from tests.cluster.plane import EVERYTHING, ControlPlane


@pytest.fixture(scope="session")
def runnable(request: pytest.FixtureRequest) -> None:
    """Skip where a control plane with the Go operator cannot run, or is not asked for."""
    if not request.config.getoption("--cluster"):
        pytest.skip("needs a control plane: pytest --cluster tests/beside")
    if why := missing():
        pytest.skip(f"needs the Go operator: {why}")
    if left := [program for program in EVERYTHING if program not in binaries.find()]:
        pytest.skip(f"{', '.join(left)} not found: {binaries.COMMAND}")


@pytest.fixture
def recorded(runnable: None, tmp_path: Path) -> Path:
    """Folder for recordings of the Go operator."""
    return tmp_path


@pytest.fixture(scope="module")
def go_operator(runnable: None) -> Iterator[GoOperator]:
    """The Go operator with its webhooks, acting on a control plane of its own until the module ends."""
    with ControlPlane(binaries.find(), audit_rules=RULES, more_controllers=[TOKENS]) as plane:
        install_definitions(plane.api())
        plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins
        yield GoOperator(plane).install().start()
