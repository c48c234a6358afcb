"""What a real API server refuses in pods whose template it admitted, and what is said of it (WL-252 to WL-255)."""

import pytest

from tests.cluster.api import ApiError, wait_until
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique
from tests.property.workload.refused_pod_cases import CASES


@pytest.mark.req("WL-253", "WL-254")
def test_wl252_the_server_refuses_what_is_warned_of(api_server: ControlPlane, namespace: str) -> None:
    api = api_server.api()
    for case in CASES:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": namespace}, "spec": case.spec}
        try:
            api.request("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", pod)
            refusal = ""
        except ApiError as error:
            refusal = error.message
        assert case.refusal in refusal, case.name
        assert bool(refusal) == bool(case.refusal) == bool(case.warned), case.name


def test_wl255_a_plan_says_what_the_server_refused(
    scene: Scene, control_plane: ControlPlane, operator: Operator
) -> None:
    manifest = scene.set_of(clique("worker", 2))
    del manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"]
    scene.api.create(manifest)
    wait_until(lambda: scene.events("RefusedBefore"), bool, "the refusal is reported")
    operator.stop()
    for command in (("plan",), ("explain", "pcs/llama")):
        ran = grove(*command, "--live", "-n", scene.namespace, kubeconfig=control_plane.kubeconfig("admin"))
        assert ran.returncode == 0, ran.stderr
        assert "the operator could not write its Pod" in ran.stdout
        assert "image: Required value" in ran.stdout
