"""What tests of ComputeDomains rely on: the kinds as NVIDIA released them, its driver, its devices, and quotas."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.cluster.api import APPLY, Api, ApiError, Json, wait_until
from tests.cluster.nvidia.definitions import CLIQUES, DOMAINS, GROUP, limit_domains
from tests.cluster.nvidia.devices import CHANNEL_CLASS, DOMAIN_LABEL, DRIVER, FINALIZER, TARGET_LABEL
from tests.cluster.nvidia.driver import TEMPLATES, Driver
from tests.cluster.nvidia_objects import VERSION, domain
from tests.cluster.operators import Operator
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique, condition, is_ready

UNCHECKED: Final = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
IMMUTABLE: Final = "spec: Invalid value: A computeDomain.spec is immutable"


def pod(name: str, on: str, template: str) -> Json:
    """A pod with a claim of its own to a channel, for nodes with the label ``on``."""
    container = {"name": "main", "image": "example.com/main", "resources": {"claims": [{"name": "mnnvl-claim"}]}}
    claims = [{"name": "mnnvl-claim", "resourceClaimTemplateName": template}]
    spec = {"nodeSelector": {"test": on}, "containers": [container], "resourceClaims": claims}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": on}, "spec": spec}


class Home:
    """A namespace of a test, with two nodes."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.namespace = namespace
        self.nodes = [f"{namespace}-{number}" for number in range(2)]
        api.add_nodes(self.nodes, {"test": namespace})

    def create(self, name: str, **metadata: Any) -> Json:
        return self.api.create(domain(name, **metadata), self.namespace)

    def run(self, *names: str, template: str) -> None:
        for name in names:
            self.api.create(pod(name, self.namespace, template))

    def await_object(self, resource: str, name: str, holds: Any, what: str) -> Json:
        return wait_until(lambda: self.api.find(resource, name, self.namespace) or {}, holds, what)

    def await_ready(self, *names: str) -> list[Json]:
        return [self.await_object("pods", name, is_ready, f"{name} is ready") for name in names]

    def await_nodes(self, name: str, *nodes: str) -> Json:
        def has_them(found: Json) -> bool:
            return [each["name"] for each in found.get("status", {}).get("nodes", [])] == sorted(nodes)

        return self.await_object(DOMAINS, name, has_them, f"{name} covers {nodes}")

    def refused(self, name: str) -> tuple[int, str, str]:
        with pytest.raises(ApiError) as refused:
            self.create(name)
        return refused.value.code, refused.value.reason, refused.value.message


@pytest.fixture
def home(nvidia_plane: ControlPlane, namespace: str) -> Iterator[Home]:
    yield Home(nvidia_plane.api(), namespace)
    nvidia_plane.api().request("DELETE", f"/api/v1/nodes?labelSelector=test%3D{namespace}")


