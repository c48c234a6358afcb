"""Whole operators that cannot delete one part of what they end: the rest ends once, and is not forgotten."""

import asyncio
from typing import Final

import pytest

from tests.weather.happening import clique, set_of
from tests.weather.life import NAMESPACE, Life
from tests.weather.store import Address
from tests.weather.virtual_time import run_in_virtual_time

_UP: Final = 60  # seconds
_LONG: Final = 180
_ALWAYS: Final = 1_000_000
POOL: Final = {"name": "g", "cliqueNames": ["x", "y"], "replicas": 2, "minAvailable": 2}
TEMPLATE: Final = {
    "terminationDelay": "60s",
    "cliques": [clique(name) for name in "abxy"],
    "podCliqueScalingGroups": [POOL],
}
NAMES: Final = {"one-0-a", "one-0-b", *(f"one-0-g-{index}-{name}" for index in range(2) for name in "xy")}


async def ended(sick: str, rules: str, kept: str, code: int, times: int) -> Life:
    """A life in which a clique is sick, and the deletion of one is answered with a code so often."""
    life = Life(0, rules)
    life.recoveries = 0
    async with life.serving.listening() as server, asyncio.TaskGroup() as others:
        kubelet = others.create_task(life.kubelet.run())
        life.store.create(Address("PodCliqueSet", NAMESPACE, "one"), set_of("one", TEMPLATE))
        life.begin(server)
        await asyncio.sleep(_UP)
        life.climate.kept, life.climate.kept_by, life.climate.kept_for = kept, code, times
        life.kubelet.sick = {
            pod["metadata"]["uid"] for pod in life.pods_of(life.store.get(Address("PodClique", NAMESPACE, sick)))
        }
        await asyncio.sleep(_LONG)
        await life.end()
        kubelet.cancel()
    return life


@pytest.mark.req("GT-063")
@pytest.mark.req("PL-014")
@pytest.mark.req("PL-027")
@pytest.mark.req("PL-028")
@pytest.mark.req("OP-102")
@pytest.mark.parametrize(("code", "times"), [(403, 1), (409, 1), (503, 3), (403, _ALWAYS)])
@pytest.mark.parametrize("kept", ["one-0-b", "one-0-g-1-y", "one-0-g-0-x"])
@pytest.mark.parametrize("sick", ["one-0-a", "one-0-g-0-x"], ids=["sick clique", "sick group"])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gf091_an_end_goes_on_where_it_broke_off(rules: str, sick: str, kept: str, code: int, times: int) -> None:
    life = run_in_virtual_time(ended(sick, rules, kept, code, times))
    assert not life.faults, life.faults
    assert {name for name, uids in life.ended.items() if len(uids) > 1} == set()
    if times < _ALWAYS:
        assert life.ended.keys() == NAMES
        assert {one["metadata"]["name"] for one in life.cliques()} == NAMES
    else:
        (there,) = (one for one in life.cliques() if one["metadata"]["name"] == kept)
        assert life.ended[kept].keys() == {there["metadata"]["uid"]}, "it was asked for, and is still the same"
