"""A server that cannot be read before a termination: nothing is terminated, and everything else goes on (OP-013)."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.fault_injection.api_store import Address
from tests.fault_injection.operator_run import NAMESPACE, OperatorRun
from tests.fault_injection.tested_set import (
    ALWAYS,
    NAMES,
    POOL,
    SPARE,
    created_twice,
    deletion_fails,
    edited,
    is_healthy,
    pod_fails,
    recovers,
    run_of,
    scaled,
    there,
    until,
)
from tests.fault_injection.virtual_time import run_in_virtual_time, seconds


@pytest.mark.parametrize("code", [403, 503])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op013_a_clique_that_recovers_while_the_server_shows_nothing_is_reported(rules: str, code: int) -> None:
    """Another replica is due, and the server cannot be asked about it for minutes."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        await asyncio.sleep(50)
        pod_fails(run, "one-1-a")
        await asyncio.sleep(5)
        run.fault_rates.blind = code
        await asyncio.sleep(15)
        recovers(run, "one-1-a")
        await asyncio.sleep(240)
        assert not run.ended
        pod_fails(run, "one-1-a")
        await asyncio.sleep(2)
        run.fault_rates.blind = 0
        await asyncio.sleep(50)
        recovers(run, "one-1-a")

    run = run_in_virtual_time(run_of(rules, nothing_is_shown, replicas=2))
    assert not run.faults, run.faults
    assert run.ended.keys() == NAMES
    assert created_twice(run) == set()


@pytest.mark.req("GT-067")
@pytest.mark.parametrize("clique", ["one-0-a", "one-0-g-0-x"], ids=["a clique", "a group"])
@pytest.mark.parametrize("code", [403, 503])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_op013_a_clique_that_recovers_beside_a_due_one_is_reported(rules: str, code: int, clique: str) -> None:
    """Both are of one replica, so it was to go too, had the server shown that it may."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        await asyncio.sleep(45)
        pod_fails(run, clique)
        await asyncio.sleep(8)
        run.fault_rates.blind = code
        await asyncio.sleep(12)
        recovers(run, clique)
        await asyncio.sleep(120)
        pod_fails(run, clique)
        await asyncio.sleep(4)
        recovers(run, "one-0-b")
        await asyncio.sleep(2)
        run.fault_rates.blind = 0
        await asyncio.sleep(50)
        recovers(run, clique)

    run = run_in_virtual_time(run_of(rules, nothing_is_shown))
    assert not run.faults, run.faults
    assert not run.ended


@pytest.mark.parametrize("rules", ["design", "field"])
def test_op013_the_rest_of_the_set_does_not_stand_still(rules: str) -> None:
    """It is scaled out, and a pod is lost."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        run.fault_rates.blind = 503
        await asyncio.sleep(90)
        scaled(run, 3)
        clique = run.store.get(Address("PodClique", NAMESPACE, "one-1-a"))
        lost = run.pods_of(clique)
        for pod in lost:
            run.store.delete(Address("Pod", NAMESPACE, pod["metadata"]["name"]), {})
        await asyncio.sleep(60)
        assert {name for name in there(run) if name.startswith("one-2-")} == {
            name.replace("one-0-", "one-2-") for name in NAMES
        }
        assert len(run.pods_of(clique)) == len(lost)
        assert not run.ended
        run.fault_rates.blind = 0

    run = run_in_virtual_time(run_of(rules, nothing_is_shown, replicas=2))
    assert not run.faults, run.faults
    assert run.ended.keys() == NAMES
    assert created_twice(run) == set()


@pytest.mark.req("PL-028")
@pytest.mark.req("GF-051")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op013_no_untried_termination_is_reported(rules: str) -> None:
    """A group that had its flag for nothing would never be ended."""
    ended_at = 0.0

    async def nothing_is_shown(run: OperatorRun) -> None:
        nonlocal ended_at
        pod_fails(run, "one-0-b")
        await asyncio.sleep(55)
        run.fault_rates.blind = 503
        await asyncio.sleep(10)
        pod_fails(run, "one-0-g-0-x")
        began = seconds()
        await asyncio.sleep(5)
        recovers(run, "one-0-b")
        await asyncio.sleep(5)
        run.fault_rates.blind = 0
        await until(lambda: bool(run.ended))
        ended_at = seconds() - began

    run = run_in_virtual_time(run_of(rules, nothing_is_shown))
    assert not run.faults, run.faults
    assert 60 <= ended_at < 75
    assert run.ended.keys() == NAMES


