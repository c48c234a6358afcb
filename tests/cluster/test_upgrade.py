"""The operator of the previous release is replaced by the present one and comes back, on a cluster with 1,000 pods."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.beside.audit import RULES
from tests.cluster.api import wait_until
from tests.cluster.binaries import CONTROLLERS
from tests.cluster.operators import GROVE, SHORT, Operator, grove, install_definitions, let
from tests.cluster.plane import OPERATORS, ControlPlane
from tests.cluster.previous import differing, install_previous, lasting_facts, needs_previous
from tests.cluster.scenes import Scene, group, light

pytestmark = needs_previous

PODS: Final = 1000
NODES: Final = 12
QUIET: Final = 5.5
"""Seconds for which a status may wait until it is written."""


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """The command of the previous release."""
    return install_previous(tmp_path_factory.mktemp("previous"))


@pytest.fixture(scope="module")
def upgraded_plane(programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """A control plane without definitions, whose audit log has what was written."""
    with ControlPlane(programs, audit_rules=RULES) as plane:
        yield plane


@pytest.fixture
def scene(upgraded_plane: ControlPlane, previous: Sequence[str]) -> Iterator[Scene]:
    """A namespace on a cluster with the definitions of the previous release."""
    api = upgraded_plane.api()
    install_definitions(api, previous)
    upgraded_plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins, then every 30 s
    for user in OPERATORS:
        let(api, user)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
    yield Scene(api, "ml", nodes=NODES)


class Releases:
    """The operators of two releases with one Lease, each with a user of its own in the audit log."""

    def __init__(self, plane: ControlPlane, namespace: str, previous: Sequence[str], decisions: Path) -> None:
        log = ("--decision-log", str(decisions))
        self.old = Operator(plane, namespace=namespace, election=SHORT, options=log, program=previous)
        self.new = Operator(plane, OPERATORS[1], namespace=namespace, election=SHORT)
        self.old.init_image, self.new.init_image = "example.com/grove:previous", "example.com/grove:present"

    def replace(self, old: Operator, new: Operator) -> Counter[tuple[str, str]]:
        """Start an operator beside another one, stop that one, and return what the new one wrote until it rests.

        Returns:
            Number of writes of each object: resource with subresource, and name.
        """
        before = len(new.writes())
        new.launch()
        new.await_line("does not lead")
        assert old.stop() == 0
        new.await_line("leads")
        new.await_rest(seconds=120)
        last = time.monotonic(), len(new.asked())

        def is_quiet() -> bool:
            nonlocal last
            asked = len(new.asked())
            if asked != last[1]:
                last = time.monotonic(), asked
            return time.monotonic() - last[0] > QUIET

        wait_until(is_quiet, bool, "no write any more", seconds=60)
        written = [event["objectRef"] for event in new.writes()[before:]]
        return Counter((f"{one['resource']}/{one.get('subresource', '')}", one.get("name", "")) for one in written)


def make_sets(scene: Scene) -> None:
    """Create sets with 1,000 pods in all; one has a running delay of a termination, one an update that stands still."""
    pool = group("pool", "worker", replicas=10)
    later = light("later", 46) 
    later["spec"]["startsAfter"] = ["first"]
    sets = [
        scene.set_of(light("leader"), light("worker", 9), name="many", replicas=60),
        scene.set_of(light("router", 2), light("worker", 9), name="pooled", replicas=2, podCliqueScalingGroups=[pool]),
        scene.set_of(light("engine", 120), name="wide"),
        scene.set_of(light("first", 4), later, name="ordered", cliqueStartupType="CliqueStartupTypeExplicit"),
        scene.set_of(light("router", 4), light("worker", 20), name="breached", terminationDelay="4h"),
        scene.set_of(light("router", 2), light("worker", 20), name="updating"),
    ]
    for one in sets:
        scene.api.create(one)
    scene.await_ready(PODS, seconds=600)
    scene.annotate_pods("breached-0-router", not_ready="true")
    scene.await_condition("podcliques", "breached-0-router", "MinAvailableBreached", "True")
    cliques = scene.get("podcliquesets", "updating")["spec"]["template"]["cliques"]
    for each in cliques:
        each["spec"]["podSpec"]["containers"][0]["image"] = "example.com/main:2"
        each["annotations"] = {"kubelet.grove.test/never-ready": "true"}
    scene.patch("podcliquesets", "updating", {"spec": {"template": {"cliques": cliques}}})
    wait_until(lambda: _new_pods(scene), bool, "the update has begun")


def _new_pods(scene: Scene) -> list[str]:
    return [
        pod["metadata"]["name"]
        for pod in scene.all_of("pods", labelSelector="app.kubernetes.io/part-of=updating")
        if pod["spec"]["containers"][0]["image"] == "example.com/main:2" and pod["status"]["phase"] == "Running"
    ]


def test_upgrade(
    upgraded_plane: ControlPlane, scene: Scene, previous: Sequence[str], tmp_path: Path
) -> None:
    releases = Releases(upgraded_plane, scene.namespace, previous, tmp_path / "decisions.jsonl")
    old, new = releases.old.start(), releases.new
    make_sets(scene)
    old.await_rest(seconds=120)
    before = lasting_facts(scene.api, scene.namespace)
    print(Counter(k for k, _ in before))
    print("updated", _new_pods(scene))
    install_definitions(scene.api)
    written = releases.replace(old, new)
    print("WRITTEN", len(written), sum(written.values()), written.most_common(10))
    after = lasting_facts(scene.api, scene.namespace)
    print(json.dumps(differing(before, after), indent=1)[:6000])
    written = releases.replace(new, old)
    print("BACK", len(written), sum(written.values()), written.most_common(10))
    last = lasting_facts(scene.api, scene.namespace)
    print(json.dumps(differing(after, last), indent=1)[:6000])
    old.stop()
