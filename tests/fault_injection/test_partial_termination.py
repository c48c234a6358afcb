"""A termination of which one part fails: the rest is done once, not forgotten, and a recovered gang is kept."""

import asyncio
from typing import Final

import pytest

from tests.fault_injection.api_store import Address, Json
from tests.fault_injection.operator_run import NAMESPACE, OperatorRun
from tests.fault_injection.tested_set import (
    ALWAYS,
    NAMES,
    created_twice,
    deletion_fails,
    is_healthy,
    pod_fails,
    run_of,
    there,
    until,
)
from tests.fault_injection.virtual_time import run_in_virtual_time, seconds


@pytest.mark.req("GT-063")
@pytest.mark.req("PL-014")
@pytest.mark.req("PL-027")
@pytest.mark.req("PL-028")
@pytest.mark.req("OP-102")
@pytest.mark.parametrize(("code", "times"), [(403, 1), (409, 1), (503, 3), (403, ALWAYS)])
@pytest.mark.parametrize("kept", ["one-0-b", "one-0-g-1-y", "one-0-g-0-x"])
@pytest.mark.parametrize("sick", ["one-0-a", "one-0-g-0-x"], ids=["sick clique", "sick group"])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11", "field@v0.1.0-alpha.1"])
def test_gf091_an_end_goes_on_where_it_broke_off(rules: str, sick: str, kept: str, code: int, times: int) -> None:
    async def one_is_kept(life: OperatorRun) -> None:
        deletion_fails(life, kept, code, times)
        pod_fails(life, sick)

    life = run_in_virtual_time(run_of(rules, one_is_kept))
    assert not life.faults, life.faults
    assert created_twice(life) == set()
    if times < ALWAYS:
        assert life.ended.keys() == NAMES
        assert there(life).keys() == NAMES
    else:
        assert life.ended[kept].keys() == {there(life)[kept]}, "it was asked for, and is still the same"


@pytest.mark.req("GT-035")
@pytest.mark.parametrize("heals", [75, 150], ids=["soon", "after another delay"])
@pytest.mark.parametrize(("code", "times"), [(403, ALWAYS), (409, ALWAYS), (503, ALWAYS), (403, 12)])
@pytest.mark.parametrize(
    ("sick", "kept"), [("one-0-a", "one-0-b"), ("one-0-g-1-x", "one-0-g-0-x"), ("one-0-g-1-x", "one-0-b")]
)
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gf091_who_recovers_in_a_half_done_end_stays(
    rules: str, sick: str, kept: str, code: int, times: int, heals: int
) -> None:
    names = dict[str, str]()

    async def it_recovers(life: OperatorRun) -> None:
        names.update(there(life))
        deletion_fails(life, kept, code, times)
        pod_fails(life, sick)
        await asyncio.sleep(heals)
        life.kubelet.sick = set()

    life = run_in_virtual_time(run_of(rules, it_recovers))
    assert not life.faults, life.faults
    assert created_twice(life) == set()
    assert there(life).keys() == NAMES, "all are there again"
    if times == ALWAYS:
        assert {name: there(life)[name] for name in (sick, kept)} == {name: names[name] for name in (sick, kept)}


@pytest.mark.req("GF-075")
@pytest.mark.req("OP-102")
@pytest.mark.parametrize("kept_for", [0, 5], ids=["", "after an end that took a while"])
@pytest.mark.parametrize(("code", "times"), [(403, 1), (409, 1), (503, 1), (403, 6), (409, 6)])
@pytest.mark.parametrize("sick", ["one-0-a", "one-0-g-0-x"], ids=["sick clique", "sick group"])
def test_gf092_a_flag_that_fails_ends_nobody_again(sick: str, code: int, times: int, kept_for: int) -> None:
    async def nobody_may_tell(life: OperatorRun) -> None:
        deletion_fails(life, "one-0-b", code, kept_for)
        life.climate.untold = times
        pod_fails(life, sick)

    life = run_in_virtual_time(run_of("field", nobody_may_tell))
    assert not life.faults, life.faults
    assert life.climate.untold < times
    assert created_twice(life) == set()
    assert life.ended.keys() == NAMES == there(life).keys()


@pytest.mark.req("GF-091")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op103_a_refusal_that_runs_out_in_the_end_of_another_is_not_forgotten(rules: str) -> None:
    async def two_end(life: OperatorRun) -> None:
        deletion_fails(life, "one-0-b", 403, 6)
        life.climate.slow = {"one-1-b": 8.0}
        pod_fails(life, "one-0-a")
        await asyncio.sleep(7)
        pod_fails(life, "one-1-a")

    life = run_in_virtual_time(run_of(rules, two_end, replicas=2))
    assert not life.faults, life.faults
    assert created_twice(life) == set()
    assert life.ended.keys() == there(life).keys() == NAMES | {name.replace("one-0", "one-1") for name in NAMES}


