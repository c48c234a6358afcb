"""A termination that cannot be completed: a part that recovers meanwhile is not terminated at its next failure."""

import asyncio

import pytest

from tests.fault_injection.api_store import Address, Json
from tests.fault_injection.operator_run import NAMESPACE, OperatorRun
from tests.fault_injection.tested_set import (
    ALWAYS,
    created_twice,
    deletion_fails,
    edited,
    is_healthy,
    pod_fails,
    recorded_breach,
    recovers,
    run_of,
    scaled,
    there,
    until,
)
from tests.fault_injection.virtual_time import run_in_virtual_time, seconds

HOLD = "storage.example.com/flush"


@pytest.mark.req("OP-103")
@pytest.mark.parametrize("denied_by", [403, 409, 503])
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("hiccups", ["one-0-a", "one-0-g-0-x"], ids=["a clique", "a group"])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_gt067_a_recovery_is_known_though_the_end_of_another_is_planned(
    rules: str, hiccups: str, code: int, denied_by: int
) -> None:
    """The end of the first breach could not be written; then another is due, which recovers in the last moment."""

    async def another_is_due(run: OperatorRun) -> None:
        pod_fails(run, hiccups)
        await asyncio.sleep(10)
        run.fault_rates.mute, run.fault_rates.muted_by = hiccups.removesuffix("-0-x"), code
        recovers(run, hiccups)
        await asyncio.sleep(100)
        pod_fails(run, "one-0-b")
        await asyncio.sleep(56)
        run.fault_rates.denied, run.fault_rates.denied_by = "DELETE", denied_by
        pod_fails(run, hiccups)
        await asyncio.sleep(6)
        recovers(run, "one-0-b")
        await asyncio.sleep(1.5)
        run.ended.clear()
        run.fault_rates.denied = ""
        await asyncio.sleep(25)
        recovers(run, hiccups)
        run.fault_rates.mute = ""

    run = run_in_virtual_time(run_of(rules, another_is_due))
    assert not run.faults, run.faults
    assert not run.ended


