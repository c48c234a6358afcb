"""The operator of the previous release is replaced by the present one and comes back, on a cluster with 1,000 pods."""

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from grove_shell.exit_codes import DONE, ERROR
from tests.beside.audit import RULES
from tests.cluster.api import Json, wait_until
from tests.cluster.binaries import CONTROLLERS
from tests.cluster.operators import GROVE, Operator, grove, install_definitions, let
from tests.cluster.plane import OPERATORS, ControlPlane
from tests.cluster.previous import Facts, differing, install_previous, lasting_facts, needs_previous
from tests.cluster.scenes import Scene, group, light

pytestmark = needs_previous

PODS: Final = 1000
WIDE: Final = 120
"""Pods of one PodClique."""
NODES: Final = 12
QUIET: Final = 5.5
"""Seconds for which a status may wait until it is written."""
UPDATED: Final = "example.com/main:2"
BEGUN: Final = "decisions-of-previous.jsonl"
CONTINUED: Final = "decisions.jsonl"


@dataclass(frozen=True, slots=True)
class TakeOver:
    """One operator after another.

    Attributes:
        before: what must stay, by kind and name.
        after: the same, when the operator that took over rests.
        writes: of that operator: their number by resource and name.
    """

    before: Facts
    after: Facts
    writes: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What was seen of an upgrade and of the way back.

    Attributes:
        folder: has what the previous release recorded: ``capture.json``, ``plan.json``, and its decision log before
            the present release continued it, and after that.
        takeovers: that of the present release, then that of the previous one.
    """

    plane: ControlPlane
    scene: Scene
    previous: Sequence[str]
    folder: Path
    takeovers: Sequence[TakeOver]


@pytest.fixture(scope="module")
def upgrade(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgrade]:
    """Previous release, present one and back, with the definitions of the present one from the first step on."""
    folder = tmp_path_factory.mktemp("upgrade")
    previous = install_previous(folder / "previous")
    with ControlPlane(programs, audit_rules=RULES) as plane:
        scene = prepared_scene(plane, previous)
        old, new = operators(plane, scene.namespace, previous, folder / CONTINUED)
        old.start()
        make_sets(scene)
        old.await_rest(seconds=300)
        shutil.copy(folder / CONTINUED, folder / BEGUN)
        asked = ("-n", scene.namespace, "--whole", "--out", str(folder / "capture.json"))
        assert grove("snapshot", *asked, kubeconfig=plane.kubeconfig(), program=previous).returncode == 0
        install_definitions(scene.api)
        takeovers = [take_over(scene, old, new), take_over(scene, new, old)]
        assert old.stop() == 0
        scene.scale("podcliques", "wide-0-engine", WIDE + 1)
        saved = ("--live", "-n", scene.namespace, "--config", str(old.config), "--out", str(folder / "plan.json"))
        assert grove("plan", *saved, kubeconfig=plane.kubeconfig(), program=previous).returncode == 0
        yield Upgrade(plane, scene, previous, folder, takeovers)


def prepared_scene(plane: ControlPlane, previous: Sequence[str]) -> Scene:
    """Return a namespace on a cluster with the definitions of the previous release."""
    api = plane.api()
    install_definitions(api, previous)
    plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins, then every 30 s
    for user in OPERATORS:
        let(api, user)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
    return Scene(api, "ml", nodes=NODES)


def operators(
    plane: ControlPlane, namespace: str, previous: Sequence[str], decisions: Path
) -> tuple[Operator, Operator]:
    """Return the operators of both releases: one Lease, one decision log, a user of its own for each, another image."""
    log = ("--decision-log", str(decisions))
    old = Operator(plane, namespace=namespace, election={}, options=log)
    new = Operator(plane, OPERATORS[1], namespace=namespace, election={}, options=log)
    old.program = previous
    old.init_image, new.init_image = "example.com/grove:previous", "example.com/grove:present"
    return old, new


def take_over(scene: Scene, before: Operator, after: Operator) -> TakeOver:
    """Start an operator beside another one, stop that one, wait until the started one rests, and see that it acts."""
    facts, earlier = lasting_facts(scene.api, scene.namespace), len(after.writes())
    after.launch()
    after.await_line("does not lead")
    assert before.stop() == 0
    after.await_line("leads")
    after.await_rest(seconds=300)
    await_quiet(after)
    written = [event["objectRef"] for event in after.writes()[earlier:]]
    writes = Counter((one["resource"], one.get("name", "")) for one in written)
    taken = TakeOver(facts, lasting_facts(scene.api, scene.namespace), writes)
    name = scene.pods("wide-0-engine")[0]["metadata"]["name"]
    created = len(after.writes("pods", "create"))
    scene.api.delete("pods", name, scene.namespace)
    scene.await_ready(WIDE, "wide-0-engine")
    assert len(after.writes("pods", "create")) == created + 1
    await_quiet(after)
    return taken


def await_quiet(operator: Operator) -> None:
    """Wait until an operator has written nothing for longer than a status may wait."""
    seen = [(time.monotonic(), -1)]

    def is_quiet() -> bool:
        asked = len(operator.asked())
        if asked != seen[-1][1]:
            seen.append((time.monotonic(), asked))
        return time.monotonic() - seen[-1][0] > QUIET

    wait_until(is_quiet, bool, "no write any more", seconds=120)


def make_sets(scene: Scene) -> None:
    """Create sets with 1,000 pods in all; one has a running delay of a termination, one an update that stands still."""
    pool = group("pool", "worker", replicas=10)
    later = light("later", 46)
    later["spec"]["startsAfter"] = ["first"]
    sets = [
        scene.set_of(light("leader"), light("worker", 9), name="many", replicas=60),
        scene.set_of(light("router", 2), light("worker", 9), name="pooled", replicas=2, podCliqueScalingGroups=[pool]),
        scene.set_of(light("engine", WIDE), name="wide"),
        scene.set_of(light("first", 4), later, name="ordered", cliqueStartupType="CliqueStartupTypeExplicit"),
        scene.set_of(light("router", 4), light("worker", 20), name="breached", terminationDelay="4h"),
        scene.set_of(light("router", 2), light("worker", 20), name="updating"),
    ]
    for one in sets:
        scene.api.create(one)
    scene.await_ready(PODS, seconds=900)
    for one in sets:  # a gang that was never available has no breach
        scene.await_status(one["metadata"]["name"], availableReplicas=one["spec"]["replicas"])
    scene.annotate_pods("breached-0-router", not_ready="true")
    scene.await_condition("podcliques", "breached-0-router", "MinAvailableBreached", "True")
    cliques = scene.get("podcliquesets", "updating")["spec"]["template"]["cliques"]
    for each in cliques:
        each["spec"]["podSpec"]["containers"][0]["image"] = UPDATED
        each["annotations"] = {"kubelet.grove.test/never-ready": "true"}
    scene.patch("podcliquesets", "updating", {"spec": {"template": {"cliques": cliques}}})
    wait_until(lambda: updated_pods(scene), bool, "the update has begun", seconds=120)


def updated_pods(scene: Scene) -> list[Json]:
    """Return the pods of the new template that run."""
    pods = scene.all_of("pods", labelSelector="app.kubernetes.io/part-of=updating")
    return [pod for pod in pods if _image_and_phase(pod) == (UPDATED, "Running")]


def _image_and_phase(pod: Json) -> tuple[str, str]:
    return pod["spec"]["containers"][0]["image"], pod["status"]["phase"]


def test_mf050_another_release_takes_over_without_a_change(upgrade: Upgrade) -> None:
    for each in upgrade.takeovers:
        assert sum(kind == "Pod" for kind, _ in each.before) >= PODS
        assert differing(each.before, each.after) == {}


def test_mf051_each_object_is_written_at_most_once(upgrade: Upgrade) -> None:
    for each in upgrade.takeovers:
        assert {one: number for one, number in each.writes.items() if number > 1 or one[0] == "pods"} == {}


@pytest.mark.parametrize("log", [BEGUN, CONTINUED])
def test_mf052_decisions_of_both_are_repeated(upgrade: Upgrade, log: str) -> None:
    """One log is of the previous release, the other one also has decisions of the present one."""
    ran = grove("replay", str(upgrade.folder / log), seconds=600)
    assert ran.returncode == DONE, ran.stdout[-2000:] + ran.stderr[-2000:]


@pytest.mark.parametrize(("log", "codes"), [(BEGUN, {DONE}), (CONTINUED, {DONE, ERROR})])
def test_mf052_the_previous_release_repeats_its_own_decisions(upgrade: Upgrade, log: str, codes: set[int]) -> None:
    """It refuses a log with fields that it does not know, and never finds other decisions."""
    ran = grove("replay", str(upgrade.folder / log), program=upgrade.previous, seconds=600)
    assert ran.returncode in codes, ran.stdout[-2000:] + ran.stderr[-2000:]


def test_mf052_a_capture_is_planned_as_before(upgrade: Upgrade) -> None:
    asked = ("plan", "-f", str(upgrade.folder / "capture.json"), "-o", "json")
    found = [grove(*asked, program=program, seconds=300) for program in (upgrade.previous, GROVE)]
    assert [ran.returncode for ran in found] == [0, 0], found[1].stderr
    old, new = (json.loads(ran.stdout) for ran in found)
    assert len(new["plans"]) == len(old["plans"]) > 0
    assert new["summary"].items() >= old["summary"].items()


def test_mf052_an_audit_log_explains_what_went(upgrade: Upgrade) -> None:
    audit = str(upgrade.plane.folder / "audit.log")
    ran = grove("why", "--audit", audit, "-f", str(upgrade.folder / "capture.json"), "-o", "json", seconds=600)
    assert ran.returncode == 0, ran.stderr
    assert not {one["cause"] for one in json.loads(ran.stdout)["causes"]} & {"notKnown", "notExplained"}


def test_mf052_a_saved_plan_is_applied(upgrade: Upgrade) -> None:
    ran = grove("apply", str(upgrade.folder / "plan.json"), kubeconfig=upgrade.plane.kubeconfig(), seconds=300)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    wait_until(lambda: upgrade.scene.pods("wide-0-engine"), lambda pods: len(pods) == WIDE + 1, "the pod is created")
