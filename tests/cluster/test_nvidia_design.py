"""A cluster without ComputeDomains, and one that knows them as the design documents print them."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.cluster.api import Api, ApiError, Json, wait_until
from tests.cluster.nvidia.definitions import DOMAINS, GROUP, compute_domain_clique, designed, install, installed, remove
from tests.cluster.nvidia.devices import DOMAIN_LABEL, DRIVER, device_classes
from tests.cluster.nvidia.driver import TEMPLATES, Driver
from tests.cluster.nvidia_objects import claim_of
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import condition, is_ready

CLAIMS: Final = "resourceclaims"
RELEASED: Final[Json] = {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": "a-rct"}}}
RESERVATIONS: Final = 256


def domain(name: str, version: str, spec: Json) -> Json:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "ComputeDomain", "metadata": {"name": name}, "spec": spec}


def pod(name: str, on: str, **claim: str) -> Json:
    """One of those pods of a claim that do not share a node."""
    container = {"name": "main", "image": "example.com/main", "resources": {"claims": [{"name": "mnnvl"}]}}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"test": on}}}
    spec = {
        "nodeSelector": {"test": on},
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        "containers": [container],
        "resourceClaims": [{"name": "mnnvl", **claim}],
    }
    metadata = {"name": name, "namespace": on, "labels": {"test": on}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.fixture
def nodes(control_plane: ControlPlane, namespace: str) -> Iterator[list[str]]:
    """Two nodes for the pods of the test."""
    names = [f"{namespace}-{number}" for number in range(2)]
    control_plane.api().add_nodes(names, {"test": namespace})
    yield names
    control_plane.api().request("DELETE", f"/api/v1/nodes?labelSelector=test%3D{namespace}")


def await_pod(api: Api, name: str, namespace: str, holds: Any, what: str) -> Json:
    return wait_until(lambda: api.get("pods", name, namespace), holds, what)


def refusal(api: Api, manifest: Json, namespace: str) -> tuple[int, str]:
    with pytest.raises(ApiError) as refused:
        api.create(manifest, namespace)
    return refused.value.code, refused.value.message


@pytest.mark.parametrize(
    "path", ["", "/v1beta1", "/v1beta1/computedomains", "/v1beta1/namespaces/default/computedomains/a"]
)
def test_without_the_kind_every_path_of_it_is_not_found_in_plain_words(control_plane: ControlPlane, path: str) -> None:
    api = control_plane.api()
    with pytest.raises(ApiError) as refused:
        api.request("GET", f"/apis/{GROUP}{path}")
    assert (refused.value.code, refused.value.reason, refused.value.message) == (404, "", "404 page not found\n")
    with pytest.raises(KeyError, match=f"the server has no {DOMAINS}"):
        api.resource(DOMAINS)


def test_without_rights_a_list_does_not_show_whether_the_kind_exists(control_plane: ControlPlane) -> None:
    nobody = control_plane.api("nobody")
    with pytest.raises(ApiError, match='cannot list resource "computedomains"') as refused:
        nobody.request("GET", f"/apis/{GROUP}/v1beta1/computedomains")
    assert refused.value.code == 403
    with pytest.raises(ApiError) as missed:
        nobody.request("GET", f"/apis/{GROUP}/v1beta1")
    assert missed.value.code == 404


def test_another_kind_of_the_group_is_no_domain(control_plane: ControlPlane) -> None:
    api = control_plane.api()
    install(api, compute_domain_clique())
    try:
        reported = api.request("GET", f"/apis/{GROUP}/v1beta1")["resources"]
        assert [each["name"] for each in reported] == ["computedomaincliques"]
        with pytest.raises(ApiError, match="404 page not found") as missed:
            api.request("GET", f"/apis/{GROUP}/v1beta1/computedomains")
        assert missed.value.code == 404
    finally:
        remove(api)


class TestOneTemplateForEachReplica:
    """The first design document: v1beta1, the template by its name."""

    @pytest.fixture(scope="class")
    @staticmethod
    def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
        with installed(control_plane, designed("v1beta1")), device_classes(control_plane.api()):
            yield control_plane

    def test_the_released_shape_is_refused(self, plane: ControlPlane, namespace: str) -> None:
        assert refusal(plane.api(), domain("a", "v1beta1", RELEASED), namespace) == (
            422,
            'ComputeDomain.resource.nvidia.com "a" is invalid: spec.channel.resourceClaimTemplateName: Required value',
        )

    def test_its_own_shape_brings_the_template_for_pods(
        self, plane: ControlPlane, namespace: str, nodes: list[str]
    ) -> None:
        api = plane.api()
        with Driver(plane, namespace):
            api.create(domain("a", "v1beta1", {"channel": {"resourceClaimTemplateName": "a-rct"}}), namespace)
            wait_until(lambda: api.find(TEMPLATES, "a-rct", namespace), bool, "the template is there")
            api.create(pod("p", namespace, resourceClaimTemplateName="a-rct"))
            await_pod(api, "p", namespace, is_ready, "the pod is ready")
            api.delete(DOMAINS, "a", namespace)
            wait_until(lambda: api.find(DOMAINS, "a", namespace), lambda found: not found, "the domain is gone")


class TestOneClaimForAllPods:
    """The second design document: v1alpha1, no template, a claim that pods share."""

    @pytest.fixture(scope="class")
    @staticmethod
    def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
        with installed(control_plane, designed("v1alpha1")), device_classes(control_plane.api()):
            yield control_plane

    def test_the_released_shape_is_not_found_or_refused(self, plane: ControlPlane, namespace: str) -> None:
        shaped = {"channel": RELEASED["channel"]}
        assert refusal(plane.api(), domain("a", "v1alpha1", shaped), namespace) == (
            422,
            'ComputeDomain.resource.nvidia.com "a" is invalid: spec.numNodes: Required value',
        )
        with pytest.raises(ApiError) as refused:
            plane.api().request("POST", f"/apis/{GROUP}/v1beta1/namespaces/{namespace}/computedomains", {})
        assert refused.value.code == 404

    def test_pods_on_two_nodes_share_a_claim(self, plane: ControlPlane, namespace: str, nodes: list[str]) -> None:
        api = plane.api()
        name = f"{namespace}-cd"
        with Driver(plane, namespace):
            api.create(claim_of(name), namespace)
            for each in ("first", "second"):
                api.create(pod(each, namespace, resourceClaimName=name))
            await_pod(  # at first its nodes may still have the taint of new ones
                api,
                "first",
                namespace,
                lambda it: "cannot allocate all claims" in condition(it, "PodScheduled").get("message", ""),
                "its domain is missing",
            )
            api.create(domain(name, "v1alpha1", {"numNodes": 0}), namespace)
            ready = [await_pod(api, each, namespace, is_ready, f"{each} is ready") for each in ("first", "second")]
            assert sorted(each["spec"]["nodeName"] for each in ready) == nodes
            reserved = api.get(CLAIMS, name, namespace)["status"]["reservedFor"]
            assert sorted(each["name"] for each in reserved) == ["first", "second"]
            (devices,) = api.all_of("resourceslices", labelSelector=DOMAIN_LABEL)
            assert devices["spec"]["devices"][0]["attributes"] == {"name": {"string": name}}
            api.delete(DOMAINS, name, namespace)
            wait_until(lambda: api.find(DOMAINS, name, namespace), lambda found: not found, "the domain is gone")
            assert not api.all_of("resourceslices", labelSelector=DOMAIN_LABEL)

    def test_a_claim_in_the_former_shape_is_refused(self, plane: ControlPlane, namespace: str) -> None:
        code, message = refusal(plane.api(), claim_of("a", flat=True), namespace)
        assert (code, message.partition(" is invalid: ")[2]) == (
            422,
            "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
        )

    def test_a_claim_is_reserved_for_no_more_pods_than_the_server_counts(
        self, plane: ControlPlane, namespace: str
    ) -> None:
        api = plane.api()
        claim = api.create(claim_of("a"), namespace)
        result = {"request": "mnnvl", "driver": DRIVER, "pool": "none", "device": "domain"}
        allocation = {"devices": {"results": [result]}}
        pods = [{"resource": "pods", "name": f"p{n}", "uid": f"u{n}"} for n in range(RESERVATIONS + 1)]
        with pytest.raises(ApiError) as refused:
            api.replace({**claim, "status": {"allocation": allocation, "reservedFor": pods}}, subresource="status")
        assert refused.value.code == 422
        assert refused.value.message.endswith(": status.reservedFor: Too many: 257: must have at most 256 items")
        status = {"allocation": allocation, "reservedFor": pods[:RESERVATIONS]}
        assert len(api.replace({**claim, "status": status}, subresource="status")["status"]["reservedFor"]) == 256
        api.patch(CLAIMS, "a", namespace, patch={"metadata": {"finalizers": None}})
