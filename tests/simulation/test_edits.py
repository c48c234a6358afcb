"""The forecast of an update is what the simulated operator, scheduler and kubelets do (ED-002, ED-003)."""

import pytest

from tests.simulation.edit_agreement import RULE_SETS, both


@pytest.mark.req("ED-002")
@pytest.mark.req("ED-003")
@pytest.mark.parametrize("seed", range(24))
def test_a_drawn_edit_does_what_its_forecast_says(seed: int) -> None:
    said, happened = both(seed, RULE_SETS[seed % len(RULE_SETS)])
    assert said == happened
