"""What pods require, and which nodes they do not fit on (TP-103 to TP-106)."""

from typing import Any, Final

import pytest

from grove_core.kernel.errors import MalformedObject
from grove_core.resources.node import node_from_json, pod_demand_mismatch_reason
from grove_core.resources.pod_demand import pod_demand_of, resource_amount_text

Json = dict[str, Any]


def node(*, labels: Json | None = None, spec: Json | None = None, **status: Any) -> Json:
    return {"metadata": {"name": "n1", "labels": labels or {}}, "spec": spec or {}, "status": status}


def asks(**resources: Any) -> Json:
    return {"resources": {"requests": resources}}


def amounts(spec: Json) -> dict[str, int]:
    return dict(pod_demand_of(spec).amounts)


@pytest.mark.req("TP-103")
class TestRequestsOfAPod:
    """A pod MUST ask, in every resource that it names, for the sum of its containers and sidecars or for the most that
    its init containers need before, with its overhead added.
    """

    def test_containers_are_summed_and_limits_are_requests(self) -> None:
        limited = {"resources": {"limits": {"nvidia.com/gpu": "8", "cpu": 4}, "requests": {"cpu": "500m"}}}
        found = pod_demand_of({"containers": [limited, asks(cpu="1.5", memory="1Ki")]})
        assert found.amounts == (
            ("nvidia.com/gpu", 8000),
            ("cpu", 2000),
            ("memory", 1024_000),
            ("pods", 1000),
        )

    def test_what_starts_before_takes_what_it_needs_most(self) -> None:
        spec = {
            "initContainers": [
                asks(cpu="1"),
                asks(cpu="2") | {"restartPolicy": "Always"},
                asks(cpu="7", memory="1"),
            ],
            "containers": [asks(cpu="3")],
        }
        assert amounts(spec) == {"cpu": 9000, "memory": 1000, "pods": 1000}
        spec["containers"] = [asks(cpu="8")]
        assert amounts(spec)["cpu"] == 10_000

    def test_what_is_said_of_the_pod_counts_for_it_and_the_overhead_beside(self) -> None:
        spec = {
            "resources": {"requests": {"cpu": "2", "hugepages-2Mi": "4Mi", "ephemeral-storage": "9"}},
            "containers": [asks(cpu="8", memory="64")],
            "overhead": {"cpu": "250m"},
        }
        assert amounts(spec) == {"cpu": 2250, "hugepages-2Mi": 4 * 2**20 * 1000, "memory": 64_000, "pods": 1000}

    @pytest.mark.parametrize(
        ("resource", "thousandths", "text"),
        [
            ("nvidia.com/gpu", 16_000, "16 nvidia.com/gpu"),
            ("cpu", 500, "0.5 cpu"),
            ("memory", 64 * 2**30 * 1000, "64Gi memory"),
            ("memory", 12_000, "12 memory"),
            ("hugepages-2Mi", 4 * 2**20 * 1000, "4Mi hugepages-2Mi"),
            ("ephemeral-storage", 3 * 2**40 * 1000, "3Ti ephemeral-storage"),
        ],
    )
    def test_amounts_are_reported_as_people_write_them(self, resource: str, thousandths: int, text: str) -> None:
        assert resource_amount_text(resource, thousandths) == text


AFFINITY: Final = "requiredDuringSchedulingIgnoredDuringExecution"
CLAIM: Final = {"persistentVolumeClaim": {"claimName": "x"}}


