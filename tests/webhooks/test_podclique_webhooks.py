"""Reviews of PodCliques and PodGangs over TLS, with an API server on the loopback that stores what is ensured."""

import asyncio
import io
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import aiohttp
import pytest
import trustme

from grove_core.resources.configuration import (
    ComputeDomainFormatName,
    Configuration,
    MnnvlConfiguration,
    MnnvlMode,
    ServedApis,
)
from grove_shell.client.api_session import ApiSession
from grove_shell.settings.webhook_settings import JOINING, PATHS, STAMPING
from grove_shell.webhooks.admission_cache import AdmissionCache
from grove_shell.webhooks.admission_server import AdmissionServer, WebhookMetrics, handlers_by_webhook
from grove_shell.webhooks.certificates import CertificateKeyPair, ServedCertificate
from tests.webhooks.object_server import ObjectServer
from tests.webhooks.reviews import Json, patch_of, patched, review

T = TypeVar("T")
SCOPED: Final = Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))
DOMAINS: Final = "/apis/resource.nvidia.com/v1alpha1/namespaces/ml/computedomains"
CLAIMS: Final = "/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims"
NO_API: Any = None
SERVED: Final = ServedApis(claims="resource.k8s.io/v1")
ROOT: Final = {"metadata": {"name": "llm", "namespace": "ml", "uid": "root", "resourceVersion": "1"}}


def clique(name: str = "llm-0-a", set_name: str = "llm", **annotations: str) -> Json:
    """A PodClique of one GPU, as a user applies it."""
    annotated = {f"grove.io/mnnvl-{key.replace('_', '-')}": text for key, text in annotations.items()}
    labels = {"app.kubernetes.io/part-of": set_name, "grove.io/podcliqueset-replica-index": "0"}
    container = {"name": "main", "image": "example.com/main:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "metadata": {"name": name, "namespace": "ml", "labels": labels, "annotations": annotated},
        "spec": {"roleName": "a", "replicas": 2, "minAvailable": 1, "podSpec": {"containers": [container]}},
    }


def review_of(new: Json, **request: Any) -> Json:
    group = new["apiVersion"].partition("/")[0]
    asked = {
        "uid": "7f3c",
        "kind": {"group": group, "version": "v1alpha1", "kind": new["kind"]},
        "namespace": "ml",
        "operation": "CREATE",
        "object": new,
        "dryRun": False,
        **request,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


class Caller:
    """An API server that calls, and the one that is called back."""

    def __init__(self, session: aiohttp.ClientSession, server: ObjectServer, known: AdmissionCache) -> None:
        self.session = session
        self.server = server
        self.known = known

    async def ask(self, new: Json, **request: Any) -> Json:
        webhook = JOINING if new["kind"] == "PodClique" else STAMPING
        data = io.BytesIO(json.dumps(review_of(new, **request)).encode())
        async with self.session.post(PATHS[webhook], data=data) as answer:
            assert answer.status == 200, await answer.text()
            response: Json = (await answer.json())["response"]
            return response


@asynccontextmanager
async def calling(configuration: Configuration = SCOPED) -> AsyncIterator[Caller]:
    authority, served, server = trustme.CA(), ServedCertificate(), ObjectServer()
    issued = authority.issue_cert("127.0.0.1")
    served.serve_from_next_connection(
        CertificateKeyPair(issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes())
    )
    tls = ssl.create_default_context()
    authority.configure_trust(tls)
    async with server.connection() as connection, ApiSession(connection) as api:
        known = AdmissionCache(configuration, SERVED)
        known.put("PodCliqueSet", ROOT)
        reviews = AdmissionServer(
            host="127.0.0.1",
            port=0,
            tls=served.context,
            handlers=handlers_by_webhook(api, known),
            metrics=WebhookMetrics(lambda: served.expiry_timestamp),
            report=lambda *_words, **_fields: None,
        )
        async with (
            reviews as port,
            aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=aiohttp.TCPConnector(ssl=tls)) as session,
        ):
            yield Caller(session, server, known)


def played(play: Callable[[Caller], Awaitable[T]], configuration: Configuration = SCOPED) -> T:
    async def whole() -> T:
        async with calling(configuration) as caller:
            return await play(caller)

    return asyncio.run(whole())