@pytest.mark.req("PL-012")
@pytest.mark.parametrize("code", [403, 503])
def test_gf092_a_flag_that_failed_is_of_one_breach(code: int) -> None:
    async def relapses(life: OperatorRun) -> None:
        deletion_fails(life, "one-0-b", code, 9)
        life.climate.untold = 1
        pod_fails(life, "one-0-g-0-x")
        await until(lambda: "one-0-g-0-x" in life.ended and "one-0-g-0-x" in there(life))
        await asyncio.sleep(25)
        pod_fails(life, "one-0-g-0-x")

    life = run_in_virtual_time(run_of("field", relapses))
    assert not life.faults, life.faults
    assert {name: len(uids) for name, uids in life.ended.items()} == dict.fromkeys(NAMES, 2)
    assert there(life).keys() == NAMES


@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11", "field@v0.1.0-alpha.1"])
def test_gf091_an_end_is_through_when_its_last_part_went_another_way(rules: str) -> None:
    async def somebody_helps(life: OperatorRun) -> None:
        deletion_fails(life, "one-0-b", 403, 8)
        pod_fails(life, "one-0-g-0-x")
        await asyncio.sleep(115)
        life.climate.kept_for = 0
        seen = {"metadata": {"annotations": {"looked-at": "yes"}}}
        life.store.patch(Address("PodClique", NAMESPACE, "one-0-b"), seen)

    life = run_in_virtual_time(run_of(rules, somebody_helps))
    assert not life.faults, life.faults
    assert created_twice(life) == set()
    assert life.ended.keys() == NAMES == there(life).keys()


@pytest.mark.req("GT-066")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op023_what_fails_elsewhere_in_the_set_puts_no_end_off(rules: str) -> None:
    ended = set[str]()

    async def a_status_fails_all_the_time(life: OperatorRun) -> None:
        deletion_fails(life, "one-0-b", 403, 1)
        life.climate.mute = "one-1-b"
        pod_fails(life, "one-0-a")
        others = life.kubelet.sick
        for _ in range(20):
            pod_fails(life, "one-1-b")
            await asyncio.sleep(4)
            life.kubelet.sick = others
            await asyncio.sleep(4)
        ended.update(life.ended)
        life.climate.mute = ""

    life = run_in_virtual_time(run_of(rules, a_status_fails_all_the_time, replicas=2))
    assert not life.faults, life.faults
    assert ended == NAMES
    assert created_twice(life) == set()


@pytest.mark.req("GT-063")
@pytest.mark.parametrize("sick", [("one-0-g-0-x",), ("one-0-a", "one-0-g-1-y")], ids=["a group", "a clique first"])
@pytest.mark.parametrize("by_hand", [75, 100])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gf093_who_deletes_the_cause_by_hand_ends_nobody_again(rules: str, by_hand: int, sick: tuple[str, ...]) -> None:
    async def somebody_helps(life: OperatorRun) -> None:
        deletion_fails(life, sick[0], 403)
        for name in sick:
            pod_fails(life, name)
        await asyncio.sleep(by_hand)
        life.climate.kept_for = 0
        life.store.delete(Address("PodClique", NAMESPACE, sick[0]), {})

    life = run_in_virtual_time(run_of(rules, somebody_helps))
    assert not life.faults, life.faults
    assert created_twice(life) == set()
    assert there(life).keys() == NAMES


@pytest.mark.req("OP-102")
@pytest.mark.parametrize("kept_for", [0, 5])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gf093_an_answer_that_is_lost_ends_nobody_again(rules: str, kept_for: int) -> None:
    async def the_last_answer_is_lost(life: OperatorRun) -> None:
        deletion_fails(life, "one-0-b", 503, kept_for)
        life.climate.lost = "one-0-g-0-x"
        pod_fails(life, "one-0-g-0-x")

    life = run_in_virtual_time(run_of(rules, the_last_answer_is_lost))
    assert not life.faults, life.faults
    assert not life.climate.lost
    assert created_twice(life) == set()
    assert life.ended.keys() == NAMES == there(life).keys()


ALL_RULES: Final = ("design", "field", "field@v0.1.0-alpha.11", "field@v0.1.0-alpha.1")


@pytest.mark.req("OP-023")
@pytest.mark.req("GT-019")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize(("sick", "mute"), [("one-0-a", "one-0-a"), ("one-0-g-0-x", "one-0-g")])
@pytest.mark.parametrize("rules", ALL_RULES)
def test_gt067_a_hiccup_ends_nobody_though_no_status_is_taken(rules: str, sick: str, mute: str, code: int) -> None:
    async def it_recovers_and_nobody_may_write_it(life: OperatorRun) -> None:
        pod_fails(life, sick)
        await asyncio.sleep(20)
        life.climate.mute, life.climate.muted_by = mute, code
        life.kubelet.sick = set()
        await asyncio.sleep(100)
        pod_fails(life, sick)
        await asyncio.sleep(4)
        life.kubelet.sick = set()
        await asyncio.sleep(100)
        life.climate.mute = ""

    life = run_in_virtual_time(run_of(rules, it_recovers_and_nobody_may_write_it))
    assert not life.faults, life.faults
    assert not life.ended


