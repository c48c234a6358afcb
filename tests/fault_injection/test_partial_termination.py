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
@pytest.mark.req("OP-103")
@pytest.mark.parametrize(("code", "times"), [(403, 1), (409, 1), (503, 3), (403, ALWAYS)])
@pytest.mark.parametrize("kept", ["one-0-b", "one-0-g-1-y", "one-0-g-0-x"])
@pytest.mark.parametrize("sick", ["one-0-a", "one-0-g-0-x"], ids=["sick clique", "sick group"])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gf091_an_end_goes_on_where_it_broke_off(rules: str, sick: str, kept: str, code: int, times: int) -> None:
    async def one_is_kept(run: OperatorRun) -> None:
        deletion_fails(run, kept, code, times)
        pod_fails(run, sick)

    run = run_in_virtual_time(run_of(rules, one_is_kept))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    if times < ALWAYS:
        assert run.ended.keys() == NAMES
        assert there(run).keys() == NAMES
    else:
        assert run.ended[kept].keys() == {there(run)[kept]}, "it was asked for, and is still the same"


@pytest.mark.req("GT-035")
@pytest.mark.parametrize("heals", [75, 150], ids=["soon", "after another delay"])
@pytest.mark.parametrize(("code", "times"), [(403, ALWAYS), (409, ALWAYS), (503, ALWAYS), (403, 12)])
@pytest.mark.parametrize(
    ("sick", "kept"), [("one-0-a", "one-0-b"), ("one-0-g-1-x", "one-0-g-0-x"), ("one-0-g-1-x", "one-0-b")]
)
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gf091_a_clique_that_recovers_in_a_half_done_end_stays(
    rules: str, sick: str, kept: str, code: int, times: int, heals: int
) -> None:
    names = dict[str, str]()

    async def it_recovers(run: OperatorRun) -> None:
        names.update(there(run))
        deletion_fails(run, kept, code, times)
        pod_fails(run, sick)
        await asyncio.sleep(heals)
        run.kubelet.sick = set()

    run = run_in_virtual_time(run_of(rules, it_recovers))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    assert there(run).keys() == NAMES, "all are there again"
    if times == ALWAYS:
        assert {name: there(run)[name] for name in (sick, kept)} == {name: names[name] for name in (sick, kept)}


@pytest.mark.req("GF-075")
@pytest.mark.req("OP-103")
@pytest.mark.parametrize("kept_for", [0, 5], ids=["", "after an end that took a while"])
@pytest.mark.parametrize(("code", "times"), [(403, 1), (409, 1), (503, 1), (403, 6), (409, 6)])
@pytest.mark.parametrize("sick", ["one-0-a", "one-0-g-0-x"], ids=["sick clique", "sick group"])
def test_gf092_a_flag_that_fails_terminates_nothing_more(sick: str, code: int, times: int, kept_for: int) -> None:
    async def statuses_forbidden(run: OperatorRun) -> None:
        deletion_fails(run, "one-0-b", code, kept_for)
        run.fault_rates.unreported = times
        pod_fails(run, sick)

    run = run_in_virtual_time(run_of("field", statuses_forbidden))
    assert not run.faults, run.faults
    assert run.fault_rates.unreported < times
    assert created_twice(run) == set()
    assert run.ended.keys() == NAMES == there(run).keys()


@pytest.mark.req("GF-091")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op103_a_refusal_that_runs_out_in_the_end_of_another_is_not_forgotten(rules: str) -> None:
    async def two_end(run: OperatorRun) -> None:
        deletion_fails(run, "one-0-b", 403, 6)
        run.fault_rates.slow = {"one-1-b": 8.0}
        pod_fails(run, "one-0-a")
        await asyncio.sleep(7)
        pod_fails(run, "one-1-a")

    run = run_in_virtual_time(run_of(rules, two_end, replicas=2))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    assert run.ended.keys() == there(run).keys() == NAMES | {name.replace("one-0", "one-1") for name in NAMES}


@pytest.mark.req("PL-012")
@pytest.mark.parametrize("code", [403, 503])
def test_gf092_a_flag_that_failed_is_of_one_breach(code: int) -> None:
    async def relapses(run: OperatorRun) -> None:
        deletion_fails(run, "one-0-b", code, 9)
        run.fault_rates.unreported = 1
        pod_fails(run, "one-0-g-0-x")
        await until(lambda: "one-0-g-0-x" in run.ended and "one-0-g-0-x" in there(run))
        await asyncio.sleep(25)
        pod_fails(run, "one-0-g-0-x")

    run = run_in_virtual_time(run_of("field", relapses))
    assert not run.faults, run.faults
    assert {name: len(uids) for name, uids in run.ended.items()} == dict.fromkeys(NAMES, 2)
    assert there(run).keys() == NAMES


