"""Whole operators with an end that cannot be done: who recovers beside it is not ended for its next hiccup."""

import asyncio

import pytest

from tests.weather.life import NAMESPACE, Life
from tests.weather.stage import ALWAYS, NAMES, falls_sick, is_well, lived, more_than_once, recovers, there, until
from tests.weather.store import Address, Json
from tests.weather.virtual_time import run_in_virtual_time, seconds

HOLD = "storage.example.com/flush"


@pytest.mark.req("OP-103")
@pytest.mark.parametrize("denied_by", [403, 409, 503])
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("hiccups", ["one-0-a", "one-0-g-0-x"], ids=["a clique", "a group"])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gt067_a_recovery_is_known_though_the_end_of_another_is_planned(
    rules: str, hiccups: str, code: int, denied_by: int
) -> None:
    """Nobody could write that the first one was over; then another is due, which recovers in the last moment."""

    async def another_is_due(life: Life) -> None:
        falls_sick(life, hiccups)
        await asyncio.sleep(10)
        life.climate.mute, life.climate.muted_by = hiccups.removesuffix("-0-x"), code
        recovers(life, hiccups)
        await asyncio.sleep(100)
        falls_sick(life, "one-0-b")
        await asyncio.sleep(56)
        life.climate.denied, life.climate.denied_by = "DELETE", denied_by
        falls_sick(life, hiccups)
        await asyncio.sleep(6)
        recovers(life, "one-0-b")
        await asyncio.sleep(1.5)
        life.ended.clear()
        life.climate.denied = ""
        await asyncio.sleep(25)
        recovers(life, hiccups)
        life.climate.mute = ""

    life = run_in_virtual_time(lived(rules, another_is_due))
    assert not life.faults, life.faults
    assert not life.ended


@pytest.mark.req("GT-033")
@pytest.mark.parametrize("denied_by", [403, 409, 503])
@pytest.mark.parametrize("hiccup", [9, 35, 55])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_pl013_that_a_breach_is_over_is_told_where_its_clique_may_not_be_deleted(
    rules: str, hiccup: int, denied_by: int
) -> None:
    async def nothing_may_be_deleted(life: Life) -> None:
        falls_sick(life, "one-0-b")
        await asyncio.sleep(50)
        life.climate.denied, life.climate.denied_by = "DELETE", denied_by
        falls_sick(life, "one-0-a")
        await asyncio.sleep(20)
        recovers(life, "one-0-a")
        await asyncio.sleep(240)
        falls_sick(life, "one-0-a")
        await asyncio.sleep(3)
        recovers(life, "one-0-b")
        await asyncio.sleep(2)
        life.ended.clear()
        life.climate.denied = ""
        await asyncio.sleep(hiccup - 5)
        recovers(life, "one-0-a")

    life = run_in_virtual_time(lived(rules, nothing_may_be_deleted))
    assert not life.faults, life.faults
    assert not life.ended


