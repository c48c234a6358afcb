"""Sets judged by copies of topologies, and by a topology itself where a copy would be the reason to refuse one."""

import asyncio
from typing import Final

import pytest

from grove_core.resources.api_names import BINDING_KIND, SET_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.configuration import DEFAULT_CONFIGURATION
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession
from grove_shell.settings.webhook_settings import LEAVING, TOPOLOGIES
from grove_shell.webhooks.admission_handlers import topologies_with_one_refreshed
from tests.property.topology.sets_to_admit import CREATED, a_set, raw_topology
from tests.webhooks.object_server import ObjectServer
from tests.webhooks.reviews import Json
from tests.webhooks.topology_webhooks import (
    DEFAULT_LEVELS,
    FLAT,
    LEAVES,
    P5,
    Caller,
    causes,
    clique,
    numbers,
    offline,
    path_of,
    played,
    said_by,
    topology_review,
)


def test_wh005_sets_are_judged_in_the_words_of_validate() -> None:
    async def play(caller: Caller) -> None:
        for raw, expected in CREATED:
            response = await caller.about(raw)
            assert causes(response) == said_by(offline(raw)), raw["spec"]["template"]
            assert {(path, number) for path, number in expected} == {
                (path, message.rpartition("(")[2].rstrip(")")) for path, message in causes(response)
            }

    played(play)


@pytest.mark.req("WH-005")
def test_wh005_an_object_that_is_admitted_waits_for_nothing() -> None:
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
        caller.cache.put("PodClique", clique())
        assert numbers(await caller.about(a_set("", "rack"), a_set("aws-p5", "rack"))) == {"TP-062"}
        assert not caller.server.asked

    played(play)


@pytest.mark.req("TP-062")
def test_wh005_the_name_is_locked_while_a_pod_is_bound() -> None:
    old, new = a_set("aws-p5", "rack"), a_set("", "rack")

    async def play(caller: Caller) -> None:
        cache = caller.cache
        for one in (clique(), clique("llm-0-b", scheduled=1), clique("x-0-a", "llm", namespace="other")):
            cache.put("PodClique", one)
        response = await caller.about(new, old)
        assert causes(response) == said_by(offline(new, old, clique(), clique("llm-0-b", scheduled=1)))
        assert "bound pods: 3" in response["status"]["message"]
        cache.put("PodClique", clique(scheduled=None))
        assert "bound pods: 1" in (await caller.about(new, old))["status"]["message"]
        cache.drop("PodClique", clique("llm-0-b"))
        assert (await caller.about(new, old))["allowed"]

    played(play)


@pytest.mark.req("WH-005")
class TestARefusalNeedsAFreshTopology:
    """A set that would be refused only because of its topology MUST be judged by a fresh read of that topology, or as
    if topologies were unknown where the read fails.
    """

    def test_wh005_a_topology_that_was_made_a_moment_ago_is_found(self) -> None:
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

    @pytest.mark.req("TP-049")
    def test_wh005_also_one_of_the_other_kind(self) -> None:
        binding = {**raw_topology("newer", *DEFAULT_LEVELS), "kind": BINDING_KIND}

        async def play(caller: Caller) -> None:
            caller.server.objects[path_of(binding)] = binding
            assert (await caller.about(a_set("newer", "rack")))["allowed"]
            caller.server.objects[KINDS[TOPOLOGY_KIND].url_path(name="newer")] = raw_topology("newer", ("host", "h"))
            assert numbers(await caller.about(a_set("newer", "rack"))) == {"TP-065"}
            caller.server.objects[KINDS[TOPOLOGY_KIND].url_path(name="newer")] = {
                "metadata": {"name": "newer"},
                "spec": 7,
            }
            response = await caller.about(a_set("newer", "shelf"))
            assert (response["allowed"], response["warnings"][0][-8:]) == (True, "(TP-072)"), "nobody knows its levels"

        played(play)

    @pytest.mark.req("TP-061")
    @pytest.mark.req("TP-065")
    @pytest.mark.req("TP-066")
    def test_wh005_whatever_has_changed_since(self) -> None:
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
    def test_wh005_what_the_server_does_not_say_is_not_known(self, hidden: str, code: int) -> None:
        async def play(caller: Caller) -> Json:
            caller.server.hides[KINDS[hidden].plural] = (code, {"kind": "Status", "message": "no"})
            return await caller.about(a_set("aws-p4", "rack"))

        response = played(play)
        assert response["allowed"]
        (warning,) = response["warnings"]
        assert warning.endswith("(TP-072)")

    @pytest.mark.req("TP-072")
    def test_wh005_a_server_that_is_slow_or_away_says_nothing(self) -> None:
        async def play() -> None:
            server = ObjectServer()
            async with server.connection() as connection, ApiSession(connection, tries=1) as api:
                server.objects[path_of(P5)] = P5
                assert await topologies_with_one_refreshed(api, {}, "aws-p5", 0.001) is None
                assert list(await topologies_with_one_refreshed(api, {}, "aws-p5") or ()) == ["aws-p5"]
            async with ApiSession(connection, tries=1) as api:
                assert await topologies_with_one_refreshed(api, {}, "aws-p5") is None

        asyncio.run(play())

    @pytest.mark.parametrize("name", ["../../../../api/v1/nodes/a", "a/b", "..", "a?watch=1", "A", "a%2fb", "x" * 300])
    def test_wh005_an_invalid_name_is_not_requested(self, name: str) -> None:
        async def play(caller: Caller) -> None:
            assert "TP-060" in numbers(await caller.about(a_set(name, "rack")))
            assert not caller.server.asked

        played(play)


