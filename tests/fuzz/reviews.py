"""Admission reviews, posted over TLS to webhooks that serve every feature, with an API server on the loopback."""

import asyncio
import base64
import json
import random
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import aiohttp
import trustme

from grove_core.resources.api_names import BINDING_KIND, SET_KIND, TOPOLOGY_KIND
from grove_core.resources.configuration import Configuration, MnnvlConfiguration, MnnvlMode, ServedApis
from grove_shell.client.api_session import ApiSession
from grove_shell.settings.webhook_settings import DEFAULTING, JOINING, LEAVING, PATHS, STAMPING, TOPOLOGIES, VALIDATION
from grove_shell.webhooks.admission_cache import AdmissionCache
from grove_shell.webhooks.admission_server import AdmissionServer, WebhookMetrics, handlers_by_webhook
from grove_shell.webhooks.certificates import CertificateKeyPair, ServedCertificate
from tests.fuzz import mutations
from tests.fuzz.commands import Broken
from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.seeds import clusters
from tests.property.topology.sets_with_constraints import ON
from tests.webhooks.object_server import ObjectServer
from tests.webhooks.reviews import patched, review, set_of
from tests.webhooks.topology_webhooks import THERE

Json = dict[str, Any]
_EVERYTHING: Final = Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS), topology=ON.topology)
_SERVED: Final = ServedApis(claims="resource.k8s.io/v1")
_SET: Final = "PodCliqueSet"
_KINDS: Final = {
    VALIDATION: _SET,
    DEFAULTING: _SET,
    JOINING: "PodClique",
    STAMPING: "PodGang",
    TOPOLOGIES: TOPOLOGY_KIND,
    LEAVING: TOPOLOGY_KIND,
}
_OF: Final = {
    _SET: "grove.io",
    "PodClique": "grove.io",
    "PodGang": "scheduler.grove.io",
    TOPOLOGY_KIND: "grove.io",
}
_EACH: Final = 25


class _Calling:
    """One event loop with the webhooks in it; what they log is kept until the next call."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.said: list[Json] = []
        self.session: aiohttp.ClientSession
        self.server = ObjectServer()

    def say(self, level: str, message: str, **fields: Any) -> None:
        self.said.append({"level": level, "msg": message, **fields})

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        authority, served = trustme.CA(), ServedCertificate()
        issued = authority.issue_cert("127.0.0.1")
        served.serve_from_next_connection(
            CertificateKeyPair(issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes())
        )
        tls = ssl.create_default_context()
        authority.configure_trust(tls)
        async with self.server.connection() as connection, ApiSession(connection, tries=1) as api:
            cache = AdmissionCache(_EVERYTHING, _SERVED)
            cache.replace_all_of_kind(SET_KIND, [_stored()], "1")
            cache.replace_all_of_kind("PodClique", [], "1")
            cache.replace_all_of_kind(TOPOLOGY_KIND, THERE, "1")
            cache.replace_all_of_kind(BINDING_KIND, [], "1")
            reviews = AdmissionServer(
                host="127.0.0.1",
                port=0,
                tls=served.context,
                handlers=handlers_by_webhook(api, cache),
                metrics=WebhookMetrics(lambda: served.expiry_timestamp),
                report=self.say,
            )
            connector = aiohttp.TCPConnector(ssl=tls)
            async with (
                reviews as port,
                aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=connector) as session,
            ):
                self.session = session
                yield

    async def ask(self, webhook: str, body: bytes) -> tuple[int, str]:
        async with self.session.post(PATHS[webhook], data=body) as answer:
            return answer.status, await answer.text()


@contextmanager
def admission_reviews(_folder: Path) -> Iterator[FuzzTarget]:
    """Reviews for each of the webhooks."""
    with asyncio.Runner() as runner:
        calling = _Calling(runner)
        opened = calling.open()
        runner.run(opened.__aenter__())

        def feed(way: str, data: bytes) -> str:
            calling.said.clear()
            calling.server.objects.clear()
            code, text = runner.run(calling.ask(way, data))
            json.dumps(calling.said).encode()
            return _outcome(data, code, text, calling.said)

        try:
            yield FuzzTarget((*_KINDS, VALIDATION), _made, feed)
        finally:
            runner.run(opened.__aexit__(None, None, None))


def _outcome(data: bytes, code: int, text: str, said: list[Json]) -> str:
    if code == 400:
        if not all(line.isprintable() for line in text.split("\n")):
            raise Broken(f"not printable: {text!r}")
        return "malformed"
    if code != 200:
        raise Broken(f"{said[-1]['error'] if said else 'no word in the log'}: HTTP {code}: {text}")
    answer = json.loads(text)["response"]
    if answer["uid"] != json.loads(data)["request"]["uid"]:
        raise Broken(f"an answer to {answer['uid']!r}")
    if "patch" in answer:
        patched(json.loads(data)["request"]["object"], json.loads(base64.b64decode(answer["patch"])))
        return "patched"
    return "allowed" if answer["allowed"] else "refused"


def _stored() -> Json:
    return set_of(uid="root", resourceVersion="1")


@cache
def _texts(kind: str) -> tuple[str, ...]:
    """Reviews of what is in the clusters, of its creation, its change and its end."""
    every = (item for text in clusters() for item in json.loads(text)["items"])
    items = [*islice((item for item in every if item.get("kind") == kind), _EACH)]
    items += [*THERE] if kind == TOPOLOGY_KIND else [set_of(), _stored()] if kind == _SET else []
    asked = {"group": _OF[kind], "version": "v1alpha1", "kind": kind}
    reported = [review(new, kind=asked) for new in items]
    reported += [review(new, {**new, "spec": items[0].get("spec")}, kind=asked) for new in items]
    reported += [review(None, old, kind=asked, operation="DELETE") for old in items[:2]]
    return tuple(json.dumps(one) for one in reported)


def _made(chance: random.Random, way: str) -> bytes:
    return mutations.made(_texts(_KINDS[way]), chance, mutations.as_json)