class TestItsKinds:
    """What the server reports about them, and what it refuses."""

    def test_discovery_reports_the_only_version_and_both_kinds(self, nvidia_plane: ControlPlane) -> None:
        api = nvidia_plane.api()
        group = api.request("GET", f"/apis/{GROUP}")
        assert [each["groupVersion"] for each in group["versions"]] == [VERSION]
        kinds = {each["name"]: each["kind"] for each in api.request("GET", f"/apis/{VERSION}")["resources"]}
        assert kinds == {
            "computedomaincliques": "ComputeDomainClique",
            "computedomains": "ComputeDomain",
            "computedomains/status": "ComputeDomain",
        }

    def test_discovery_works_without_rights(self, nvidia_plane: ControlPlane) -> None:
        nobody = nvidia_plane.api("nobody")
        with pytest.raises(ApiError, match='cannot list resource "computedomains"') as refused:
            nobody.request("GET", f"/apis/{VERSION}/computedomains")
        assert refused.value.code == 403
        assert nobody.request("GET", f"/apis/{GROUP}")["preferredVersion"]["groupVersion"] == VERSION

        def channel() -> list[str]:
            try:
                schemas = nobody.request("GET", f"/openapi/v3/apis/{VERSION}")["components"]["schemas"]
            except ApiError as early:  # schemas are published some time after the kind is served
                return [str(early.code)]
            spec = schemas["com.nvidia.resource.v1beta1.ComputeDomain"]["properties"]["spec"]
            return sorted(spec["properties"]["channel"]["properties"])

        wait_until(
            channel, lambda names: names == ["allocationMode", "resourceClaimTemplate"], "the shape is published"
        )

    @pytest.mark.parametrize(
        ("spec", "said"),
        [
            (
                {"channel": {"resourceClaimTemplateName": "a-rct"}},
                f"[spec.channel.resourceClaimTemplate: Required value, {UNCHECKED}]",
            ),
            ({"numNodes": 0}, f"[spec.channel: Required value, {UNCHECKED}]"),
        ],
    )
    def test_the_shapes_of_the_design_are_refused(self, home: Home, spec: Json, said: str) -> None:
        with pytest.raises(ApiError) as refused:
            home.api.create(domain("a", spec), home.namespace)
        assert (refused.value.code, refused.value.reason) == (422, "Invalid")
        assert refused.value.message == f'ComputeDomain.resource.nvidia.com "a" is invalid: {said}'

    def test_an_apply_of_such_a_shape_is_no_fault_of_the_client_to_the_server(self, home: Home) -> None:
        shaped = domain("a", {"channel": {"resourceClaimTemplateName": "a-rct"}})
        with pytest.raises(ApiError, match="field not declared in schema") as refused:
            home.api.patch(DOMAINS, "a", home.namespace, patch=shaped, media=APPLY, fieldManager="tests")
        assert (refused.value.code, refused.value.reason) == (500, "")

    def test_what_is_left_out_has_defaults(self, home: Home) -> None:
        shaped = {"channel": {"resourceClaimTemplate": {"name": "a-rct"}}}
        made = home.api.create(domain("a", shaped), home.namespace)
        assert made["spec"] == {
            "numNodes": 0,
            "channel": {"resourceClaimTemplate": {"name": "a-rct"}, "allocationMode": "Single"},
        }
        assert "status" not in made
        reported = home.api.patch(DOMAINS, "a", home.namespace, patch={"status": {}}, subresource="status")
        assert reported["status"] == {"status": "NotReady"}

    @pytest.mark.parametrize(
        "change", [{"numNodes": 4}, {"channel": {"resourceClaimTemplate": {"name": "another"}}}], ids=["nodes", "name"]
    )
    def test_a_spec_never_changes(self, home: Home, change: Json) -> None:
        home.create("a")
        with pytest.raises(ApiError) as refused:
            home.api.patch(DOMAINS, "a", home.namespace, patch={"spec": change})
        assert (refused.value.code, refused.value.reason) == (422, "Invalid")
        assert refused.value.message == f'ComputeDomain.resource.nvidia.com "a" is invalid: {IMMUTABLE}'

    def test_daemons_of_a_clique_own_an_entry_each(self, home: Home) -> None:
        for node in ("n1", "n2"):
            entry = {"nodeName": node, "ipAddress": "192.0.2.7", "cliqueID": "c.1", "index": int(node[1:])}
            reported = {"apiVersion": VERSION, "kind": "ComputeDomainClique", "metadata": {"name": "u.c.1"}}
            home.api.patch(
                CLIQUES,
                "u.c.1",
                home.namespace,
                patch={**reported, "daemons": [entry]},
                media=APPLY,
                fieldManager=f"cd-daemon-{node}",
            )
        found = home.api.get(CLIQUES, "u.c.1", home.namespace)
        assert {each["nodeName"]: each["status"] for each in found["daemons"]} == {"n1": "NotReady", "n2": "NotReady"}
        with pytest.raises(ApiError) as refused:
            home.api.patch(CLIQUES, "u.c.1", home.namespace, patch={}, subresource="status")
        assert refused.value.code == 404