@pytest.mark.parametrize(
    ("spec", "unchecked"),
    [
        ({}, ()),
        ({"affinity": {"podAffinity": {AFFINITY: [{}]}}}, ("pod affinity",)),
        ({"affinity": {"podAntiAffinity": {AFFINITY: [{}]}}}, ("pod anti-affinity",)),
        ({"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}}}, ()),
        ({"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]}, ("spread constraints",)),
        ({"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}, ()),
        ({"tolerations": [{"key": "k", "operator": "Gt", "value": "3"}]}, ("tolerations by comparison",)),
        ({"nodeName": "n7"}, ("a node by name",)),
        ({"resourceClaims": [{"name": "x"}]}, ("resource claims",)),
        ({"volumes": [{"name": "v", **CLAIM}]}, ("persistent volumes",)),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, ()),
        ({"containers": [{"ports": [{"hostPort": 80}]}]}, ("ports of the host",)),
        ({"initContainers": [{"ports": [{"hostPort": 80}], "restartPolicy": "Always"}]}, ("ports of the host",)),
        ({"initContainers": [{"ports": [{"hostPort": 80}]}]}, ()),
        ({"volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "x"}}]}, ("persistent volumes",)),
        ({"volumes": [{"name": "v", "configMap": {}}, {"name": "w", "hostPath": {}}]}, ()),
        ({"hostNetwork": True}, ("ports of the host",)),
        ({"containers": [asks(cpu="many")]}, ('containers[0].resources.requests.cpu: "many"',)),
        ({"containers": [asks(cpu="-1")]}, ('containers[0].resources.requests.cpu: "-1"',)),
    ],
)
def test_tp106_what_is_not_looked_at_is_named(spec: Json, unchecked: tuple[str, ...]) -> None:
    assert pod_demand_of(spec).unchecked == unchecked


@pytest.mark.req("TP-103")
class TestCapacity:
    def test_allocatable_counts_and_else_capacity(self) -> None:
        found = node_from_json(node(allocatable={"cpu": "4"}, capacity={"cpu": "6", "memory": "1"}))
        assert (found.name, found.amounts) == ("n1", {"cpu": 4000})
        assert node_from_json(node(capacity={"cpu": "1e1"})).amounts == {"cpu": 10_000}
        assert node_from_json(node()).amounts == {}

    def test_every_problem_of_a_node_is_found(self) -> None:
        raw = node(labels={"rack": 7}, spec={"taints": [{"effect": 1}]}, allocatable={"cpu": "some", "memory": ".5"})
        raw["metadata"]["name"] = ""
        with pytest.raises(MalformedObject) as found:
            node_from_json(raw)
        assert {problem.path for problem in found.value.problems} == {
            "metadata.name",
            "metadata.labels.rack",
            "spec.taints[0].effect",
            "status.allocatable.cpu",
        }


TAINTED: Final = {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}
CALM: Final[Json] = {"type": "MemoryPressure", "status": "False"}
NOT_READY: Final = [CALM, {"type": "Ready", "status": "Unknown"}]
GONE: Final = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}


def turned_away(raw: Json, spec: Json) -> str:
    return pod_demand_mismatch_reason(node_from_json(raw), pod_demand_of(spec))


@pytest.mark.parametrize(
    ("toleration", "taint"),
    [
        (None, "gpu"),
        ({"operator": "Exists"}, ""),
        ({"key": "gpu", "operator": "Exists"}, ""),
        ({"key": "gpu", "value": "yes"}, ""),
        ({"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}, ""),
        ({"key": "gpu", "operator": "Gt", "value": "yes"}, ""),
        ({"key": "gpu", "value": "no"}, "gpu"),
        ({"key": "cpu", "operator": "Exists"}, "gpu"),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, "gpu"),
        ({"value": "yes"}, "gpu"),
    ],
)
def test_tp103_taints_that_are_not_tolerated(toleration: Json | None, taint: str) -> None:
    spec = {"tolerations": [toleration]} if toleration else {}
    assert turned_away(node(spec=TAINTED), spec) == (f"the taint {taint}" if taint else "")


@pytest.mark.parametrize(
    ("raw", "taint"),
    [
        (node(spec={"unschedulable": True}), "node.kubernetes.io/unschedulable"),
        (node(conditions=NOT_READY), "node.kubernetes.io/not-ready"),
        (node(spec=GONE, conditions=NOT_READY), "node.kubernetes.io/unreachable"),
        (node(conditions=[{"type": "Ready", "status": "True"}]), ""),
        (node(spec={"taints": [{"key": "soft", "effect": "PreferNoSchedule"}]}), ""),
    ],
)
def test_tp103_an_object_that_is_cordoned_or_not_ready_is_tainted(raw: Json, taint: str) -> None:
    assert turned_away(raw, {}) == (f"the taint {taint}" if taint else "")
    assert len(node_from_json(raw).taints) == bool(taint)


def test_tp103_a_node_selector() -> None:
    raw = node(labels={"rack": "r1", "odd": "x"})
    assert turned_away(raw, {"nodeSelector": {"rack": "r1"}}) == ""
    assert turned_away(raw, {"nodeSelector": {"rack": "r2"}}) == "their node selector"
    assert turned_away(raw, {"nodeSelector": {"zone": ""}}) == "their node selector"


@pytest.mark.parametrize(
    ("terms", "fits"),
    [
        ([{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1", "r2"]}]}], True),
        ([{"matchExpressions": [{"key": "rack", "operator": "NotIn", "values": ["r1"]}]}], False),
        ([{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}], True),
        ([{"matchExpressions": [{"key": "rack", "operator": "Exists"}]}], True),
        ([{"matchExpressions": [{"key": "rack", "operator": "DoesNotExist"}]}], False),
        ([{"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["3"]}]}], True),
        ([{"matchExpressions": [{"key": "gen", "operator": "Lt", "values": ["-3"]}]}], False),
        ([{"matchExpressions": [{"key": "rack", "operator": "Gt", "values": ["3"]}]}], False),
        ([{"matchExpressions": [{"key": "gen", "operator": "Gt", "values": []}]}], False),
        ([{"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["+03"]}]}], True),
        ([{"matchExpressions": [{"key": "gen", "operator": "Lt", "values": [str(2**63 - 1)]}]}], True),
        ([{"matchExpressions": [{"key": "gen", "operator": "Lt", "values": [str(2**63)]}]}], False),
        ([{"matchExpressions": [{"key": "gen", "operator": "Gt", "values": [str(-(2**63))]}]}], True),
        ([{"matchExpressions": [{"key": "gen", "operator": "Gt", "values": [str(-(2**63) - 1)]}]}], False),
        ([{"matchExpressions": [{"key": "gen", "operator": "Lt", "values": ["9" * 5000]}]}], False),
        ([{"matchExpressions": [{"key": "gen", "operator": "Lt", "values": ["0" * 5000 + "9"]}]}], True),
        ([{"matchExpressions": [{"key": "long", "operator": "Gt", "values": ["3"]}]}], False),
        ([{"matchExpressions": [{"key": "gen", "operator": "Like", "values": ["4"]}]}], False),
        ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}], True),
        ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}], False),
        ([{}, {"matchExpressions": [{"key": "rack", "operator": "Exists"}]}], True),
        ([{}], False),
        ([], False),
    ],
)
def test_tp103_a_required_node_affinity(terms: list[Json], fits: bool) -> None:
    spec = {"affinity": {"nodeAffinity": {AFFINITY: {"nodeSelectorTerms": terms}}}}
    said = turned_away(node(labels={"rack": "r1", "gen": "4", "long": "9" * 5000}), spec)
    assert said == ("" if fits else "their node affinity")
