"""What every measurement on a control plane needs: making, counting, waiting."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from benchmarks.cluster.workloads import NAMESPACE, Json
from grove_core.resources.labels import SET
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession, NoServerResponse

T = TypeVar("T")

IN_FLIGHT: Final = 16
SETS: Final = KINDS["PodCliqueSet"].url_path(NAMESPACE)
PODS: Final = KINDS["Pod"].url_path(NAMESPACE)
_PATIENCE: Final = 600.0
_LOOK: Final = 0.2


class Times(NamedTuple):
    """Seconds since the beginning: to the first pod, to all of them, and until all are Ready."""

    first: float
    created: float
    ready: float


@dataclass(frozen=True, slots=True)
class Stage:
    """A control plane that something is measured on.

    Attributes:
        api: of an administrator.
        kubeconfig: for the operators under measurement.
        folder: for their configuration and logs.
    """

    api: ApiSession
    kubeconfig: Path
    folder: Path

    async def post(self, path: str, body: Json) -> Json:
        """Make one object. Raises RuntimeError where the server would not."""
        answer = await self.api.request("POST", path, body=body)
        if not answer.is_success:
            raise RuntimeError(answer.error_message)
        made: Json = answer.json_body()
        return made

    async def post_all(self, path: str, bodies: Iterable[Json]) -> None:
        """The floor: make them side by side, as many at once as the session lets through."""
        await asyncio.gather(*(self.post(path, body) for body in bodies))

    async def items(self, path: str) -> list[Json]:
        """Everything there is at a path."""
        found: list[Json] = (await self.api.request("GET", path)).json_body()["items"]
        return found

    async def there(self, names: list[str]) -> int:
        """How many pods of some sets there are."""
        query = {"labelSelector": _of(names), "resourceVersion": "0"}
        return len((await self.api.request("GET", PODS, query=query)).json_body()["items"])

    async def version(self) -> str:
        """From which on pods can be watched."""
        query = {"labelSelector": "nobody"}
        return str((await self.api.request("GET", PODS, query=query)).json_body()["metadata"]["resourceVersion"])

    @asynccontextmanager
    async def standing(self, sets: list[Json], pods: int) -> AsyncIterator[Times]:
        """Sets from their creation on, all of their pods Ready; they are gone after the block."""
        names = [one["metadata"]["name"] for one in sets]
        version, start = await self.version(), time.monotonic()
        for one in sets:
            await self.post(SETS, one)
        try:
            yield await self.until_ready(names, pods, version, start)
        finally:
            await self.gone(names)

    async def gone(self, names: list[str]) -> float:
        """Delete sets; how many seconds until nothing is left of them."""
        start = time.monotonic()
        for name in names:
            await self.api.request("DELETE", f"{SETS}/{name}")
        await self.until_gone(names)
        return time.monotonic() - start

    async def until_ready(self, names: list[str], pods: int, version: str, start: float) -> Times:
        """Wait for pods by a watch, which costs their creators least. Raises TimeoutError."""
        first = created = 0.0
        there, ready = set[str](), set[str]()
        async with asyncio.timeout(_PATIENCE):
            async for pod in self._changes(names, version):
                now, name = time.monotonic() - start, pod["metadata"]["name"]
                there.add(name)
                if _is_ready(pod):
                    ready.add(name)
                first = first or now
                created = created or (now if len(there) >= pods else 0.0)
                if len(ready) >= pods:
                    break
        return Times(first, created, now)

    async def _changes(self, names: list[str], version: str) -> AsyncIterator[Json]:
        """Every change of a pod of some sets; a server that is busy ends the watch now and then."""
        while True:
            query = {"watch": "1", "resourceVersion": version, "labelSelector": _of(names), "timeoutSeconds": "1200"}
            async with aclosing(self.api.stream_lines(PODS, query)) as lines:
                async for line in lines:
                    pod = json.loads(line)["object"]
                    version = pod["metadata"]["resourceVersion"]
                    yield pod

    async def take_away(self, names: list[str]) -> None:
        """Delete the pods of these names; a server gives up on one request for many thousands, so it is asked again."""
        while await self.there(names):
            with suppress(NoServerResponse):
                await self.api.request("DELETE", PODS, query={"labelSelector": _of(names)})
            await asyncio.sleep(1)
        await self.until_gone(names)

    async def until_gone(self, names: list[str]) -> None:
        """Until there are neither pods nor sets of these names."""
        await until(lambda: self.there(names), lambda found: not found)
        await until(lambda: self.items(SETS), lambda sets: not {one["metadata"]["name"] for one in sets} & {*names})


def _of(names: list[str]) -> str:
    return f"{SET.primary} in ({','.join(names)})"


def _is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


async def until(look: Callable[[], Awaitable[T]], good: Callable[[T], bool]) -> None:
    """Look until it is good. Raises TimeoutError."""
    end = time.monotonic() + _PATIENCE
    while not good(await look()):
        if time.monotonic() > end:
            raise TimeoutError("it takes too long")
        await asyncio.sleep(_LOOK)
