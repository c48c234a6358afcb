"""Refused writes and foreign objects: reported, retried, and never taken over."""

from typing import Any

import pytest

from grove_core.resources.api_names import CLIQUE_FINALIZER, MANAGED_BY, OPERATOR
from grove_core.resources.labels import SET, SET_REPLICA
from tests.cluster.api import ApiError, Json, wait_until
from tests.cluster.operators import Operator, Starting
from tests.cluster.scenes import API_VERSION, Scene, clique, light

ADMISSION = "admissionregistration.k8s.io/v1"


def quota(scene: Scene, gpus: int) -> None:
    metadata = {"name": "gpus", "namespace": scene.namespace}
    spec = {"hard": {"requests.nvidia.com/gpu": str(gpus)}}
    scene.api.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec})
    wait_until(lambda: scene.get("resourcequotas", "gpus").get("status"), bool, "the quota is known")


class TestRefusals:
    """A quota, and an admission policy."""

    @pytest.mark.req("OP-020")
    def test_op015_a_quota_refuses_some_pods_of_a_batch(self, scene: Scene, operator: Operator) -> None:
        quota(scene, 3)
        scene.api.create(scene.set_of(clique("worker", 8, minimum=1)))
        line = operator.await_line("create Pod: refused")
        assert "exceeded quota: gpus" in line["detail"]
        assert line["set"] == f"{scene.namespace}/llama"
        kept = {pod["metadata"]["uid"] for pod in scene.await_ready(3)}
        reported = wait_until(lambda: scene.events("RefusedBefore"), bool, "it is reported")
        assert "exceeded quota: gpus" in reported[0]["note"]
        scene.api.create(scene.set_of(light("worker", 2), name="other"))
        scene.await_ready(2, "other-0-worker", seconds=10)
        refused = [event for event in operator.requests if event["responseStatus"]["code"] == 403]
        assert len(refused) < 30, "one, two, four at a time, later each time"
        scene.patch("resourcequotas", "gpus", {"spec": {"hard": {"requests.nvidia.com/gpu": "8"}}})
        pods = scene.await_ready(8, "llama-0-worker")
        assert kept <= {pod["metadata"]["uid"] for pod in pods}

    @pytest.mark.req("OP-020")
    def test_pl012_a_policy_refuses_a_kind_of_pod(self, scene: Scene, operator: Operator) -> None:
        forbid(scene, "pods", "!object.metadata.name.startsWith('bad-')", "no bad pods here")
        scene.api.create(scene.set_of(light("worker", 2), name="bad"))
        line = operator.await_line("create Pod: refused")
        assert "no bad pods here" in line["detail"]
        reported = wait_until(lambda: scene.events("RefusedBefore"), bool, "it is reported")
        assert "no bad pods here" in reported[0]["note"]
        scene.api.create(scene.set_of(light("worker", 2), name="good"))
        scene.await_ready(2, "good-0-worker", seconds=10)
        assert len(scene.events("RefusedBefore")) == len({each["note"] for each in scene.events("RefusedBefore")})

    @pytest.mark.req("WL-001")
    def test_op023_what_a_set_left_behind_is_let_go_of_as_often_as_it_takes(
        self, scene: Scene, operator: Operator
    ) -> None:
        """A clique of a deleted set; for a while only a policy forbids to change it."""
        labels = {SET.primary: "bad", SET_REPLICA.primary: "0", MANAGED_BY: OPERATOR}
        metadata = {"name": "bad-0-worker", "namespace": scene.namespace, "labels": labels}
        metadata |= {"finalizers": [CLIQUE_FINALIZER]}
        spec = clique("worker")["spec"]
        scene.api.create({"apiVersion": API_VERSION, "kind": "PodClique", "metadata": metadata, "spec": spec})
        forbid(scene, "podcliques", "!object.metadata.name.startsWith('bad-')", "it stays", operations=("UPDATE",))
        scene.api.delete("podcliques", "bad-0-worker", scene.namespace)
        reported = "dropFinalizer PodClique: refused"
        wait_until(lambda: operator.said(reported), lambda lines: len(lines) >= 3, "it is tried again")
        assert "it stays" in operator.said(reported)[0]["detail"]
        assert operator.said(reported)[0]["set"] == f"{scene.namespace}/bad"
        assert len(operator.said(reported)) < 8, "later each time"
        scene.api.delete("validatingadmissionpolicybindings", f"{scene.namespace}-policy")
        scene.await_gone("podcliques", "bad-0-worker")


def forbid(
    scene: Scene, resource: str, expression: str, message: str, *, operations: tuple[str, ...] = ("CREATE",)
) -> None:
    """An admission policy of this namespace; ready when it refuses, of pods their creation in any case."""
    name = f"{scene.namespace}-policy"
    rule = {
        "apiGroups": ["", "grove.io"],
        "apiVersions": ["*"],
        "operations": sorted({"CREATE", *operations}),
        "resources": sorted({"pods", resource}),
    }
    here = {"matchLabels": {"kubernetes.io/metadata.name": scene.namespace}}
    scene.api.create(
        {
            "apiVersion": ADMISSION,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [rule], "namespaceSelector": here},
                "validations": [{"expression": expression, "message": message}],
            },
        }
    )
    binding = {"policyName": name, "validationActions": ["Deny"]}
    scene.api.create(
        {
            "apiVersion": ADMISSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": binding,
        }
    )

    def refuses() -> bool:
        container = {"name": "main", "image": "example.com/main"}
        probe = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "bad-probe", "namespace": scene.namespace},
            "spec": {"containers": [container]},
        }
        try:
            scene.api.request("POST", f"/api/v1/namespaces/{scene.namespace}/pods?dryRun=All", probe)
        except ApiError as refused:
            return message in str(refused)
        return False

    wait_until(refuses, bool, "the policy refuses")