@pytest.mark.req("MS-032")
def test_ms090_domain_and_claim_are_there_before_the_answer() -> None:
    async def play(caller: Caller) -> None:
        new = clique(enabled="true")
        response = await caller.ask(new)
        assert response["allowed"]
        domain = caller.server.objects[f"{DOMAINS}/llm-0-cd"]
        claim = caller.server.objects[f"{CLAIMS}/llm-0-mnnvl-claim"]
        assert domain["spec"] == {"numNodes": 0}
        for made in (domain, claim):
            (owner,) = made["metadata"]["ownerReferences"]
            assert (owner["kind"], owner["uid"], owner["controller"]) == ("PodCliqueSet", "root", True)
        (request,) = claim["spec"]["devices"]["requests"]
        assert request["exactly"]["deviceClassName"] == "compute-domain.nvidia.com"
        stored = patched(new, patch_of(response))
        assert stored["spec"]["podSpec"]["resourceClaims"] == [
            {"name": "mnnvl", "resourceClaimName": "llm-0-mnnvl-claim"}
        ]
        (container,) = stored["spec"]["podSpec"]["containers"]
        assert container["resources"]["claims"] == [{"name": "mnnvl"}]
        before = caller.server.asked.total()
        again = await caller.ask(stored)
        assert again["allowed"]
        assert not patch_of(again)
        assert caller.server.asked.total() == before

    played(play)


def test_ms090_twenty_at_once_make_each_once() -> None:
    async def play(caller: Caller) -> None:
        asked = [caller.ask(clique(f"llm-0-{number}", enabled="true")) for number in range(20)]
        answers = await asyncio.gather(*asked)
        assert all(response["allowed"] and patch_of(response) for response in answers)
        assert sorted(caller.server.objects) == [f"{CLAIMS}/llm-0-mnnvl-claim", f"{DOMAINS}/llm-0-cd"]
        assert caller.server.asked == {"POST": 2}

    played(play)


@pytest.mark.parametrize("quota_is_full", [False, True])
def test_ms090_another_replica_of_the_webhooks_was_first(quota_is_full: bool) -> None:
    """Whose object our copy does not show yet: it serves the same user, and that is enough."""

    async def play(caller: Caller) -> None:
        assert (await caller.ask(clique(enabled="true")))["allowed"]
        caller.known.mark_kind_unlisted("ComputeDomain", "cut")
        caller.known.mark_kind_unlisted("ResourceClaim", "cut")
        if quota_is_full:
            caller.server.refuses["computedomains"] = (403, {"kind": "Status", "message": "exceeded quota: gpus"})
        assert (await caller.ask(clique("llm-0-b", enabled="true")))["allowed"]
        assert caller.server.asked == {"POST": 4, "GET": 2}
        assert len(caller.server.objects) == 2

    played(play)


def test_ms090_a_dry_run_makes_nothing() -> None:
    async def play(caller: Caller) -> None:
        dry = await caller.ask(clique(enabled="true"), dryRun=True)
        assert not caller.server.asked
        assert patch_of(dry) == patch_of(await caller.ask(clique(enabled="true")))
        assert caller.server.asked == {"POST": 2}

    played(play)


@pytest.mark.req("MS-001")
@pytest.mark.parametrize(("configuration", "annotations"), [(SCOPED, {"enabled": "false"}), (SCOPED, {})])
def test_ms002_a_clique_without_opt_in_is_left_alone(configuration: Configuration, annotations: dict[str, str]) -> None:
    async def play(caller: Caller) -> None:
        response = await caller.ask(clique(**annotations))
        assert response == {"uid": "7f3c", "allowed": True}
        assert not caller.server.asked

    played(play, configuration)


@pytest.mark.req("MS-003")
@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        ({"enabled": "yes"}, "mnnvl-enabled"),
        ({"enabled": "true", "scope": "node"}, "mnnvl-scope"),
        ({"enabled": "true", "scope": "scalingGroupReplica"}, "mnnvl-scope"),
        ({"enabled": "true", "device_class": ""}, "mnnvl-device-class"),
    ],
)
def test_ms079_what_is_odd_is_let_through_with_a_warning(annotations: dict[str, str], words: str) -> None:
    async def play(caller: Caller) -> Json:
        return await caller.ask(clique(**annotations))

    response = played(play)
    assert response["allowed"]
    assert not patch_of(response)
    (warning,) = response["warnings"]
    assert words in warning


def test_ms036_what_serves_another_is_not_joined() -> None:
    """The domain of clique 1 of the set a, and replica 1 of the set a-0."""

    async def play(caller: Caller) -> None:
        caller.known.put("PodCliqueSet", {"metadata": {**ROOT["metadata"], "name": "a"}})
        caller.known.put("PodCliqueSet", {"metadata": {**ROOT["metadata"], "name": "a-0"}})
        assert (await caller.ask(clique("a-0-1", "a", enabled="true", scope="clique")))["allowed"]
        other = clique("a-0-1-x", "a-0", enabled="true")
        other["metadata"]["labels"]["grove.io/podcliqueset-replica-index"] = "1"
        for is_known in (True, False):
            refused = await caller.ask(other)
            assert not refused["allowed"]
            message = refused["status"]["message"]
            assert "clique 1 of replica 0 of a" in message
            assert "replica 1 of a-0" in message
            assert refused["status"]["code"] == (422 if is_known else 409)
            for kind in ("ComputeDomain", "ResourceClaim"):
                caller.known.mark_kind_unlisted(kind, "cut")
        assert len(caller.server.objects) == 2

    played(play)


