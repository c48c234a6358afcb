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


async def ended_by_the_group(life: OperatorRun, code: int) -> None:
    """A replica of the group is due by itself, and a member of it stays."""
    pod_fails(life, "one-0-g-1-x")
    await asyncio.sleep(25)
    pod_fails(life, "one-0-b")
    deletion_fails(life, "one-0-g-1-y", code)
    await asyncio.sleep(100)


async def scaled_in(life: OperatorRun, code: int) -> None:
    pod_fails(life, "one-0-b")
    await asyncio.sleep(10)
    deletion_fails(life, "one-0-g-2-x", code)
    life.store.patch(GROUP, {"spec": {"replicas": 2}})
    await asyncio.sleep(110)


async def updated(life: OperatorRun, code: int) -> None:
    pod_fails(life, "one-0-b")
    await asyncio.sleep(20)
    deletion_fails(life, "one-0-g-0-x", code)
    edited(life, X)
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
    """Whoever was deleted for it is not made again before it is through, and ended once more."""

    async def life_of(life: OperatorRun) -> None:
        life.judges = happens is ended_by_the_group
        await happens(life, code)
        life.climate.kept_for = 0

    life = run_in_virtual_time(run_of(rules, life_of, pool=SPARE if happens is not updated else POOL))
    assert not life.faults, life.faults
    assert created_twice(life) <= ({"one-0-g-0-y"} if happens is updated else set())
    assert all(len(uids) <= 2 for uids in life.ended.values())
    assert "one-0-b" in life.ended


@pytest.mark.req("OP-103")
@pytest.mark.parametrize("code", [403, 409])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gf091_an_end_that_is_wanted_again_while_a_part_of_it_stands_refused_has_begun(rules: str, code: int) -> None:
    """Somebody makes the delay longer, and shorter again: meanwhile nobody wants the end."""

    def with_delay(delay: str) -> Callable[[Json], None]:
        return lambda raw: raw["spec"]["template"].update(terminationDelay=delay)

    async def the_delay_is_edited(life: OperatorRun) -> None:
        life.judges = False
        address = Address("PodCliqueSet", NAMESPACE, "one")
        deletion_fails(life, "one-0-g-0-y", code)
        pod_fails(life, "one-0-b")
        await asyncio.sleep(200)
        for delay in ("4h", "60s"):
            life.store.change(address, with_delay(delay))
            await asyncio.sleep(15)
        await asyncio.sleep(85)
        life.climate.kept_for = 0

    life = run_in_virtual_time(run_of(rules, the_delay_is_edited))
    assert not life.faults, life.faults
    assert {name: len(uids) for name, uids in life.ended.items() if len(uids) > 2} == {}
    assert len(life.ended["one-0-a"]) == 2, "before the delay was longer, and after that"


@pytest.mark.parametrize("code", [403, 409])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_wl236_who_is_of_the_present_template_holds_nobody(rules: str, code: int) -> None:
    """It could not be deleted with its sick neighbour, which somebody mends now."""

    async def somebody_mends_it(life: OperatorRun) -> None:
        life.judges = False
        pod_fails(life, "one-0-g-1-x")
        await asyncio.sleep(55)
        deletion_fails(life, "one-0-g-1-y", code)
        await asyncio.sleep(60)
        before = there(life)
        edited(life, X)
        await asyncio.sleep(60)
        gone = {name for name, uid in before.items() if there(life)[name] != uid}
        assert gone >= {"one-0-g-1-x", "one-0-g-0-x", "one-0-g-2-x"}
        assert "one-0-g-1-y" not in gone

    life = run_in_virtual_time(run_of(rules, somebody_mends_it, pool=SPARE))
    assert not life.faults, life.faults


@pytest.mark.req("WL-236")
@pytest.mark.parametrize("code", [403, 409])
def test_wl238_each_further_change_of_the_template_deletes_nobody_but_who_cannot_be_deleted(code: int) -> None:
    async def it_is_changed_again(life: OperatorRun) -> None:
        life.judges = False
        deletion_fails(life, "one-0-g-0-y", code)
        edited(life, Y)
        for number in range(4):
            await asyncio.sleep(60)
            edited(life, Y, f"new:{number + 2}")

    life = run_in_virtual_time(run_of("design", it_is_changed_again, pool={**SPARE, "replicas": 2}))
    assert not life.faults, life.faults
    assert len(life.ended["one-0-g-0-x"]) == 1


