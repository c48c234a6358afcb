"""The server over TLS, called as an API server calls it."""

import asyncio
import io
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import aiohttp
import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit, index_names_used_by_sets
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.kernel.admission import Deny
from grove_core.resources.api_names import SET_KIND
from grove_shell.settings.webhook_settings import DEFAULTING, PATHS, VALIDATION
from grove_shell.webhooks import admission_handlers, admission_server
from grove_shell.webhooks.admission_cache import AdmissionCache
from grove_shell.webhooks.admission_handlers import podcliqueset_defaults_response, validate_podcliqueset
from grove_shell.webhooks.admission_review import parse_admission_review
from grove_shell.webhooks.admission_server import AdmissionServer, WebhookMetrics, handlers_by_webhook
from grove_shell.webhooks.certificates import CertificateKeyPair, ServedCertificate
from tests.webhooks.reviews import Json, patch_of, patched, review, set_of

T = TypeVar("T")


def names(*sets: Json) -> AdmissionCache:
    found = AdmissionCache()
    found.replace_all_of_kind(SET_KIND, sets, "1")
    return found


class Caller:
    """An API server that trusts one authority."""

    def __init__(self, session: aiohttp.ClientSession, metrics: WebhookMetrics, said: list[Json]) -> None:
        self.session = session
        self.metrics = metrics
        self.said = said

    async def ask(self, webhook: str, body: Any) -> tuple[int, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with self.session.post(PATHS[webhook], data=io.BytesIO(data)) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await (answer.json() if is_json else answer.text())


@asynccontextmanager
async def calling(known: AdmissionCache) -> AsyncIterator[Caller]:
    authority, served, said = trustme.CA(), ServedCertificate(), list[Json]()
    issued = authority.issue_cert("127.0.0.1")
    served.serve_from_next_connection(
        CertificateKeyPair(issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes())
    )
    metrics = WebhookMetrics(lambda: served.expiry_timestamp)

    def say(level: str, message: str, **fields: Any) -> None:
        said.append({"level": level, "msg": message, **fields})

    tls = ssl.create_default_context()
    authority.configure_trust(tls)
    no_api: Any = None
    reviews = AdmissionServer(
        host="127.0.0.1",
        port=0,
        tls=served.context,
        handlers=handlers_by_webhook(no_api, known),
        metrics=metrics,
        report=say,
    )
    async with (
        reviews as port,
        aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=aiohttp.TCPConnector(ssl=tls)) as session,
    ):
        yield Caller(session, metrics, said)


def played(play: Callable[[Caller], Awaitable[T]], known: AdmissionCache | None = None) -> T:
    async def whole() -> T:
        async with calling(names() if known is None else known) as caller:
            return await play(caller)

    return asyncio.run(whole())


def answered(webhook: str, body: Any, known: AdmissionCache | None = None) -> tuple[int, Any]:
    return played(lambda caller: caller.ask(webhook, body), known)


def test_wh002_every_objection_is_named() -> None:
    wrong = set_of(min_available=7, delay="0s", name="LLM")
    code, said = answered(VALIDATION, review(wrong))
    response = said["response"]
    assert (code, said["apiVersion"], said["kind"]) == (200, "admission.k8s.io/v1", "AdmissionReview")
    assert (response["uid"], response["allowed"]) == ("7f3c", False)
    status = response["status"]
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert {key: status["details"][key] for key in ("group", "kind", "name")} == {
        "group": "grove.io",
        "kind": "PodCliqueSet",
        "name": "LLM",
    }
    found = {(cause["field"], cause["reason"]) for cause in status["details"]["causes"]}
    verdict = admit(wrong).verdict
    assert isinstance(verdict, Deny)
    assert found == {(one.path, one.reason.rule.code) for one in verdict.objections}
    assert len(found) >= 3
    for one in verdict.objections:
        assert f"{one.path}: {one.reason.sentence}, got {one.got} ({one.reason.rule.requirement})" in status["message"]


