"""The chart in a registry of artifacts on this machine."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from grove_core.version import VERSION
from tests.cluster.api import wait_until
from tests.manifests.chart import CHART
from tests.manifests.chart_rendering import helm, program

_HOST: Final = "127.0.0.1"


def _accepts(port: int) -> bool:
    """Return whether something listens at a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex((_HOST, port)) == 0


@contextmanager
def pushed_chart(folder: Path) -> Iterator[tuple[str, ...]]:
    """Package the chart, push it to a registry, and give the words by which Helm finds it there.

    Args:
        folder: for the package, Helm's home and the log of the registry.
    """
    command = program("registry")
    if command is None:
        pytest.skip("needs a registry: nox -s helm")
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port = probe.getsockname()[1]
    with (folder / "registry.log").open("wb") as log:
        process = subprocess.Popen([command, "-port", str(port)], stdout=log, stderr=log)
    try:
        wait_until(lambda: _accepts(port), bool, "the registry listens")
        file = folder / f"grove-{VERSION}.tgz"
        assert str(file) in helm("package", str(CHART), "-d", str(folder), folder=folder).stdout
        registry = f"oci://{_HOST}:{port}/charts"
        helm("push", str(file), registry, "--plain-http", folder=folder)
        yield (f"{registry}/grove", "--version", VERSION, "--plain-http")
    finally:
        process.kill()
        process.wait()
