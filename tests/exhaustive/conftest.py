"""Lines are not counted here: that takes two thirds of the time, and other tests cover every line."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder without the counting of lines."""
    for item in items:
        if item.nodeid.startswith("tests/exhaustive/"):
            item.add_marker(pytest.mark.no_cover)
