"""Shared ResourceClaims, at the three levels where sharing is written: set, scaling group, clique (WL-019, WL-070)."""

from collections.abc import Iterable, Iterator, Mapping

from grove_core.areas.workload.blueprint import CliquePart, GroupPart
from grove_core.areas.workload.environment import in_containers
from grove_core.areas.workload.manifests import Blank, labels_of_replica, labels_of_set, wanted
from grove_core.areas.workload.rules import Why
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.wants import HeldBack, Present
from grove_core.resources.keys import CLAIMS, CLIQUE, COMPONENT, GROUP, GROUP_REPLICA, POD_INDEX, SET_REPLICA
from grove_core.resources.meta import Resource
from grove_core.resources.names import claim_name
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.template import ALL_REPLICAS, SCOPES, ResourceSharing


def claims_of_set(root: PodCliqueSet) -> Iterator[Present | HeldBack]:
    """The claims that a set owns: one for all its replicas, or one for each."""
    return _claims(root, root, root.spec.template.resource_sharing, range(root.spec.replicas), {}, SET_REPLICA)


def claims_of_group(root: PodCliqueSet, group: ScalingGroup, part: GroupPart) -> Iterator[Present | HeldBack]:
    """The claims that a scaling group owns: one for all its replicas, or one for each."""
    labels = {**labels_of_replica(part.replica), **dict.fromkeys(GROUP, part.name)}
    return _claims(root, group, part.template.resource_sharing, range(part.replicas), labels, GROUP_REPLICA)


def claims_of_clique(
    root: PodCliqueSet, clique: PodClique, part: CliquePart, indices: Iterable[int]
) -> Iterator[Present | HeldBack]:
    """The claims that a PodClique owns: one for all its pods, or one for each.

    Args:
        root: the set.
        clique: the owner.
        part: the same as the template has it.
        indices: of its pods, those to be made included; they need not be the lowest.
    """
    labels = {**labels_of_replica(part.replica), **dict.fromkeys(CLIQUE, part.name)}
    return _claims(root, clique, part.template.resource_sharing, indices, labels, (POD_INDEX,))


def with_claims(pod_spec: FrozenMap, root: PodCliqueSet, part: CliquePart, pod_index: int) -> FrozenMap:
    """The pod spec with every claim its pod shares, in the pod and in each of its containers (WL-070)."""
    names = tuple(dict.fromkeys(_claims_of_pod(root, part, pod_index)))
    if not names:
        return pod_spec
    own = pod_spec.get("resourceClaims")
    in_pod = tuple(FrozenMap({"name": name, "resourceClaimName": name}) for name in names)
    claimed = FrozenMap({**pod_spec, "resourceClaims": (*(own if isinstance(own, tuple) else ()), *in_pod)})

    def using(container: FrozenMap) -> Json:
        resources = container.get("resources")
        resources = resources if isinstance(resources, FrozenMap) else FrozenMap({})
        used = resources.get("claims")
        claims = (*(used if isinstance(used, tuple) else ()), *(FrozenMap({"name": name}) for name in names))
        return FrozenMap({**container, "resources": FrozenMap({**resources, "claims": claims})})

    return in_containers(claimed, using)


def _claims_of_pod(root: PodCliqueSet, part: CliquePart, pod_index: int) -> Iterator[str]:
    short = part.template.name
    group = next(
        (group for group in root.spec.template.pod_clique_scaling_groups if part.group and short in group.clique_names),
        None,
    )
    levels: list[tuple[str, int, tuple[ResourceSharing, ...]]] = [
        (root.ref.name, part.replica, root.spec.template.resource_sharing),
        (part.group, part.group_replica, group.resource_sharing if group else ()),
        (part.name, pod_index, part.template.resource_sharing),
    ]
    for owner, index, entries in levels:
        for scope in SCOPES:
            for entry in entries:
                if entry.scope == scope and _is_for(entry, short, group.name if group else ""):
                    yield claim_name(owner, None if scope == ALL_REPLICAS else index, entry.name)


def _is_for(entry: ResourceSharing, clique: str, group: str) -> bool:
    chosen = entry.filter
    return chosen is None or clique in chosen.child_clique_names or group in chosen.child_scaling_group_names


def _claims(
    root: PodCliqueSet,
    owner: Resource,
    entries: Iterable[ResourceSharing],
    indices: Iterable[int],
    labels: Mapping[str, str],
    index_keys: Iterable[str],
) -> Iterator[Present | HeldBack]:
    """The claims of one owner; those of a single replica of it carry its index under ``index_keys``."""
    every = tuple(indices)
    for entry in entries:
        if entry.scope == ALL_REPLICAS:
            yield _claim(root, owner, entry, None, labels)
        else:
            for index in every:
                yield _claim(root, owner, entry, index, {**labels, **dict.fromkeys(index_keys, str(index))})


def _claim(
    root: PodCliqueSet, owner: Resource, entry: ResourceSharing, index: int | None, labels: Mapping[str, str]
) -> Present | HeldBack:
    blank = Blank(
        api_version=CLAIMS,
        kind="ResourceClaim",
        name=claim_name(owner.ref.name, index, entry.name),
        owner=owner,
        labels={**labels_of_set(root.ref.name), COMPONENT: "resource-claim", **labels},
    )
    inline = {template.name: template.template_spec for template in root.spec.template.resource_claim_templates}
    if entry.namespace or entry.name not in inline:
        held = Why.CLAIM_TEMPLATE_ELSEWHERE.because(
            blank.ref, template=f"{entry.namespace or root.ref.namespace}/{entry.name}"
        )
        return HeldBack(blank.ref, (held,))
    because = Why.SHARED_CLAIM.because(owner.ref, template=entry.name, scope=entry.scope)
    return wanted(blank, {"spec": inline[entry.name].get("spec")}, (because,), is_foundation=True)