@pytest.mark.req("MS-038")
@pytest.mark.req("MS-035")
def test_ms039_a_wait_is_a_refusal() -> None:
    async def play(caller: Caller) -> None:
        refused = await caller.ask(clique("other-0-a", "other", enabled="true"))
        assert "PodCliqueSet other" in refused["status"]["message"]
        assert (await caller.ask(clique(enabled="true")))["allowed"]
        leaving = caller.server.objects[f"{DOMAINS}/llm-0-cd"]
        leaving["metadata"] |= {
            "deletionTimestamp": "2026-11-20T09:00:00Z",
            "finalizers": ["example.com/x"],
            "resourceVersion": "99",
        }
        caller.known.put("ComputeDomain", leaving)
        refused = await caller.ask(clique("llm-0-b", enabled="true"))
        assert "is being deleted" in refused["status"]["message"]
        caller.known.mark_kind_unlisted("ComputeDomain", "cut")
        refused = await caller.ask(clique("llm-0-b", enabled="true"))
        assert (refused["allowed"], refused["status"]["code"]) == (False, 503)

    played(play)


@pytest.mark.parametrize(("code", "expected"), [(403, 409), (500, 503)])
def test_ms037_what_cannot_be_made_is_reported(code: int, expected: int) -> None:
    async def play(caller: Caller) -> None:
        said = {"kind": "Status", "reason": "Forbidden", "message": "exceeded quota: domains"}
        caller.server.refuses["computedomains"] = (code, said)
        refused = await caller.ask(clique(enabled="true"))
        assert (refused["allowed"], refused["status"]["code"]) == (False, expected)
        assert "ComputeDomain/llm-0-cd" in refused["status"]["message"]
        assert not caller.server.objects
        caller.server.refuses.clear()
        assert (await caller.ask(clique(enabled="true")))["allowed"]

    played(play)


def test_mn005_the_shape_is_that_of_the_cluster() -> None:
    configured = Configuration(MnnvlConfiguration(True, MnnvlMode.ANNOTATIONS, ComputeDomainFormatName.NVIDIA))

    async def play(caller: Caller) -> None:
        await caller.ask(clique(enabled="true"))
        domain = caller.server.objects[f"{DOMAINS.replace('v1alpha1', 'v1beta1')}/llm-0-cd"]
        assert domain["spec"]["channel"]["resourceClaimTemplate"] == {"name": "llm-0-mnnvl-rct"}

    played(play, configured)


def test_ms044_a_gang_is_stamped_once() -> None:
    gang = {
        "apiVersion": "scheduler.grove.io/v1alpha1",
        "kind": "PodGang",
        "metadata": {"name": "llm-0", "namespace": "ml", "annotations": {"example.com/x": "y"}},
        "spec": {},
    }

    async def play(caller: Caller) -> None:
        stamped = patched(gang, patch_of(await caller.ask(gang)))
        assert stamped["metadata"]["annotations"] == {
            "example.com/x": "y",
            "grove.io/mnnvl-resources-adopted": "true",
        }
        assert not patch_of(await caller.ask(stamped))
        assert not caller.server.asked

    played(play)


@pytest.mark.req("WH-010")
def test_wh010_elsewhere_they_are_left_as_they_are() -> None:
    """Where PodCliques share nothing, a webhook still registered for them allows."""

    async def play() -> list[Any]:
        authority, served = trustme.CA(), ServedCertificate()
        issued = authority.issue_cert("127.0.0.1")
        served.serve_from_next_connection(
            CertificateKeyPair(issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes())
        )
        tls = ssl.create_default_context()
        authority.configure_trust(tls)
        metrics = WebhookMetrics(lambda: served.expiry_timestamp)
        reviews = AdmissionServer(
            host="127.0.0.1",
            port=0,
            tls=served.context,
            handlers=handlers_by_webhook(NO_API, AdmissionCache()),
            metrics=metrics,
            report=lambda *_words, **_fields: None,
        )
        async with (
            reviews as port,
            aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=aiohttp.TCPConnector(ssl=tls)) as session,
        ):
            found = []
            for path, kind in ((PATHS[JOINING], "PodClique"), (PATHS[STAMPING], "PodGang")):
                group = "grove.io" if kind == "PodClique" else "scheduler.grove.io"
                body = review({"kind": kind}, kind={"group": group, "version": "v1alpha1", "kind": kind})
                async with session.post(path, json=body) as answer:
                    found.append((await answer.json())["response"])
            return found

    assert asyncio.run(play()) == [{"uid": "7f3c", "allowed": True}] * 2
