"""A network that loses responses, cuts watches and throttles: the set settles, and nothing is created twice."""

import json
import random
import urllib.error
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cluster.api import wait_until
from tests.cluster.binaries import APISERVER
from tests.cluster.operators import Operator, Starting, install_definitions, let
from tests.cluster.plane import OPERATORS, STORE, ControlPlane
from tests.cluster.proxy import Asked, Fault, Policy, Proxy
from tests.cluster.scenes import Scene, clique, group
from tests.cluster.watching import PodWatch


def storm(seed: int, *, faults: int) -> Policy:
    """Every fourth request and event meets a fault, until there were so many; leases are spared."""
    draw = random.Random(seed)
    left = faults

    def policy(asked: Asked) -> Fault:
        nonlocal left
        if left <= 0 or draw.random() > 0.25 or asked.resource.startswith("leases"):
            return Fault.NONE
        left -= 1
        if asked.is_watch:
            return Fault.CUT
        if asked.method == "GET":
            return Fault.FAILED
        return draw.choice([Fault.LOST, Fault.LOST, Fault.FAILED, Fault.BUSY])

    return policy


def only(fault: Fault, holds: Callable[[Asked], bool]) -> Policy:
    return lambda asked: fault if holds(asked) else Fault.NONE


class TestStorms:
    """Everything at once."""

    @pytest.mark.parametrize("seed", [1, 2, 3])
    @pytest.mark.req("OP-002")
    @pytest.mark.req("OP-011")
    def test_wl085_nothing_is_doubled(
        self, grove_plane: ControlPlane, scene: Scene, starting: Starting, seed: int
    ) -> None:
        pool = group("pool", "leader", "worker", replicas=2)
        cliques = (clique("router", 3, minimum=2), clique("leader"), clique("worker", 2))
        with Proxy(grove_plane) as proxy, PodWatch(grove_plane, scene.namespace) as watch:
            operator = starting(server=proxy.url).start()
            proxy.policy = storm(seed, faults=12)
            scene.api.create(scene.set_of(*cliques, podCliqueScalingGroups=[pool]))
            scene.await_ready(9)
            proxy.policy = storm(seed, faults=12)
            scene.new_image("example.com/main:2")
            wait_until(
                lambda: {pod["spec"]["containers"][0]["image"] for pod in scene.pods()},
                lambda found: found == {"example.com/main:2"},
                "all pods are new",
                seconds=60,
            )
            scene.await_ready(9)
            scene.await_status(availableReplicas=1, updatedReplicas=1)
            operator.await_rest()
            met = Counter(fault for _, fault in proxy.asked)
            operator.kill()
        assert met[Fault.LOST]
        assert met[Fault.CUT]
        created = Counter(event["objectRef"]["name"] for event in operator.writes("pods", "create"))
        assert not [name for name, times in created.items() if times > 1]
        assert not watch.doubles()
        assert watch.fewest_ready("llama-0-router", from_on=3) >= 2


