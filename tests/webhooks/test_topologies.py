"""Sets and topologies judged by copies of topologies, over TLS, with an API server on the loopback beside them."""

import asyncio
import copy
import io
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import aiohttp
import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit, neighbours_in
from grove_core.admit_topology import admit_topology, admit_topology_deletion, around_in
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.resources.cluster_topology import BINDING_KIND, DEFAULT_TOPOLOGY, TOPOLOGY_KIND, TOPOLOGY_KINDS
from grove_core.resources.configuration import UNASKED, UNTOLD, Configuration
from grove_core.resources.podclique import podclique_of
from grove_shell.client.api import Api
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET
from grove_shell.webhooks.asking import Asking
from grove_shell.webhooks.certificates import Pair
from grove_shell.webhooks.copies import copies_for
from grove_shell.webhooks.registration import LEAVING, PATHS, TOPOLOGIES, VALIDATION
from grove_shell.webhooks.serving import Reviews
from grove_shell.webhooks.telemetry import Telemetry
from grove_shell.webhooks.tls import Shown
from tests.property.topology.test_admission import CREATED, a_set, raw_topology
from tests.property.topology.test_gangs import ON
from tests.webhooks.objects import ObjectServer
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
    return KINDS[topology["kind"]].path(name=topology["metadata"]["name"])


class Caller:
    """An API server that calls, with copies of its own objects in our hands."""

    def __init__(self, session: aiohttp.ClientSession, server: ObjectServer, copies: Any) -> None:
        self.session = session
        self.server = server
        self.copies = copies
        self.said: list[Json] = []

    def list_all(self, kind: str, *items: Json) -> None:
        self.copies.shelves[kind].replace(kind, items, "1")

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
async def calling(told: Configuration, *, everywhere: bool) -> AsyncIterator[Caller]:
    authority, shown, server = trustme.CA(), Shown(), ObjectServer()
    issued = authority.issue_cert("127.0.0.1")
    shown.show(Pair(issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes()))
    tls = ssl.create_default_context()
    authority.configure_trust(tls)
    said: list[Json] = []
    async with server.connection() as connection, Api(connection, tries=1) as api:
        copies = copies_for(api, told, UNASKED, everywhere=everywhere)
        reviews = Reviews(
            host="127.0.0.1",
            port=0,
            tls=shown.context,
            copies=copies,
            configuration=told,
            telemetry=Telemetry(lambda: shown.expires),
            say=lambda level, message, **fields: said.append({"level": level, "msg": message, **fields}),
        )
        async with (
            reviews as port,
            aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=aiohttp.TCPConnector(ssl=tls)) as session,
        ):
            caller = Caller(session, server, copies)
            caller.said = said
            yield caller


def played(
    play: Callable[[Caller], Awaitable[T]],
    told: Configuration = ON,
    *,
    everywhere: bool = True,
    synced: bool = True,
) -> T:
    """With the topologies of the tables in server and copy, and nothing else, unless ``synced`` is false."""

    async def whole() -> T:
        async with calling(told, everywhere=everywhere) as caller:
            for topology in THERE:
                caller.server.objects[path_of(topology)] = topology
            if synced and told.topology.enabled:
                caller.list_all(POD_CLIQUE_SET)
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
    around = around_in(THERE, [], [podclique_of(one) for one in cliques])
    return admit(new, old, neighbours_in([]), ON, around=around).verdict


def renamed(raw: Json, name: str) -> Json:
    found = copy.deepcopy(raw)
    found["spec"]["template"]["clusterTopologyName"] = name
    return found


def test_tp090_sets_are_judged_in_the_words_of_validate() -> None:
    async def play(caller: Caller) -> None:
        for raw, expected in CREATED:
            response = await caller.about(raw)
            assert causes(response) == said_by(offline(raw)), raw["spec"]["template"]
            assert {(path, number) for path, number in expected} == {
                (path, message.rpartition("(")[2].rstrip(")")) for path, message in causes(response)
            }

    played(play)


