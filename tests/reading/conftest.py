"""What tests of reading break."""

import pytest

from tests.kubectl_yaml import Json, items_in
from tests.reading.dump_edits import EXAMPLE


@pytest.fixture
def items() -> list[Json]:
    """The objects of the shipped example."""
    return items_in(EXAMPLE)
