"""``grove why`` names the cause of every PodClique that went, from the audit log of a real control plane under churn.

The long run is ``python -m tests.cluster.audited_churn FOLDER --minutes 60``, followed by
``python -m tests.cluster.recorded_causes FOLDER``.
"""

import json
from pathlib import Path

import pytest

from grove_shell.reconstruction.deletion_causes import DeletionCauseClass
from tests.cluster.api import wait_until
from tests.cluster.audited_churn import play
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.recorded_causes import compared, read_folder
from tests.cluster.scenes import Scene, clique

SECONDS = 15.0
PAUSE = 0.5
REST_SECONDS = 5.0
PACE = 0.25
"""Delays are a quarter of those of the long run: gangs end after 5 s and 10 s."""


@pytest.fixture(scope="module")
def churned(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short churn on a control plane of its own, with the operator's decision log."""
    assert control_plane.pids, "the programs are there"
    folder = tmp_path_factory.mktemp("churned")
    play(folder, minutes=SECONDS / 60, seed=3, pause=PAUSE, rest_seconds=REST_SECONDS, pace=PACE)
    return folder


@pytest.mark.req("AF-006")
def test_af007_every_cause_is_that_of_the_decision_log(churned: Path) -> None:
    record = read_folder(churned)
    found = list(compared(record, churned / "decisions.jsonl"))
    assert {one.deletion.cause.kind for one in found} >= {DeletionCauseClass.TERMINATION, DeletionCauseClass.RULES}
    assert [one for one in found if not one.agrees] == []
    gone = [one for one in record.deletions if one.key.kind == "PodClique"]
    assert all(one.cause.reasons or one.owner for one in gone), "the others went with their owner"


def test_cl066_the_command_says_so(churned: Path) -> None:
    ran = grove("why", "--audit", str(churned / "audit.log"), "-f", str(churned / "before.json"), "-o", "json")
    assert ran.returncode == 0, ran.stderr
    causes = {one["cause"] for one in json.loads(ran.stdout)["causes"]}
    assert "termination" in causes
    assert not causes & {"notKnown", "notExplained"}


def test_af012_a_live_cluster_shows_its_events(
    grove_plane: ControlPlane, scene: Scene, operator: Operator, tmp_path: Path
) -> None:
    scene.api.create(scene.set_of(clique("router"), terminationDelay="4h"))
    scene.await_ready(1)
    before = tmp_path / "before.json"
    asked, kubeconfig = ("-n", scene.namespace), grove_plane.kubeconfig()
    assert grove("snapshot", *asked, "--out", str(before), kubeconfig=kubeconfig).returncode == 0
    alone = grove("why", "pcs/llama", "--live", *asked, "-v", kubeconfig=kubeconfig)
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout.startswith("UNKNOWN: ")
    assert "Event Scheduled on Pod llama-0-router-" in alone.stdout
    (pod,) = scene.pods()
    name = pod["metadata"]["name"]
    scene.api.delete("pods", name, scene.namespace)
    wait_until(lambda: scene.find("pods", name), lambda found: not found, "it is gone")
    scene.await_ready(1)
    both = grove("why", f"pod/{name}", "--live", *asked, "-f", str(before), kubeconfig=kubeconfig)
    assert both.returncode == 0, both.stderr
    assert f"NOT KNOWN  Pod {scene.namespace}/{name}  between" in both.stdout
