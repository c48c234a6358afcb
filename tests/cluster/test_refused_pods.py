"""What a real API server refuses in pods whose template it admitted (WL-252 to WL-254)."""

import pytest

from tests.cluster.api import ApiError
from tests.cluster.plane import ControlPlane
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
