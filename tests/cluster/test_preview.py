"""``kubectl apply`` prints what an update restarts: a preview with the rights that are printed for it."""

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from grove_shell.settings.webhook_settings import PREVIEW_LABELS
from tests.cluster.api import Json, wait_until
from tests.cluster.installing import apply, remove_cluster_wide
from tests.cluster.operators import Starting
from tests.cluster.plane import REVIEWER, ControlPlane
from tests.cluster.previewing import WARNING, Preview
from tests.cluster.scenes import Scene, clique, group

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")


def new_image(manifest: Json, *names: str) -> Json:
    """The manifest with another image for some cliques."""
    edited = copy.deepcopy(manifest)
    for one in edited["spec"]["template"]["cliques"]:
        if one["name"] in names:
            one["spec"]["podSpec"]["containers"][0]["image"] = "example.com/main:2"
    return edited


@pytest.fixture
def preview(grove_plane: ControlPlane, scene: Scene, tmp_path: Path) -> Iterator[Preview]:
    """The preview, called by the API server; no other webhook is registered."""
    found = Preview(grove_plane, scene, tmp_path)
    apply(scene.api, found.objects)
    with found.program.running() as process:
        found.program.await_ready(process)
        wait_until(lambda: found.program.said("authority registered"), bool, "the API server trusts the preview")
        yield found
    remove_cluster_wide(scene.api, found.objects)


def stored_set(preview: Preview, starting: Starting, rules: str) -> Json:
    """Apply a set, and return its manifest once an operator with these rules has made its ten pods ready."""
    scene = preview.scene
    operator = starting()
    operator.rules = rules
    operator.start()
    pool = group("pool", "leader", "worker", replicas=2)
    cliques = (clique("router", 4, minimum=3), clique("leader"), clique("worker", 2))
    manifest = scene.set_of(*cliques, podCliqueScalingGroups=[pool], terminationDelay="4h")
    assert preview.applied(manifest) == []
    scene.await_ready(10)
    scene.await_status(availableReplicas=1)
    operator.await_rest()
    return manifest


def called(preview: Preview, manifest: Json) -> list[str]:
    """Return the warnings of a dry run once the API server calls the preview; that takes it a moment."""
    return wait_until(lambda: preview.applied(manifest, dry=True), bool, "the preview is called")


@pytest.mark.req("MF-031")
@pytest.mark.req("WH-047")
@pytest.mark.parametrize("rules", ["design", "field"])
def test_wh040_an_apply_prints_the_verdict_of_the_plan(preview: Preview, starting: Starting, rules: str) -> None:
    """And a dry run prints the same; then exactly these pods restart."""
    manifest, scene = stored_set(preview, starting, rules), preview.scene
    edited = new_image(manifest, "router", "worker")
    said = called(preview, edited)
    verdict, edit = preview.plan(edited)
    restarted = edit["update"]["restarted"]
    assert f"restarts {restarted['pods']} pods with {restarted['gpus']} GPUs" in said[0]
    shown = "; ".join(said).replace("update preview: ", "")
    for part in verdict.split("; nothing to terminate")[0].split("; "):
        assert part in shown
    assert f"rules {'design' if rules == 'design' else 'field@'}" in shown
    before = {pod["metadata"]["uid"] for pod in scene.pods()}
    assert preview.applied(edited) == said
    wait_until(
        lambda: len(before - {pod["metadata"]["uid"] for pod in scene.pods()}),
        lambda gone: gone == restarted["pods"],
        "as many pods as were previewed are gone",
        seconds=120,
    )
    scene.await_ready(10)
    asked = preview.plane.audit(REVIEWER)
    refused = [one for one in asked if one["responseStatus"]["code"] == 403 and scene.namespace in one["requestURI"]]
    assert not refused


@pytest.mark.req("WH-043")
@pytest.mark.req("WH-045")
@pytest.mark.req("WH-041")
def test_wh042_labels_of_the_namespace_limit_and_switch_off(preview: Preview, starting: Starting) -> None:
    manifest, scene = stored_set(preview, starting, "design"), preview.scene
    edited = new_image(manifest, "router")
    said = called(preview, edited)
    preview.label(deny_above_pods="3")
    refused = wait_until(
        lambda: preview.kubectl("apply", "-f", "-", "--dry-run=server", manifest=edited),
        lambda ran: ran.returncode == 1,
        "the label is seen",
    ).stderr
    assert 'admission webhook "preview.podcliquesets.grove.io" denied the request: this update is too large' in refused
    assert "4 pods restart, and at most 3 may" in refused
    assert f"raise the label {PREVIEW_LABELS}deny-above-pods of namespace {scene.namespace}" in refused
    assert all(f"{WARNING}{one}" in refused for one in said)
    preview.label(deny_above_pods="4")
    assert preview.applied(edited, dry=True) == said
    preview.label(deny_above_pods="many")
    warned = preview.applied(edited, dry=True)
    assert warned[:-1] == said
    assert 'expected a number or none, got "many"' in warned[-1]
    preview.label(mode="off", deny_above_pods="0")
    wait_until(lambda: preview.applied(edited, dry=True), lambda warned: not warned, "the namespace is switched off")
    preview.label(mode=None, deny_above_pods="0")
    wait_until(lambda: preview.kubectl("apply", "-f", "-", "--dry-run=server", manifest=edited).returncode, bool, "on")
    assert preview.applied(manifest, dry=True) == []  # nothing changes, so nothing is asked or refused
    preview.kubectl("label", "--overwrite", "pcs", "llama", "a=b")
    for one in preview.roles:
        if one["kind"].endswith("Binding"):
            scene.api.delete(one["kind"], one["metadata"]["name"], one["metadata"].get("namespace"))
    (unknown,) = wait_until(
        lambda: preview.kubectl("apply", "-f", "-", "--dry-run=server", manifest=edited),
        lambda ran: "forbidden" in ran.stderr,
        "the rights are gone",
    ).stderr.splitlines()
    assert unknown.startswith(f"{WARNING}update preview: the update was not previewed: ")
    apply(scene.api, preview.roles)
