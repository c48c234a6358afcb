"""The specs of Grove's kinds, with descriptions of their fields for ``kubectl explain`` (MF-001).

That of a set is made from its model, the others from parts of it or by hand.
"""

from collections.abc import Mapping
from typing import Final

from grove_core.resources.podcliqueset_spec import CliqueSpec, GroupTemplate, SetSpec
from grove_shell.manifests.schemas import (
    Json,
    array_schema,
    integer_schema,
    pod_spec_schema,
    schema_of_fields,
    schema_of_model,
    string_schema,
    subschema,
)
from grove_shell.manifests.validation_rules import ORDERED_LISTS, REQUIRED, RULES

_CLIQUES: Final = "template.cliques[]"
_GROUPS: Final = "template.podCliqueScalingGroups[]"

_SHARING: Final[Mapping[str, str]] = {
    "name": "An entry of resourceClaimTemplates, or else a ResourceClaimTemplate.",
    "namespace": "Where the ResourceClaimTemplate is; that of the set if empty.",
    "scope": "One claim for all replicas, or one for each.",
}
_SCALING: Final[Mapping[str, str]] = {
    "minReplicas": "At least so many, and not fewer than minAvailable; replicas if left out.",
    "maxReplicas": "At most so many.",
    "metrics": "What to scale by, as a HorizontalPodAutoscaler (autoscaling/v2) has it.",
}
_OF_CLIQUE: Final[Mapping[str, str]] = {
    "roleName": "What the pods do; no two cliques of a set have the same role.",
    "podSpec": "The pods of the clique.",
    "replicas": "How many pods the clique begins with.",
    "minAvailable": "With fewer ready pods the clique is breached; all of them if left out. Never changes.",
    "startsAfter": "Cliques whose pods are ready before those of this one start; for CliqueStartupTypeExplicit.",
    "autoScalingConfig": "Scales the clique by itself; not for members of a scaling group.",
    **{f"autoScalingConfig.{name}": sentence for name, sentence in _SCALING.items()},
}
_OF_GROUP: Final[Mapping[str, str]] = {
    "replicas": "How many times the group's cliques exist to begin with, in each replica of the set.",
    "minAvailable": "With fewer replicas that are not breached the group is; what is beyond is placed by itself.",
    "cliqueNames": "Its cliques, each in one group only. Never changes.",
}
EXPLANATIONS: Final[Mapping[str, str]] = {
    "replicas": "How many times the whole template exists.",
    "updateStrategy": "How a changed template reaches pods that run.",
    "updateStrategy.type": "RollingRecreate replaces pods, never below minAvailable; OnDelete leaves that to you.",
    "template": "What each replica of the set consists of.",
    "template.cliques": "Cliques of equal pods, at least one. None comes or goes later.",
    f"{_CLIQUES}.name": "Part of the names of PodCliques and pods; at most 45 characters with the names above it.",
    f"{_CLIQUES}.labels": "Labels of the PodCliques and their pods.",
    f"{_CLIQUES}.annotations": "Annotations of the PodCliques and their pods.",
    f"{_CLIQUES}.resourceSharing": "Claims that the pods of each of these PodCliques share.",
    **{f"{_CLIQUES}.resourceSharing[].{name}": sentence for name, sentence in _SHARING.items()},
    f"{_CLIQUES}.spec": "What is the same for every PodClique of this template.",
    **{f"{_CLIQUES}.spec.{name}": sentence for name, sentence in _OF_CLIQUE.items()},
    "template.cliqueStartupType": "Cliques start in any order, each after the one before it, or as startsAfter says.",
    "template.priorityClassName": "Priority of the gangs and all their pods.",
    "template.headlessServiceConfig": "The Service by which pods of one replica find each other.",
    "template.headlessServiceConfig.publishNotReadyAddresses": "Whether pods are found before they are ready.",
    "template.terminationDelay": "How long a gang may stay breached before it is ended, e.g. 4h; never, if left out.",
    "template.resourceClaimTemplates": "Templates of claims that resourceSharing names.",
    "template.resourceClaimTemplates[].name": "What resourceSharing calls it.",
    "template.resourceClaimTemplates[].templateSpec": "As the spec of a ResourceClaimTemplate has it.",
    "template.resourceSharing": "Claims that pods of the whole set share.",
    **{f"template.resourceSharing[].{name}": sentence for name, sentence in _SHARING.items()},
    "template.resourceSharing[].filter": "Cliques and scaling groups that take part; all of them, if left out.",
    "template.resourceSharing[].filter.childCliqueNames": "Cliques that take part.",
    "template.resourceSharing[].filter.childScalingGroupNames": "Scaling groups whose cliques take part.",
    "template.podCliqueScalingGroups": "Cliques that are scaled together. None comes or goes later.",
    f"{_GROUPS}.name": "Part of the names of what it becomes.",
    f"{_GROUPS}.annotations": "Annotations of the PodCliqueScalingGroups.",
    **{f"{_GROUPS}.{name}": sentence for name, sentence in _OF_GROUP.items()},
    f"{_GROUPS}.terminationDelay": "A delay of its own; only where the template has one.",
    f"{_GROUPS}.scaleConfig": "Scales the group.",
    **{f"{_GROUPS}.scaleConfig.{name}": sentence for name, sentence in _SCALING.items()},
    f"{_GROUPS}.resourceSharing": "Claims that pods of one PodCliqueScalingGroup share.",
    **{f"{_GROUPS}.resourceSharing[].{name}": sentence for name, sentence in _SHARING.items()},
    f"{_GROUPS}.resourceSharing[].filter": "Cliques and scaling groups that take part; all of them, if left out.",
    f"{_GROUPS}.resourceSharing[].filter.childCliqueNames": "Cliques of the group that take part.",
    "template.clusterTopologyName": "The ClusterTopology that constraints speak of; grove-topology, if left out.",
    **{
        f"{level}.topologyConstraint": "Where in the topology of the cluster its pods are packed."
        for level in ("template", _CLIQUES, _GROUPS)
    },
}
_DOMAIN: Final = {"minLength": 1, "maxLength": 63}


