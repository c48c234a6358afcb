"""Objects nested too deeply count as unreadable and affect no other object."""

import asyncio
import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from aiohttp import web

from grove_core.in_memory.forecasts import snapshot_of_newly_created_set
from grove_core.kernel.frozen import MOST_LEVELS
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Withheld
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import CLAIM_TEMPLATE_KIND, CLAIMS
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.labels import SET
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cli.main import run_command_line
from grove_shell.client import reflector
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_response import ApiResponse
from grove_shell.client.api_session import NoServerResponse
from grove_shell.client.nesting_limit import TOO_DEEP, read_json_with_nesting_limit
from grove_shell.client.proxy_response_check import is_list_of_kind, parse_watch_event
from grove_shell.client.reflector import Reflector
from grove_shell.operator.health_server import HealthServer
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects
from tests.operator.cached_objects import NAMESPACE, Json, a_set
from tests.operator.list_server import ListingServer
from tests.operator.stub_server import api_with
from tests.operator.test_claim_templates import a_template, sharing
from tests.property.workload.sets import NOW

HOLE: Final = "what is deep"
AROUND: Final = 7  # levels around it in a template
FAR: Final = (MOST_LEVELS + 1, 300, 700, 985, 1000, 1200, 5000, 9999)
WORDS: Final = f'spec: expected an object, got "{TOO_DEEP}"'


def nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    """So many levels, with what looks like more in a text at each."""
    return '["]}\\\\\\"[{",' * (levels - 1) + opening + closing + "]" * (levels - 1)


def written(raw: Json, levels: int) -> str:
    return json.dumps(raw).replace(json.dumps(HOLE), nested(levels))


def template(version: str = "5", name: str = "t") -> Json:
    raw = a_template(version, "a", name=name)
    raw["spec"]["spec"]["devices"]["config"] = [{"opaque": {"driver": "d", "parameters": HOLE}}]
    return raw


def listed(kind: str, *items: str) -> bytes:
    return f'{{"kind": "{kind}List", "metadata": {{"resourceVersion": "9"}}, "items": [{",".join(items)}]}}'.encode()


@pytest.mark.parametrize("levels", FAR)
def test_op004_a_list_and_a_watch_go_on_beside_it(levels: int) -> None:
    deep, well = written(template(), levels), json.dumps(a_template("6", "b", name="u"))
    raw = ApiResponse(200, listed(CLAIM_TEMPLATE_KIND, deep, well)).json_body()
    assert is_list_of_kind(raw, KINDS["ResourceClaimTemplate"])
    assert [item["metadata"] for item in raw["items"]] == [template()["metadata"], json.loads(well)["metadata"]]
    assert [item["spec"] for item in raw["items"]] == [TOO_DEEP, json.loads(well)["spec"]]
    what, seen = parse_watch_event(f'{{"type": "ADDED", "object": {deep}}}'.encode())
    assert (what, seen) == ("ADDED", raw["items"][0])
    assert ApiResponse(200, deep.encode()).json_body() == seen


