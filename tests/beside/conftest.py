"""Skips what needs the Go operator where it was not named, or where no control plane is asked for."""

from pathlib import Path

import pytest

from tests.beside.go_operator import missing
from tests.cluster import binaries
from tests.cluster.plane import EVERYTHING


@pytest.fixture
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Folder for recordings of the Go operator."""
    if not request.config.getoption("--cluster"):
        pytest.skip("needs a control plane: pytest --cluster tests/beside")
    if why := missing():
        pytest.skip(f"needs the Go operator: {why}")
    if left := [program for program in EVERYTHING if program not in binaries.find()]:
        pytest.skip(f"{', '.join(left)} not found: {binaries.COMMAND}")
    return tmp_path
