"""The specs of Grove's kinds: that of a set from its model, the others from parts of it or by hand."""

from typing import Final

from grove_core.resources.template import CliqueSpec, GroupTemplate, SetSpec
from grove_shell.manifests.field_descriptions import explain_clique, explain_group, explain_set
from grove_shell.manifests.schemas import (
    Json,
    array_schema,
    integer_schema,
    object_type,
    pod_spec,
    schema_of_model,
    string_schema,
    subschema,
)
from grove_shell.manifests.validation_rules import ORDERED_LISTS, REQUIRED, RULES

_DOMAIN: Final = {"minLength": 1, "maxLength": 63}


def set_spec_schema() -> Json:
    """``spec`` of a PodCliqueSet, with every rule that the API server can check."""
    spec = schema_of_model(SetSpec)
    template = subschema(spec, "template")["properties"]
    clique, group = template["cliques"]["items"], template["podCliqueScalingGroups"]["items"]
    for level in (template, clique["properties"], group["properties"]):
        level["topologyConstraint"] = topology_constraint()
    del subschema(spec, "template.cliques[].resourceSharing[]")["properties"]["filter"]
    shared = subschema(spec, "template.podCliqueScalingGroups[].resourceSharing[].filter")
    del shared["properties"]["childScalingGroupNames"]
    clique["properties"]["spec"]["properties"]["podSpec"] = pod_spec()
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
        rule.add_to(subschema(spec, rule.path) if rule.path else spec)
    explain_set(spec)
    return spec


def clique_spec_schema() -> Json:
    """``spec`` of a PodClique: what a set's template has for it, with full names in ``startsAfter``."""
    spec = schema_of_model(CliqueSpec)
    spec["properties"]["podSpec"] = pod_spec()
    spec["properties"]["replicas"]["minimum"] = 0
    spec["required"] = ["podSpec", "roleName"]
    explain_clique(spec)
    return spec


def group_spec_schema() -> Json:
    """``spec`` of a PodCliqueScalingGroup."""
    own = schema_of_model(GroupTemplate)["properties"]
    properties = {name: own[name] for name in ("replicas", "minAvailable", "cliqueNames")}
    properties["replicas"]["minimum"] = 0
    spec = object_type(properties, ("cliqueNames",))
    explain_group(spec)
    return spec


def gang_spec_schema() -> Json:
    """``spec`` of a PodGang; its constraints speak of keys of node labels, not of domains."""
    reference = object_type({"namespace": string_schema(), "name": string_schema()}, ("namespace", "name"))
    constraint = object_type(
        {"packConstraint": object_type({"required": string_schema(), "preferred": string_schema()})}
    )
    group = object_type(
        {
            "name": string_schema(),
            "podReferences": array_schema(reference),
            "minReplicas": integer_schema(),
            "topologyConstraint": constraint,
        },
        ("name", "podReferences", "minReplicas"),
    )
    together = object_type(
        {"name": string_schema(), "podGroupNames": array_schema(string_schema()), "topologyConstraint": constraint},
        ("name", "podGroupNames"),
    )
    return object_type(
        {
            "podgroups": array_schema(group, "name"),
            "topologyConstraint": constraint,
            "topologyConstraintGroupConfigs": array_schema(together, "name"),
            "priorityClassName": string_schema(),
            "reuseReservationRef": object_type({"namespace": string_schema(), "name": string_schema()}),
        },
        ("podgroups",),
    )


def topology_constraint() -> Json:
    """``topologyConstraint`` of a set, a clique or a scaling group: stored for the schedulers that read it."""
    domain = string_schema(**_DOMAIN)
    pack = object_type({"required": dict(domain), "preferred": dict(domain)})
    return object_type({"topologyName": string_schema(maxLength=253), "pack": pack, "packDomain": domain})