@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gf091_an_end_is_through_when_its_last_part_went_another_way(rules: str) -> None:
    async def a_user_repairs(run: OperatorRun) -> None:
        deletion_fails(run, "one-0-b", 403, 8)
        pod_fails(run, "one-0-g-0-x")
        await asyncio.sleep(115)
        run.fault_rates.kept_for = 0
        seen = {"metadata": {"annotations": {"looked-at": "yes"}}}
        run.store.patch(Address("PodClique", NAMESPACE, "one-0-b"), seen)

    run = run_in_virtual_time(run_of(rules, a_user_repairs))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    assert run.ended.keys() == NAMES == there(run).keys()


@pytest.mark.req("GT-066")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op023_what_fails_elsewhere_in_the_set_puts_no_end_off(rules: str) -> None:
    ended = set[str]()

    async def a_status_fails_all_the_time(run: OperatorRun) -> None:
        deletion_fails(run, "one-0-b", 403, 1)
        run.fault_rates.mute = "one-1-b"
        pod_fails(run, "one-0-a")
        others = run.kubelet.sick
        for _ in range(20):
            pod_fails(run, "one-1-b")
            await asyncio.sleep(4)
            run.kubelet.sick = others
            await asyncio.sleep(4)
        ended.update(run.ended)
        run.fault_rates.mute = ""

    run = run_in_virtual_time(run_of(rules, a_status_fails_all_the_time, replicas=2))
    assert not run.faults, run.faults
    assert ended == NAMES
    assert created_twice(run) == set()


@pytest.mark.req("GT-063")
@pytest.mark.parametrize("sick", [("one-0-g-0-x",), ("one-0-a", "one-0-g-1-y")], ids=["a group", "a clique first"])
@pytest.mark.parametrize("by_hand", [75, 100])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gf092_a_clique_that_deletes_the_cause_by_hand_terminates_nothing_more(
    rules: str, by_hand: int, sick: tuple[str, ...]
) -> None:
    async def a_user_repairs(run: OperatorRun) -> None:
        deletion_fails(run, sick[0], 403)
        for name in sick:
            pod_fails(run, name)
        await asyncio.sleep(by_hand)
        run.fault_rates.kept_for = 0
        run.store.delete(Address("PodClique", NAMESPACE, sick[0]), {})

    run = run_in_virtual_time(run_of(rules, a_user_repairs))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    assert there(run).keys() == NAMES


@pytest.mark.req("OP-103")
@pytest.mark.parametrize("kept_for", [0, 5])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gf092_an_answer_that_is_lost_terminates_nothing_more(rules: str, kept_for: int) -> None:
    async def the_last_answer_is_lost(run: OperatorRun) -> None:
        deletion_fails(run, "one-0-b", 503, kept_for)
        run.fault_rates.lost = "one-0-g-0-x"
        pod_fails(run, "one-0-g-0-x")

    run = run_in_virtual_time(run_of(rules, the_last_answer_is_lost))
    assert not run.faults, run.faults
    assert not run.fault_rates.lost
    assert created_twice(run) == set()
    assert run.ended.keys() == NAMES == there(run).keys()


ALL_RULES: Final = ("design", "field", "field@v0.1.0-alpha.11")


@pytest.mark.req("OP-023")
@pytest.mark.req("GT-019")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize(("sick", "mute"), [("one-0-a", "one-0-a"), ("one-0-g-0-x", "one-0-g")])
@pytest.mark.parametrize("rules", ALL_RULES)
def test_gt067_a_hiccup_terminates_nothing_though_no_status_is_taken(
    rules: str, sick: str, mute: str, code: int
) -> None:
    async def it_recovers_without_a_status_write(run: OperatorRun) -> None:
        pod_fails(run, sick)
        await asyncio.sleep(20)
        run.fault_rates.mute, run.fault_rates.muted_by = mute, code
        run.kubelet.sick = set()
        await asyncio.sleep(100)
        pod_fails(run, sick)
        await asyncio.sleep(4)
        run.kubelet.sick = set()
        await asyncio.sleep(100)
        run.fault_rates.mute = ""

    run = run_in_virtual_time(run_of(rules, it_recovers_without_a_status_write))
    assert not run.faults, run.faults
    assert not run.ended