def describe_podcliqueset_fields(spec: Json) -> None:
    """Add the descriptions to the spec of a PodCliqueSet."""
    _explain(spec, EXPLANATIONS)


def describe_clique_fields(spec: Json) -> None:
    """Add the descriptions to the spec of a PodClique."""
    _explain(spec, _OF_CLIQUE)


def describe_scaling_group_fields(spec: Json) -> None:
    """Add the descriptions to the spec of a PodCliqueScalingGroup."""
    _explain(spec, _OF_GROUP)


def _explain(spec: Json, sentences: Mapping[str, str]) -> None:
    for path, sentence in sentences.items():
        subschema(spec, path)["description"] = sentence


def podcliqueset_spec_schema() -> Json:
    """``spec`` of a PodCliqueSet, with every rule that the API server can check."""
    spec = schema_of_model(SetSpec)
    template = subschema(spec, "template")["properties"]
    clique, group = template["cliques"]["items"], template["podCliqueScalingGroups"]["items"]
    for level in (template, clique["properties"], group["properties"]):
        level["topologyConstraint"] = topology_constraint_schema()
    del subschema(spec, "template.cliques[].resourceSharing[]")["properties"]["filter"]
    shared = subschema(spec, "template.podCliqueScalingGroups[].resourceSharing[].filter")
    del shared["properties"]["childScalingGroupNames"]
    clique["properties"]["spec"]["properties"]["podSpec"] = pod_spec_schema()
    template["headlessServiceConfig"]["default"] = {"publishNotReadyAddresses": True}
    pod = subschema(spec, "template.cliques[].spec.podSpec")["properties"]
    pod["restartPolicy"]["default"] = "Always"
    pod["terminationGracePeriodSeconds"]["default"] = 30
    for path, keys in ORDERED_LISTS.items():
        subschema(spec, path).update({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)})
    for path, names in REQUIRED.items():
        part = subschema(spec, path)
        part["required"] = sorted({*part.get("required", ()), *names})
    for rule in RULES:
        rule.add_to_schema(subschema(spec, rule.path) if rule.path else spec)
    describe_podcliqueset_fields(spec)
    return spec


def clique_spec_schema() -> Json:
    """``spec`` of a PodClique: what a set's template has for it, with full names in ``startsAfter``."""
    spec = schema_of_model(CliqueSpec)
    spec["properties"]["podSpec"] = pod_spec_schema()
    spec["properties"]["replicas"]["minimum"] = 0
    spec["required"] = ["podSpec", "roleName"]
    describe_clique_fields(spec)
    return spec


def scaling_group_spec_schema() -> Json:
    """``spec`` of a PodCliqueScalingGroup."""
    own = schema_of_model(GroupTemplate)["properties"]
    properties = {name: own[name] for name in ("replicas", "minAvailable", "cliqueNames")}
    properties["replicas"]["minimum"] = 0
    spec = schema_of_fields(properties, ("cliqueNames",))
    describe_scaling_group_fields(spec)
    return spec


def gang_spec_schema() -> Json:
    """``spec`` of a PodGang; its constraints speak of keys of node labels, not of domains."""
    reference = schema_of_fields({"namespace": string_schema(), "name": string_schema()}, ("namespace", "name"))
    constraint = schema_of_fields(
        {"packConstraint": schema_of_fields({"required": string_schema(), "preferred": string_schema()})}
    )
    group = schema_of_fields(
        {
            "name": string_schema(),
            "podReferences": array_schema(reference),
            "minReplicas": integer_schema(),
            "topologyConstraint": constraint,
        },
        ("name", "podReferences", "minReplicas"),
    )
    together = schema_of_fields(
        {"name": string_schema(), "podGroupNames": array_schema(string_schema()), "topologyConstraint": constraint},
        ("name", "podGroupNames"),
    )
    return schema_of_fields(
        {
            "podgroups": array_schema(group, "name"),
            "topologyConstraint": constraint,
            "topologyConstraintGroupConfigs": array_schema(together, "name"),
            "priorityClassName": string_schema(),
            "reuseReservationRef": schema_of_fields({"namespace": string_schema(), "name": string_schema()}),
        },
        ("podgroups",),
    )


def topology_constraint_schema() -> Json:
    """``topologyConstraint`` of a set, a clique or a scaling group: stored for the schedulers that read it."""
    domain = string_schema(**_DOMAIN)
    pack = schema_of_fields({"required": dict(domain), "preferred": dict(domain)})
    return schema_of_fields({"topologyName": string_schema(maxLength=253), "pack": pack, "packDomain": domain})
