"""Work grows linearly with the objects of a set; counted in calls, not in seconds."""

from collections.abc import Callable
from types import ModuleType
from typing import Final

import pytest

from grove_core.areas.workload.design import pod_creation, wants
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.call_count import calls_of
from tests.property.workload.life import Life
from tests.property.workload.sets import Json, applied, at_rest, clique_raw, rounds_of, set_raw

FEW: Final = 40


def in_the_middle_of_an_update(count: int) -> Snapshot:
    """Each replica but the first waits."""
    life = Life(set_raw(clique_raw("a"), replicas=count))
    life.settle()
    life.new_image("v2")
    life.round()
    life.round()
    seen = life.look()
    assert seen is not None
    return replace(seen, attempts=())


def with_the_gang_there(count: int) -> Snapshot:
    """Of so many cliques all pods are to be made, as their gang refers to them."""
    raw = set_raw(*(clique_raw(f"c{number}") for number in range(count)))
    looks = (seen for seen, _ in rounds_of(applied(raw)))
    return next(seen for seen in looks if seen.gangs and not any(seen.pods_of.values()))


def with_scaled_gangs(count: int) -> Snapshot:
    """As many replicas of a group wait for their pods as are in the base gang, where all are there."""
    group: Json = {"name": "g", "cliqueNames": ["a"], "replicas": 2 * count, "minAvailable": count}
    seen = at_rest(applied(set_raw(clique_raw("a"), groups=(group,))))
    base = {clique.uid for clique in seen.cliques if not clique.base_gang}
    return replace(
        seen, pods_of=frozen_dict_of_tuples({uid: pods for uid, pods in seen.pods_of.items() if uid in base})
    )


@pytest.mark.parametrize(
    ("moment", "module"),
    [
        (in_the_middle_of_an_update, wants),
        (with_the_gang_there, pod_creation),
        (with_scaled_gangs, pod_creation),
    ],
)
def test_wl024_three_times_as_much_is_three_times_the_work(
    moment: Callable[[int], Snapshot], module: ModuleType
) -> None:
    few, many = moment(FEW), moment(3 * FEW)
    once = calls_of(module, lambda: reconcile(few))
    assert once > FEW
    assert calls_of(module, lambda: reconcile(many)) < 4 * once
