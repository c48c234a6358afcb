"""A failed deletion of an object that is to be deleted for another reason, too."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.fault_injection.api_store import Address, Json
from tests.fault_injection.operator_run import NAMESPACE, OperatorRun
from tests.fault_injection.tested_set import (
    POOL,
    SPARE,
    created_twice,
    deletion_fails,
    edited,
    is_ready,
    pod_fails,
    recovers,
    run_of,
    there,
    until,
)
from tests.fault_injection.virtual_time import run_in_virtual_time

X, Y = 2, 3  # places of the members in the template
GROUP = Address("PodCliqueScalingGroup", NAMESPACE, "one-0-g")


async def ended_by_the_group(run: OperatorRun, code: int) -> None:
    """A replica of the group is due by itself, and a member of it stays."""
    pod_fails(run, "one-0-g-1-x")
    await asyncio.sleep(25)
    pod_fails(run, "one-0-b")
    deletion_fails(run, "one-0-g-1-y", code)
    await asyncio.sleep(100)


async def scaled_in(run: OperatorRun, code: int) -> None:
    pod_fails(run, "one-0-b")
    await asyncio.sleep(10)
    deletion_fails(run, "one-0-g-2-x", code)
    run.store.patch(GROUP, {"spec": {"replicas": 2}})
    await asyncio.sleep(110)


async def updated(run: OperatorRun, code: int) -> None:
    pod_fails(run, "one-0-b")
    await asyncio.sleep(20)
    deletion_fails(run, "one-0-g-0-x", code)
    edited(run, X)
    await asyncio.sleep(100)


def image_of(one: Json) -> str:
    return str(one["spec"]["podSpec"]["containers"][0]["image"])


@pytest.mark.req("PL-012")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("happens", [ended_by_the_group, scaled_in, updated])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gf091_an_end_has_begun_though_a_part_of_it_could_not_be_deleted_before(
    rules: str, happens: Callable[[OperatorRun, int], Awaitable[None]], code: int
) -> None:
    """A clique deleted for it is not made again before the termination is complete, and then terminated once more."""

    async def life_of(run: OperatorRun) -> None:
        run.judges = happens is ended_by_the_group
        await happens(run, code)
        run.fault_rates.kept_for = 0

    run = run_in_virtual_time(run_of(rules, life_of, pool=SPARE if happens is not updated else POOL))
    assert not run.faults, run.faults
    assert created_twice(run) <= ({"one-0-g-0-y"} if happens is updated else set())
    assert all(len(uids) <= 2 for uids in run.ended.values())
    assert "one-0-b" in run.ended


@pytest.mark.req("OP-103")
@pytest.mark.parametrize("code", [403, 409])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gf091_an_end_that_is_wanted_again_while_a_part_of_it_stands_refused_has_begun(rules: str, code: int) -> None:
    """A user lengthens the delay and shortens it again: meanwhile no termination is wanted."""

    def with_delay(delay: str) -> Callable[[Json], None]:
        return lambda raw: raw["spec"]["template"].update(terminationDelay=delay)

    async def the_delay_is_edited(run: OperatorRun) -> None:
        run.judges = False
        address = Address("PodCliqueSet", NAMESPACE, "one")
        deletion_fails(run, "one-0-g-0-y", code)
        pod_fails(run, "one-0-b")
        await asyncio.sleep(200)
        for delay in ("4h", "60s"):
            run.store.change(address, with_delay(delay))
            await asyncio.sleep(15)
        await asyncio.sleep(85)
        run.fault_rates.kept_for = 0

    run = run_in_virtual_time(run_of(rules, the_delay_is_edited))
    assert not run.faults, run.faults
    assert {name: len(uids) for name, uids in run.ended.items() if len(uids) > 2} == {}
    assert len(run.ended["one-0-a"]) == 2, "before the delay was longer, and after that"


@pytest.mark.parametrize("code", [403, 409])
def test_wl236_a_clique_of_the_present_template_delays_nothing(code: int) -> None:
    """It could not be deleted with its sick neighbour, which is repaired now."""

    async def it_is_repaired(run: OperatorRun) -> None:
        run.judges = False
        pod_fails(run, "one-0-g-1-x")
        await asyncio.sleep(55)
        deletion_fails(run, "one-0-g-1-y", code)
        await asyncio.sleep(60)
        before = there(run)
        edited(run, X)
        await asyncio.sleep(60)
        gone = {name for name, uid in before.items() if there(run)[name] != uid}
        assert gone >= {"one-0-g-1-x", "one-0-g-0-x", "one-0-g-2-x"}
        assert "one-0-g-1-y" not in gone

    run = run_in_virtual_time(run_of("design", it_is_repaired, pool=SPARE))
    assert not run.faults, run.faults


@pytest.mark.req("WL-236")
@pytest.mark.parametrize("code", [403, 409])
def test_wl238_each_further_template_change_deletes_only_the_undeletable_clique(code: int) -> None:
    async def it_is_changed_again(run: OperatorRun) -> None:
        run.judges = False
        deletion_fails(run, "one-0-g-0-y", code)
        edited(run, Y)
        for number in range(4):
            await asyncio.sleep(60)
            edited(run, Y, f"new:{number + 2}")

    run = run_in_virtual_time(run_of("design", it_is_changed_again, pool={**SPARE, "replicas": 2}))
    assert not run.faults, run.faults
    assert len(run.ended["one-0-g-0-x"]) == 1


@pytest.mark.req("OP-013")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_pl029_an_unwanted_object_goes_while_its_termination_is_deferred(rules: str) -> None:
    async def nothing_is_shown(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        await asyncio.sleep(50)
        run.fault_rates.blind = 503
        await asyncio.sleep(30)
        run.judges = False
        run.store.patch(GROUP, {"spec": {"replicas": 1}})
        await asyncio.sleep(60)
        assert {name for name in there(run) if "-g-" in name} == {"one-0-g-0-x", "one-0-g-0-y"}
        recovers(run, "one-0-b")
        await asyncio.sleep(5)
        run.fault_rates.blind = 0

    run = run_in_virtual_time(run_of(rules, nothing_is_shown, pool=SPARE))
    assert not run.faults, run.faults
    assert not run.ended.keys() & {"one-0-a", "one-0-b", "one-0-g-0-x"}


@pytest.mark.req("PL-029")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_wl076_an_update_waits_for_an_end_that_is_put_off(rules: str) -> None:
    """Nothing would be made in the place of what it deletes."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        await asyncio.sleep(50)
        run.fault_rates.blind = 503
        await asyncio.sleep(30)
        edited(run, X)
        before = there(run)
        await asyncio.sleep(60)
        assert there(run) == before
        run.fault_rates.blind = 0

    run = run_in_virtual_time(run_of(rules, nothing_is_shown))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    assert "one-0-b" in run.ended


