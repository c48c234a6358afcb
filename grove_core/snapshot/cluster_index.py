"""Indexes the objects of a cluster by owner, and finds those whose owner is gone."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final, TypeVar

from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLAIM_KIND, GROUP_KIND
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.domain_sharing_labels import sharing_user_in_labels
from grove_core.resources.labels import podcliqueset_name_from_labels
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.cluster import Gap, IndexedCluster, name_first_sort_key
from grove_core.snapshot.snapshot import Snapshot

OWNERS_OF_CLIQUES: Final = frozenset({"PodCliqueSet", GROUP_KIND})

R = TypeVar("R", bound=Resource)


def index_cluster(
    *,
    sets: Iterable[PodCliqueSet],
    groups: Iterable[ScalingGroup] = (),
    cliques: Iterable[PodClique] = (),
    gangs: Iterable[PodGang] = (),
    others: Iterable[OwnedObject] = (),
    pods: Iterable[Pod] = (),
    gaps: frozenset[Gap] = frozenset(),
    complete: frozenset[Gap] = frozenset(),
) -> IndexedCluster:
    """Index the objects of a cluster by owner. Linear in their number; objects without an owner are left out.

    Args:
        gaps: kinds of which the source left something out, each with the namespace (GT-024).
        complete: kinds of which the source has everything, each with the namespace (WL-010).
    """
    pods_by_owner: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        pods_by_owner[pod.owner_uid].append(pod)
    pods_by_owner.pop("", None)
    pods_of = frozen_dict_of_tuples(pods_by_owner)
    groups_of, cliques_of = _by_owner(groups), _by_owner(cliques)
    roots = tuple(sorted(sets, key=_by_namespace))
    owners = {root.uid for root in roots}
    owners |= {group.uid for root in roots for group in groups_of.get(root.uid, ())}
    attached = {clique.uid for uid in owners for clique in cliques_of.get(uid, ())}
    unowned = [
        (podcliqueset_name_from_labels(one.labels), one)
        for uid in cliques_of.keys() - owners
        for one in cliques_of[uid]
    ]
    return IndexedCluster(
        sets=roots,
        groups_of=FrozenDict(groups_of),
        cliques_of=FrozenDict(_with_replica_index(cliques_of, groups_of)),
        leaving_of=_by_set(one for one in unowned if one[1].deleting),
        leaving_groups_of=_by_set(
            (group.owner_name, group) for uid in groups_of.keys() - owners for group in groups_of[uid] if group.deleting
        ),
        orphans_of=_by_set(one for one in unowned if not one[1].deleting and one[1].owner_kind in OWNERS_OF_CLIQUES),
        gangs_of=FrozenDict(_by_owner(gangs)),
        others_of=FrozenDict(_by_owner(others)),
        pods_of=pods_of,
        outlived=_by_set_of_gang({uid: pods for uid, pods in pods_of.items() if uid not in attached}),
        gaps=gaps,
        complete=complete,
    )


def index_with_compute_domains(
    cluster: IndexedCluster, domains: Iterable[ComputeDomain], claims: Iterable[OwnedObject] = ()
) -> IndexedCluster:
    """Return the cluster with its ComputeDomains and claims, foreign ones included, since they occupy names.

    Linear in their number.
    """
    named = {(domain.ref.namespace, domain.ref.name): domain for domain in domains}
    held = {(claim.ref.namespace, claim.ref.name): claim for claim in claims}
    shared: dict[tuple[str, str], list[ComputeDomain | OwnedObject]] = {}
    every: tuple[ComputeDomain | OwnedObject, ...] = (*named.values(), *held.values())
    for item in every:
        user = sharing_user_in_labels(item.labels)
        if user is not None:
            shared.setdefault((item.ref.namespace, user.set_name), []).append(item)
    if not named and not held:
        return cluster
    return replace(
        cluster,
        domains=FrozenDict(named),
        domains_of=FrozenDict(_by_owner(named.values())),
        claims=FrozenDict(held),
        shared_of=FrozenDict((key, tuple(sorted(items, key=name_first_sort_key))) for key, items in shared.items()),
    )


def set_snapshot_without_pods(
    items: Collection[Resource], root: PodCliqueSet, now: datetime, attempts: tuple[Attempt, ...]
) -> Snapshot:
    """Return the snapshot of a set among some objects, without pods. Linear.

    Args:
        items: the objects of a cluster, or at least those of the set.
        root: the set.
        now: the time of the snapshot.
        attempts: earlier writes, with their outcomes.
    """
    own = index_cluster(
        sets=(root,),
        groups=(item for item in items if isinstance(item, ScalingGroup)),
        cliques=(item for item in items if isinstance(item, PodClique)),
        gangs=(item for item in items if isinstance(item, PodGang)),
        others=(item for item in items if isinstance(item, OwnedObject)),
    )
    domains = (item for item in items if isinstance(item, ComputeDomain))
    claims = (item for item in items if isinstance(item, OwnedObject) and item.ref.kind == CLAIM_KIND)
    return index_with_compute_domains(own, domains, claims).snapshot_of(root, now, attempts)


def _by_set_of_gang(
    pods_of: Mapping[str, tuple[Pod, ...]],
) -> FrozenDict[tuple[str, str], FrozenDict[str, tuple[Pod, ...]]]:
    """Pods by the label of their set, and by every prefix of their gang's name that may be the name of a set."""
    found: dict[tuple[str, str], dict[str, tuple[Pod, ...]]] = {}
    for uid, pods in pods_of.items():
        for namespace, name, gang in dict.fromkeys([(pod.namespace, pod.set_name, pod.gang) for pod in pods]):
            if name:
                found.setdefault((namespace, name), {})[uid] = pods
            ends = (at for at, letter in enumerate(gang) if letter == "-")
            for end in ends:
                found.setdefault((namespace, gang[:end]), {})[uid] = pods
    return FrozenDict(zip(found, map(FrozenDict, found.values()), strict=True))


