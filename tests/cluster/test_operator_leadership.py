"""Several operators of which one writes; a leader that is paused, killed or stopped."""

from datetime import datetime, timedelta
from typing import Final

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import SHORT, Operator, Starting
from tests.cluster.scenes import Scene, clique

LOST: Final = 75


@pytest.fixture
def pair(starting: Starting) -> tuple[Operator, Operator]:
    """Two operators of which the first leads; one request at a time, so that the others wait for their turn."""
    narrow = {"inFlight": 1}
    first = starting(election=SHORT, client=narrow).start()
    first.await_line("leads")
    return first, starting("operator-2", election=SHORT, client=narrow).start()


def reported_at(line: Json) -> datetime:
    return datetime.fromisoformat(line["ts"])


def written_since(operator: Operator, moment: datetime) -> list[str]:
    """Whatever it tried to write from then on, whether it was let or not."""
    return [
        f"{event['verb']} {event['objectRef']['resource']} {event['objectRef'].get('name', '')}"
        for event in operator.requests
        if event["verb"] not in {"get", "list", "watch"}
        and datetime.fromisoformat(event["requestReceivedTimestamp"]) > moment
    ]


class TestOneLeads:
    """The holder of the Lease."""

    @pytest.mark.req("OP-033")
    @pytest.mark.req("OP-034")
    @pytest.mark.req("OP-041")
    def test_op030_only_the_holder_writes_and_one_that_goes_makes_room(
        self, scene: Scene, pair: tuple[Operator, Operator]
    ) -> None:
        first, second = pair
        scene.api.create(scene.set_of(clique("worker", 3)))
        scene.await_ready(3)
        scene.await_status(availableReplicas=1)
        assert first.writes()
        assert not second.writes()
        assert second.get("/readyz") == second.get("/healthz") == "ok\n"
        for each, leads in ((first, 1), (second, 0)):
            assert f'leader_election_master_status{{name="grove-operator"}} {leads}.0' in each.get("/metrics")
        for name in ("controller_runtime_reconcile_total", "workqueue_depth", "rest_client_requests_total"):
            assert f"\n{name}{{" in first.get("/metrics")
        gone = datetime.now().astimezone()
        assert first.stop() == 0
        leads_at = reported_at(second.await_line("leads"))
        assert leads_at - gone < timedelta(seconds=2), "the Lease was released, so its end is not waited for"
        scene.scale("podcliques", "llama-0-worker", 4)
        scene.await_ready(4)
        assert not written_since(first, leads_at)

    def test_op030_a_leader_that_was_killed_is_followed(self, scene: Scene, pair: tuple[Operator, Operator]) -> None:
        first, second = pair
        scene.api.create(scene.set_of(clique("worker", 8)))
        wait_until(scene.pods, bool, "the first pods are there")
        first.kill()
        second.await_line("leads")
        scene.await_ready(8)
        created = [event["objectRef"]["name"] for each in pair for event in each.writes("pods", "create")]
        unheard = len(first.asked("pods", "create")) - len(first.writes("pods", "create"))
        assert len(created) == len(set(created)), "none is made twice"
        assert set(created) <= set(scene.names("pods")), "none is given up"
        assert 8 - unheard <= len(created) <= 8, "the last request of the killed one is done, and its response was lost"


class TestALeaderThatStandsStill:
    """And goes on as if nothing had been."""

    def test_op030_it_writes_nothing_more_and_leaves(self, scene: Scene, pair: tuple[Operator, Operator]) -> None:
        first, second = pair
        scene.api.add_nodes([f"{scene.namespace}-more-{number}" for number in range(15)], {"test": scene.namespace})
        scene.api.create(scene.set_of(clique("worker", 128)))
        wait_until(lambda: len(scene.names("pods")), lambda pods: pods >= 1, "it is in the midst of its creations")
        first.pause()
        begun = len(scene.names("pods"))
        assert begun < 120, "it was paused too late to show anything"
        leads_at = reported_at(second.await_line("leads"))
        scene.await_ready(128)
        first.go_on()
        assert first.await_end() == LOST
        assert first.said("leadership lost")
        being_sent = written_since(first, leads_at)
        assert len(being_sent) <= 1, "one request at a time, and a pause between its check and its first byte"
        lease = scene.find("leases", "grove-operator-leader-election")
        assert lease["spec"]["leaseTransitions"] == 1
        created = [event["objectRef"]["name"] for each in pair for event in each.writes("pods", "create")]
        assert len(created) == len(set(created)) == 128

    def test_op030_it_begins_anew_as_another_one(self, scene: Scene, pair: tuple[Operator, Operator]) -> None:
        first, second = pair
        before = scene.find("leases", "grove-operator-leader-election")["spec"]["holderIdentity"]
        first.pause()
        second.await_line("leads")
        first.go_on()
        assert first.await_end() == LOST
        first.start()
        scene.api.create(scene.set_of(clique("worker")))
        scene.await_ready(1)
        assert not first.writes()
        second.stop()
        first.await_line("leads")
        wait_until(
            lambda: scene.find("leases", "grove-operator-leader-election")["spec"]["holderIdentity"],
            lambda holder: holder and holder != before,
            "another identity holds the Lease",
        )


class TestWatchingOnly:
    """Beside another operator."""

    def test_op035_an_observer_writes_nothing(self, scene: Scene, starting: Starting) -> None:
        starting().start()
        watching = starting("operator-2", options=("--observe",)).start()
        scene.api.create(scene.set_of(clique("worker"), terminationDelay="2s"))
        scene.await_ready(1)
        scene.await_status(availableReplicas=1)
        old = scene.get("podcliques", "llama-0-worker")["metadata"]["uid"]
        scene.annotate_pods("llama-0-worker", not_ready="true")
        scene.await_object(
            "podcliques", "llama-0-worker", lambda found: found and found["metadata"]["uid"] != old, "it ended"
        )
        assert {event["verb"] for event in watching.requests} <= {"list", "watch"}
        assert not watching.reported
        assert watching.requests