@pytest.mark.parametrize("lost", [TOPOLOGY_KIND, BINDING_KIND])
def test_tp072_a_kind_that_is_not_shown_refuses_nothing(lost: str) -> None:
    async def play(caller: Caller) -> None:
        caller.cache.mark_kind_unlisted(lost, "forbidden")
        response = await caller.about(a_set("aws-p4", "rack"))
        assert response["allowed"]
        assert response["warnings"][0].endswith("(TP-072)")
        caller.list_all(lost)
        assert numbers(await caller.about(a_set("aws-p4", "rack"))) == {"TP-060"}

    played(play)


BROKEN: Final = {**raw_topology("broken"), "spec": {"levels": [{"domain": "rack"}]}}


@pytest.mark.req("WH-005")
def test_tp072_a_topology_that_does_not_read_refuses_nothing() -> None:
    """Others do; and it is not asked for, for it would read no better."""

    async def play(caller: Caller) -> None:
        caller.cache.put(TOPOLOGY_KIND, BROKEN)
        other = {**raw_topology("broken", ("host", "h")), "kind": BINDING_KIND}
        caller.server.objects[path_of(other)] = other
        caller.list_all(BINDING_KIND, other)
        response = await caller.about(a_set("broken", "rack"))
        assert response["allowed"]
        (warning,) = response["warnings"]
        assert warning.endswith("(TP-072)")
        assert not caller.server.asked
        assert numbers(await caller.about(a_set("other", "rack"))) == {"TP-060"}
        caller.cache.put(TOPOLOGY_KIND, raw_topology("broken", ("rack", "r")))
        assert await caller.about(a_set("broken", "rack")) == {"uid": "7f3c", "allowed": True}
        caller.cache.put(TOPOLOGY_KIND, BROKEN)
        caller.cache.drop(TOPOLOGY_KIND, BROKEN)
        assert numbers(await caller.about(a_set("broken", "rack"))) == {"TP-065"}, "the other kind counts now"

    played(play)


@pytest.mark.req("TP-062")
def test_tp072_a_podclique_that_does_not_read_may_have_pods_anywhere() -> None:
    old, new = a_set("aws-p5", "rack"), a_set("", "rack")

    async def play(caller: Caller) -> None:
        cache = caller.cache
        cache.put("PodClique", {**clique(), "spec": "none"})
        response = await caller.about(new, old)
        assert (response["allowed"], response["warnings"][0][-8:]) == (True, "(TP-072)")
        cache.put("PodClique", clique("llm-0-b"))
        response = await caller.about(new, old)
        assert numbers(response) == {"TP-062"}, "one that is known is enough"
        assert "warnings" not in response
        cache.drop("PodClique", clique())
        cache.drop("PodClique", clique("llm-0-b"))
        assert await caller.about(new, old) == {"uid": "7f3c", "allowed": True}

    played(play)


def test_tp072_before_the_first_lists_nothing_is_refused() -> None:
    async def play(caller: Caller) -> None:
        for new, old in ((a_set("aws-p4", "rack"), None), (a_set("aws-p5", "rack"), a_set("flat", "host"))):
            response = await caller.about(new, old)
            assert numbers(response) <= {"TP-069"}
            assert any(words.endswith("(TP-072)") for words in response["warnings"])
        changed = topology_review(raw_topology("aws-p5", ("zone", "z")), P5)
        _, response = await caller.ask(TOPOLOGIES, changed)
        assert response["allowed"]
        assert response["warnings"][0].endswith("(TP-076)")
        assert not caller.server.asked

    played(play, synced=False)


ODD: Final = raw_topology("odd", ("host", "h"), ("zone", "h"))
YES: Final = (200, {"uid": "7f3c", "allowed": True})


@pytest.mark.req("WH-010")
def test_tp064_with_the_feature_off_nothing_is_known_and_no_name_taken() -> None:
    async def play(caller: Caller) -> None:
        assert set(caller.cache.stores) == {SET_KIND}
        assert numbers(await caller.about(a_set("aws-p5", "rack"))) == {"TP-064"}
        assert (await caller.about(a_set("aws-p5", "rack"), a_set("aws-p5", "rack")))["allowed"]
        response = await caller.about(a_set("", "rack"))
        assert response["allowed"]
        assert response["warnings"][0].endswith("(TP-073)")
        for webhook in (TOPOLOGIES, LEAVING):
            assert await caller.ask(webhook, topology_review(ODD)) == YES, "it may still be registered"
        assert not caller.server.asked

    played(play, DEFAULT_CONFIGURATION)


def test_tp045_for_one_namespace_no_topology_is_judged_and_sets_are() -> None:
    async def play(caller: Caller) -> None:
        for webhook in (TOPOLOGIES, LEAVING):
            assert await caller.ask(webhook, topology_review(ODD)) == YES
        caller.list_all(SET_KIND, a_set("aws-p5", "rack"))
        assert not (caller.cache.view_for_topology("aws-p5").users or {})["aws-p5"]
        assert numbers(await caller.about(a_set("aws-p4", "rack"))) == {"TP-060"}

    played(play, everywhere=False)
