"""A release of the chart with the preview alone, installed, upgraded and uninstalled by Helm."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.api import wait_until
from tests.cluster.installing import apply, remove_cluster_wide
from tests.cluster.operators import Starting
from tests.cluster.plane import ControlPlane
from tests.cluster.previewing import Kubectl, Preview
from tests.cluster.releasing import NAME, Release, preview_release
from tests.cluster.scenes import Scene, clique
from tests.cluster.test_preview import new_image
from tests.manifests.chart_rendering import needs_helm

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
REGISTRATIONS = "validatingwebhookconfigurations"


@pytest.fixture
def release(grove_plane: ControlPlane, scene: Scene, tmp_path: Path) -> Iterator[Release]:
    """A release of the preview in a namespace of its own; nothing cluster-wide may be left when it is uninstalled."""
    found = preview_release(grove_plane, f"{scene.namespace}-preview", tmp_path)
    before = found.cluster_wide()
    found.upgrade()
    yield found
    found.uninstall()
    assert found.cluster_wide() == before
    own = {one for one in found.left() if NAME in one[1]}
    assert own == {("Secret", f"{NAME}-certs")}
    found.api.delete("namespaces", found.home)


def authority_of(release: Release) -> str:
    """Return the authority that the API server trusts when it calls the preview."""
    (webhook,) = release.api.get(REGISTRATIONS, NAME)["webhooks"]
    return str(webhook["clientConfig"].get("caBundle"))


@needs_helm
@needs_kubectl
@pytest.mark.req("MF-033")
@pytest.mark.req("MF-034")
def test_mf032_a_release_is_upgraded_and_leaves_nothing(release: Release, scene: Scene, starting: Starting) -> None:
    """Each life of the program has the rights and the file of the release at that time, as a replaced pod has."""
    user = Kubectl(release.plane, scene)
    operator = starting()
    operator.rules = "field"
    operator.start()
    manifest = scene.set_of(clique("router", 4, minimum=3), terminationDelay="4h")
    user.applied(manifest)
    scene.await_ready(4)
    operator.await_rest()
    edited = new_image(manifest, "router")
    assert user.applied(edited, dry=True) == []  # registered for a Service without pods, which blocks nothing
    with (first := release.webhooks(NAME)).running() as process:
        first.await_ready(process)
        (said, *_) = wait_until(lambda: user.applied(edited, dry=True), bool, "the preview is called")
        assert said.startswith("update preview: restarts 4 pods with 4 GPUs, one at a time")
    assert user.applied(edited, dry=True) == []  # its address refuses connections
    release.call_the_service(REGISTRATIONS, NAME, NAME)
    authority, pods = authority_of(release), release.pod_template(NAME)
    release.upgrade("--set", "preview.replicas=3")
    assert release.pod_template(NAME) == pods
    release.upgrade("--set", "preview.settings.denyAbove.pods=3")
    assert release.pod_template(NAME) != pods
    assert authority_of(release) == authority
    with (second := release.webhooks(NAME)).running() as process:
        second.await_ready(process)
        refused = wait_until(
            lambda: user.kubectl("apply", "-f", "-", "--dry-run=server", manifest=edited),
            lambda ran: ran.returncode == 1,
            "the limit is in force",
        )
        assert "this update is too large: 4 pods restart, and at most 3 may" in refused.stderr


@pytest.mark.req("MF-034")
def test_mf034_a_second_apply_keeps_the_authority(grove_plane: ControlPlane, scene: Scene, tmp_path: Path) -> None:
    """The registration is applied without an authority, as it is printed."""
    found = Preview(grove_plane, scene, tmp_path)
    apply(scene.api, found.objects)
    with found.program.running() as process:
        found.program.await_ready(process)
        wait_until(lambda: found.program.said("authority registered"), bool, "the authority is registered")
    (registration,) = (one for one in found.objects if "webhooks" in one)

    def authority() -> str:
        (webhook,) = scene.api.get(registration["kind"], registration["metadata"]["name"])["webhooks"]
        return str(webhook["clientConfig"].get("caBundle"))

    before = authority()
    assert before != "None"
    apply(scene.api, found.objects)
    assert authority() == before
    remove_cluster_wide(scene.api, found.objects)