class TestAnswers:
    """One fault at a time."""

    def test_op011_a_creation_whose_answer_was_lost_counts_as_done(
        self, grove_plane: ControlPlane, scene: Scene, starting: Starting
    ) -> None:
        with Proxy(grove_plane) as proxy:
            operator = starting(server=proxy.url).start()
            first_creation_of_each_kind = set[str]()

            def lose(asked: Asked) -> Fault:
                if asked.method != "POST" or asked.resource in first_creation_of_each_kind:
                    return Fault.NONE
                first_creation_of_each_kind.add(asked.resource)
                return Fault.LOST

            proxy.policy = lose
            scene.api.create(scene.set_of(clique("worker", 3)))
            scene.await_ready(3)
            scene.await_status(availableReplicas=1)
            lost = proxy.of(Fault.LOST)
            operator.kill()
        assert {"pods", "podcliques", "services", "podgangs"} <= {asked.resource for asked in lost}
        assert len(operator.writes("pods", "create")) == 3

    def test_op065_a_throttled_client_waits_for_retry_after(
        self, grove_plane: ControlPlane, scene: Scene, starting: Starting
    ) -> None:
        with Proxy(grove_plane) as proxy:
            operator = starting(server=proxy.url).start()
            proxy.policy = lambda asked: (
                Fault.BUSY if asked.method == "POST" and len(proxy.of(Fault.BUSY)) < 12 else Fault.NONE
            )
            scene.api.create(scene.set_of(clique("worker")))
            scene.await_ready(1)
            asked = [asked for asked, _ in proxy.asked if asked.method == "POST"]
            operator.kill()
        tries: dict[str, list[float]] = {}
        for each in asked:
            tries.setdefault(each.body, []).append(each.at)
        assert max(len(times) for times in tries.values()) > 1
        assert min(later - sooner for times in tries.values() for sooner, later in pairwise(times)) >= 1
        assert not operator.said("create PodClique: unreachable")

    @pytest.mark.req("OP-020")
    def test_op023_what_fails_is_tried_later_each_time_and_delays_nothing(
        self, grove_plane: ControlPlane, scene: Scene, starting: Starting
    ) -> None:
        with Proxy(grove_plane) as proxy:
            proxy.policy = only(
                Fault.FAILED,
                lambda asked: (asked.method, asked.resource) == ("POST", "pods") and '"bad-0' in asked.body,
            )
            starting(server=proxy.url).start()
            scene.api.create(scene.set_of(clique("worker"), name="bad"))
            scene.await_object("podcliques", "bad-0-worker", bool, "the pod of one set is refused")
            scene.api.create(scene.set_of(clique("worker"), name="good"))
            scene.await_ready(1, "good-0-worker", seconds=10)
            failed = wait_until(
                lambda: [asked.at for asked in proxy.of(Fault.FAILED)],
                lambda found: found and found[-1] - found[0] > 3,
                "it is tried again",
            )
            gaps = [later - sooner for sooner, later in pairwise(failed)]
            assert len(gaps) < 12
            assert max(gaps) > 1
            proxy.policy = only(Fault.NONE, bool)
            scene.await_ready(2)


class TestWrites:
    """What goes over the wire."""

    def test_pl004_every_change_is_aimed(self, grove_plane: ControlPlane, scene: Scene, starting: Starting) -> None:
        """Expansion, an end, scaling in, an update, a deletion."""
        with Proxy(grove_plane) as proxy:
            operator = starting(server=proxy.url).start()
            pool = group("pool", "worker", replicas=2)
            cliques = (clique("router", 2, minimum=1), clique("worker"))
            scene.api.create(scene.set_of(*cliques, podCliqueScalingGroups=[pool], terminationDelay="2s"))
            scene.await_ready(4)
            scene.await_counts("podcliques", "llama-0-pool-1-worker", {"wasAvailable": True})
            scene.annotate_pods("llama-0-pool-1-worker", not_ready="true")
            operator.await_line("delete PodClique: done")
            scene.await_ready(4)
            scene.scale("podcliques", "llama-0-router", 1)
            scene.await_ready(3)
            scene.new_image("example.com/main:2")
            scene.await_status(updatedReplicas=1, availableReplicas=1)
            scene.api.delete("podcliquesets", "llama", scene.namespace)
            scene.await_gone("podcliquesets", "llama")
            wait_until(lambda: scene.names("podcliques"), lambda left: not left, "all is gone")
            asked = [asked for asked, _ in proxy.asked if asked.method in {"PATCH", "DELETE"}]
            operator.kill()
        assert {(each.method, each.resource) for each in asked} >= {
            ("DELETE", "podcliques"),
            ("DELETE", "pods"),
            ("PATCH", "podcliques"),
            ("PATCH", "podcliques/status"),
            ("PATCH", "podgangs"),
        }
        for each in asked:
            body = json.loads(each.body)
            write_key = body["preconditions"] if each.method == "DELETE" else body["metadata"]
            assert write_key["uid"], each
            assert write_key.get("resourceVersion") or (each.method, each.resource) == ("PATCH", "pods"), each


