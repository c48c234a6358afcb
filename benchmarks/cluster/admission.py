"""The webhooks under measurement: how long one answer takes while many are asked for at once.

Twice each: asked by us over TLS, which is the webhook alone, and through the API server, beside a PodClique about which
no webhook is asked.
"""

import asyncio
import base64
import io
import json
import ssl
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

from grove_core.resources.configuration import TopologyAwareSettings
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.manifests.crd_definitions import grove_crd_manifests
from grove_shell.settings.webhook_settings import JOINING, MUTATING, PATHS, VALIDATION
from tests.cluster.guarding import PLACING, topology
from tests.cluster.installing import apply
from tests.cluster.nvidia.definitions import install, released
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique
from tests.cluster.sharing import SHARED, Joining, enabled, lone
from tests.cluster.webhooks import BLIND, Installed

Json = dict[str, Any]
Calls = Iterable[Callable[[], Awaitable[None]]]
IN_FLIGHT: Final = 50
_NAMESPACE: Final = "reviews"
_OK: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long some answers took, so many of them under way at any time.

    Attributes:
        way: the caller: ``webhook`` for us, ``API server`` for a user.
        taken: seconds of each.
        whole: seconds of all together.
    """

    what: str
    way: str
    taken: list[float]
    whole: float

    @property
    def median(self) -> float:
        """Seconds."""
        return statistics.median(self.taken)

    @property
    def p99(self) -> float:
        """Seconds."""
        return statistics.quantiles(self.taken, n=100)[-1]

    @property
    def rate(self) -> float:
        """Answers in a second."""
        return len(self.taken) / self.whole


def reviews(plane: ControlPlane, folder: Path, many: int) -> list[Latency]:
    """Measure on a control plane on which nothing else happens, so many answers of each kind.

    Args:
        plane: with or without Grove's definitions; those of ComputeDomains must not be there.
        folder: for configuration and log.
        many: answers.
    """
    api = plane.api()
    apply(api, grove_crd_manifests())
    install(api, *released())
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
    scene = Scene(api, _NAMESPACE, nodes=0)
    with _running(plane, scene, folder):
        root = api.create(enabled(scene.set_of(clique("a"))))
        found = asyncio.run(_Asking(plane, root, many).everything())
    placed = api.create(topology("racks"))
    with _running(plane, scene, folder, PLACING):
        root["spec"]["template"] |= {"clusterTopologyName": "racks", "topologyConstraint": {"packDomain": "rack"}}
        found += asyncio.run(_Asking(plane, root, many).sets("set that names a topology"))
    api.delete("clustertopologies", placed["metadata"]["name"])
    return found


@contextmanager
def _running(
    plane: ControlPlane, scene: Scene, folder: Path, reported: TopologyAwareSettings = BLIND
) -> Iterator[None]:
    """Webhooks that the API server calls."""
    installed = Installed(plane, _NAMESPACE, folder, SHARED, reported)
    apply(scene.api, installed.objects)
    webhooks = Joining(installed, scene).start()
    try:
        yield
    finally:
        webhooks.stop()


class _Asking:
    """The caller."""

    def __init__(self, plane: ControlPlane, root: Json, many: int) -> None:
        self._plane = plane
        self._root = root
        self._many = many
        self._serial = 0

    async def everything(self) -> list[Latency]:
        """Every kind of answer, both ways."""
        async with self._sessions() as (api, session):
            await self._post(api, self._clique())  # what all share is there from here on
            return [
                await self._taken("PodClique that is not reviewed", "API server", self._posts(api, no=True)),
                await self._taken("PodClique, all there", "webhook", self._asks(session, JOINING)),
                await self._taken("PodClique, all there", "API server", self._posts(api)),
                await self._taken(
                    "PodClique, domain and claim made", "webhook", self._asks(session, JOINING, scope="clique")
                ),
                await self._taken("PodClique, domain and claim made", "API server", self._posts(api, scope="clique")),
                *await self._of_sets(api, session, "set"),
            ]

    async def sets(self, what: str) -> list[Latency]:
        """Answers about sets alone, both ways."""
        async with self._sessions() as (api, session):
            return await self._of_sets(api, session, what)

    async def _of_sets(self, api: ApiSession, session: aiohttp.ClientSession, what: str) -> list[Latency]:
        return [
            await self._taken(f"{what}, validated", "webhook", self._asks(session, VALIDATION)),
            await self._taken(f"{what}, defaulted and validated", "API server", self._sets(api)),
        ]

    @asynccontextmanager
    async def _sessions(self) -> AsyncIterator[tuple[ApiSession, aiohttp.ClientSession]]:
        """With the API server, and with the webhooks as it calls them."""
        connection = await read_connection_settings(str(self._plane.kubeconfig("admin")))
        async with ApiSession(connection, in_flight=IN_FLIGHT, timeout=120) as api:
            url, tls = await self._webhooks(api)
            connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=tls)
            async with aiohttp.ClientSession(url, connector=connector) as session:
                yield api, session

    async def _webhooks(self, api: ApiSession) -> tuple[str, ssl.SSLContext]:
        """The address that the API server calls, and the certificates that it trusts there."""
        path = f"/apis/admissionregistration.k8s.io/v1/{MUTATING}/grove-defaulting-{_NAMESPACE}"
        url, tls = called_webhook((await api.request("GET", path)).json_body())
        return url.rpartition("/webhooks/")[0], tls

    async def _taken(self, what: str, way: str, calls: Calls) -> Latency:
        """How long each call takes, always as many under way as may be; the first ones open the connections."""
        left = iter(calls)
        await asyncio.gather(*(next(left)() for _ in range(IN_FLIGHT)))
        taken: list[float] = []

        async def work() -> None:
            for call in left:
                start = time.perf_counter()
                await call()
                taken.append(time.perf_counter() - start)

        start = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
        return Latency(what=what, way=way, taken=taken, whole=time.perf_counter() - start)

    def _clique(self, **annotations: str) -> Json:
        """Another PodClique of the set."""
        self._serial += 1
        return lone(self._root, f"c{self._serial}", **{"enabled": "true", **annotations})

    def _posts(self, api: ApiSession, *, no: bool = False, **annotations: str) -> Calls:
        wanted = {"enabled": "false"} if no else annotations
        for _ in range(self._many + IN_FLIGHT):
            body = self._clique(**wanted)
            yield lambda body=body: self._post(api, body)  # type: ignore[misc]  # mypy does not infer defaults

    def _sets(self, api: ApiSession) -> Calls:
        for number in range(self._many + IN_FLIGHT):
            body = {**self._set(), "metadata": {"name": f"s-{number}", "namespace": _NAMESPACE}}
            yield lambda body=body: self._post(api, body, dryRun="All")  # type: ignore[misc]  # as above

    def _asks(self, session: aiohttp.ClientSession, webhook: str, **annotations: str) -> Calls:
        for _ in range(self._many + IN_FLIGHT):
            new = self._set() if webhook == VALIDATION else self._clique(**annotations)
            yield lambda new=new: asked(session, PATHS[webhook], new)  # type: ignore[misc]  # as above

    def _set(self) -> Json:
        return {**self._root, "metadata": {"name": "another", "namespace": _NAMESPACE}}

    async def _post(self, api: ApiSession, body: Json, **query: str) -> None:
        answer = await api.request("POST", KINDS[body["kind"]].url_path(_NAMESPACE), query=query, body=body)
        if not answer.is_success:
            raise RuntimeError(answer.error_message)


def called_webhook(registration: Json) -> tuple[str, ssl.SSLContext]:
    """The address of the first webhook of a registration, and the certificates that the API server trusts there."""
    client = registration["webhooks"][0]["clientConfig"]
    return client["url"], ssl.create_default_context(cadata=base64.b64decode(client["caBundle"]).decode())


async def asked(session: aiohttp.ClientSession, url: str, new: Json, old: Json | None = None) -> Json:
    """The response to one review: of an update where there is an old object, else of a creation.

    Raises:
        RuntimeError: it is not allowed.
    """
    group, _, version = new["apiVersion"].partition("/")
    request = {
        "uid": "u",
        "kind": {"group": group, "version": version, "kind": new["kind"]},
        "namespace": new["metadata"]["namespace"],
        "operation": "CREATE" if old is None else "UPDATE",
        "object": new,
        "oldObject": old,
        "dryRun": False,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    async with session.post(url, data=io.BytesIO(json.dumps(review).encode())) as answer:
        said: Json = await answer.json() if answer.status == _OK else {"response": await answer.text()}
    response: Json = said["response"]
    if answer.status != _OK or not response["allowed"]:
        raise RuntimeError(response)
    return response