class TestOP011:
    """A creation MUST count as done if an object of the same controller has its name, and wait while that object is
    being deleted. It counts as refused if the name has another controller, or if a namespace, kind or admission webhook
    is missing.
    """

    def theirs(self, scene: Scene, kind: str, name: str, spec: Any, labels: dict[str, str] | None = None) -> Json:
        return scene.api.create(
            {
                "apiVersion": "v1" if kind == "Service" else API_VERSION,
                "kind": kind,
                "metadata": {"name": name, "namespace": scene.namespace, "labels": labels or {}},
                "spec": spec,
            }
        )

    @pytest.mark.req("OP-015")
    def test_op011_what_is_not_ours_is_never_taken_nor_deleted(self, scene: Scene, operator: Operator) -> None:
        service = self.theirs(scene, "Service", "llama-0", {"ports": [{"port": 80}]})
        spec = clique("router")["spec"]
        router = self.theirs(scene, "PodClique", "llama-0-router", spec)
        manifest = scene.set_of(clique("router"), clique("worker"), terminationDelay="2s")
        scene.api.create(manifest)
        for kind in ("Service", "PodClique"):
            line = operator.await_line(f"create {kind}: refused")
            assert "it belongs to another owner" in line["detail"]
        notes = wait_until(
            lambda: [reported["note"] for reported in scene.events("RefusedBefore")],
            lambda notes: (
                any("Service/llama-0" in note for note in notes)
                and any("PodClique/llama-0-router" in note for note in notes)
            ),
            "both are reported",
        )
        assert all("it belongs to another owner" in note for note in notes)
        scene.await_object("podcliques", "llama-0-worker", bool, "the other clique is made")
        assert not scene.pods(), "a gang that lacks a clique has no pods"
        scene.api.delete("podcliquesets", "llama", scene.namespace)
        scene.await_gone("podcliques", "llama-0-worker")
        scene.await_gone("podcliquesets", "llama")
        for found, resource in ((service, "services"), (router, "podcliques")):
            now = scene.get(resource, found["metadata"]["name"])
            assert now["metadata"]["uid"] == found["metadata"]["uid"]
            assert now["spec"] == found["spec"]
            assert "ownerReferences" not in now["metadata"]

    def test_op011_nor_what_only_carries_our_labels(self, scene: Scene, operator: Operator) -> None:
        """Of a replica that the set does not have: ours would be deleted."""
        labels = {
            "app.kubernetes.io/managed-by": "grove-operator",
            "app.kubernetes.io/part-of": "llama",
            "grove.io/podcliqueset-replica-index": "7",
        }
        service = self.theirs(scene, "Service", "llama-7", {"ports": [{"port": 80}]}, labels)
        router = self.theirs(scene, "PodClique", "llama-7-router", clique("router")["spec"], labels)
        scene.api.create(scene.set_of(clique("router")))
        scene.await_ready(1)
        scene.await_status(availableReplicas=1)
        scene.scale("podcliques", "llama-0-router", 2)
        scene.await_ready(2)
        for found, resource in ((service, "services"), (router, "podcliques")):
            now = scene.get(resource, found["metadata"]["name"])
            assert now["metadata"]["uid"] == found["metadata"]["uid"]
        assert not operator.writes(verb="delete")


class TestForbidden:
    """A kind that is not shown to the operator."""

    def test_op004_what_is_not_shown_is_unknown(self, scene: Scene, starting: Starting) -> None:
        """Nothing is made that may be there unseen, and nothing is ended."""
        resources = {
            "": ["pods", "serviceaccounts", "secrets", "events"],
            "grove.io": ["*"],
            "scheduler.grove.io": ["*"],
            "rbac.authorization.k8s.io": ["*"],
            "autoscaling": ["*"],
            "resource.k8s.io": ["*"],
        }
        rules = [{"apiGroups": [name], "resources": found, "verbs": ["*"]} for name, found in resources.items()]
        rbac = "rbac.authorization.k8s.io"
        metadata = {"name": "all-but-services", "namespace": scene.namespace}
        scene.api.create({"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": metadata, "rules": rules})
        scene.api.create(
            {
                "apiVersion": f"{rbac}/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "roleRef": {"apiGroup": rbac, "kind": "Role", "name": metadata["name"]},
                "subjects": [{"apiGroup": rbac, "kind": "User", "name": "viewer"}],
            }
        )
        operator = starting("viewer").start()
        line = operator.await_line("cannot follow", kind="Service")
        assert 'cannot list resource "services"' in line["error"]
        scene.api.create(scene.set_of(clique("router")))
        scene.await_ready(1)
        assert not scene.names("services")