@pytest.mark.req("OP-023")
@pytest.mark.parametrize("clique", ["one-1-a", "one-0-a", "one-0-g"])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_op013_what_is_refused_meanwhile_is_not_tried_at_every_change(rules: str, clique: str) -> None:
    async def nothing_is_shown(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        run.fault_rates.blind = 503
        pod_fails(run, f"{clique}-0-x" if clique.endswith("-g") else clique)
        run.fault_rates.mute, run.fault_rates.muted_by, run.fault_rates.muted_for = clique, 403, ALWAYS
        await asyncio.sleep(90)
        before = run.fault_rates.muted_for
        for _ in range(60):
            pod_fails(run, "one-1-b")
            await asyncio.sleep(2)
            recovers(run, "one-1-b")
            await asyncio.sleep(2)
        assert before - run.fault_rates.muted_for < 20
        run.fault_rates.blind, run.fault_rates.mute = 0, ""

    run = run_in_virtual_time(run_of(rules, nothing_is_shown, replicas=2))
    assert not run.faults, run.faults


@pytest.mark.req("PL-029")
@pytest.mark.parametrize("pause", [13.5, 60])
def test_op013_an_update_deletes_what_it_has_to(pause: float) -> None:
    """A user gives the due clique another image: nothing is terminated by that."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        run.judges = False
        pod_fails(run, "one-0-g-0-x")
        await asyncio.sleep(55)
        run.fault_rates.blind = 503
        await asyncio.sleep(pause)
        edited(run, 2)
        await asyncio.sleep(60)
        specs = [one["spec"]["podSpec"] for one in run.cliques() if one["metadata"]["name"].endswith("-x")]
        assert "new:1" in {spec["containers"][0]["image"] for spec in specs}
        run.fault_rates.blind = 0

    run = run_in_virtual_time(run_of("design", nothing_is_shown))
    assert not run.faults, run.faults
    assert created_twice(run) == set()


@pytest.mark.req("PL-015")
@pytest.mark.req("PL-029")
@pytest.mark.parametrize("code", [403, 503])
def test_op013_a_repaired_template_saves_the_due_clique(code: int) -> None:
    """Its update begins, so it is due no longer, and its pods are made again."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b")
        await asyncio.sleep(50)
        run.fault_rates.blind = code
        await asyncio.sleep(60)
        assert not is_healthy(run)
        edited(run, 1)
        await asyncio.sleep(120)
        assert is_healthy(run)
        run.fault_rates.blind = 0

    run = run_in_virtual_time(run_of("design", nothing_is_shown))
    assert not run.faults, run.faults
    assert not run.ended


@pytest.mark.req("GF-073")
@pytest.mark.req("PL-029")
@pytest.mark.parametrize("place", [1, 2], ids=["a clique", "a group"])
def test_op013_under_field_a_repaired_template_saves_nothing_that_is_due(place: int) -> None:
    """The Go operator ends its update of a due replica at once, so the breach stands as long as it did before."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        pod_fails(run, "one-0-b" if place == 1 else "one-0-g-0-x")
        await asyncio.sleep(50)
        run.fault_rates.blind = 503
        await asyncio.sleep(60)
        edited(run, place)
        await asyncio.sleep(120)
        assert not run.ended
        run.fault_rates.blind = 0

    run = run_in_virtual_time(run_of("field", nothing_is_shown))
    assert not run.faults, run.faults
    assert run.ended.keys() == NAMES
    assert created_twice(run) == set()


@pytest.mark.req("WL-076")
@pytest.mark.req("PL-029")
@pytest.mark.parametrize("code", [403, 503])
@pytest.mark.parametrize("rules", ["design", "field", "field@v0.1.0-alpha.11"])
def test_op013_what_an_end_took_that_was_tried_is_not_made_again(rules: str, code: int) -> None:
    """A part of it stays; then the server shows nothing for minutes."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        deletion_fails(run, "one-0-g-0-y", code)
        pod_fails(run, "one-0-b")
        await until(lambda: "one-0-a" in run.ended)
        left = there(run).keys()
        run.fault_rates.blind = 503
        await asyncio.sleep(240)
        assert there(run).keys() == left
        run.fault_rates.blind = run.fault_rates.kept_for = 0

    run = run_in_virtual_time(run_of(rules, nothing_is_shown))
    assert not run.faults, run.faults
    assert run.ended.keys() == NAMES
    assert created_twice(run) == set()
    assert is_healthy(run)


