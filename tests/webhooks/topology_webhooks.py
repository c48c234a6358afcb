"""Webhooks where pods are placed by topology: called over TLS, with an API server on the loopback beside them."""

import asyncio
import io
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import aiohttp
import trustme

from grove_core.admit import admit, index_names_used_by_sets
from grove_core.admit_cluster_topology import topology_admission_view_of
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.resources.api_names import BINDING_KIND, SET_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.configuration import Configuration
from grove_core.resources.podclique import podclique_from_json
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession
from grove_shell.settings.webhook_settings import PATHS, VALIDATION
from grove_shell.webhooks.admission_cache import AdmissionCache
from grove_shell.webhooks.admission_server import AdmissionServer, WebhookMetrics, handlers_by_webhook
from grove_shell.webhooks.certificates import CertificateKeyPair, ServedCertificate
from tests.property.topology.sets_to_admit import raw_topology
from tests.property.topology.sets_with_constraints import ON
from tests.webhooks.object_server import ObjectServer
from tests.webhooks.reviews import Json, review

T = TypeVar("T")
DEFAULT_LEVELS: Final = (("zone", "z"), ("rack", "r"), ("host", "h"))
P5: Final = raw_topology("aws-p5", ("zone", "z"), ("block", "b"), ("rack", "r"), ("host", "h"))
FLAT: Final = raw_topology("flat", ("host", "h"))
LEAVES: Final = raw_topology("leaving", *DEFAULT_LEVELS, deletionTimestamp="2026-11-20T09:00:00Z")
THERE: Final = (raw_topology(DEFAULT_TOPOLOGY, *DEFAULT_LEVELS), P5, FLAT, LEAVES)


def clique(name: str = "llm-0-a", set_name: str = "llm", scheduled: int | None = 2, namespace: str = "ml") -> Json:
    """A PodClique with so many pods that are bound."""
    labels = {"app.kubernetes.io/part-of": set_name, "grove.io/podcliqueset-replica-index": "0"}
    meta = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": "1", "labels": labels}
    spec = {"roleName": "a", "replicas": 2, "minAvailable": 1, "podSpec": {"containers": []}}
    status = {} if scheduled is None else {"scheduledReplicas": scheduled}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": meta, "spec": spec, "status": status}


def topology_review(new: Json | None, old: Json | None = None, **request: Any) -> Json:
    kind = {"group": "grove.io", "version": "v1alpha1", "kind": TOPOLOGY_KIND}
    whole = review(new, old, **{"kind": kind, **request})
    del whole["request"]["namespace"]
    return whole


def path_of(topology: Json) -> str:
    return KINDS[topology["kind"]].url_path(name=topology["metadata"]["name"])


class StampedCache(AdmissionCache):
    """A cache that sees every object in a new version, as a server sends them."""

    version = 1

    def stamped(self, raw: Mapping[str, Any]) -> Json:
        self.version += 1
        meta = raw["metadata"]
        return {**raw, "metadata": {"uid": meta["name"], **meta, "resourceVersion": str(self.version)}}

    def replace_all_of_kind(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        found = [self.stamped(raw) for raw in items]
        super().replace_all_of_kind(kind, found, version and str(self.version))

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        super().put(kind, self.stamped(raw))

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        super().drop(kind, self.stamped(raw))


class Caller:
    """An API server that calls, with caches of its own objects in our hands."""

    def __init__(self, session: aiohttp.ClientSession, server: ObjectServer, cache: AdmissionCache) -> None:
        self.session = session
        self.server = server
        self.cache = cache
        self.said: list[Json] = []

    def list_all(self, kind: str, *items: Json) -> None:
        self.cache.replace_all_of_kind(kind, items, "1")

    async def ask(self, webhook: str, body: Json) -> tuple[int, Any]:
        async with self.session.post(PATHS[webhook], data=io.BytesIO(json.dumps(body).encode())) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, (await answer.json())["response"] if is_json else await answer.text()

    async def about(self, new: Json, old: Json | None = None) -> Json:
        """The answer about a set."""
        code, said = await self.ask(VALIDATION, review(new, old))
        assert code == 200, said
        return dict(said)


@asynccontextmanager
async def calling(configured: Configuration, *, everywhere: bool) -> AsyncIterator[Caller]:
    authority, served, server = trustme.CA(), ServedCertificate(), ObjectServer()
    issued = authority.issue_cert("127.0.0.1")
    served.serve_from_next_connection(
        CertificateKeyPair(issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes())
    )
    tls = ssl.create_default_context()
    authority.configure_trust(tls)
    said: list[Json] = []
    async with server.connection() as connection, ApiSession(connection, tries=1) as api:
        cache = StampedCache(configured, everywhere=everywhere)
        reviews = AdmissionServer(
            host="127.0.0.1",
            port=0,
            tls=served.context,
            handlers=handlers_by_webhook(api, cache),
            metrics=WebhookMetrics(lambda: served.expiry_timestamp),
            report=lambda level, message, **fields: said.append({"level": level, "msg": message, **fields}),
        )
        async with (
            reviews as port,
            aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=aiohttp.TCPConnector(ssl=tls)) as session,
        ):
            caller = Caller(session, server, cache)
            caller.said = said
            yield caller


def played(
    play: Callable[[Caller], Awaitable[T]],
    configured: Configuration = ON,
    *,
    everywhere: bool = True,
    synced: bool = True,
) -> T:
    """With the topologies of the tables in server and copy, and nothing else, unless ``synced`` is false."""

    async def whole() -> T:
        async with calling(configured, everywhere=everywhere) as caller:
            for topology in THERE:
                caller.server.objects[path_of(topology)] = topology
            if synced and configured.topology.enabled:
                caller.list_all(SET_KIND)
                caller.list_all("PodClique")
                caller.list_all(TOPOLOGY_KIND, *THERE)
                caller.list_all(BINDING_KIND)
            return await play(caller)

    return asyncio.run(whole())


def causes(response: Json) -> set[tuple[str, str]]:
    """Field, and sentence with its rule, of each objection."""
    return {(one["field"], one["message"]) for one in response.get("status", {}).get("details", {}).get("causes", ())}


def said_by(verdict: AdmissionVerdict) -> set[tuple[str, str]]:
    """The same of a verdict of the core, which is what ``grove validate`` prints."""
    objections = verdict.objections if isinstance(verdict, Deny) else ()
    return {(one.path, f"{one.reason.sentence}, got {one.got} ({one.reason.rule.requirement})") for one in objections}


def numbers(response: Json) -> set[str]:
    return {message.rpartition("(")[2].rstrip(")") for _, message in causes(response)}


def offline(new: Json, old: Json | None = None, *cliques: Json) -> AdmissionVerdict:
    around = topology_admission_view_of(THERE, [], [podclique_from_json(one) for one in cliques])
    return admit(new, old, index_names_used_by_sets([]), ON, around=around).verdict
