"""Pods whose label is removed still run and are not created again (OP-106)."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from grove_core.resources.api_names import MANAGED_BY
from tests.fault_injection.api_store import Address, Json
from tests.fault_injection.operator_run import NAMESPACE, OperatorRun
from tests.fault_injection.tested_set import run_of
from tests.fault_injection.virtual_time import run_in_virtual_time


def pods_of(run: OperatorRun, name: str) -> list[Json]:
    """Of a clique."""
    return run.pods_of(run.store.get(Address("PodClique", NAMESPACE, name)))


async def is_replaced(run: OperatorRun, name: str) -> None:
    """Its pod is deleted until one took its time to go: the next one has another name than the first."""
    (pod,) = found = pods_of(run, name)
    while {one["metadata"]["name"] for one in found} == {pod["metadata"]["name"]}:
        run.store.delete(Address("Pod", NAMESPACE, found[0]["metadata"]["name"]), {})
        await asyncio.sleep(30)
        found = pods_of(run, name)


def loses_its_label(run: OperatorRun, name: str) -> None:
    """The pod of a clique is not followed any more."""
    (pod,) = pods_of(run, name)
    loses_its_label_of(run, Address("Pod", NAMESPACE, pod["metadata"]["name"]))


def loses_its_label_of(run: OperatorRun, address: Address) -> None:
    """The same of one pod."""
    run.store.change(address, lambda raw: raw["metadata"]["labels"].pop(MANAGED_BY, None))


async def while_it_is_followed(run: OperatorRun) -> None:
    loses_its_label(run, "one-0-a")


async def while_unlabelled(run: OperatorRun) -> None:
    await run.end()
    loses_its_label(run, "one-0-a")
    run.begin()


async def while_reads_fail(run: OperatorRun) -> None:
    run.fault_rates.blind = 503
    loses_its_label(run, "one-0-a")
    await asyncio.sleep(40)
    assert len(pods_of(run, "one-0-a")) == 1
    run.fault_rates.blind = 0


@pytest.mark.req("OP-018")
@pytest.mark.parametrize("loses", [while_it_is_followed, while_unlabelled, while_reads_fail])
def test_op106_a_pod_that_lost_its_label_is_not_made_again(loses: Callable[[OperatorRun], Awaitable[None]]) -> None:
    """It serves on, and is followed again."""

    async def story(run: OperatorRun) -> None:
        await is_replaced(run, "one-0-a")
        before.update(pod["metadata"]["uid"] for pod in run.store.of("Pod"))
        await loses(run)

    before: set[str] = set()
    run = run_in_virtual_time(run_of("design", story))
    assert not run.faults, run.faults
    assert not run.ended
    assert {pod["metadata"]["uid"] for pod in run.store.of("Pod")} == before
    assert all(MANAGED_BY in pod["metadata"]["labels"] for pod in run.store.of("Pod"))
