"""Manifests of sets and topologies, and the verdicts of admission on them."""

from typing import Any, Final

from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
Found = set[tuple[str, str]]
NAME: Final = "spec.template.clusterTopologyName"
TOP: Final = "spec.template.topologyConstraint"
OF_CLIQUE: Final = "spec.template.cliques[0].topologyConstraint"
OF_GROUP: Final = "spec.template.podCliqueScalingGroups[0].topologyConstraint"


def a_set(name: str = "", top: Any = None, group: Any = None, clique: Any = None) -> Json:
    """A valid set with constraints at some levels and a scheduler that reads PodGangs."""
    pod = {"containers": [{"name": "main", "image": "main:1"}], "schedulerName": "kai-scheduler"}
    member = clique_raw("b", pod_spec=pod)
    raw = set_raw(member, clique_raw("alone", pod_spec=pod), groups=({"name": "pool", "cliqueNames": ["b"]},))
    raw["apiVersion"], raw["kind"] = "grove.io/v1alpha1", "PodCliqueSet"
    template = raw["spec"]["template"]
    for place, value in ((template, top), (template["podCliqueScalingGroups"][0], group), (member, clique)):
        if value is not None:
            place["topologyConstraint"] = {"packDomain": value} if isinstance(value, str) else value
    if name:
        template["clusterTopologyName"] = name
    return raw


CREATED: Final[tuple[tuple[Json, Found], ...]] = (
    (a_set(), set()),
    (a_set("aws-p5", "rack"), set()),
    (a_set("", "rack"), set()),
    (a_set("", None, "rack", "host"), set()),
    (a_set("aws-p4", "rack"), {(NAME, "TP-060")}),
    (a_set("leaving", "rack"), {(NAME, "TP-061")}),
    (a_set("aws-p5"), {(NAME, "TP-063")}),
    (a_set("", "block"), {(f"{TOP}.packDomain", "TP-065")}),
    (
        a_set("aws-p5", {"pack": {"required": "rac", "preferred": "x"}}),
        {(f"{TOP}.pack.required", "TP-065"), (f"{TOP}.pack.preferred", "TP-065")},
    ),
    (a_set("", "rack", "zone"), {(f"{OF_GROUP}.packDomain", "TP-066")}),
    (a_set("", "host", None, "rack"), {(f"{OF_CLIQUE}.packDomain", "TP-066")}),
    (a_set("", "host", {"pack": {"preferred": "zone"}}, "rack"), {(f"{OF_CLIQUE}.packDomain", "TP-066")}),
    (a_set("", "zone", "rack", "rack"), set()),
    (
        a_set("", {"pack": {"preferred": "rack"}}, {"pack": {"preferred": "zone"}}),
        {(f"{OF_GROUP}.pack.preferred", "TP-066")},
    ),
    (a_set("", {}), {(TOP, "TP-067")}),
    (a_set("", {"packDomain": "rack", "pack": {"required": "host"}}), {(f"{TOP}.packDomain", "TP-068")}),
    (a_set("aws-p5", {"packDomain": "rack", "topologyName": "flat"}), {(f"{TOP}.topologyName", "TP-070")}),
    (a_set("", {"packDomain": "rack", "topologyName": "aws-p4"}), {(f"{TOP}.topologyName", "TP-060")}),
)


# manifests of topologies


def raw_topology(name: str, *levels: tuple[str, str], **meta: Any) -> Json:
    spec = {"levels": [{"domain": domain, "key": key} for domain, key in levels]}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": name, **meta},
        "spec": spec,
    }
