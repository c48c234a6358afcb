"""Which recorded scenarios the crash sweep goes through; and that coverage is measured elsewhere."""

from pathlib import Path
from typing import Final

import pytest

from tests.simulation.test_sweep import RECORDED, USUAL

HERE: Final = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole lives of clusters take three times as long while every line is counted, and reach none that laws do not."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.no_cover)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "recorded" in metafunc.fixturenames:
        every = sorted(path.parent.name for path in RECORDED.glob("*/scenario.yaml"))
        metafunc.parametrize("recorded", every if metafunc.config.getoption("--all-crashes") else USUAL)
