"""One PodCliqueSet in a run, what may be done to it, and what is read of it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from tests.fault_injection.api_store import Address, Json
from tests.fault_injection.operator_run import NAMESPACE, OperatorRun, has_enough_ready_pods
from tests.fault_injection.random_events import clique, set_of
from tests.fault_injection.virtual_time import seconds

_UP: Final = 60  # seconds
_LONG: Final = 180
ALWAYS: Final = 1_000_000
POOL: Final = {"name": "g", "cliqueNames": ["x", "y"], "replicas": 2, "minAvailable": 2}
SPARE: Final = {**POOL, "replicas": 3, "minAvailable": 1}  # the group ends its replicas by itself
TEMPLATE: Final = {
    "terminationDelay": "60s",
    "cliques": [clique(name) for name in "abxy"],
    "podCliqueScalingGroups": [POOL],
}
MEMBERS: Final = frozenset(f"one-0-g-{index}-{name}" for index in range(2) for name in "xy")
NAMES: Final = {"one-0-a", "one-0-b", *MEMBERS}


async def run_of(
    rules: str, happens: Callable[[OperatorRun], Awaitable[None]], replicas: int = 1, pool: Json = POOL
) -> OperatorRun:
    """A life in which something happens once all are ready, and the time after it."""
    run = OperatorRun(0, rules)
    run.recoveries = 0
    template = {**TEMPLATE, "podCliqueScalingGroups": [pool]}
    async with run.api_server.listening() as server, asyncio.TaskGroup() as others:
        kubelet = others.create_task(run.kubelet.run())
        run.store.create(Address("PodCliqueSet", NAMESPACE, "one"), set_of("one", template, replicas))
        run.begin(server)
        await asyncio.sleep(_UP)
        await happens(run)
        await asyncio.sleep(_LONG)
        await run.end()
        kubelet.cancel()
    return run


def pod_fails(run: OperatorRun, name: str) -> None:
    """The pods of a clique are not ready from now on."""
    run.kubelet.sick = run.kubelet.sick | {
        pod["metadata"]["uid"] for pod in run.pods_of(run.store.get(Address("PodClique", NAMESPACE, name)))
    }


def there(run: OperatorRun) -> dict[str, str]:
    """The cliques by name, each with its uid."""
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in run.cliques()}


def recorded_breach(run: OperatorRun, name: str) -> str:
    """What the status of a clique says of it."""
    conditions = run.store.get(Address("PodClique", NAMESPACE, name))["status"]["conditions"]
    (found,) = (one["status"] for one in conditions if one["type"] == MIN_AVAILABLE_BREACHED)
    return str(found)


async def until(holds: Callable[[], bool]) -> None:
    """Wait for it, but not for ever."""
    end = seconds() + 900
    while not holds() and seconds() < end:  # noqa: ASYNC110 - virtual time
        await asyncio.sleep(0.5)


def is_healthy(run: OperatorRun) -> bool:
    """Whether all cliques are there, and enough of their pods ready."""
    return there(run).keys() == NAMES and all(is_ready(run, name) for name in NAMES)


def is_ready(run: OperatorRun, name: str) -> bool:
    """Whether a clique is there with as many ready pods as it needs."""
    return any(
        one["metadata"]["name"] == name and has_enough_ready_pods(one, run.pods_of(one)) for one in run.cliques()
    )


def created_twice(run: OperatorRun) -> set[str]:
    """The cliques that were terminated so."""
    return {name for name, uids in run.ended.items() if len(uids) > 1}


def recovers(run: OperatorRun, name: str) -> None:
    """They are as they were made again."""
    run.kubelet.sick = run.kubelet.sick - {
        pod["metadata"]["uid"] for pod in run.pods_of(run.store.get(Address("PodClique", NAMESPACE, name)))
    }


def scaled(run: OperatorRun, replicas: int) -> None:
    """The set is to have so many replicas from now on."""

    def written(raw: Json) -> None:
        raw["spec"]["replicas"] = replicas

    run.store.change(Address("PodCliqueSet", NAMESPACE, "one"), written)


def edited(run: OperatorRun, place: int, image: str = "new:1") -> None:
    """A clique of the template is to have another image from now on."""

    def written(raw: Json) -> None:
        raw["spec"]["template"]["cliques"][place]["spec"]["podSpec"]["containers"][0]["image"] = image

    run.store.change(Address("PodCliqueSet", NAMESPACE, "one"), written)


def deletion_fails(run: OperatorRun, name: str, code: int, times: int = ALWAYS) -> None:
    """The deletion of a clique is answered so from now on, so many times."""
    run.fault_rates.kept, run.fault_rates.kept_by, run.fault_rates.kept_for = name, code, times
