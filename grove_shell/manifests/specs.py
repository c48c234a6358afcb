"""The specs of Grove's kinds: that of a set from its model, the others from parts of it or by hand."""

from typing import Final

from grove_core.resources.template import CliqueSpec, GroupTemplate, SetSpec
from grove_shell.manifests.explanations import explain_clique, explain_group, explain_set
from grove_shell.manifests.rules import ORDERED_LISTS, REQUIRED, RULES
from grove_shell.manifests.structural import (
    Json,
    fields,
    many,
    number,
    part_at,
    pod_spec,
    schema_of,
    text,
)

_DOMAIN: Final = {"minLength": 1, "maxLength": 63}


def set_spec() -> Json:
    """``spec`` of a PodCliqueSet, with every rule that the API server can check."""
    spec = schema_of(SetSpec)
    template = part_at(spec, "template")["properties"]
    clique, group = template["cliques"]["items"], template["podCliqueScalingGroups"]["items"]
    for level in (template, clique["properties"], group["properties"]):
        level["topologyConstraint"] = topology_constraint()
    del part_at(spec, "template.cliques[].resourceSharing[]")["properties"]["filter"]
    shared = part_at(spec, "template.podCliqueScalingGroups[].resourceSharing[].filter")
    del shared["properties"]["childScalingGroupNames"]
    clique["properties"]["spec"]["properties"]["podSpec"] = pod_spec()
    template["headlessServiceConfig"]["default"] = {"publishNotReadyAddresses": True}
    pod = part_at(spec, "template.cliques[].spec.podSpec")["properties"]
    pod["restartPolicy"]["default"] = "Always"
    pod["terminationGracePeriodSeconds"]["default"] = 30
    for path, keys in ORDERED_LISTS.items():
        part_at(spec, path).update({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)})
    for path, names in REQUIRED.items():
        part = part_at(spec, path)
        part["required"] = sorted({*part.get("required", ()), *names})
    for rule in RULES:
        rule.add_to(part_at(spec, rule.path) if rule.path else spec)
    explain_set(spec)
    return spec


def clique_spec() -> Json:
    """``spec`` of a PodClique: what a set's template has for it, with full names in ``startsAfter``."""
    spec = schema_of(CliqueSpec)
    spec["properties"]["podSpec"] = pod_spec()
    spec["properties"]["replicas"]["minimum"] = 0
    spec["required"] = ["podSpec", "roleName"]
    explain_clique(spec)
    return spec


def group_spec() -> Json:
    """``spec`` of a PodCliqueScalingGroup."""
    own = schema_of(GroupTemplate)["properties"]
    properties = {name: own[name] for name in ("replicas", "minAvailable", "cliqueNames")}
    properties["replicas"]["minimum"] = 0
    spec = fields(properties, ("cliqueNames",))
    explain_group(spec)
    return spec


def gang_spec() -> Json:
    """``spec`` of a PodGang; its constraints speak of keys of node labels, not of domains."""
    reference = fields({"namespace": text(), "name": text()}, ("namespace", "name"))
    constraint = fields({"packConstraint": fields({"required": text(), "preferred": text()})})
    group = fields(
        {
            "name": text(),
            "podReferences": many(reference),
            "minReplicas": number(),
            "topologyConstraint": constraint,
        },
        ("name", "podReferences", "minReplicas"),
    )
    together = fields(
        {"name": text(), "podGroupNames": many(text()), "topologyConstraint": constraint}, ("name", "podGroupNames")
    )
    return fields(
        {
            "podgroups": many(group, "name"),
            "topologyConstraint": constraint,
            "topologyConstraintGroupConfigs": many(together, "name"),
            "priorityClassName": text(),
            "reuseReservationRef": fields({"namespace": text(), "name": text()}),
        },
        ("podgroups",),
    )


def topology_constraint() -> Json:
    """``topologyConstraint`` of a set, a clique or a scaling group: stored for the schedulers that read it."""
    domain = text(**_DOMAIN)
    pack = fields({"required": dict(domain), "preferred": dict(domain)})
    return fields({"topologyName": text(maxLength=253), "pack": pack, "packDomain": domain})