@pytest.mark.req("GF-092")
@pytest.mark.req("OP-103")
@pytest.mark.parametrize("times", [1, 2, 3, 10, ALWAYS])
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gt067_a_status_that_fails_after_an_end_ends_nobody_again(rules: str, code: int, times: int) -> None:
    async def no_status_is_taken(life: OperatorRun) -> None:
        pod_fails(life, "one-0-a")
        pod_fails(life, "one-0-g-0-x")
        await asyncio.sleep(59)
        life.climate.mute, life.climate.muted_by, life.climate.muted_for = "one-0-g", code, times
        await asyncio.sleep(240)
        life.climate.mute = ""

    life = run_in_virtual_time(run_of(rules, no_status_is_taken))
    assert not life.faults, life.faults
    assert created_twice(life) == set()
    assert life.ended.keys() == NAMES == there(life).keys()


@pytest.mark.req("GF-092")
@pytest.mark.req("PL-012")
@pytest.mark.parametrize("pause", [1, 4, 14])
@pytest.mark.parametrize("kept_for", [0, 8, 9])
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gt067_who_relapses_while_no_status_is_taken_ends_in_time(
    rules: str, code: int, kept_for: int, pause: int
) -> None:
    sick_at, ended_at = 0.0, 0.0

    async def relapses(life: OperatorRun) -> None:
        nonlocal sick_at, ended_at
        deletion_fails(life, "one-0-b", 403, kept_for)
        pod_fails(life, "one-0-g-0-x")
        await asyncio.sleep(59)
        life.climate.mute, life.climate.muted_by = "one-0-g", code
        await until(lambda: "one-0-b" in life.ended and is_healthy(life))
        await asyncio.sleep(pause)
        pod_fails(life, "one-0-g-0-x")
        sick_at = seconds()
        await until(lambda: len(life.ended["one-0-a"]) > 1)
        ended_at = seconds()
        await asyncio.sleep(100)
        life.climate.mute = ""

    life = run_in_virtual_time(run_of(rules, relapses))
    assert not life.faults, life.faults
    assert 60 <= ended_at - sick_at < 75
    assert {name: len(uids) for name, uids in life.ended.items()} == dict.fromkeys(NAMES, 2)
    assert there(life).keys() == NAMES


def with_a_label(life: OperatorRun) -> None:
    """Somebody changes one clique of the set, so that it is written."""

    def newer(raw: Json) -> None:
        raw["spec"]["template"]["cliques"][0]["labels"] = {"team": "blue"}

    life.store.change(Address("PodCliqueSet", NAMESPACE, "one"), newer)


@pytest.mark.req("GT-019")
@pytest.mark.req("GT-033")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("ill", [False, True], ids=["a hiccup", "for good"])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_pl013_a_breach_is_told_though_its_clique_may_not_be_written(rules: str, ill: bool, code: int) -> None:
    async def it_may_not_be_written(life: OperatorRun) -> None:
        pod_fails(life, "one-0-a")
        await asyncio.sleep(10)
        life.climate.fixed, life.climate.muted_by = "one-0-a", code
        with_a_label(life)
        await asyncio.sleep(20)
        life.kubelet.sick = set()
        await asyncio.sleep(100)
        pod_fails(life, "one-0-a")
        await asyncio.sleep(150 if ill else 4)
        life.kubelet.sick = set()
        await asyncio.sleep(100)
        life.climate.fixed = ""

    life = run_in_virtual_time(run_of(rules, it_may_not_be_written))
    assert not life.faults, life.faults
    assert created_twice(life) == set()
    assert life.ended.keys() == (NAMES if ill else set())


@pytest.mark.req("GT-067")
@pytest.mark.parametrize("code", [403, 503])
@pytest.mark.parametrize("ill", [False, True], ids=["a hiccup", "for good"])
@pytest.mark.parametrize("fixed", ["", "one-0-a"], ids=["", "may not be changed"])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_pl013_a_clock_that_began_anew_is_told_before_a_change(rules: str, fixed: str, ill: bool, code: int) -> None:
    ended_at = 0.0

    async def it_relapses_and_is_changed(life: OperatorRun) -> None:
        nonlocal ended_at
        pod_fails(life, "one-0-a")
        await asyncio.sleep(25)
        life.climate.mute, life.climate.muted_by, life.climate.fixed = "one-0-a", code, fixed
        life.kubelet.sick = set()
        await asyncio.sleep(15)
        began = seconds()
        pod_fails(life, "one-0-a")
        await asyncio.sleep(4)
        with_a_label(life)
        await asyncio.sleep(40)
        if not ill:
            life.kubelet.sick = set()
        await asyncio.sleep(15)
        assert not life.ended
        if ill:
            await until(lambda: "one-0-a" in life.ended)
        ended_at = seconds() - began
        life.climate.mute = life.climate.fixed = ""

    life = run_in_virtual_time(run_of(rules, it_relapses_and_is_changed))
    assert not life.faults, life.faults
    assert life.ended.keys() == (NAMES if ill else set())
    assert ended_at < 75