@pytest.mark.req("WH-005")
def test_tp090_who_is_admitted_waits_for_nobody() -> None:
    async def play(caller: Caller) -> None:
        caller.list_all("PodClique", clique("other-0-a", "other"))
        for new, old in (
            (a_set("aws-p5", "rack"), None),
            (a_set("", "rack"), None),
            (a_set(), None),
            (a_set("aws-p5", "rack"), a_set("", "rack")),
            (a_set("gone", "rack"), a_set("gone", "rack")),
        ):
            assert await caller.about(new, old) == {"uid": "7f3c", "allowed": True}
        wrong = a_set("aws-p5", "rack")
        wrong["spec"]["replicas"] = -1
        assert not (await caller.about(wrong))["allowed"], "and whoever is refused for something else"
        caller.copies.shelves["PodClique"].put("PodClique", clique())
        assert numbers(await caller.about(a_set("", "rack"), a_set("aws-p5", "rack"))) == {"TP-062"}
        assert not caller.server.asked

    played(play)


@pytest.mark.req("TP-062")
def test_tp090_the_name_is_locked_while_a_pod_is_bound() -> None:
    old, new = a_set("aws-p5", "rack"), a_set("", "rack")

    async def play(caller: Caller) -> None:
        shelf = caller.copies.shelves["PodClique"]
        for one in (clique(), clique("llm-0-b", scheduled=1), clique("x-0-a", "llm", namespace="other")):
            shelf.put("PodClique", one)
        response = await caller.about(new, old)
        assert causes(response) == said_by(offline(new, old, clique(), clique("llm-0-b", scheduled=1)))
        assert "pods of the set that are bound: 3" in response["status"]["message"]
        shelf.put("PodClique", clique(scheduled=None))
        assert "pods of the set that are bound: 1" in (await caller.about(new, old))["status"]["message"]
        shelf.drop("PodClique", clique("llm-0-b"))
        assert (await caller.about(new, old))["allowed"]

    played(play)


