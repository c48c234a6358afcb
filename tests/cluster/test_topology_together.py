"""Operator and webhooks of topologies beside each other, both with exactly the rights that are printed for them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_shell.manifests.installation import OPERATOR, InstallationOptions
from tests.cluster.api import Json, wait_until
from tests.cluster.guarding import PLACING, RACKS, ZONE, Guarded, guarding, topology
from tests.cluster.installing import access_for, apply, remove_cluster_wide
from tests.cluster.operators import Starting
from tests.cluster.plane import INSTALLED, ControlPlane
from tests.cluster.scenes import Scene, light
from tests.cluster.topology_scene import Keeping, levels

SETS: Final = "podcliquesets"


@pytest.fixture
def guarded(grove_plane: ControlPlane, no_other_sets: None, scene: Scene, tmp_path: Path) -> Iterator[Guarded]:
    """Webhooks that run."""
    with guarding(grove_plane, scene, tmp_path) as found:
        found.start()
        yield found


@pytest.fixture
def keeping(guarded: Guarded, starting: Starting) -> Iterator[Keeping]:
    """An operator that has yet to be started."""
    objects = access_for(InstallationOptions(home=guarded.scene.namespace, topology=PLACING), {OPERATOR: INSTALLED})
    apply(guarded.api, objects)
    found = Keeping(starting(INSTALLED, namespace=""), guarded.scene)
    yield found
    found.operator.kill()
    remove_cluster_wide(guarded.api, objects)


def near(scene: Scene, named: str) -> Json:
    return scene.set_of(light("a", 2), topologyConstraint={"packDomain": "host"}, clusterTopologyName=named)


@pytest.mark.req("TP-050")
@pytest.mark.req("TP-060")
@pytest.mark.req("TP-062")
@pytest.mark.req("TP-084")
@pytest.mark.req("TP-086")
def test_tp040_a_topology_is_locked_by_pods_that_run_and_goes_with_its_last_set(
    guarded: Guarded, keeping: Keeping
) -> None:
    """Stories 3 and the risks of the design, from the first apply to the last deletion."""
    scene = guarded.scene
    keeping.start(**dict(PLACING.levels))
    placing = levels(**dict(PLACING.levels))
    wait_until(
        lambda: keeping.await_held(DEFAULT_TOPOLOGY, held=False)["spec"]["levels"],
        lambda found: bool(found == placing),
        "the default topology has these levels, whatever an earlier operator left",
    )
    for name in ("h100", "gb200"):
        assert guarded.applied(topology(name)).code == 201
    assert guarded.applied(near(scene, "h10")).rules == {"TP-060"}
    assert guarded.applied(near(scene, "h100")).code == 201
    keeping.await_held("h100")
    scene.await_ready(2)
    moved = near(scene, "gb200")
    locked = wait_until(lambda: guarded.applied(moved, dry=True), lambda said: bool(said.rules), "it is locked")
    assert locked.rules == {"TP-062"}
    assert "bound pods: 2" in locked.words
    assert guarded.applied(topology("h100", ZONE)).rules == {"TP-084"}
    (warning,) = guarded.deleted(topology("h100")).warnings
    assert f"stays until no set uses it any more: {scene.namespace}/llama" in warning
    assert keeping.find("h100")["metadata"]["deletionTimestamp"]
    assert scene.await_ready(2), "nothing that runs is touched"
    scene.api.delete(SETS, "llama", scene.namespace)
    scene.await_gone(SETS, "llama")
    wait_until(lambda: keeping.find("h100"), lambda found: not found, "it is gone")
    assert guarded.dry(near(scene, "h100")).rules == {"TP-060"}


@pytest.mark.req("TP-050")
@pytest.mark.req("TP-040")
def test_wh010_the_operator_holds_topologies_while_no_webhook_answers(guarded: Guarded, keeping: Keeping) -> None:
    """Levels wait for them: the default one is made when they are back, by the same operator."""
    scene = guarded.scene
    assert guarded.applied(topology("h100", *RACKS)).code == 201
    assert guarded.applied(near(scene, "h100")).code == 201
    guarded.stop()
    keeping.start(**dict(PLACING.levels))
    keeping.await_held("h100")
    assert not keeping.find(DEFAULT_TOPOLOGY)
    reported = wait_until(lambda: keeping.operator.said("create ClusterTopology: refused"), bool, "it is tried")
    assert "failed calling webhook" in reported[0]["detail"]
    guarded.start()
    wait_until(lambda: keeping.find(DEFAULT_TOPOLOGY), bool, "it is made", seconds=60)
    scene.await_ready(2)
    assert keeping.find("h100")