def test_wh001_a_sound_set_is_admitted() -> None:
    assert answered(VALIDATION, review(set_of()))[1]["response"] == {"uid": "7f3c", "allowed": True}


def test_wh001_a_change_is_judged_by_what_it_was() -> None:
    _, said = answered(VALIDATION, review(set_of(min_available=1), set_of()))
    (cause,) = said["response"]["status"]["details"]["causes"]
    assert cause["field"] == "spec.template.cliques[0].spec.minAvailable"
    assert "GT-101" in cause["message"]


def test_wh002_warnings_are_reported() -> None:
    risky = set_of()
    risky["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["restartPolicy"] = "Never"
    expected = admit(risky).verdict.warnings
    assert expected
    _, said = answered(VALIDATION, review(risky))
    assert said["response"]["allowed"]
    assert len(said["response"]["warnings"]) == len(expected)
    assert all(
        one.reason.rule.requirement in text for one, text in zip(expected, said["response"]["warnings"], strict=True)
    )


def test_wh002_defaults_are_written() -> None:
    bare = set_of()
    del bare["spec"]["template"]["cliques"][0]["spec"]["minAvailable"]
    _, said = answered(DEFAULTING, review(bare))
    response = said["response"]
    assert response["patchType"] == "JSONPatch"
    assert patched(bare, patch_of(response)) == podcliqueset_with_defaults(bare)
    whole = podcliqueset_with_defaults(bare)
    assert answered(DEFAULTING, review(whole))[1]["response"] == {"uid": "7f3c", "allowed": True}


def test_wh002_the_namespace_is_that_of_the_request() -> None:
    bare = set_of()
    del bare["metadata"]["namespace"]
    _, said = answered(DEFAULTING, review(bare))
    assert all(not step["path"].startswith("/metadata") for step in patch_of(said["response"]))
    other = set_of(name="a")
    known = names(set_of(name="a-0"), {**other, "metadata": {**other["metadata"], "namespace": "default"}})
    del other["metadata"]["namespace"]
    other["spec"]["template"]["cliques"][0]["name"] = "0-a"
    _, said = answered(VALIDATION, review(other), known)
    assert not said["response"]["allowed"]


_SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
_KEYS = st.sampled_from(["metadata", "name", "namespace", "spec", "template", "cliques", "replicas", "minAvailable"])
_JSON = st.recursive(_SCALARS, lambda part: st.lists(part, max_size=3) | st.dictionaries(_KEYS, part, max_size=5))


@given(st.dictionaries(_KEYS, _JSON, max_size=4))
@pytest.mark.req("WH-002")
def test_wh001_whatever_is_asked_is_answered_by_the_core(new: Json) -> None:
    request, problems = parse_admission_review(json.dumps(review(new, namespace="default")).encode())
    assert request is not None, problems
    response = validate_podcliqueset(request, names())["response"]
    verdict = admit(request.new, None, index_names_used_by_sets([])).verdict
    assert response["allowed"] == (not isinstance(verdict, Deny))
    assert patched(
        request.new, patch_of(podcliqueset_defaults_response(request)["response"])
    ) == podcliqueset_with_defaults(request.new)


def colliding() -> tuple[Json, Json]:
    """Clique ``0-a`` of set ``b`` has the name of clique ``a`` in replica 0 of set ``b-0``."""
    first, second = set_of(name="b-0"), set_of(name="b")
    second["spec"]["template"]["cliques"][0]["name"] = "0-a"
    second["metadata"]["uid"] = "another"
    return first, second


def test_wh005_names_are_compared_with_the_copy() -> None:
    first, second = colliding()
    known = names(first)
    _, said = answered(VALIDATION, review(second), known)
    assert "WL-117" in said["response"]["status"]["message"]
    known.drop(SET_KIND, first)
    assert answered(VALIDATION, review(second), known)[1]["response"]["allowed"]
    known.put(SET_KIND, second)
    _, said = answered(VALIDATION, review(first), known)
    assert "WL-117" in said["response"]["status"]["message"]


_WORDS = st.lists(st.sampled_from(["a", "b", "0", "1", "all"]), min_size=1, max_size=4).map("-".join)


@given(st.lists(_WORDS, min_size=1, max_size=6, unique=True), st.sampled_from(["a", "0-a", "1-a", "0"]))
@pytest.mark.req("WH-001")
def test_wh005_nearby_objects_are_enough_to_judge_by(known: list[str], clique: str) -> None:
    """The few sets that are compared give the verdict that all of them would."""
    sets = [set_of(name=name) for name in known]
    new = sets[0]
    new["spec"]["template"]["cliques"][0]["name"] = clique
    near = names(*sets).sets_with_colliding_names("ml", known[0])
    assert near is not None
    assert admit(new, None, index_names_used_by_sets(near)) == admit(new, None, index_names_used_by_sets(sets))


def test_wh005_what_is_not_known_is_said() -> None:
    known = names()
    known.mark_kind_unlisted(SET_KIND, "podcliquesets is forbidden")
    _, said = answered(VALIDATION, review(set_of()), known)
    assert said["response"]["allowed"]
    assert "podcliquesets is forbidden" in said["response"]["warnings"][-1]
    assert "were not compared" in answered(VALIDATION, review(set_of()), AdmissionCache())[1]["response"]["warnings"][0]


def test_wh001_what_is_let_go_is_not_judged() -> None:
    old = set_of(min_available=7, finalizers=["grove.io/podcliqueset.grove.io"])
    assert not answered(VALIDATION, review(old))[1]["response"]["allowed"]
    new = set_of(min_available=7)
    assert answered(VALIDATION, review(new, old))[1]["response"]["allowed"]
    assert answered(VALIDATION, review(podcliqueset_with_defaults(new), old))[1]["response"]["allowed"]
    labelled = set_of(min_available=7, labels={"bad label": "x"})
    assert not answered(VALIDATION, review(labelled, old))[1]["response"]["allowed"]
    going = set_of(min_available=7, deletionTimestamp="2026-11-20T09:00:00Z")
    assert answered(VALIDATION, review(set_of(min_available=8), going))[1]["response"]["allowed"]


def test_wh008_a_request_that_is_no_review_is_reported_all_that_is_wrong() -> None:
    wrong = {
        **review(set_of(), uid="", operation="PATCH", kind={"kind": "Pod"}),
        "apiVersion": "admission.k8s.io/v1beta1",
    }
    code, said = answered(VALIDATION, wrong)
    assert code == 400
    for path in ("apiVersion", "request.uid", "request.operation", "request.kind"):
        assert f"  {path}: expected " in said
    for body in (b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"request": 5}'):
        assert answered(VALIDATION, body)[0] == 400
    assert answered(VALIDATION, review(set_of(), operation="UPDATE"))[0] == 400
    assert answered(VALIDATION, review(None))[0] == 400


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"operation": {}}, "request.operation: expected one of CREATE, UPDATE, DELETE, CONNECT"),
        ({"operation": "DELETE", "object": "llm"}, 'request.object: expected an object, got "llm"'),
    ],
)
def test_wh008_parts_of_another_type_are_no_fault_of_ours(asked: Json, said: str) -> None:
    code, text = answered(VALIDATION, review(set_of(), **asked))
    assert code == 400
    assert said in text


