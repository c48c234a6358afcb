"""Selects the golden scenarios of the crash sweep."""

import pytest

from tests.simulation.crash_sweep_scenarios import RECORDED, USUAL


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "recorded" in metafunc.fixturenames:
        every = sorted(path.parent.name for path in RECORDED.glob("*/scenario.yaml"))
        metafunc.parametrize("recorded", every if metafunc.config.getoption("--all-crashes") else USUAL)
