"""Manifests of the Workload API: the Workload of a set, and the groups of its gangs (SC-010 to SC-017)."""

from collections.abc import Iterable, Iterator
from typing import Any

from grove_core.areas.scheduling.groups import CliquePodGroup, GangCompositePodGroup, ReplicaCompositePodGroup
from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.areas.scheduling.workload_api_limits import BASE, clique_template_name, workload_template_name_of_group
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import COMPOSITE_KIND, COMPOSITES, GROVE, POD_GROUP_KIND, WORKLOAD_KIND, WORKLOADS
from grove_core.resources.labels import labels_of_set_object, labels_of_set_replica
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podcliqueset import PodCliqueSet

Json = dict[str, Any]


def workload_api_manifest(root: PodCliqueSet, gangs: Iterable[GangCompositePodGroup]) -> ObjectToCreate:
    """Return the Workload of a set, given the groups of one gang of each kind (SC-010)."""
    templates = [_gang_template(root, one) for one in gangs]
    controller = {"apiGroup": GROVE.partition("/")[0], "kind": "PodCliqueSet", "name": root.ref.name}
    blank = NewObjectMetadata(
        api_version=WORKLOADS,
        kind=WORKLOAD_KIND,
        name=root.ref.name,
        owner=root,
        labels=labels_of_set_object(root.ref.name, root.ref.name, "workload"),
    )
    because = SchedulingReason.WORKLOAD_OF_SET.because(root.ref)
    return _creation(blank, {"controllerRef": controller, "compositePodGroupTemplates": templates}, because)


def podgroup_manifests_of_gang(root: PodCliqueSet, gang: GangCompositePodGroup) -> Iterator[ObjectToCreate]:
    """Yield the CompositePodGroups and PodGroups of one gang, parents first (SC-011 to SC-013)."""
    name, is_scaled = gang.name, gang.gang.group is not None
    yield _composite(
        root,
        gang,
        name,
        _root_template_name(gang),
        _fields_of_gang(root, gang),
        SchedulingReason.GROUP_OF_GANG.because(root.ref, gang=name, children=gang.children),
    )
    for clique in gang.cliques:
        yield _pod_group(root, gang, clique, name, is_scaled=is_scaled)
    for replica in gang.replicas:
        template = workload_template_name_of_group(_short_name(replica), is_scaled=False)
        because = SchedulingReason.REPLICA_OF_GANG.because(
            root.ref, group=replica.group, replica=replica.replica, gang=name, children=len(replica.cliques)
        )
        fields = {**_fields_of_replica(root, replica), "parentCompositePodGroupName": name}
        yield _composite(root, gang, replica.name, template, fields, because)
        for clique in replica.cliques:
            yield _pod_group(root, gang, clique, replica.name, is_scaled=False)


def _root_template_name(gang: GangCompositePodGroup) -> str:
    group = gang.gang.group
    return BASE if group is None else workload_template_name_of_group(group.template.name, is_scaled=True)


def _gang_template(root: PodCliqueSet, gang: GangCompositePodGroup) -> Json:
    """Return the template of one gang; replicas of one scaling group have one template."""
    is_scaled = gang.gang.group is not None
    found: Json = {"name": _root_template_name(gang), **_fields_of_gang(root, gang)}
    cliques = [_clique_template(root, one, is_scaled=is_scaled) for one in gang.cliques]
    replicas = {one.group: one for one in reversed(gang.replicas)}
    composites = [
        {
            "name": workload_template_name_of_group(_short_name(one), is_scaled=False),
            **_fields_of_replica(root, one),
            "podGroupTemplates": [_clique_template(root, member, is_scaled=False) for member in one.cliques],
        }
        for one in reversed(replicas.values())
    ]
    if cliques:
        found["podGroupTemplates"] = cliques
    if composites:
        found["compositePodGroupTemplates"] = composites
    return found


def _short_name(replica: ReplicaCompositePodGroup) -> str:
    group = replica.cliques[0].part.group
    return group.template.name if group is not None else replica.group


def _clique_template(root: PodCliqueSet, one: CliquePodGroup, *, is_scaled: bool) -> Json:
    name = clique_template_name(one.part.template.name, is_scaled=is_scaled)
    return {"name": name, **_fields_of_clique(root, one)}


def _fields_of_gang(root: PodCliqueSet, gang: GangCompositePodGroup) -> Json:
    """A gang whose parts are one replica of a scaling group is of no use in part; a base gang is (SC-016)."""
    disruption = _disruption(is_all=gang.gang.group is not None)
    return {**_policy(gang.children), **_topology(gang.key), **disruption, **_priority(root)}


def _fields_of_replica(root: PodCliqueSet, replica: ReplicaCompositePodGroup) -> Json:
    return {
        **_policy(len(replica.cliques)),
        **_topology(replica.key),
        **_disruption(is_all=True),
        **_priority(root),
    }


def _fields_of_clique(root: PodCliqueSet, one: CliquePodGroup) -> Json:
    policy = {"schedulingPolicy": {"gang": {"minCount": one.needed}}}
    return {**policy, **_topology(one.key), **_disruption(is_all=one.is_all_or_nothing), **_priority(root)}


def _policy(children: int) -> Json:
    return {"schedulingPolicy": {"gang": {"minGroupCount": children}}}


def _topology(key: str) -> Json:
    return {"schedulingConstraints": {"topology": [{"key": key}]}} if key else {}


def _disruption(*, is_all: bool) -> Json:
    return {"disruptionMode": {"all": {}} if is_all else {"single": {}}}


def _priority(root: PodCliqueSet) -> Json:
    name = root.spec.template.priority_class_name
    return {"priorityClassName": name} if name else {}


def _composite(
    root: PodCliqueSet, gang: GangCompositePodGroup, name: str, template: str, fields: Json, because: Reason
) -> ObjectToCreate:
    blank = _blank(root, gang, COMPOSITES, COMPOSITE_KIND, name, "gang-group")
    spec = {"workloadRef": {"workloadName": root.ref.name, "templateName": template}, **fields}
    return _creation(blank, spec, because)


def _pod_group(
    root: PodCliqueSet, gang: GangCompositePodGroup, one: CliquePodGroup, parent: str, *, is_scaled: bool
) -> ObjectToCreate:
    template = clique_template_name(one.part.template.name, is_scaled=is_scaled)
    spec = {
        "workloadRef": {"workloadName": root.ref.name, "templateName": template},
        "parentCompositePodGroupName": parent,
        **_fields_of_clique(root, one),
    }
    because = [SchedulingReason.GROUP_OF_CLIQUE.because(root.ref, needed=one.needed)]
    if one.claims:
        spec["resourceClaims"] = [{"name": claim.entry, "resourceClaimName": claim.name} for claim in one.claims]
        names = name_list_text(dict.fromkeys(claim.name for claim in one.claims))
        because.append(SchedulingReason.CLAIMS_OF_GROUP.because(root.ref, claims=names))
    return _creation(_blank(root, gang, WORKLOADS, POD_GROUP_KIND, one.part.name, "clique-group"), spec, *because)


def _creation(blank: NewObjectMetadata, spec: Json, *because: Reason) -> ObjectToCreate:
    return ObjectToCreate(blank.ref, blank.manifest_with_fields({"spec": spec}), because)


def _blank(
    root: PodCliqueSet, gang: GangCompositePodGroup, api_version: str, kind: str, name: str, component: str
) -> NewObjectMetadata:
    labels = labels_of_set_object(root.ref.name, name, component) | labels_of_set_replica(gang.gang.replica)
    return NewObjectMetadata(api_version=api_version, kind=kind, name=name, owner=root, labels=labels)
