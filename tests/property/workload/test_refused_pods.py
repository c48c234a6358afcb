"""Pod templates that the API server would refuse as pods (WL-252 to WL-254), also on a real one (tests/cluster)."""

from typing import Any

import pytest

from grove_core.areas.workload.admission.template_warnings import refused_pod_warnings
from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.podcliqueset_manifest import read_podcliqueset_manifest
from tests.property.workload.refused_pod_cases import CASES, PodCase
from tests.property.workload.sets import clique_raw, set_raw


def warned(spec: dict[str, Any]) -> list[tuple[str, str]]:
    manifest, _ = read_podcliqueset_manifest(FrozenMap.view_of(set_raw(clique_raw("a", pod_spec=spec))))
    assert manifest is not None
    prefix = "spec.template.cliques[0].spec.podSpec."
    return [(one.rule.requirement, one.path.removeprefix(prefix)) for one in refused_pod_warnings(manifest)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.req("WL-253", "WL-254")
def test_wl252_what_the_api_server_refuses_is_warned_of(case: PodCase) -> None:
    assert warned(case.spec) == list(case.warned)


def test_wl253_what_is_no_quantity_is_for_the_schema() -> None:
    resources = {"requests": {"nvidia.com/gpu": "two"}, "limits": {"nvidia.com/gpu": 2}}
    assert warned({"containers": [{"name": "main", "image": "x", "resources": resources}]}) == []
    swapped = {"requests": resources["limits"], "limits": resources["requests"]}
    assert warned({"containers": [{"name": "main", "image": "x", "resources": swapped}]}) == []
