"""Whole operators in bad weather; ``python -m tests.weather`` plays as many as one likes."""

import pytest

from tests.weather.happening import lived


@pytest.mark.req("GT-033")
@pytest.mark.req("GT-050")
@pytest.mark.req("OP-013")
@pytest.mark.parametrize("seed", [0, 2, 22])
def test_op074_nothing_that_is_well_ends_and_all_that_is_due_does(seed: int) -> None:
    life = lived(seed, changes=False)
    assert not life.faults, life.faults
    assert life.ends


@pytest.mark.req("OP-013")
@pytest.mark.parametrize("seed", range(3))
def test_op023_whatever_was_asked_for_is_there_in_the_end(seed: int) -> None:
    life = lived(seed, changes=True)
    assert not life.faults, life.faults
