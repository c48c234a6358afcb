"""Shared ResourceClaims of a set, its scaling groups and its cliques (WL-019, WL-086)."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

from grove_core.areas.workload.objects.lazy_manifests import LazyManifest, object_to_create
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap, Json, list_at, object_at
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import ObjectToCreate, Withheld
from grove_core.resources.api_names import CLAIMS, COMPONENT, POD_INDEX
from grove_core.resources.labels import CLIQUE, GROUP, GROUP_REPLICA, SET_REPLICA, labels_of_replica, labels_of_set
from grove_core.resources.meta import Resource
from grove_core.resources.naming_rules import claim_name
from grove_core.resources.owned_object import CLAIM_KIND, NewObject
from grove_core.resources.pod_spec_gpus import with_changed_containers
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import ALL_REPLICAS, SCOPES, ResourceSharing
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGroup
from grove_core.snapshot.snapshot import Snapshot

Shared: TypeAlias = Iterator[LazyManifest | Withheld]


def claims_of_set(context: WorkloadContext) -> Shared:
    """Return the claims that a set owns: one for all its replicas, or one for each."""
    root = context.root
    return _claims(context, root, root.spec.template.resource_sharing, range(root.spec.replicas), {}, SET_REPLICA.keys)


def claims_of_group(context: WorkloadContext, group: ScalingGroup, part: ExpectedGroup) -> Shared:
    """Return the claims that a scaling group owns: one for all its replicas, or one for each."""
    labels = {**labels_of_replica(part.replica), **GROUP.written(part.name)}
    return _claims(context, group, part.template.resource_sharing, range(part.replicas), labels, GROUP_REPLICA.keys)


def claims_of_clique(
    context: WorkloadContext, clique: PodClique, part: ExpectedClique, indices: Iterable[int]
) -> Shared:
    """Return the claims that a PodClique owns: one for all its pods, or one for each.

    The indices are those of its pods, including those that are to be created; they may have gaps.
    """
    labels = {**labels_of_replica(part.replica), **CLIQUE.written(part.name)}
    return _claims(context, clique, part.template.resource_sharing, indices, labels, (POD_INDEX,))


def with_resource_claims(pod_spec: FrozenMap, root: PodCliqueSet, part: ExpectedClique, pod_index: int) -> FrozenMap:
    """Return the pod spec with every claim that its pod shares, in the pod and in each container (WL-086)."""
    names = tuple(dict.fromkeys(_claims_of_pod(root, part, pod_index)))
    if not names:
        return pod_spec
    in_pod = tuple(FrozenMap({"name": name, "resourceClaimName": name}) for name in names)
    claimed = FrozenMap({**pod_spec, "resourceClaims": (*list_at(pod_spec, "resourceClaims"), *in_pod)})

    def using(container: FrozenMap) -> Json:
        resources = object_at(container, "resources")
        claims = (*list_at(resources, "claims"), *(FrozenMap({"name": name}) for name in names))
        return FrozenMap({**container, "resources": FrozenMap({**resources, "claims": claims})})

    return with_changed_containers(claimed, using)


def _claims_of_pod(root: PodCliqueSet, part: ExpectedClique, pod_index: int) -> Iterator[str]:
    short, group = part.template.name, part.group_template
    levels: list[tuple[str, int, tuple[ResourceSharing, ...]]] = [
        (root.ref.name, part.replica, root.spec.template.resource_sharing),
        (part.group, part.group_replica, group.resource_sharing if group else ()),
        (part.name, pod_index, part.template.resource_sharing),
    ]
    for owner, index, entries in levels:
        for scope in SCOPES:
            for entry in entries:
                if entry.scope == scope and entry.concerns(short, group.name if group else ""):
                    yield claim_name(owner, None if scope == ALL_REPLICAS else index, entry.name)


def _claims(
    context: WorkloadContext,
    owner: Resource,
    entries: Iterable[ResourceSharing],
    indices: Iterable[int],
    labels: Mapping[str, str],
    index_keys: Iterable[str],
) -> Shared:
    """Return the claims of one owner; claims of a single replica carry its index under ``index_keys``."""
    every = tuple(indices)
    for entry in entries:
        if entry.scope == ALL_REPLICAS:
            yield _claim(context, owner, entry, None, labels)
        else:
            for index in every:
                yield _claim(context, owner, entry, index, {**labels, **dict.fromkeys(index_keys, str(index))})


def _claim(
    context: WorkloadContext, owner: Resource, entry: ResourceSharing, index: int | None, labels: Mapping[str, str]
) -> LazyManifest | Withheld:
    root, name = context.root, claim_name(owner.ref.name, index, entry.name)
    template = claim_template_spec(context.snapshot, entry)
    if template is None:
        ref = Ref(CLAIMS, CLAIM_KIND, root.ref.namespace, name)
        full = f"{entry.namespace or root.ref.namespace}/{entry.name}"
        return Withheld(ref, (WorkloadReason.CLAIM_TEMPLATE_ELSEWHERE.because(ref, template=full),))
    return LazyManifest(CLAIM_KIND, name, partial(_claim_for, root, owner, entry, name, template, labels))


def claim_template_spec(snapshot: Snapshot, entry: ResourceSharing) -> FrozenMap | None:
    """Return the spec of an entry's claims: its inline template, else the named object's; None where unknown.

    Source: grove-api, "Resource sharing". An entry with a namespace means an object.
    """
    root = snapshot.root
    if not entry.namespace:
        for template in root.spec.template.resource_claim_templates:
            if template.name == entry.name:
                return template.template_spec
    return snapshot.claim_templates.get((entry.namespace or root.ref.namespace, entry.name))


def _claim_for(
    root: PodCliqueSet,
    owner: Resource,
    entry: ResourceSharing,
    name: str,
    template: FrozenMap,
    labels: Mapping[str, str],
) -> ObjectToCreate:
    blank = NewObject(
        api_version=CLAIMS,
        kind=CLAIM_KIND,
        name=name,
        owner=owner,
        labels={**labels_of_set(root.ref.name), COMPONENT: "resource-claim", **labels},
    )
    because = WorkloadReason.SHARED_CLAIM.because(owner.ref, template=entry.name, scope=entry.scope)
    return object_to_create(blank, {"spec": template.get("spec")}, (because,), is_foundation=True)