class TestTP091:
    """A copy that lags MUST NOT be the reason of a refusal."""

    def test_tp091_a_topology_that_was_made_a_moment_ago_is_found(self) -> None:
        async def play(caller: Caller) -> None:
            caller.list_all(TOPOLOGY_KIND)
            assert await caller.about(a_set("aws-p5", "rack")) == {"uid": "7f3c", "allowed": True}
            assert caller.server.asked == {"GET": 1}
            assert numbers(await caller.about(a_set("aws-p5", "shelf"))) == {"TP-065"}
            response = await caller.about(a_set("aws-p4", "rack"))
            assert causes(response) == {
                (
                    "spec.template.clusterTopologyName",
                    'must name a topology that exists; known: none, got "aws-p4" (TP-060)',
                )
            }

        played(play)

    @pytest.mark.req("TP-004")
    def test_tp091_also_one_of_the_other_kind(self) -> None:
        binding = {**raw_topology("newer", *DEFAULT_LEVELS), "kind": BINDING_KIND}

        async def play(caller: Caller) -> None:
            caller.server.objects[path_of(binding)] = binding
            assert (await caller.about(a_set("newer", "rack")))["allowed"]
            caller.server.objects[KINDS[TOPOLOGY_KIND].path(name="newer")] = raw_topology("newer", ("host", "h"))
            assert numbers(await caller.about(a_set("newer", "rack"))) == {"TP-065"}
            caller.server.objects[KINDS[TOPOLOGY_KIND].path(name="newer")] = {"metadata": {"name": "newer"}, "spec": 7}
            assert (await caller.about(a_set("newer", "rack")))["allowed"]

        played(play)

    @pytest.mark.req("TP-061")
    @pytest.mark.req("TP-065")
    @pytest.mark.req("TP-066")
    def test_tp091_whatever_has_changed_since(self) -> None:
        async def play(caller: Caller) -> None:
            server, flat = caller.server.objects, raw_topology("flat", ("rack", "r"), ("host", "h"))
            turned = a_set("flat", "rack", None, "host")
            assert numbers(await caller.about(turned)) == {"TP-065"}
            server[path_of(FLAT)] = flat
            assert (await caller.about(turned))["allowed"]
            caller.list_all(TOPOLOGY_KIND, raw_topology("flat", ("host", "h"), ("rack", "r")))
            assert (await caller.about(turned))["allowed"]
            assert numbers(await caller.about(a_set("leaving", "rack"))) == {"TP-061"}
            server[path_of(LEAVES)] = raw_topology("leaving", *DEFAULT_LEVELS)
            caller.list_all(TOPOLOGY_KIND, LEAVES)
            assert (await caller.about(a_set("leaving", "rack")))["allowed"]
            del server[path_of(LEAVES)]
            assert numbers(await caller.about(a_set("leaving", "rack"))) == {"TP-060"}

        played(play)

    @pytest.mark.req("TP-072")
    @pytest.mark.parametrize("hidden", TOPOLOGY_KINDS)
    @pytest.mark.parametrize("code", [403, 500])
    def test_tp091_what_the_server_does_not_say_is_not_known(self, hidden: str, code: int) -> None:
        async def play(caller: Caller) -> Json:
            caller.server.hides[KINDS[hidden].plural] = (code, {"kind": "Status", "message": "no"})
            return await caller.about(a_set("aws-p4", "rack"))

        response = played(play)
        assert response["allowed"]
        (warning,) = response["warnings"]
        assert warning.endswith("(TP-072)")

    @pytest.mark.req("TP-072")
    def test_tp091_a_server_that_is_slow_or_away_says_nothing(self) -> None:
        async def play() -> None:
            server = ObjectServer()
            async with server.connection() as connection, Api(connection, tries=1) as api:
                server.objects[path_of(P5)] = P5
                assert await Asking(api, patience=0.001).corrected({}, "aws-p5") is None
                assert list(await Asking(api).corrected({}, "aws-p5") or ()) == ["aws-p5"]
            async with Api(connection, tries=1) as api:
                assert await Asking(api).corrected({}, "aws-p5") is None

        asyncio.run(play())

    @pytest.mark.parametrize("name", ["../../../../api/v1/nodes/a", "a/b", "..", "a?watch=1", "A", "a%2fb", "x" * 300])
    def test_tp091_a_text_that_is_no_name_is_asked_for_by_nobody(self, name: str) -> None:
        async def play(caller: Caller) -> None:
            assert "TP-060" in numbers(await caller.about(a_set(name, "rack")))
            assert not caller.server.asked

        played(play)


@pytest.mark.parametrize("lost", [TOPOLOGY_KIND, BINDING_KIND])
def test_tp072_a_kind_that_is_not_shown_refuses_nobody(lost: str) -> None:
    async def play(caller: Caller) -> None:
        caller.copies.shelves[lost].lose(lost, "forbidden")
        response = await caller.about(a_set("aws-p4", "rack"))
        assert response["allowed"]
        assert response["warnings"][0].endswith("(TP-072)")
        caller.list_all(lost)
        assert numbers(await caller.about(a_set("aws-p4", "rack"))) == {"TP-060"}

    played(play)


def test_tp072_before_the_first_lists_nobody_is_refused() -> None:
    async def play(caller: Caller) -> None:
        for new, old in ((a_set("aws-p4", "rack"), None), (a_set("aws-p5", "rack"), a_set("flat", "host"))):
            response = await caller.about(new, old)
            assert numbers(response) <= {"TP-069"}
            assert any(words.endswith("(TP-072)") for words in response["warnings"])
        changed = topology_review(raw_topology("aws-p5", ("zone", "z")), P5)
        _, response = await caller.ask(TOPOLOGIES, changed)
        assert response["allowed"]
        assert response["warnings"][0].endswith("(TP-072)")
        assert not caller.server.asked

    played(play, synced=False)