@pytest.mark.req("GF-092")
@pytest.mark.req("OP-103")
@pytest.mark.parametrize("times", [1, 2, 3, 10, ALWAYS])
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gt067_a_status_that_fails_after_an_end_terminates_nothing_more(rules: str, code: int, times: int) -> None:
    async def no_status_is_taken(run: OperatorRun) -> None:
        pod_fails(run, "one-0-a")
        pod_fails(run, "one-0-g-0-x")
        await asyncio.sleep(59)
        run.fault_rates.mute, run.fault_rates.muted_by, run.fault_rates.muted_for = "one-0-g", code, times
        await asyncio.sleep(240)
        run.fault_rates.mute = ""

    run = run_in_virtual_time(run_of(rules, no_status_is_taken))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    assert run.ended.keys() == NAMES == there(run).keys()


@pytest.mark.req("GF-092")
@pytest.mark.req("PL-012")
@pytest.mark.parametrize("pause", [1, 4, 14])
@pytest.mark.parametrize("kept_for", [0, 8, 9])
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gt067_a_clique_that_relapses_while_no_status_is_taken_ends_in_time(
    rules: str, code: int, kept_for: int, pause: int
) -> None:
    sick_at, ended_at = 0.0, 0.0

    async def relapses(run: OperatorRun) -> None:
        nonlocal sick_at, ended_at
        deletion_fails(run, "one-0-b", 403, kept_for)
        pod_fails(run, "one-0-g-0-x")
        await asyncio.sleep(59)
        run.fault_rates.mute, run.fault_rates.muted_by = "one-0-g", code
        await until(lambda: "one-0-b" in run.ended and is_healthy(run))
        await asyncio.sleep(pause)
        pod_fails(run, "one-0-g-0-x")
        sick_at = seconds()
        await until(lambda: len(run.ended["one-0-a"]) > 1)
        ended_at = seconds()
        await asyncio.sleep(100)
        run.fault_rates.mute = ""

    run = run_in_virtual_time(run_of(rules, relapses))
    assert not run.faults, run.faults
    assert 60 <= ended_at - sick_at < 75
    assert {name: len(uids) for name, uids in run.ended.items()} == dict.fromkeys(NAMES, 2)
    assert there(run).keys() == NAMES


def with_a_label(run: OperatorRun) -> None:
    """A user changes one clique of the set, so that it is written."""

    def newer(raw: Json) -> None:
        raw["spec"]["template"]["cliques"][0]["labels"] = {"team": "blue"}

    run.store.change(Address("PodCliqueSet", NAMESPACE, "one"), newer)


@pytest.mark.req("GT-019")
@pytest.mark.req("GT-033")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("ill", [False, True], ids=["a hiccup", "for good"])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_pl013_a_breach_is_reported_though_its_clique_may_not_be_written(rules: str, ill: bool, code: int) -> None:
    async def it_may_not_be_written(run: OperatorRun) -> None:
        pod_fails(run, "one-0-a")
        await asyncio.sleep(10)
        run.fault_rates.fixed, run.fault_rates.muted_by = "one-0-a", code
        with_a_label(run)
        await asyncio.sleep(20)
        run.kubelet.sick = set()
        await asyncio.sleep(100)
        pod_fails(run, "one-0-a")
        await asyncio.sleep(150 if ill else 4)
        run.kubelet.sick = set()
        await asyncio.sleep(100)
        run.fault_rates.fixed = ""

    run = run_in_virtual_time(run_of(rules, it_may_not_be_written))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    assert run.ended.keys() == (NAMES if ill else set())


@pytest.mark.req("GT-067")
@pytest.mark.parametrize("code", [403, 503])
@pytest.mark.parametrize("ill", [False, True], ids=["a hiccup", "for good"])
@pytest.mark.parametrize("fixed", ["", "one-0-a"], ids=["", "may not be changed"])
def test_pl013_a_clock_that_began_anew_is_reported_before_a_change(fixed: str, ill: bool, code: int) -> None:
    """Under ``field`` the label is an update, which replaces the pod that is not ready."""
    ended_at = 0.0

    async def it_relapses_and_is_changed(run: OperatorRun) -> None:
        nonlocal ended_at
        pod_fails(run, "one-0-a")
        await asyncio.sleep(25)
        run.fault_rates.mute, run.fault_rates.muted_by, run.fault_rates.fixed = "one-0-a", code, fixed
        run.kubelet.sick = set()
        await asyncio.sleep(15)
        began = seconds()
        pod_fails(run, "one-0-a")
        await asyncio.sleep(4)
        with_a_label(run)
        await asyncio.sleep(40)
        if not ill:
            run.kubelet.sick = set()
        await asyncio.sleep(15)
        assert not run.ended
        if ill:
            await until(lambda: "one-0-a" in run.ended)
        ended_at = seconds() - began
        run.fault_rates.mute = run.fault_rates.fixed = ""

    run = run_in_virtual_time(run_of("design", it_relapses_and_is_changed))
    assert not run.faults, run.faults
    assert run.ended.keys() == (NAMES if ill else set())
    assert ended_at < 75
