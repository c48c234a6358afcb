"""Topologies judged by copies of who uses them, and of whose pods are bound."""

from typing import Final

import pytest

from grove_core.admit_topology import admit_topology, admit_topology_deletion, around_in
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.podclique import podclique_of
from grove_shell.client.kinds import POD_CLIQUE_SET
from grove_shell.webhooks.registration import LEAVING, TOPOLOGIES, VALIDATION
from tests.property.topology.test_admission import a_set, raw_topology
from tests.property.topology.test_gangs import ON
from tests.webhooks.placing import FLAT, P5, THERE, Caller, causes, clique, numbers, played, said_by, topology_review
from tests.webhooks.reviews import Json, review

HOLD: Final = "grove.io/clustertopology"
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
    held, default, free = (
        {**one, "metadata": {**one["metadata"], "finalizers": [HOLD]}} for one in (P5, THERE[0], FLAT)
    )

    async def play(caller: Caller) -> None:
        caller.list_all(POD_CLIQUE_SET, *users)
        for topology, words in ((held, ["ml/llm"]), (default, ["ml/implicit"]), (free, [])):
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
