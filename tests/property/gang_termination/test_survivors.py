"""What mutants of gang termination lived through until these tests were written (specs/mutants.md)."""

from datetime import timedelta

import pytest

from grove_core.areas.gang_termination.clocks import fate_of_whole
from grove_core.areas.gang_termination.verdicts import Delegate, GroupFate, Keep, Terminate, Wait
from tests.property.workload.sets import NOW

SOON, LATER = Wait(NOW + timedelta(minutes=1)), Wait(NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    ("fates", "whole"),
    [
        ([LATER, SOON, LATER], SOON),
        ([Keep(), LATER], LATER),
        ([SOON, Terminate()], Terminate()),
        ([Delegate(), Delegate()], Delegate()),
    ],
)
def test_gt060_a_group_waits_for_the_first_of_its_replicas(fates: list[GroupFate], whole: GroupFate) -> None:
    assert fate_of_whole(fates) == whole