def test_wh008_unregistered_operations_are_no_fault() -> None:
    for operation in ("DELETE", "CONNECT"):
        for webhook in (DEFAULTING, VALIDATION):
            body = review(None, set_of(min_available=9), operation=operation)
            assert answered(webhook, body) == (200, answered(webhook, body)[1])
            assert answered(webhook, body)[1]["response"] == {"uid": "7f3c", "allowed": True}


@pytest.mark.parametrize("field", ["object", "oldObject"])
@pytest.mark.parametrize("webhook", [DEFAULTING, VALIDATION])
def test_wh008_what_is_nested_beyond_reason_is_reported(field: str, webhook: str) -> None:
    """As in a file: 256 levels are taken, and no more (IN-012)."""

    def asked(levels: int) -> tuple[int, Any]:
        deep: Json = {}
        for _ in range(levels - 2):
            deep = {"x": deep}
        return answered(webhook, review(set_of(), set_of(), **{field: set_of() | {"more": deep}}))

    assert asked(256)[0] == 200
    code, text = asked(257)
    assert (code, text.splitlines()[1:]) == (400, [f"  request.{field}: expected at most 256 levels, got more"])


def test_wh008_what_we_cannot_judge_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge with a fault of ours in it, met by one kind of set."""

    def stumbling(raw: Json) -> Json:
        return {**podcliqueset_with_defaults(raw), "replicas": raw["metadata"]["labels"]["app"]}

    async def play(caller: Caller) -> tuple[tuple[int, Any], tuple[int, Any], list[Json]]:
        bad, good = review(set_of(), set_of()), review(set_of(labels={"app": "x"}), set_of(labels={"app": "x"}))
        return await caller.ask(VALIDATION, bad), await caller.ask(VALIDATION, good), caller.said

    monkeypatch.setattr(admission_handlers, "podcliqueset_with_defaults", stumbling)
    (code, words), (after, said), log = played(play)
    assert (code, words) == (500, "a fault of grove webhooks, not of the request: KeyError; see its log\n")
    assert (after, said["response"]["allowed"]) == (200, True)
    assert [(line["level"], line["msg"]) for line in log] == [("error", "fault of ours")]
    assert log[0]["error"].startswith("KeyError: 'labels' (at grove_shell/webhooks/admission_handlers.py:")


def test_wh008_unreadable_requests_are_reported_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader with a fault of ours in it."""

    def stumbling(body: bytes, *_kind: str) -> Any:
        raise AttributeError(f"of {len(body)} bytes")

    async def play(caller: Caller) -> tuple[tuple[int, Any], list[Json]]:
        return await caller.ask(VALIDATION, b"{}"), caller.said

    monkeypatch.setattr(admission_server, "parse_admission_review", stumbling)
    (code, words), log = played(play)
    assert (code, words) == (500, "a fault of grove webhooks, not of the request: AttributeError; see its log\n")
    ((message, error),) = [(line["msg"], line["error"]) for line in log]
    assert message == "fault of ours"
    assert error.startswith("AttributeError: of 2 bytes (at grove_shell/webhooks/admission_server.py:")