def _by_set(unowned: Iterable[tuple[str, R]]) -> FrozenDict[tuple[str, str], tuple[R, ...]]:
    """Objects whose owner is gone, by the set that they name; only its operator removes their finalizers (WL-001)."""
    found: dict[tuple[str, str], list[R]] = {}
    for name, item in sorted(unowned, key=lambda pair: name_first_sort_key(pair[1])):
        found.setdefault((item.ref.namespace, name), []).append(item)
    return frozen_dict_of_tuples(found)


def _by_owner(owned: Iterable[R]) -> dict[str, tuple[R, ...]]:
    found: dict[str, list[R]] = {}
    unsorted: set[str] = set()
    uid, last, run = "", "", list[R]()
    for item in owned:
        name = item.ref.name
        if item.owner_uid != uid:
            uid = item.owner_uid
            run = found.setdefault(uid, [])
            if run:
                unsorted.add(uid)
        elif name <= last:
            unsorted.add(uid)
        last = name
        run.append(item)
    found.pop("", None)
    return {uid: tuple(sorted(run, key=name_first_sort_key) if uid in unsorted else run) for uid, run in found.items()}


def _with_replica_index(
    cliques_of: dict[str, tuple[PodClique, ...]], groups_of: Mapping[str, tuple[ScalingGroup, ...]]
) -> Mapping[str, tuple[PodClique, ...]]:
    """The PodCliques of a scaling group with the replica index of the group, whatever their labels say (GT-026)."""
    for group in (group for groups in groups_of.values() for group in groups):
        members, index = cliques_of.get(group.uid, ()), group.replica_index
        for clique in members:
            if clique.replica_index != index:
                cliques_of[group.uid] = tuple(replace(one, replica_index=index) for one in members)
                break
    return cliques_of


def _by_namespace(root: PodCliqueSet) -> tuple[str, str, str]:
    return (root.ref.namespace, root.ref.name, root.uid)