@pytest.mark.parametrize("around", [("", ""), ("[", "]"), ('{"items": [', "]}"), ('{"type": "ADDED", "object": ', "}")])
def test_op004_the_last_level_is_read_and_one_more_is_not(around: tuple[str, str]) -> None:
    before, after = around
    whole = before + written(template(), MOST_LEVELS - AROUND) + after
    assert read_json_with_nesting_limit(whole.encode()) == json.loads(whole)
    if around != ("[", "]"):  # what is neither an object nor a list of them is left for others to refuse
        more = read_json_with_nesting_limit((before + written(template(), MOST_LEVELS - AROUND + 1) + after).encode())
        assert TOO_DEEP in str(more)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, '{"items": [' + nested(5000), nested(5000) + "x", nested(5000)[:-5000] + '"'],
    ids=["no end", "no end of objects", "a list without end", "more behind it", "a text without end"],
)
def test_op004_what_is_no_json_is_none_however_deep(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra|Unterminated"):
        read_json_with_nesting_limit(text.encode())
    assert ApiResponse(200, text.encode()).json_body() == {}
    with pytest.raises(NoServerResponse):
        parse_watch_event(text.encode())


def test_op004_a_deep_list_of_nothing_known_is_no_answer() -> None:
    assert ApiResponse(200, nested(5000).encode()).json_body() == {}
    text = f'{{"metadata": {{"resourceVersion": "1"}}, "items": [{nested(5000)}]}}'
    assert not is_list_of_kind(ApiResponse(200, text.encode()).json_body(), KINDS["ResourceClaimTemplate"])
    with pytest.raises(NoServerResponse):
        parse_watch_event(nested(5000).encode())


def test_op004_the_field_manager_is_reported_at_any_depth() -> None:
    """Of metadata only the deep field is dropped, and no decision depends on it."""
    raw = a_template("5", "a")
    raw["metadata"]["managedFields"] = [{"fieldsV1": HOLE}]
    cache = ClusterCache()
    cache.put(CLAIM_TEMPLATE_KIND, ApiResponse(200, written(raw, 1200).encode()).json_body())
    assert not cache.unreadable_objects_of_sets()
    assert cache.find_object(Ref(CLAIMS, CLAIM_TEMPLATE_KIND, NAMESPACE, "t")) is not None


@pytest.mark.parametrize("kind", sorted(one.kind for one in KINDS.values() if not one.metadata_only))
def test_op004_it_does_not_read_whatever_it_is(kind: str) -> None:
    meta = {"name": "x", "namespace": NAMESPACE, "uid": "u", "resourceVersion": "5", "labels": {SET.primary: "llm"}}
    raw = {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": meta, "spec": HOLE}
    cache = ClusterCache()
    cache.put(kind, ApiResponse(200, written(raw, 1200).encode()).json_body())
    place = "/" if kind in TOPOLOGY_KINDS else f" {NAMESPACE}/"
    (reported,) = cache.unreadable_object_messages()
    assert reported.startswith(f"{kind}{place}x: cannot be read: ")
    assert TOO_DEEP in reported


def test_op004_a_set_that_is_too_deep_is_there_and_nothing_of_it_goes() -> None:
    raw = a_set("llm", "u")
    raw["spec"]["more"] = HOLE
    raw["metadata"]["resourceVersion"] = "2"
    cache, root_key = ClusterCache(), (NAMESPACE, "llm")
    cache.put("PodCliqueSet", a_set("llm", "u") | {"metadata": raw["metadata"] | {"resourceVersion": "1"}})
    assert cache.snapshot_of_set(root_key, NOW) is not None
    cache.put("PodCliqueSet", ApiResponse(200, written(raw, 1200).encode()).json_body())
    assert cache.has_anything_of_root(root_key)
    assert not cache.is_set_known_absent(root_key)
    assert cache.snapshot_of_set(root_key, NOW) is None
    assert cache.unreadable_objects_of_sets() == {"PodCliqueSet ml/llm": WORDS}


@pytest.mark.parametrize("spec", [HOLE, 5], ids=["too deep", "of another shape"])
@pytest.mark.req("WL-021")
def test_op004_a_set_that_names_such_a_template_waits_for_it(spec: Any) -> None:
    """It counts as not collected, not as one without content; and as soon as it reads, the claim is made."""
    cache, requeued = ClusterCache(), list[Any]()
    cache.put("PodCliqueSet", sharing("llm", (NAMESPACE, "t")))
    cache.put(CLAIM_TEMPLATE_KIND, a_template("4", "a"))
    cache.changed = requeued.append
    cache.put(CLAIM_TEMPLATE_KIND, ApiResponse(200, written({**template(), "spec": spec}, 1200).encode()).json_body())
    assert requeued == [(NAMESPACE, "llm")]
    seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert seen is not None
    (held,) = (one for one in reconcile(seen).withheld if one.target.kind == "ResourceClaim")
    assert isinstance(held, Withheld)
    assert [reason.rule.requirement for reason in held.because] == ["WL-021"]
    cache.put(CLAIM_TEMPLATE_KIND, a_template("6", "a"))
    seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert seen is not None
    assert not [one for one in reconcile(seen).withheld if one.target.kind == "ResourceClaim"]
    assert not cache.unreadable_objects_of_sets()


@pytest.mark.parametrize("from_the_start", [True, False])
def test_op004_the_copy_of_a_kind_goes_on(from_the_start: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector, "_LONGEST_BACKOFF", 0.05)
    deep, later = written(template("11", "deep"), 1200), json.dumps(a_template("20", "b", name="mine"))
    first = [deep] if from_the_start else []

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            items = [*first, json.dumps(a_template("5", "a", name="mine"))]
            return web.Response(body=listed(CLAIM_TEMPLATE_KIND, *items), content_type="application/json")
        response = web.StreamResponse()
        await response.prepare(request)
        for item in [deep, later]:
            await response.write(f'{{"type": "MODIFIED", "object": {item}}}\n'.encode())
        await asyncio.sleep(0.1)
        return response

    async def scenario() -> tuple[ClusterCache, list[str]]:
        cache, reported = ClusterCache(), list[str]()
        mine = Ref(CLAIMS, CLAIM_TEMPLATE_KIND, NAMESPACE, "mine")
        async with api_with(answer) as api:
            keeping = Reflector(
                api, KINDS[CLAIM_TEMPLATE_KIND], cache, report=lambda _kind, words: reported.append(words)
            )
            following = asyncio.create_task(keeping.run())
            async with asyncio.timeout(10):
                while getattr(cache.find_object(mine), "resource_version", "") != "20":  # noqa: ASYNC110 - it has no signal
                    await asyncio.sleep(0.02)
            following.cancel()
            await asyncio.wait([following])
        return cache, reported

    cache, reported = asyncio.run(scenario())
    assert cache.unreadable_objects_of_sets() == {f"{CLAIM_TEMPLATE_KIND} ml/deep": WORDS}
    assert not reported


def test_op004_readiness_is_reported() -> None:
    cache = ClusterCache()
    cache.put(CLAIM_TEMPLATE_KIND, ApiResponse(200, written(template(), 1200).encode()).json_body())
    cache.put("ClusterTopology", {"kind": "ClusterTopology", "metadata": {"name": "x", "uid": "u"}, "spec": 5})
    serving = HealthServer(
        host="127.0.0.1", port=0, missing=list, metrics=bytes, notes=cache.unreadable_object_messages
    )

    async def answered() -> str:
        async with serving as port, aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            return await (await session.get("/readyz")).text()

    ready, topology, reported = asyncio.run(answered()).splitlines()
    assert (ready, reported) == ("ok", f"{CLAIM_TEMPLATE_KIND} ml/t: cannot be read: {WORDS}")
    assert topology.startswith("ClusterTopology/x: cannot be read: ")


@pytest.mark.parametrize("command", [("plan", "--live"), ("snapshot",)])
def test_op004_a_command_says_which_one_it_is_and_goes_on(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ListingServer([sharing("llm", (NAMESPACE, "t")), template()]) as server:
        server.written_as[HOLE] = nested(1200)
        assert run_command_line([*command, "-A", "--kubeconfig", str(server.kubeconfig(tmp_path))], "grove") == 0
    out, reported = capsys.readouterr()
    (line,) = (line for line in (out if "plan" in command else reported).splitlines() if TOO_DEEP in line)
    assert f"{CLAIM_TEMPLATE_KIND} ml/t: spec: " in line
    assert "PodCliqueSet" in out


@pytest.mark.req("IN-039")
def test_op004_a_manifest_that_names_such_a_template_does_not_lack_it() -> None:
    """A set that is not applied yet."""
    manifest = sharing("llm", (NAMESPACE, "t"))
    del manifest["metadata"]["uid"]
    loaded = load_input_files(
        (), BytesIO(), live=CollectedObjects(origin="", items=(manifest, {**template(), "spec": TOO_DEEP}))
    )
    assert not loaded.faults
    (root,) = loaded.cluster.sets
    seen = snapshot_of_newly_created_set(loaded.cluster.snapshot_of(root, NOW))
    (held,) = (one for one in reconcile(seen).withheld if one.target.kind == "ResourceClaim")
    assert [reason.rule.requirement for reason in held.because] == ["WL-021"]


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_op004_the_last_level_goes_into_a_snapshot(
    output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ListingServer([template(), sharing("llm")]) as server:
        server.written_as[HOLE] = nested(MOST_LEVELS - AROUND)
        asked_for = ["snapshot", "-A", "-o", output, "--kubeconfig", str(server.kubeconfig(tmp_path))]
        assert run_command_line(asked_for, "grove") == 0
    assert TOO_DEEP not in capsys.readouterr().err