@pytest.mark.req("GT-033")
@pytest.mark.parametrize("denied_by", [403, 409, 503])
@pytest.mark.parametrize("hiccup", [9, 35, 55])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_pl013_that_a_breach_is_over_is_reported_where_its_clique_may_not_be_deleted(
    rules: str, hiccup: int, denied_by: int
) -> None:
    async def nothing_may_be_deleted(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        await asyncio.sleep(50)
        run.fault_rates.denied, run.fault_rates.denied_by = "DELETE", denied_by
        pod_fails(run, "one-0-a")
        await asyncio.sleep(20)
        recovers(run, "one-0-a")
        await asyncio.sleep(240)
        pod_fails(run, "one-0-a")
        await asyncio.sleep(3)
        recovers(run, "one-0-b")
        await asyncio.sleep(2)
        run.ended.clear()
        run.fault_rates.denied = ""
        await asyncio.sleep(hiccup - 5)
        recovers(run, "one-0-a")

    run = run_in_virtual_time(run_of(rules, nothing_may_be_deleted))
    assert not run.faults, run.faults
    assert not run.ended


@pytest.mark.req("GT-067")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op023_a_recovery_without_an_operator_is_reported_before_the_deletion(rules: str, code: int) -> None:
    async def no_operator_runs(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        await asyncio.sleep(30)
        pod_fails(run, "one-0-a")
        await asyncio.sleep(10)
        await run.end()
        await asyncio.sleep(5)
        recovers(run, "one-0-a")
        await asyncio.sleep(35)
        run.fault_rates.denied, run.fault_rates.denied_by = "DELETE", code
        run.begin()
        await asyncio.sleep(130)
        pod_fails(run, "one-0-a")
        await asyncio.sleep(4)
        recovers(run, "one-0-b")
        await asyncio.sleep(2)
        run.ended.clear()
        run.fault_rates.denied = ""
        await asyncio.sleep(45)
        recovers(run, "one-0-a")

    run = run_in_virtual_time(run_of(rules, no_operator_runs))
    assert not run.faults, run.faults
    assert not run.ended


@pytest.mark.req("PL-013")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op023_a_recovery_during_a_failed_scale_in_is_reported(rules: str, code: int) -> None:
    async def it_is_scaled_in(run: OperatorRun) -> None:
        run.judges = False
        pod_fails(run, "one-1-a")
        await asyncio.sleep(10)
        run.fault_rates.denied, run.fault_rates.denied_by = "DELETE", code
        scaled(run, 1)
        await asyncio.sleep(10)
        recovers(run, "one-1-a")
        await asyncio.sleep(200)
        assert recorded_breach(run, "one-1-a") == "False"
        scaled(run, 2)
        pod_fails(run, "one-1-a")
        await asyncio.sleep(1)
        run.ended.clear()
        run.fault_rates.denied = ""
        await asyncio.sleep(45)
        recovers(run, "one-1-a")

    run = run_in_virtual_time(run_of(rules, it_is_scaled_in, replicas=2))
    assert not run.faults, run.faults
    assert not run.ended


@pytest.mark.req("GF-092")
@pytest.mark.req("PL-015")
@pytest.mark.parametrize(("code", "times"), [(409, 12), (403, 7), (403, 1)])
@pytest.mark.parametrize("pause", [0.01, 1.5, 5])
def test_pl013_an_end_is_reported_before_annotations_of_its_group_are_written(
    code: int, times: int, pause: float
) -> None:
    def annotated(raw: Json) -> None:
        raw["spec"]["template"]["podCliqueScalingGroups"][0]["annotations"] = {"team": "blue"}

    async def the_group_is_annotated(run: OperatorRun) -> None:
        pod_fails(run, "one-0-g-0-x")
        await asyncio.sleep(55)
        deletion_fails(run, "one-0-b", code, times)
        await asyncio.sleep(5 + pause)
        run.store.change(Address("PodCliqueSet", NAMESPACE, "one"), annotated)
        await asyncio.sleep(300)

    run = run_in_virtual_time(run_of("field", the_group_is_annotated))
    assert not run.faults, run.faults
    assert created_twice(run) == set()
    group = run.store.get(Address("PodCliqueScalingGroup", NAMESPACE, "one-0-g"))
    assert group["metadata"]["annotations"]["team"] == "blue"
    assert is_healthy(run)


@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_gt067_a_clique_that_recovered_and_leaves_is_no_cause(rules: str, code: int) -> None:
    """It was deleted by hand, and a foreign finalizer holds it."""

    async def it_leaves(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        await asyncio.sleep(20)
        run.fault_rates.mute, run.fault_rates.muted_by, run.fault_rates.muted_for = "one-0-b", code, ALWAYS
        recovers(run, "one-0-b")
        await asyncio.sleep(5)
        address = Address("PodClique", NAMESPACE, "one-0-b")
        run.store.change(address, lambda raw: raw["metadata"].setdefault("finalizers", []).append(HOLD))
        run.store.delete(address, {})
        began = seconds()
        await until(lambda: bool(run.ended) or seconds() > began + 120)

    run = run_in_virtual_time(run_of(rules, it_leaves))
    assert not run.faults, run.faults
    assert not run.ended
    assert "one-0-b" not in there(run)


@pytest.mark.req("OP-103")
@pytest.mark.parametrize("code", [403, 409, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_wl236_a_clique_that_is_updated_with_one_that_cannot_be_deleted_goes_once(rules: str, code: int) -> None:
    """It is unknown the first time; from then on it waits for the other one."""

    async def it_is_updated(run: OperatorRun) -> None:
        run.judges = False
        deletion_fails(run, "one-0-g-0-x", code)
        edited(run, 2)
        before = there(run)
        await asyncio.sleep(180)
        assert there(run)["one-0-g-0-x"] == before["one-0-g-0-x"]
        run.fault_rates.kept_for = 0

    run = run_in_virtual_time(run_of(rules, it_is_updated))
    assert not run.faults, run.faults
    assert len(run.ended["one-0-g-0-y"]) == 1
    assert is_healthy(run)
