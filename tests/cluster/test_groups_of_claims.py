"""Claims that pods of a PodClique share, in a gang that the scheduler of Kubernetes places (SC-007, SC-017)."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.fabrics import domains
from tests.cluster.nvidia.definitions import DOMAINS
from tests.cluster.operators import Operator
from tests.cluster.scenes import Scene, clique, light
from tests.cluster.sharing import CLAIMS, claims_of, shares

pytestmark = pytest.mark.groups

PODS: Final = 300
CONSUMERS: Final = 256
"""The number of consumers for which a claim can be reserved."""
VERSION: Final = "resource.k8s.io/v1"


@pytest.fixture
def device_class(scene: Scene) -> Iterator[str]:
    """A class of one device that all nodes reach."""
    name = f"cache-{scene.namespace}"
    selector = {"cel": {"expression": f"device.driver == '{name}.example.com'"}}
    head: Json = {"apiVersion": VERSION, "metadata": {"name": name}}
    scene.api.create({**head, "kind": "DeviceClass", "spec": {"selectors": [selector]}})
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": f"{name}.example.com", "pool": pool, "allNodes": True, "devices": [{"name": "cache"}]}
    scene.api.create({**head, "kind": "ResourceSlice", "spec": spec})
    yield name
    scene.api.delete("resourceslices", name)
    scene.api.delete("deviceclasses", name)


def cache(device_class: str) -> Json:
    """A template of claims to the device of a class."""
    request = {"name": "cache", "exactly": {"deviceClassName": device_class}}
    return {"name": "cache", "templateSpec": {"spec": {"devices": {"requests": [request]}}}}


def reserved_for(scene: Scene, claim: str) -> list[tuple[str, str]]:
    """What a claim is reserved for: resource and name."""
    found = scene.get(CLAIMS, claim).get("status", {}).get("reservedFor", [])
    return [(one["resource"], one["name"]) for one in found]


@pytest.mark.req("SC-017", "WL-019")
def test_sc017_more_pods_than_a_claim_has_consumers_share_it(
    scene: Scene, grouping: Operator, device_class: str
) -> None:
    scene.api.add_nodes([f"{scene.namespace}-more-{number}" for number in range(3)], {"test": scene.namespace})
    engine = light("engine", PODS) | {"resourceSharing": [{"name": "cache", "scope": "AllReplicas"}]}
    scene.api.create(scene.set_of(light("router"), engine, resourceClaimTemplates=[cache(device_class)]))
    scene.await_ready(PODS + 1, seconds=180)
    assert PODS > CONSUMERS
    grouping.await_rest()
    assert reserved_for(scene, "llama-0-engine-all-cache") == [("podgroups", "llama-0-engine")]
    assert scene.names("podgangs") == []


@pytest.mark.req("SC-017", "MS-040", "MS-050")
def test_sc017_a_shared_domain_belongs_to_the_set_of_its_group(scene: Scene, sharing: Operator) -> None:
    """Pods share the domain of their PodClique without a PodGang, and it goes with the replica."""
    sharing.backend = "kubernetes"
    sharing.start()
    engine = clique("engine", 2) | {"annotations": shares("clique")}
    scene.api.create(scene.set_of(light("router"), engine))
    scene.await_ready(3)
    claim = "llama-0-engine-mnnvl-claim"
    assert [claims_of(pod) for pod in scene.pods("llama-0-engine")] == [[claim], [claim]]
    assert reserved_for(scene, claim) == [("podgroups", "llama-0-engine")]
    assert scene.names("podgangs") == []
    (owner,) = scene.get(DOMAINS, "llama-0-engine-cd")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("PodCliqueSet", "llama")
    sharing.await_rest()
    scene.scale("podcliquesets", "llama", 0)
    wait_until(lambda: domains(scene), lambda found: not found, "no domain is left")
    wait_until(lambda: [*scene.names(CLAIMS), *scene.names("podgroups")], lambda found: not found, "nothing is left")


@pytest.mark.req("SC-007", "SC-040")
def test_sc007_cliques_that_share_a_claim_keep_podgangs(scene: Scene, grouping: Operator, device_class: str) -> None:
    shared: Json = {"resourceSharing": [{"name": "cache", "scope": "PerReplica"}]}
    templates: Json = {"resourceClaimTemplates": [cache(device_class)]}
    scene.api.create(scene.set_of(light("router"), light("engine", 2), **shared, **templates))
    scene.await_ready(3)
    assert scene.names("podgangs") == ["llama-0"]
    assert scene.names("podgroups") == []
    assert {resource for resource, _ in reserved_for(scene, "llama-0-cache")} == {"pods"}
    grouping.await_rest()