@pytest.mark.req("OP-013")
@pytest.mark.req("OP-066")
@pytest.mark.parametrize("code", [403, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op104_who_recovers_while_the_server_shows_nothing_is_told(rules: str, code: int) -> None:
    """Another replica is due, and the server cannot be asked about it for minutes."""

    async def nothing_is_shown(life: Life) -> None:
        falls_sick(life, "one-0-b")
        await asyncio.sleep(50)
        falls_sick(life, "one-1-a")
        await asyncio.sleep(5)
        life.climate.blind = code
        await asyncio.sleep(15)
        recovers(life, "one-1-a")
        await asyncio.sleep(240)
        assert not life.ended
        falls_sick(life, "one-1-a")
        await asyncio.sleep(2)
        life.climate.blind = 0
        await asyncio.sleep(50)
        recovers(life, "one-1-a")

    life = run_in_virtual_time(lived(rules, nothing_is_shown, replicas=2))
    assert not life.faults, life.faults
    assert life.ended.keys() == NAMES
    assert more_than_once(life) == set()


@pytest.mark.req("PL-028")
@pytest.mark.req("GF-051")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op104_no_end_is_told_that_nobody_tried(rules: str) -> None:
    """A group that had its flag for nothing would never be ended."""
    ended_at = 0.0

    async def nothing_is_shown(life: Life) -> None:
        nonlocal ended_at
        falls_sick(life, "one-0-b")
        await asyncio.sleep(55)
        life.climate.blind = 503
        await asyncio.sleep(10)
        falls_sick(life, "one-0-g-0-x")
        began = seconds()
        await asyncio.sleep(5)
        recovers(life, "one-0-b")
        await asyncio.sleep(5)
        life.climate.blind = 0
        await until(lambda: bool(life.ended))
        ended_at = seconds() - began

    life = run_in_virtual_time(lived(rules, nothing_is_shown))
    assert not life.faults, life.faults
    assert 60 <= ended_at < 75
    assert life.ended.keys() == NAMES


@pytest.mark.req("OP-023")
def test_op104_what_is_refused_meanwhile_is_not_tried_at_every_change() -> None:
    async def nothing_is_shown(life: Life) -> None:
        falls_sick(life, "one-0-b")
        life.climate.blind = 503
        falls_sick(life, "one-1-a")
        life.climate.mute, life.climate.muted_by, life.climate.muted_for = "one-1-a", 403, ALWAYS
        await asyncio.sleep(90)
        before = life.climate.muted_for
        for _ in range(60):
            falls_sick(life, "one-1-b")
            await asyncio.sleep(2)
            recovers(life, "one-1-b")
            await asyncio.sleep(2)
        assert before - life.climate.muted_for < 20
        life.climate.blind, life.climate.mute = 0, ""

    life = run_in_virtual_time(lived("design", nothing_is_shown, replicas=2))
    assert not life.faults, life.faults


@pytest.mark.req("GF-092")
@pytest.mark.req("PL-026")
@pytest.mark.parametrize(("code", "times"), [(409, 12), (403, 7), (403, 1)])
@pytest.mark.parametrize("pause", [0.01, 1.5, 5])
def test_pl013_an_end_is_told_before_annotations_of_its_group_are_written(code: int, times: int, pause: float) -> None:
    def annotated(raw: Json) -> None:
        raw["spec"]["template"]["podCliqueScalingGroups"][0]["annotations"] = {"team": "blue"}

    async def the_group_is_annotated(life: Life) -> None:
        falls_sick(life, "one-0-g-0-x")
        await asyncio.sleep(55)
        life.climate.kept, life.climate.kept_by, life.climate.kept_for = "one-0-b", code, times
        await asyncio.sleep(5 + pause)
        life.store.change(Address("PodCliqueSet", NAMESPACE, "one"), annotated)
        await asyncio.sleep(300)

    life = run_in_virtual_time(lived("field", the_group_is_annotated))
    assert not life.faults, life.faults
    assert more_than_once(life) == set()
    group = life.store.get(Address("PodCliqueScalingGroup", NAMESPACE, "one-0-g"))
    assert group["metadata"]["annotations"]["team"] == "blue"
    assert is_well(life)


@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gt067_who_recovered_and_leaves_is_no_cause(rules: str, code: int) -> None:
    """It was deleted by hand, and a finalizer of somebody else's holds it."""

    async def it_leaves(life: Life) -> None:
        falls_sick(life, "one-0-b")
        await asyncio.sleep(20)
        life.climate.mute, life.climate.muted_by, life.climate.muted_for = "one-0-b", code, ALWAYS
        recovers(life, "one-0-b")
        await asyncio.sleep(5)
        address = Address("PodClique", NAMESPACE, "one-0-b")
        life.store.change(address, lambda raw: raw["metadata"].setdefault("finalizers", []).append(HOLD))
        life.store.delete(address, {})
        began = seconds()
        await until(lambda: bool(life.ended) or seconds() > began + 120)

    life = run_in_virtual_time(lived(rules, it_leaves))
    assert not life.faults, life.faults
    assert not life.ended
    assert "one-0-b" not in there(life)