@pytest.mark.req("GT-053")
@pytest.mark.req("GF-066")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize(
    ("pool", "stuck"),
    [(POOL, "one-0-g-0-y"), ({**SPARE, "cliqueNames": ["a", "x", "y"]}, "one-0-g-1-a")],
    ids=["of the set", "of the group"],
)
def test_wl239_an_end_that_an_update_found_half_done_does_not_hold_it_up(pool: Json, stuck: str, code: int) -> None:
    """A member is gone and another one stays, when the one that is gone is edited; it comes back as the new one."""
    sick, gone = "one-0-g-1-x", "one-0-g-1-y"

    async def it_is_edited(run: OperatorRun) -> None:
        run.judges = False
        pod_fails(run, sick)
        await asyncio.sleep(50)
        deletion_fails(run, stuck, code)
        await until(lambda: gone in run.ended)
        await asyncio.sleep(20)
        before = there(run)
        assert gone not in before
        edited(run, Y)
        await until(lambda: there(run).get(sick) != before[sick])
        await asyncio.sleep(60)
        assert is_ready(run, sick)
        assert is_ready(run, gone)
        run.fault_rates.kept_for = 0

    run = run_in_virtual_time(run_of("design", it_is_edited, pool=pool))
    assert not run.faults, run.faults
    assert all(len(uids) <= 2 for uids in run.ended.values()), run.ended
    assert all(is_ready(run, name) for name in there(run))
    images = {image_of(one) for one in run.cliques() if one["metadata"]["name"].endswith("-y")}
    assert images == {"new:1"}


@pytest.mark.req("WL-236")
@pytest.mark.parametrize("code", [403, 409, 503])
def test_wl239_an_undeletable_due_clique_takes_nothing_along(code: int) -> None:
    """A deleted clique would be made and deleted again in every round."""

    async def it_is_edited(run: OperatorRun) -> None:
        run.judges = False
        pod_fails(run, "one-0-g-1-x")
        await asyncio.sleep(50)
        deletion_fails(run, "one-0-g-1-x", code)
        await until(lambda: "one-0-g-1-y" in run.ended)
        await asyncio.sleep(20)
        edited(run, Y)
        await asyncio.sleep(120)
        assert is_ready(run, "one-0-g-1-y")
        assert created_twice(run) == set()
        run.fault_rates.kept_for = 0

    run = run_in_virtual_time(run_of("design", it_is_edited, pool={**SPARE, "cliqueNames": ["a", "x", "y"]}))
    assert not run.faults, run.faults
    assert all(is_ready(run, name) for name in there(run))
