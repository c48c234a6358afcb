"""Delays of breaches, and the fate that follows from several of them (GT-030 to GT-060)."""

from datetime import UTC, datetime, timedelta

import pytest

from grove_core.areas.gang_termination.breach_delays import (
    breach_delay_end,
    replica_fate_of_breaches,
    scaling_group_fate,
)
from grove_core.areas.gang_termination.design.scaling_group_judgement import scaling_group_termination_delay
from grove_core.areas.gang_termination.verdicts import Delegate, GroupFate, Keep, MinAvailableBreach, Terminate, Wait
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw

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
    assert scaling_group_fate(fates) == whole


@pytest.mark.parametrize("early", [timedelta(), timedelta(seconds=1)])
def test_gt032_a_deadline_beyond_the_calendar_is_never_due(early: timedelta) -> None:
    """Nor is one at the last date, or every breach would be due at once, again and again."""
    end = datetime.max.replace(tzinfo=UTC)
    breach = MinAvailableBreach(Ref("v1", "PodClique", "ml", "x"), end - timedelta(minutes=1), timedelta(hours=1))
    assert breach_delay_end(breach.since, breach.delay) == end
    assert replica_fate_of_breaches([breach], end - early) == Wait(end)


def test_gt030_a_group_that_its_set_does_not_know_has_the_delay_of_the_set() -> None:
    """Such as a group whose entry was removed from the template, until the group is gone."""
    pool = {"name": "pool", "cliqueNames": ["a"], "terminationDelay": "1h"}
    seen = at_rest(applied(set_raw(clique_raw("a"), groups=(pool,), terminationDelay="2h")))
    (group,) = seen.groups
    unknown = replace(group, ref=Ref(group.ref.api_version, group.ref.kind, group.ref.namespace, "llm-0-gone"))
    assert scaling_group_termination_delay(seen.root, group) == timedelta(hours=1)
    assert scaling_group_termination_delay(seen.root, unknown) == timedelta(hours=2)