class TestItsDriver:
    """What the stand-in makes of a domain, and what the scheduler makes of that."""

    def test_a_domain_brings_a_template_and_takes_it_along(self, driver: Driver, home: Home) -> None:
        made = home.create("a")
        template = home.await_object(TEMPLATES, "a-rct", bool, "the template is there")
        uid = made["metadata"]["uid"]
        assert template["metadata"]["labels"] == {DOMAIN_LABEL: uid, TARGET_LABEL: "Workload"}
        assert template["metadata"]["finalizers"] == [FINALIZER]
        (request,) = template["spec"]["spec"]["devices"]["requests"]
        assert (request["name"], request["exactly"]["deviceClassName"]) == ("channel", CHANNEL_CLASS)
        (config,) = template["spec"]["spec"]["devices"]["config"]
        assert config["opaque"] == {
            "driver": DRIVER,
            "parameters": {
                "apiVersion": VERSION,
                "kind": "ComputeDomainChannelConfig",
                "domainID": uid,
                "allocationMode": "Single",
            },
        }
        found = home.await_object(DOMAINS, "a", lambda found: "status" in found, "its status is written")
        assert found["metadata"]["finalizers"] == [FINALIZER]
        assert found["status"] == {"status": "Ready"}, "it wants no nodes"
        home.api.delete(DOMAINS, "a", home.namespace)
        home.await_object(DOMAINS, "a", lambda found: not found, "the domain is gone")
        assert home.api.find(TEMPLATES, "a-rct", home.namespace) is None

    def test_each_node_runs_one_pod_with_a_claim_of_its_own(self, driver: Driver, home: Home) -> None:
        home.create("a")
        home.run("first", "second", template="a-rct")
        ready = home.await_ready("first", "second")
        assert sorted(each["spec"]["nodeName"] for each in ready) == home.nodes
        home.run("third", template="a-rct")
        reported = home.await_object("pods", "third", lambda found: condition(found, "PodScheduled"), "nothing is left")
        assert condition(reported, "PodScheduled")["reason"] == "Unschedulable"
        assert "cannot allocate all claims" in condition(reported, "PodScheduled")["message"]
        home.api.delete("pods", "first", home.namespace)
        home.await_ready("third")

    def test_a_node_keeps_its_index_and_a_free_one_is_given_again(self, driver: Driver, home: Home) -> None:
        home.create("a")
        home.run("first", "second", template="a-rct")
        on = {each["spec"]["nodeName"]: each["metadata"]["name"] for each in home.await_ready("first", "second")}
        before = {each["index"]: each["name"] for each in home.await_nodes("a", *home.nodes)["status"]["nodes"]}
        assert sorted(before) == [0, 1]
        home.api.delete("pods", on[before[0]], home.namespace)
        (left,) = home.await_nodes("a", before[1])["status"]["nodes"]
        assert left["index"] == 1
        home.run("third", template="a-rct")
        after = home.await_nodes("a", *home.nodes)["status"]["nodes"]
        assert {each["index"]: each["name"] for each in after} == before

    def test_a_pod_without_its_template_is_not_even_looked_at_until_it_comes(self, driver: Driver, home: Home) -> None:
        home.run("early", template="a-rct")
        wait_until(
            lambda: [each["reason"] for each in home.api.all_of("events", home.namespace)],
            lambda reasons: "FailedResourceClaimCreation" in reasons,
            "the controller of claims says what is missing",
        )
        assert not condition(home.api.get("pods", "early", home.namespace), "PodScheduled")
        home.create("a")
        home.await_ready("early")

    def test_a_domain_is_as_ready_as_its_nodes(self, driver: Driver, home: Home) -> None:
        home.create("a")
        home.run("only", template="a-rct")
        (ready,) = home.await_ready("only")
        home.await_nodes("a", ready["spec"]["nodeName"])
        for daemons_ready, status in ((False, "NotReady"), (True, "Ready")):
            driver.daemons_ready = daemons_ready
            home.await_object(
                DOMAINS, "a", lambda found, it=status: found["status"]["status"] == it, f"the domain is {status}"
            )
        home.api.delete("pods", "only", home.namespace)
        home.await_nodes("a")

    def test_a_domain_goes_with_its_owner_and_a_forgotten_template_with_it(self, driver: Driver, home: Home) -> None:
        metadata = {"name": "owner", "namespace": home.namespace}
        owner = home.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
        home.create("a", ownerReferences=[reference])
        home.await_object(TEMPLATES, "a-rct", bool, "the template is there")
        home.api.delete("configmaps", "owner", home.namespace)
        home.await_object(DOMAINS, "a", lambda found: not found, "the domain is gone")
        home.await_object(TEMPLATES, "a-rct", lambda found: not found, "the template is gone")


class TestItsUse:
    """All of it beside the operator."""

    def test_a_set_whose_pods_claim_a_channel_runs(self, driver: Driver, scene: Scene, operator: Operator) -> None:
        worker = clique("worker", 2)
        (container,) = worker["spec"]["podSpec"]["containers"]
        container["resources"]["claims"] = [{"name": "mnnvl-claim"}]
        worker["spec"]["podSpec"]["resourceClaims"] = [{"name": "mnnvl-claim", "resourceClaimTemplateName": "a-rct"}]
        made = scene.api.create(scene.set_of(worker))
        owner = {key: made[key] for key in ("apiVersion", "kind")} | {
            key: made["metadata"][key] for key in ("name", "uid")
        }
        scene.api.create(domain("a", ownerReferences=[{**owner, "controller": True}]), scene.namespace)
        scene.await_ready(2)
        scene.await_object(
            DOMAINS, "a", lambda it: len(it.get("status", {}).get("nodes", ())) == 2, "both nodes are reported"
        )
        scene.api.delete("podcliquesets", "llama", scene.namespace)
        scene.await_gone(DOMAINS, "a")
        wait_until(scene.dump, lambda left: not left, "nothing is left")


class TestItsQuota:
    """A namespace may have only so many domains."""

    def test_the_third_of_four_is_refused_until_there_is_room(self, home: Home) -> None:
        limit_domains(home.api, home.namespace, 2)
        home.create("a")
        home.create("b")
        counted = f"count/{DOMAINS}"
        for name in ("c", "d"):
            code, reason, message = home.refused(name)
            assert (code, reason) == (403, "Forbidden")
            assert message == (
                f'{DOMAINS} "{name}" is forbidden: exceeded quota: compute-domains, '
                f"requested: {counted}=1, used: {counted}=2, limited: {counted}=2"
            )
        limit_domains(home.api, home.namespace, 3)
        home.create("c")
        assert home.refused("d")[:2] == (403, "Forbidden")
        home.api.delete(DOMAINS, "a", home.namespace)
        wait_until(
            lambda: home.api.get("resourcequotas", "compute-domains", home.namespace)["status"]["used"],
            lambda used: used == {counted: "2"},
            "one less is counted",
        )
        home.create("d")
