"""Topologies judged by copies of their users, and of the owners of bound pods."""

from typing import Final

import pytest

from grove_core.admit_cluster_topology import (
    admit_topology,
    admit_topology_deletion,
    topology_admission_view_of,
)
from grove_core.resources.api_names import SET_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.podclique import podclique_from_json
from grove_shell.settings.webhook_settings import LEAVING, TOPOLOGIES, VALIDATION
from tests.property.topology.sets_to_admit import a_set, raw_topology
from tests.property.topology.sets_with_constraints import ON
from tests.webhooks.reviews import Json, review
from tests.webhooks.topology_webhooks import (
    FLAT,
    P5,
    THERE,
    Caller,
    causes,
    clique,
    numbers,
    played,
    said_by,
    topology_review,
)

HOLD: Final = "grove.io/clustertopology"
LESS: Final = raw_topology("aws-p5", ("zone", "z"), ("rack", "r"))


@pytest.mark.req("TP-080")
@pytest.mark.req("TP-084")
@pytest.mark.req("TP-085")
@pytest.mark.req("TP-087")
@pytest.mark.req("TP-088")
def test_wh005_topologies_are_judged_in_the_words_of_validate() -> None:
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
        caller.list_all(SET_KIND, *users)
        caller.list_all("PodClique", *pods)
        around = topology_admission_view_of(THERE, users, [podclique_from_json(one) for one in pods])
        for new, old, expected in table:
            code, response = await caller.ask(TOPOLOGIES, topology_review(new, old))
            assert (code, numbers(response)) == (200, expected)
            assert causes(response) == said_by(admit_topology(new, old, around, configured).verdict)
        refused = [line for line in caller.said if line["msg"] == "refused"]
        assert {line["topology"] for line in refused} == {"odd", DEFAULT_TOPOLOGY, "aws-p5"}
        caller.cache.drop("PodClique", clique())
        assert (await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1]["allowed"], "it waits again"
        assert not caller.server.asked

    configured = ON
    played(play, configured)


@pytest.mark.parametrize(
    ("kind", "unread"),
    [
        ("PodClique", {**clique(), "spec": {"replicas": "x"}}),
        (SET_KIND, {**a_set("aws-p5", "rack"), "spec": {"template": {"cliques": "none"}}}),
    ],
)
def test_tp076_an_object_that_cannot_be_read_may_be_placed(kind: str, unread: Json) -> None:
    """As for the operator, which does not touch the levels then."""
    there = {SET_KIND: a_set("aws-p5", "rack"), "PodClique": clique()}

    async def play(caller: Caller) -> None:
        for each, raw in there.items():
            caller.list_all(each, raw)
        assert numbers((await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1]) == {"TP-084"}
        cache = caller.cache
        cache.put(kind, unread)
        response = (await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1]
        assert (response["allowed"], response["warnings"][0][-8:]) == (True, "(TP-076)")
        labelled = {**P5, "metadata": {**P5["metadata"], "labels": {"x": "y"}}}
        assert "warnings" not in (await caller.ask(TOPOLOGIES, topology_review(labelled, P5)))[1]
        cache.put(kind, there[kind])
        assert numbers((await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1]) == {"TP-084"}
        cache.put(kind, unread)
        cache.drop(kind, unread)
        assert (await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1] == {"uid": "7f3c", "allowed": True}
        cache.put(kind, unread)
        caller.list_all(kind, there[kind])
        assert numbers((await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1]) == {"TP-084"}

    played(play)


@pytest.mark.req("TP-072")
def test_tp084_a_podclique_is_of_its_owner_with_or_without_a_label() -> None:
    bare, of_group = clique(), clique(scheduled=1)
    owner = {"apiVersion": "grove.io/v1alpha1", "name": "llm", "uid": "u", "controller": True}
    for one, kind in ((bare, "PodCliqueSet"), (of_group, "PodCliqueScalingGroup")):
        one["metadata"] |= {"labels": {}, "ownerReferences": [{**owner, "kind": kind}]}

    async def play(caller: Caller) -> None:
        caller.list_all(SET_KIND, a_set("aws-p5", "rack"))
        for one, expected, warned in ((bare, {"TP-084"}, False), (of_group, set(), True)):
            caller.list_all("PodClique", one)
            response = (await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1]
            assert (numbers(response), "warnings" in response) == (expected, warned)
        of_group["status"] = {"scheduledReplicas": 0}
        caller.list_all("PodClique", of_group)
        response = (await caller.ask(TOPOLOGIES, topology_review(LESS, P5)))[1]
        assert response == {"uid": "7f3c", "allowed": True}, "none of its pods is bound, whoever it belongs to"

    played(play)


@pytest.mark.req("TP-002")
def test_tp086_a_deletion_is_admitted_and_warned_of() -> None:
    users = [a_set("aws-p5", "rack"), a_set("", "rack")]
    users[1]["metadata"]["name"] = "implicit"
    held, default, free = (
        {**one, "metadata": {**one["metadata"], "finalizers": [HOLD]}} for one in (P5, THERE[0], FLAT)
    )

    async def play(caller: Caller) -> None:
        caller.list_all(SET_KIND, *users)
        for topology, words in ((held, ["ml/llm"]), (default, ["ml/implicit"]), (free, [])):
            _, response = await caller.ask(LEAVING, topology_review(None, topology, operation="DELETE"))
            expected = admit_topology_deletion(
                topology, topology_admission_view_of((), users, [podclique_from_json(clique())])
            ).verdict
            assert response["allowed"]
            assert len(response.get("warnings", [])) == len(expected.warnings) == len(words)
            for text, user in zip(response.get("warnings", []), words, strict=True):
                assert user in text
                assert text.endswith("(TP-086)")
        caller.cache.drop(SET_KIND, users[0])
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