@pytest.mark.req("OP-104")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_pl029_what_nobody_wants_any_more_goes_while_its_end_is_put_off(rules: str) -> None:
    async def nothing_is_shown(life: OperatorRun) -> None:
        pod_fails(life, "one-0-b")
        await asyncio.sleep(50)
        life.climate.blind = 503
        await asyncio.sleep(30)
        life.judges = False
        life.store.patch(GROUP, {"spec": {"replicas": 1}})
        await asyncio.sleep(60)
        assert {name for name in there(life) if "-g-" in name} == {"one-0-g-0-x", "one-0-g-0-y"}
        recovers(life, "one-0-b")
        await asyncio.sleep(5)
        life.climate.blind = 0

    life = run_in_virtual_time(run_of(rules, nothing_is_shown, pool=SPARE))
    assert not life.faults, life.faults
    assert not life.ended.keys() & {"one-0-a", "one-0-b", "one-0-g-0-x"}


@pytest.mark.req("PL-029")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_wl237_an_update_waits_for_an_end_that_is_put_off(rules: str) -> None:
    """Nothing would be made in the place of what it deletes."""

    async def nothing_is_shown(life: OperatorRun) -> None:
        pod_fails(life, "one-0-b")
        await asyncio.sleep(50)
        life.climate.blind = 503
        await asyncio.sleep(30)
        edited(life, X)
        before = there(life)
        await asyncio.sleep(60)
        assert there(life) == before
        life.climate.blind = 0

    life = run_in_virtual_time(run_of(rules, nothing_is_shown))
    assert not life.faults, life.faults
    assert created_twice(life) == set()
    assert "one-0-b" in life.ended


@pytest.mark.req("GT-053")
@pytest.mark.req("GF-066")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
@pytest.mark.parametrize(
    ("pool", "stuck"),
    [(POOL, "one-0-g-0-y"), ({**SPARE, "cliqueNames": ["a", "x", "y"]}, "one-0-g-1-a")],
    ids=["of the set", "of the group"],
)
def test_wl239_an_end_that_an_update_found_half_done_does_not_hold_it_up(
    rules: str, pool: Json, stuck: str, code: int
) -> None:
    """A member is gone and another one stays, when the one that is gone is edited; it comes back as the new one."""
    sick, gone = "one-0-g-1-x", "one-0-g-1-y"

    async def it_is_edited(life: OperatorRun) -> None:
        life.judges = False
        pod_fails(life, sick)
        await asyncio.sleep(50)
        deletion_fails(life, stuck, code)
        await until(lambda: gone in life.ended)
        await asyncio.sleep(20)
        before = there(life)
        assert gone not in before
        edited(life, Y)
        await until(lambda: there(life).get(sick) != before[sick])
        await asyncio.sleep(60)
        assert is_ready(life, sick)
        assert is_ready(life, gone)
        life.climate.kept_for = 0

    life = run_in_virtual_time(run_of(rules, it_is_edited, pool=pool))
    assert not life.faults, life.faults
    assert all(len(uids) <= 2 for uids in life.ended.values()), life.ended
    assert all(is_ready(life, name) for name in there(life))
    images = {image_of(one) for one in life.cliques() if one["metadata"]["name"].endswith("-y")}
    assert images == {"new:1"}


@pytest.mark.req("WL-236")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_wl239_nobody_goes_with_who_was_due_and_cannot_be_deleted(rules: str, code: int) -> None:
    """Whoever went would be made again and go again at every look."""

    async def it_is_edited(life: OperatorRun) -> None:
        life.judges = False
        pod_fails(life, "one-0-g-1-x")
        await asyncio.sleep(50)
        deletion_fails(life, "one-0-g-1-x", code)
        await until(lambda: "one-0-g-1-y" in life.ended)
        await asyncio.sleep(20)
        edited(life, Y)
        await asyncio.sleep(120)
        assert is_ready(life, "one-0-g-1-y")
        assert created_twice(life) == set()
        life.climate.kept_for = 0

    life = run_in_virtual_time(run_of(rules, it_is_edited, pool={**SPARE, "cliqueNames": ["a", "x", "y"]}))
    assert not life.faults, life.faults
    assert all(is_ready(life, name) for name in there(life))
