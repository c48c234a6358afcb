"""ComputeDomains as the design document prints them, where the cluster knows them so."""

from collections.abc import Iterator

import pytest

from tests.cluster.api import Json
from tests.cluster.fabrics import CLAIM, ON, annotated, domains, failed, templates, users
from tests.cluster.nvidia.definitions import DOMAINS, designed, installed
from tests.cluster.nvidia.devices import device_classes
from tests.cluster.nvidia.driver import TEMPLATES, Driver
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique, light


@pytest.fixture(scope="module")
def design_plane(grove_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane, until the module ends with the kind of the design."""
    with installed(grove_plane, designed("v1beta1")), device_classes(grove_plane.api()):
        yield grove_plane


@pytest.fixture
def designed_operator(design_plane: ControlPlane, scene: Scene, installed_operator: Operator) -> Iterator[Operator]:
    """An operator that runs and makes domains of whatever shape the cluster reads."""
    with Driver(design_plane, scene.namespace):
        installed_operator.mnnvl = ON
        yield installed_operator.start()
        installed_operator.kill()


def printed(found: Json) -> Json:
    """The parts of a domain that the design document prints."""
    metadata = found["metadata"]
    labels = {key: metadata["labels"][key] for key in ("grove.io/podcliqueset", "grove.io/replica-index")}
    owners = [
        {key: owner[key] for key in ("apiVersion", "kind", "name", "controller")}
        for owner in metadata["ownerReferences"]
    ]
    return {
        "apiVersion": found["apiVersion"],
        "kind": found["kind"],
        "metadata": {"name": metadata["name"], "labels": labels, "ownerReferences": owners},
        "spec": found["spec"],
    }


def as_printed(replica: int) -> Json:
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "my-pcs", "controller": True}
    labels = {"grove.io/podcliqueset": "my-pcs", "grove.io/replica-index": str(replica)}
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": f"my-pcs-cd-{replica}", "labels": labels, "ownerReferences": [owner]},
        "spec": {"channel": {"resourceClaimTemplateName": f"my-pcs-rct-{replica}"}},
    }


@pytest.mark.req("MN-005")
@pytest.mark.req("MN-020")
@pytest.mark.req("MN-030")
def test_mn005_a_set_comes_up_with_domains_as_they_are_printed(
    design_plane: ControlPlane, scene: Scene, designed_operator: Operator
) -> None:
    scene.api.add_nodes([f"{scene.namespace}-more-{number}" for number in range(2)], {"test": scene.namespace})
    scene.api.create(scene.set_of(light("router"), clique("worker"), name="my-pcs", replicas=2))
    pods = scene.await_ready(4)
    assert sorted(domains(scene)) == ["my-pcs-cd-0", "my-pcs-cd-1"]
    for replica in range(2):
        assert printed(scene.get(DOMAINS, f"my-pcs-cd-{replica}")) == as_printed(replica)
        assert scene.find(TEMPLATES, f"my-pcs-rct-{replica}")
        for name in ("router", "worker"):
            assert annotated(scene)[f"my-pcs-{replica}-{name}"] == f"my-pcs-rct-{replica}"
            (pod,) = scene.pods(f"my-pcs-{replica}-{name}")
            assert templates(pod) == [f"my-pcs-rct-{replica}"]
            assert users(pod) == {"main": [CLAIM] if name == "worker" else []}
            assert "allocation" in claim_of(scene, pod)["status"]
    assert len(pods) == 4
    assert not failed(scene, "my-pcs")
    designed_operator.await_rest()
    scene.scale("podcliquesets", "my-pcs", 1)
    scene.await_gone(DOMAINS, "my-pcs-cd-1")
    assert list(domains(scene)) == ["my-pcs-cd-0"]


def claim_of(scene: Scene, pod: Json) -> Json:
    (reported,) = pod["status"]["resourceClaimStatuses"]
    return scene.get("resourceclaims", reported["resourceClaimName"])


@pytest.mark.req("CL-032")
def test_mn005_the_other_shape_is_refused_and_blocks_nothing(
    design_plane: ControlPlane, scene: Scene, installed_operator: Operator
) -> None:
    """A configuration that insists on the shape of the driver here gets the server's words in the condition."""
    installed_operator.mnnvl = {"enabled": True, "computeDomainShape": "nvidia"}
    installed_operator.start()
    scene.api.create(scene.set_of(clique("worker")))
    (pod,) = scene.await_ready(1)
    assert not templates(pod)
    message = scene.await_condition("podcliquesets", "llama", "ComputeDomainsReady", "False")
    assert "spec.channel.resourceClaimTemplateName: Required value" in failed(scene), message
    judged = grove(
        "validate",
        "--preflight",
        "--live",
        "--config",
        str(installed_operator.config),
        kubeconfig=design_plane.kubeconfig(),
    )
    assert judged.returncode == 0, "the kind is there; the shape is what its user insists on"
