"""Saved plans keep the topology settings and the reasons for the constraints of PodGangs."""

import json

import pytest

from grove_core.areas.topology.rules import TopologyReason
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import one_round_forecast
from grove_core.reconcile import reconcile
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.configuration import Configuration
from tests.property.topology.sets_with_constraints import ON, topology, unplaced_set, with_bound_pod, with_topologies
from tests.property.workload.sets import NOW


@pytest.mark.req("CL-011")
def test_tp030_a_plan_can_be_read_back_from_json() -> None:
    seen = with_topologies(
        with_bound_pod(unplaced_set(topology(DEFAULT_TOPOLOGY))), topology(DEFAULT_TOPOLOGY, ("zone", "z"))
    )
    forecast = one_round_forecast(reconcile(seen), NOW)
    assert TopologyReason.TOPOLOGY_TROUBLE in {
        reason.rule for step in forecast.rounds[0].steps for reason in step.because
    }
    document = PlanDocument(rules="design", as_of=NOW, not_collected=(), forecasts=(forecast,), configuration=ON)
    raw = json.loads(json.dumps(plan_document_as_json(document, decisions=True)))
    assert plan_document_from_json(raw) == document
    off = replace(document, configuration=Configuration())
    assert plan_document_from_json(json.loads(json.dumps(plan_document_as_json(off, decisions=True)))) == off

    for broken in (7, {"enabled": "yes", "levels": []}, {"enabled": True, "levels": [{"domain": 1, "key": "k"}]}):
        raw["configuration"]["topologyAwareScheduling"] = broken
        with pytest.raises(MalformedObject):
            plan_document_from_json(raw)
