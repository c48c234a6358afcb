"""The operator does what ``grove plan --live`` printed before."""

import json

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import Operator, Starting, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.predicting import done, predicted
from tests.cluster.scenes import Scene, clique, group


@pytest.fixture
def kinds(scene: Scene) -> dict[str, str]:
    """Kind of each resource that the operator writes."""
    names = (
        "pods", "services", "serviceaccounts", "secrets", "roles", "rolebindings",
        "podcliques", "podcliquescalinggroups", "podgangs",
    )  # fmt: skip
    return {name: scene.api.resource(name).kind for name in names}


def the_set(scene: Scene) -> Json:
    pool = group("pool", "leader", "worker", replicas=2)
    cliques = (clique("router"), clique("leader"), clique("worker", 2))
    return scene.set_of(*cliques, podCliqueScalingGroups=[pool], terminationDelay="4s")


class TestWhatIsPlannedHappens:
    """One core decides for both."""

    @pytest.mark.req("CL-011")
    def test_gt033_an_end_and_what_comes_after_it(
        self, grove_plane: ControlPlane, scene: Scene, starting: Starting, kinds: dict[str, str]
    ) -> None:
        """First a set that is only a file, then its router for good; both plans are made without a question."""
        manifest = grove_plane.folder / f"{scene.namespace}.json"
        manifest.write_text(json.dumps(the_set(scene)), encoding="utf-8")
        plan = predicted(grove_plane, scene, "-f", str(manifest))
        assert plan["create", "Pod", "llama-0-pool-1-worker"] == 2
        operator = starting().start()
        scene.api.create(the_set(scene))
        scene.await_ready(7)
        scene.await_status(availableReplicas=1)
        assert done(operator, kinds) == plan

        assert operator.stop() == 0
        before = len(operator.writes())
        scene.annotate_pods("llama-0-router", not_ready="true")
        operator.start()
        scene.await_object("podcliques", "llama-0-router", lambda found: "True" in str(found["status"]), "breached")
        operator.pause()  # so that nothing has ended yet, however long the plan takes
        plan = predicted(grove_plane, scene, "--until", "1m")
        assert {name for verb, _, name in plan if verb == "delete"} == set(scene.names("podcliques"))
        operator.go_on()
        operator.await_line("delete PodClique: done")
        scene.await_ready(7)
        assert done(operator, kinds, before) == plan

    def test_gt024_what_a_viewer_does_not_see_is_said(
        self, grove_plane: ControlPlane, scene: Scene, operator: Operator
    ) -> None:
        scene.api.create(the_set(scene))
        scene.await_ready(7)
        rbac = "rbac.authorization.k8s.io"
        grove_kinds = {"apiGroups": ["grove.io", "scheduler.grove.io"], "resources": ["*"], "verbs": ["list"]}
        metadata = {"name": "seeing-some", "namespace": scene.namespace}
        scene.api.create({"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": metadata, "rules": [grove_kinds]})
        scene.api.create(
            {
                "apiVersion": f"{rbac}/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "seeing-some"},
                "subjects": [{"apiGroup": rbac, "kind": "User", "name": "viewer"}],
            }
        )
        asked = ("plan", "--live", "-n", scene.namespace)
        kubeconfig = grove_plane.kubeconfig("viewer")
        ran = wait_until(
            lambda: grove(*asked, kubeconfig=kubeconfig), lambda ran: ran.returncode == 0, "the viewer may list"
        )
        for kind in ("pods", "services"):
            assert f'cannot list resource "{kind}"' in " ".join(ran.stdout.split())
        document = json.loads(grove(*asked, "-o", "json", kubeconfig=kubeconfig).stdout)
        assert {f"Pod in {scene.namespace}", f"Service in {scene.namespace}"} <= set(document["notCollected"])
        assert not [step for plan in document["plans"] for reported in plan["rounds"] for step in reported["steps"]]
