"""Judges the domains and claims that PodCliques of a set share (MS-040 to MS-060). Linear in the objects of a set."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from grove_core.areas.mnnvl_scopes.clique_admission import (
    SHARED_KINDS,
    SharedObjectBuilder,
    domain_membership_of,
    is_shared_object_of_membership,
    shared_object_user_text,
)
from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.areas.mnnvl_scopes.verdicts import (
    MissingSharedObject,
    SharedDomainsJudgement,
    SharedObjectOfWrongOwner,
    SharedObjectState,
    SharedObjectVerdict,
    SurplusSharedObject,
    UnchangedSharedObject,
    WithheldSharedObject,
)
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import BASE_GANG, CLAIM_KIND, DOMAIN_KIND
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import MnnvlMode
from grove_core.resources.domain_sharing import (
    ComputeDomainUser,
    DomainMembership,
    DomainSharingScope,
    domain_membership_of_position,
    effective_mnnvl_annotations,
    shared_claim_entry,
    shared_domain_base_name,
)
from grove_core.resources.domain_sharing_labels import is_shared_by_annotation, sharing_user_in_labels
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.naming_rules import name_list_text, parse_replica_index, scaling_group_name
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.expected_replicas import ExpectedClique, expected_set_of, is_set_too_large
from grove_core.snapshot.own_writes import possibly_created_cliques
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.users_of_shared_objects import count_pods_without_clique, incompletely_listed_user_kinds


def judge_shared_domains(snapshot: Snapshot) -> SharedDomainsJudgement:
    """Return the state of the domains and claims that PodCliques of a set share."""
    root = snapshot.root
    if root.deleting or not root.uid:
        return SharedDomainsJudgement(annotations=mnnvl_annotations_of_new_cliques(snapshot))
    claims = ((clique, shared_claim_entry(clique.pod_spec)) for clique in snapshot.cliques if not clique.deleting)
    sharing = [(clique, claim) for clique, claim in claims if claim is not None]
    planned = {one.name: one for one in _planned_cliques(snapshot)} if sharing else {}
    uses = tuple(_uses(root.ref.name, sharing, planned))
    gangs = {gang.ref.name: gang for gang in snapshot.gangs if gang.uid and not gang.deleting}
    verdicts = [_verdict_on(snapshot, kind, use, gangs.get(use.gang, root)) for use in uses for kind in SHARED_KINDS]
    positions = FrozenDict((name, one.position_in(root.ref.name)) for name, one in planned.items())
    return SharedDomainsJudgement(
        (*verdicts, *_surplus(snapshot)), mnnvl_annotations_of_new_cliques(snapshot), positions
    )


def mnnvl_annotations_of_new_cliques(snapshot: Snapshot) -> FrozenDict[str, FrozenMap]:
    """Return name of a clique in the template -> the MNNVL annotations of its new PodCliques (MS-010)."""
    if not snapshot.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        return FrozenDict()
    root, template = snapshot.root, snapshot.root.spec.template
    groups = template.groups_by_clique
    return FrozenDict(
        (clique.name, effective_mnnvl_annotations(root.annotations, clique, groups.get(clique.name)))
        for clique in template.cliques
    )


class _SharedUse(NamedTuple):
    """A domain and a claim that existing PodCliques of a set use, and the PodGang that should own both."""

    membership: DomainMembership
    gang: str


def _uses(
    set_name: str, sharing: Iterable[tuple[PodClique, FrozenMap]], planned: Mapping[str, ExpectedClique]
) -> Iterable[_SharedUse]:
    """Return the domains and claims in use, by the claims in pod specs.

    Annotations are not consulted: a PodClique that was stored without a claim uses none. Of several PodCliques that
    share, the first one that is part of the template decides on device class and owner. A use that labels attribute
    to another set is ignored, or a domain would be created for that set and never deleted (MS-046).
    """
    by_name: dict[str, _SharedUse] = {}
    by_labels: dict[str, _SharedUse] = {}
    for clique, claim in sharing:
        one = planned.get(clique.ref.name)
        use = _use_of(set_name, clique, one)
        if use is None or use.membership.user.set_name != set_name:
            continue
        if use.membership.claim_name == claim["resourceClaimName"]:
            (by_labels if one is None else by_name).setdefault(use.membership.base_name, use)
    return {**by_labels, **by_name}.values()


def _use_of(set_name: str, clique: PodClique, one: ExpectedClique | None) -> _SharedUse | None:
    """Return what a PodClique shares, by its name, or by its labels if no part of the template has its name."""
    membership = domain_membership_of(clique, one.position_in(set_name) if one is not None else None)
    if not isinstance(membership, DomainMembership):
        return None
    gang, base_gang = (one.gang, one.base_gang or one.gang) if one is not None else _gangs_in_labels(clique)
    return _SharedUse(membership, base_gang if membership.scope is DomainSharingScope.REPLICA else gang)


def _gangs_in_labels(clique: PodClique) -> tuple[str, str]:
    return clique.gang, str(clique.labels.get(BASE_GANG, clique.gang))


def _verdict_on(snapshot: Snapshot, kind: str, use: _SharedUse, owner: Resource) -> SharedObjectVerdict:
    root, membership, user = snapshot.root, use.membership, str(use.membership.user)
    ref = SharedObjectBuilder.for_set(snapshot).ref_of_membership(kind, membership)
    existing = snapshot.named_domains if kind == DOMAIN_KIND else snapshot.named_claims
    found = existing.get((ref.namespace, ref.name))
    ref = found.ref if found is not None else ref  # in the version in which it is stored

    names, why = {"kind": kind, "name": ref.name}, SharedDomainReason
    if found is not None and not is_shared_object_of_membership(found, membership):
        holder = shared_object_user_text(found)
        because = why.NAME_SERVES_ANOTHER.because(found.ref, holder=holder, user=user, **names)
        return WithheldSharedObject(SharedObjectState.TAKEN, ref, because)
    if not snapshot.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        because = why.SWITCHED_OFF.because(ref, user=user)
        return UnchangedSharedObject(SharedObjectState.LEFT_ALONE, ref, because)
    if found is None:
        if kind not in snapshot.complete:
            because = why.SHARED_NOT_COLLECTED.because(ref, **names)
            return WithheldSharedObject(SharedObjectState.UNKNOWN, ref, because)
        return MissingSharedObject(ref, why.ENSURED_AGAIN.because(ref, user=user), membership, owner)
    if found.deleting:
        because = why.EARLIER_OBJECT_BEING_DELETED.because(ref, **names)
        return WithheldSharedObject(SharedObjectState.WAITED_FOR, ref, because)
    stored_owner = f"{found.owner_kind} {found.owner_name}"
    if found.owner_uid == owner.uid or "PodGang" not in snapshot.complete or not found.uid:
        return UnchangedSharedObject(SharedObjectState.BELONGS, ref, why.BELONGS.because(ref, owner=stored_owner))
    known = {root.uid, *(gang.uid for gang in snapshot.gangs)}
    if owner is root or found.owner_uid not in known:
        because = why.OWNER_IS_GONE.because(found.ref, user=user, owner=f"{owner.ref.kind} {owner.ref.name}")
    else:
        because = why.HANDED_OVER.because(found.ref, owner=stored_owner)
    return SharedObjectOfWrongOwner(because, found, owner)


def _surplus(snapshot: Snapshot) -> Iterator[SharedObjectVerdict]:
    """Yield the verdicts on objects that the set owns and whose user is gone (MS-050, MS-051, MS-054, MS-055).

    Objects of a PodGang are left to garbage collection.
    """
    root = snapshot.root
    claims = (other for other in snapshot.others if other.ref.kind == CLAIM_KIND)
    objects: Iterable[ComputeDomain | OwnedObject] = (*snapshot.domains, *claims)
    group_replicas = {group.ref.name: group.replicas for group in snapshot.groups}
    surplus = [
        (shared, user, replica)
        for shared in objects
        if shared.owner_uid == root.uid and not shared.deleting
        for user in (sharing_user_in_labels(shared.labels),)
        if user is not None
        for replica in (parse_replica_index(user.replica),)
        if replica is not None and not _has_user(root, group_replicas, user, replica)
    ]
    holders = _holders(snapshot) if surplus else {}
    outliving = count_pods_without_clique(snapshot, {replica for _, _, replica in surplus})
    not_collected = incompletely_listed_user_kinds(snapshot)
    for shared, user, replica in surplus:
        base_name, why = shared_domain_base_name(shared.ref.kind, shared.ref.name), SharedDomainReason
        if base_name in holders:
            because = why.STILL_SHARED.because(shared.ref, user=str(user), cliques=holders[base_name])
        elif outliving[replica]:
            because = why.PODS_OUTLIVE.because(shared.ref, user=str(user), pods=outliving[replica])
        elif not_collected:
            kinds = name_list_text(not_collected)
            because = why.USERS_NOT_COLLECTED.because(shared.ref, user=str(user), kinds=kinds)
        else:
            yield SurplusSharedObject(why.USER_IS_GONE.because(shared.ref, user=str(user)), shared)
            continue
        yield WithheldSharedObject(SharedObjectState.KEPT, shared.ref, because)


def _holders(snapshot: Snapshot) -> Counter[str]:
    """Return base name -> number of PodCliques that use the claim; including deleted and just created ones."""
    found: Counter[str] = Counter()
    for clique in (*snapshot.cliques, *snapshot.orphans):
        claim = shared_claim_entry(clique.pod_spec)
        if claim is not None:
            found[shared_domain_base_name(CLAIM_KIND, str(claim["resourceClaimName"]))] += 1
    for clique in possibly_created_cliques(snapshot):  # their admission writes the claim
        membership = domain_membership_of(clique)
        if isinstance(membership, DomainMembership):
            found[membership.base_name] += 1
    return found


def _has_user(root: PodCliqueSet, group_replicas: Mapping[str, int], user: ComputeDomainUser, replica: int) -> bool:
    """Return whether a user is part of the set, by index and name; also true for a user of another set."""
    group_replica = parse_replica_index(user.group_replica)
    if user.set_name != root.ref.name:
        return True
    if replica >= root.spec.replicas:
        return False
    template = root.spec.template
    if user.group:
        names = {group.name: group.replicas for group in template.pod_clique_scaling_groups}
        full_name = scaling_group_name(root.ref.name, replica, user.group)
        return group_replica is None or group_replica < group_replicas.get(full_name, names.get(user.group, 0))
    return not user.clique or any(clique.name == user.clique for clique in template.cliques)


def shared_domain_ref(snapshot: Snapshot, name: str) -> Ref | None:
    """Return the address of a ComputeDomain that PodCliques of the set share, existing or not; None if none does."""
    found = next(
        (one.ref for one in snapshot.domains if one.ref.name == name and is_shared_by_annotation(one.labels)), None
    )
    if found is not None or not snapshot.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        return found
    annotations = mnnvl_annotations_of_new_cliques(snapshot)
    for one in _planned_cliques(snapshot):
        position = one.position_in(snapshot.root.ref.name)
        membership = domain_membership_of_position(position, annotations[position.clique])
        if membership is not None and membership.domain_name == name:
            return SharedObjectBuilder.for_set(snapshot).ref_of_membership(DOMAIN_KIND, membership)
    return None


def _planned_cliques(snapshot: Snapshot) -> Iterator[ExpectedClique]:
    """Yield every PodClique that the template leads to; none if they are too many (WL-024). Linear in their number."""
    expected = expected_set_of(snapshot)
    for index in range(0 if is_set_too_large(snapshot) else snapshot.root.spec.replicas):
        yield from expected.replica(index).all_cliques
