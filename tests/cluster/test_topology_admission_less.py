"""Webhooks with a smaller scope: sets alone, while topologies are switched off or only one namespace is theirs."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from tests.cluster.api import wait_until
from tests.cluster.guarding import BLOCKS, PLACING, TOPOLOGIES, Guarded, bound, now, topology
from tests.cluster.installing import apply, remove_cluster_wide
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene
from tests.cluster.webhooks import Installed


@contextmanager
def called(installed: Installed, scene: Scene, made: str) -> Iterator[datetime]:
    """Webhooks that run and are called, since when; neither they nor a topology of that name stay."""
    program, begun = installed.program(), now()
    try:
        with program.running() as process:
            program.await_ready(process)
            installed.is_called()
            yield begun
    finally:
        scene.api.delete(TOPOLOGIES, made)
        remove_cluster_wide(scene.api, installed.objects)


@pytest.mark.req("WH-010")
def test_tp064_while_it_is_off_no_set_comes_to_name_a_topology(
    grove_plane: ControlPlane, scene: Scene, tmp_path: Path
) -> None:
    off = Installed(grove_plane, scene.namespace, tmp_path)
    asking = Guarded(grove_plane, scene, tmp_path)
    stored = asking.racked("stored", "h100")
    assert asking.applied(stored).code == 201
    apply(scene.api, off.objects)
    with called(off, scene, "odd") as begun:
        refused = asking.dry(asking.racked("a", "h100"))
        assert refused.rules == {"TP-064"}
        said = asking.dry(asking.racked("a"))
        assert (said.code, "TP-073" in said.warnings[0]) == (201, True)
        stored["spec"]["replicas"] = 2
        assert asking.applied(stored).code == 200
        assert asking.create(topology("odd", ("zone", "a..b/zone"))).code == 201, "it is not reviewed"
        asked = wait_until(lambda: asking.asked(begun), bool, "what was asked")
        assert not [what for _, what, _ in asked if "topolog" in what or what == "podcliques"]


def test_tp045_for_one_namespace_sets_are_judged_and_topologies_are_not(
    grove_plane: ControlPlane, scene: Scene, tmp_path: Path
) -> None:
    one = Installed(grove_plane, scene.namespace, tmp_path, topology=PLACING)
    asking = Guarded(grove_plane, scene, tmp_path)
    apply(scene.api, one.objects)
    with called(one, scene, "h100") as begun:
        assert asking.create(topology("h100")).code == 201
        assert asking.create(asking.racked("a", "h100")).code == 201
        assert asking.dry(asking.racked("b", "h10")).rules == {"TP-060"}
        bound(asking, "a", 1)
        assert asking.applied(topology("h100", *BLOCKS)).code == 200, "its other users do not show"
        assert 403 not in {code for _, _, code in asking.asked(begun)}