def test_tp064_with_the_feature_off_nothing_is_known_and_no_name_taken() -> None:
    async def play(caller: Caller) -> None:
        assert set(caller.copies.shelves) == {POD_CLIQUE_SET}
        assert numbers(await caller.about(a_set("aws-p5", "rack"))) == {"TP-064"}
        assert (await caller.about(a_set("aws-p5", "rack"), a_set("aws-p5", "rack")))["allowed"]
        response = await caller.about(a_set("", "rack"))
        assert response["allowed"]
        assert response["warnings"][0].endswith("(TP-073)")
        for webhook in (TOPOLOGIES, LEAVING):
            assert (await caller.ask(webhook, topology_review(P5)))[0] == 404
        assert not caller.server.asked

    played(play, UNTOLD)


def test_tp094_for_one_namespace_no_topology_is_judged_and_sets_are() -> None:
    async def play(caller: Caller) -> None:
        for webhook in (TOPOLOGIES, LEAVING):
            assert (await caller.ask(webhook, topology_review(P5)))[0] == 404
        caller.list_all(POD_CLIQUE_SET, a_set("aws-p5", "rack"))
        assert not caller.copies.placing.known.uses.of("aws-p5")
        assert numbers(await caller.about(a_set("aws-p4", "rack"))) == {"TP-060"}

    played(play, everywhere=False)


# topologies themselves

LESS: Final = raw_topology("aws-p5", ("zone", "z"), ("rack", "r"))


@pytest.mark.req("TP-080")
@pytest.mark.req("TP-084")
@pytest.mark.req("TP-085")
@pytest.mark.req("TP-087")
@pytest.mark.req("TP-088")
def test_tp090_topologies_are_judged_in_the_words_of_validate() -> None:
    users, pods = [a_set("aws-p5", "rack")], [clique()]
    labelled = {**P5, "metadata": {**P5["metadata"], "labels": {"x": "y"}, "finalizers": ["grove.io/clustertopology"]}}
    table: tuple[tuple[Json, Json | None, set[str]], ...] = (
        (P5, None, set()),
        (raw_topology("odd", ("host", "h"), ("zone", "h")), None, {"TP-080"}),
        (raw_topology(DEFAULT_TOPOLOGY, ("zone", "q")), None, {"TP-085"}),
        (raw_topology(DEFAULT_TOPOLOGY, ("zone", "q")), THERE[0], {"TP-085"}),
        ({**P5, "spec": {"levels": "none"}}, P5, {"TP-087"}),
        (LESS, P5, {"TP-084"}),
        (labelled, P5, set()),
        (raw_topology("flat", ("rack", "r")), FLAT, set()),
    )

    async def play(caller: Caller) -> None:
        caller.list_all(POD_CLIQUE_SET, *users)
        caller.list_all("PodClique", *pods)
        around = around_in(THERE, users, [podclique_of(one) for one in pods])
        for new, old, expected in table:
            code, response = await caller.ask(TOPOLOGIES, topology_review(new, old))
            assert (code, numbers(response)) == (200, expected)
            assert causes(response) == said_by(admit_topology(new, old, around, told).verdict)
        refused = [line for line in caller.said if line["msg"] == "refused"]
        assert {line["topology"] for line in refused} == {"odd", DEFAULT_TOPOLOGY, "aws-p5"}
        caller.copies.shelves["PodClique"].drop("PodClique", clique())
        assert (await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1]["allowed"], "it waits again"
        assert not caller.server.asked

    told = ON
    played(play, told)


@pytest.mark.req("TP-044")
def test_tp086_a_deletion_is_admitted_and_warned_of() -> None:
    users = [a_set("aws-p5", "rack"), a_set("", "rack")]
    users[1]["metadata"]["name"] = "implicit"

    async def play(caller: Caller) -> None:
        caller.list_all(POD_CLIQUE_SET, *users)
        for topology, words in ((P5, ["ml/llm"]), (THERE[0], ["ml/implicit"]), (FLAT, [])):
            _, response = await caller.ask(LEAVING, topology_review(None, topology, operation="DELETE"))
            expected = admit_topology_deletion(topology, around_in((), users, [podclique_of(clique())])).verdict
            assert response["allowed"]
            assert len(response.get("warnings", [])) == len(expected.warnings) == len(words)
            for text, user in zip(response.get("warnings", []), words, strict=True):
                assert user in text
                assert text.endswith("(TP-086)")
        caller.copies.shelves[POD_CLIQUE_SET].drop(POD_CLIQUE_SET, users[0])
        _, response = await caller.ask(LEAVING, topology_review(None, P5, operation="DELETE"))
        assert response == {"uid": "7f3c", "allowed": True}

    played(play)