class TestStart:
    """What must be known before anything is done."""

    @pytest.mark.req("OP-080")
    @pytest.mark.req("OP-034")
    def test_op034_no_round_begins_before_every_kind_was_listed(
        self, grove_plane: ControlPlane, scene: Scene, starting: Starting
    ) -> None:
        with Proxy(grove_plane) as proxy:
            proxy.policy = only(Fault.FAILED, lambda asked: asked.resource == "services")
            operator = starting(server=proxy.url)
            operator.launch()
            scene.api.create(scene.set_of(clique("router")))
            operator.await_line("cannot follow", kind="Service")
            wait_until(lambda: len(proxy.of(Fault.FAILED)), lambda tries: tries > 3, "it tries to list them again")
            assert operator.get("/healthz") == "ok\n"
            with pytest.raises(urllib.error.HTTPError, match="503") as answer:
                operator.get("/readyz")
            assert answer.value.read() == b"waits for the first list of Service\n"
            answer.value.close()
            assert not operator.writes()
            proxy.policy = only(Fault.NONE, bool)
            scene.await_ready(1)


class TestWatches:
    """A copy that stands still is noticed."""

    def test_op080_a_watch_that_fell_silent_is_begun_anew(
        self, grove_plane: ControlPlane, scene: Scene, starting: Starting
    ) -> None:
        """A connection that stays open and carries nothing: as after the loss of a node in between."""
        with Proxy(grove_plane) as proxy:
            operator = starting(server=proxy.url, client={"timeout": "1s"}).start()
            scene.api.create(scene.set_of(clique("worker")))
            scene.await_ready(1)
            operator.await_rest()
            before = len(proxy.asked)
            proxy.policy = only(Fault.MUTE, lambda asked: asked.is_watch)
            scene.scale("podcliques", "llama-0-worker", 2)
            wait_until(lambda: proxy.of(Fault.MUTE), bool, "the operator does not hear of it")
            proxy.policy = only(Fault.NONE, bool)
            scene.await_ready(2)
            lists = [asked for asked, met in proxy.asked[before:] if asked.method == "GET" and not asked.is_watch]
        assert not lists, "a watch goes on where it was"

    @pytest.mark.req("OP-050")
    def test_op002_what_was_missed_is_listed(
        self, programs: dict[str, Path], control_plane: ControlPlane, tmp_path: Path
    ) -> None:
        """While the operator stands still, its set is edited and the server forgets what was before: 410."""
        with ControlPlane(programs, parts=STORE, folder=tmp_path / "plane") as plane, Proxy(plane) as proxy:
            api = plane.api()
            install_definitions(api)
            let(api, OPERATORS[0])
            scene = Scene(api, "default", nodes=0)
            operator = Operator(plane, namespace="default", server=proxy.url).start()
            scene.api.create(scene.set_of(clique("worker", 2, minimum=1), clique("router")))
            wait_until(scene.pods, lambda pods: len(pods) == 3, "there are pods")
            secrets = [asked for asked, _ in proxy.asked if asked.resource == "secrets" and asked.method == "GET"]
            operator.pause()
            listed = len([event for event in operator.requests if event["verb"] == "list"])
            proxy.policy = only(Fault.CUT, lambda asked: asked.is_watch)
            scene.scale("podcliques", "llama-0-worker", 4)
            api.delete("pods", scene.pods("llama-0-router")[0]["metadata"]["name"], "default")
            plane.restart(APISERVER)
            proxy.policy = only(Fault.NONE, bool)
            operator.go_on()
            wait_until(scene.pods, lambda pods: len(pods) == 5, "what was missed is made good")
            again = [event for event in operator.requests if event["verb"] == "list"][listed:]
            operator.kill()
        assert {"pods", "podcliques"} <= {event["objectRef"]["resource"] for event in again}
        assert secrets
        assert all("PartialObjectMetadata" in asked.accept for asked in secrets)