async def its_cause_recovers_and_another_stays_due(run: OperatorRun) -> None:
    deletion_fails(run, "one-0-a", 403)
    pod_fails(run, "one-0-b")
    await asyncio.sleep(5)
    pod_fails(run, "one-0-a")
    await until(lambda: "one-0-g-0-x" in run.ended)
    await asyncio.sleep(10)
    run.fault_rates.blind = 503
    await asyncio.sleep(30)
    recovers(run, "one-0-b")


async def of_the_group_and_the_whole_falls_due(run: OperatorRun) -> None:
    deletion_fails(run, "one-0-g-1-x", 403)
    pod_fails(run, "one-0-g-1-x")
    await asyncio.sleep(30)
    pod_fails(run, "one-0-b")
    await until(lambda: "one-0-g-1-y" in run.ended)
    run.fault_rates.blind = 503


async def its_cause_lingers_and_another_falls_due(run: OperatorRun) -> None:
    run.store.change(
        Address("PodClique", NAMESPACE, "one-0-b"), lambda raw: raw["metadata"]["finalizers"].append("a/b")
    )
    pod_fails(run, "one-0-b")
    await asyncio.sleep(30)
    pod_fails(run, "one-1-b")
    await until(lambda: "one-0-a" in run.ended)
    run.fault_rates.blind = 503


@pytest.mark.req("WL-076")
@pytest.mark.req("PL-029")
@pytest.mark.parametrize(
    "begun",
    [
        its_cause_recovers_and_another_stays_due,
        of_the_group_and_the_whole_falls_due,
        its_cause_lingers_and_another_falls_due,
    ],
)
@pytest.mark.parametrize("rules", ["field", "field@v0.1.0-alpha.11", "design"])
def test_op013_an_end_that_has_begun_has_so_whatever_becomes_due_meanwhile(
    rules: str, begun: Callable[[OperatorRun], Awaitable[None]]
) -> None:
    """What it took is made again once all of it has ended, and ends once; by the design also beside what lingers."""
    lingers = begun is its_cause_lingers_and_another_falls_due

    async def nothing_is_shown(run: OperatorRun) -> None:
        await begun(run)
        await asyncio.sleep(10)
        left = {name for name in there(run) if name.startswith("one-0-")}
        await asyncio.sleep(110)
        if not (lingers and rules == "design"):
            assert {name for name in there(run) if name.startswith("one-0-")} == left
        run.fault_rates.blind = 0
        await asyncio.sleep(60)
        run.fault_rates.kept_for = 0
        if lingers:
            run.store.change(
                Address("PodClique", NAMESPACE, "one-0-b"), lambda raw: raw["metadata"]["finalizers"].clear()
            )

    pool = SPARE if begun is of_the_group_and_the_whole_falls_due else POOL
    run = run_in_virtual_time(run_of(rules, nothing_is_shown, pool=pool, replicas=2 if lingers else 1))
    assert not run.faults, run.faults
    assert "one-0-a" in run.ended
    assert created_twice(run) == set()


@pytest.mark.req("GF-092")
@pytest.mark.req("PL-029")
@pytest.mark.parametrize(("sooner", "later"), [(10, 58.5), (50, 30), (30, 50)])
def test_op013_no_flag_reports_a_termination_without_its_cause(sooner: float, later: float) -> None:
    """The group is breached as well, so it is due later; a flag would spare it for good."""

    async def nothing_is_shown(run: OperatorRun) -> None:
        cause = Address("PodClique", NAMESPACE, "one-0-b")
        run.fault_rates.blind = 503
        pod_fails(run, "one-0-b")
        await asyncio.sleep(sooner)
        pod_fails(run, "one-0-g-0-x")
        await asyncio.sleep(later)
        run.store.change(cause, lambda raw: raw["metadata"].update(finalizers=[]))
        run.store.delete(cause, {})
        await asyncio.sleep(5)
        run.fault_rates.blind = 0
        await until(lambda: bool(run.ended))

    run = run_in_virtual_time(run_of("field", nothing_is_shown))
    assert not run.faults, run.faults
    assert run.ended.keys() == NAMES