def test_wh008_a_review_of_a_set_is_none_of_a_topology() -> None:
    async def play(caller: Caller) -> None:
        code, words = await caller.ask(TOPOLOGIES, review(a_set()))
        assert (code, "ClusterTopology of grove.io" in words) == (400, True)
        code, _ = await caller.ask(VALIDATION, topology_review(P5))
        assert code == 400
        _, response = await caller.ask(TOPOLOGIES, topology_review(None, P5, operation="CONNECT"))
        assert response["allowed"]

    played(play)


# copies, whatever happened before

NAMES: Final = ("", "aws-p5", "flat", "gone")
NEWS: Final = st.one_of(
    st.tuples(
        st.just(POD_CLIQUE_SET),
        st.sampled_from(["llm", "b"]),
        st.tuples(st.sampled_from(NAMES), st.sampled_from([None, "rack"])),
    ),
    st.tuples(
        st.just("PodClique"),
        st.sampled_from(["x", "y", "z"]),
        st.tuples(st.sampled_from(["llm", "b"]), st.sampled_from([None, 0, 1, 2])),
    ),
    st.tuples(st.sampled_from(TOPOLOGY_KINDS), st.sampled_from(["aws-p5", "flat"]), st.sampled_from([1, 2, "broken"])),
)
CHANGES: Final = st.lists(st.tuples(NEWS, st.sampled_from(["put", "put", "drop", "again"])), max_size=25)


def object_of(kind: str, name: str, how: Any) -> Json:
    if kind == POD_CLIQUE_SET:
        raw = a_set(*how)
        raw["metadata"]["name"] = name
        return raw
    if kind == "PodClique":
        return clique(name, *how)
    levels: Any = "none" if how == "broken" else [{"domain": "rack", "key": f"k{index}"} for index in range(how)]
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": {"levels": levels}}


@given(CHANGES)
@pytest.mark.req("TP-044")
@pytest.mark.req("TP-004")
def test_tp090_the_copies_say_what_the_objects_themselves_would(changes: list[Any]) -> None:
    """One event after another, in whatever order: the same as if all there is were read at once."""
    shelves = copies_for(object(), ON, UNASKED, everywhere=True)  # type: ignore[arg-type]  # nobody is asked
    there: dict[str, dict[str, Json]] = {kind: {} for kind in shelves.shelves}
    for kind, shelf in shelves.shelves.items():
        shelf.replace(kind, (), "1")
    for (kind, name, how), what in changes:
        raw, shelf = object_of(kind, name, how), shelves.shelves[kind]
        if what == "drop":
            there[kind].pop(name, None)
            shelf.drop(kind, raw)
        else:
            there[kind][name] = raw
            shelf.put(kind, raw)
        if what == "again":
            shelf.lose(kind, "cut")
            shelf.replace(kind, list(there[kind].values()), "2")
    of = {kind: list(found.values()) for kind, found in there.items()}
    cliques = [podclique_of(one) for one in of["PodClique"]]
    expected = around_in([*of[TOPOLOGY_KIND], *of[BINDING_KIND]], of[POD_CLIQUE_SET], cliques)
    assert shelves.placing is not None
    known = shelves.placing.known
    assert known.around_sets.topologies == (expected.topologies or {})
    assert known.around_sets.scheduled == (expected.scheduled or {})
    for name in ("aws-p5", "flat", "gone", DEFAULT_TOPOLOGY):
        users = known.around_topology(name).users
        assert users is not None
        if cliques:
            assert users[name] == (expected.users or {}).get(name, ())