def test_wh002_large_objects_are_taken() -> None:
    large = set_of(annotations={"note": "x" * 200_000})
    large["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["args"] = ["y" * 2_000_000]
    assert answered(DEFAULTING, review(large, large))[0] == 200


def test_op041_reviews_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    async def play(caller: Caller) -> tuple[str, list[Json]]:
        await caller.ask(VALIDATION, review(set_of()))
        await caller.ask(VALIDATION, review(set_of(min_available=9)))
        await caller.ask(DEFAULTING, review(set_of()))
        await caller.ask(DEFAULTING, b"{")
        return caller.metrics.as_prometheus_text().decode(), caller.said

    page, said = played(play)
    for verdict, webhook in (("allowed", VALIDATION), ("refused", VALIDATION), ("patched", DEFAULTING)):
        labels = f'operation="CREATE",verdict="{verdict}",webhook="{webhook}"'
        assert f"grove_admission_reviews_total{{{labels}}} 1.0" in page
    assert f'controller_runtime_webhook_requests_total{{code="400",webhook="{DEFAULTING}"}} 1.0' in page
    assert f'controller_runtime_webhook_latency_seconds_count{{webhook="{VALIDATION}"}} 2.0' in page
    expiry = next(line for line in page.splitlines() if line.startswith("grove_webhook_certificate_expiry_timestamp"))
    assert float(expiry.split()[1]) > time.time()
    assert [(line["level"], line["msg"]) for line in said] == [("info", "refused"), ("warning", "malformed review")]
    assert said[0]["set"] == "ml/llm"
    assert said[0]["rules"] == ["CliqueThresholdOutOfRange"]
