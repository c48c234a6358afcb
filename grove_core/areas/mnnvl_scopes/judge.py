"""What is shared by annotation, by whom, and whose it should be (MS-040 to MS-060). Linear in a set's parts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from grove_core.areas.mnnvl_scopes.clique_admission import SHARED_KINDS, holder_of, membership_in, serves
from grove_core.areas.mnnvl_scopes.manifests import SharedObjectBuilder
from grove_core.areas.mnnvl_scopes.rules import Why
from grove_core.areas.mnnvl_scopes.verdicts import ScopeJudgement, SharedState, SharedVerdict
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import BASE_GANG, POD_GANG
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_core.resources.configuration import MnnvlMode
from grove_core.resources.domain_sharing import (
    CliquePosition,
    DomainMembership,
    DomainUser,
    SharingScope,
    base_name_of,
    effective_annotations,
    is_managed,
    managed_user_of,
    membership_of,
    position_in_template,
    shared_claim_entry,
)
from grove_core.resources.meta import Resource
from grove_core.resources.names import index_from, listed, replica_name, scaled_gang_name, scaling_group_name
from grove_core.resources.owned_object import CLAIM_KIND, OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.coming import coming_cliques
from grove_core.snapshot.size import is_too_large
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.users import outliving_pods, users_not_collected


def judge_scopes(snapshot: Snapshot) -> ScopeJudgement:
    """What becomes of the domains and claims that parts of a set share.

    Args:
        snapshot: of the set, own writes counted as seen.
    """
    root = snapshot.root
    if root.deleting or not root.uid:
        return ScopeJudgement(annotations=mnnvl_annotations_of(snapshot))
    claims = ((clique, shared_claim_entry(clique.pod_spec)) for clique in snapshot.cliques if not clique.deleting)
    sharing = [(clique, claim) for clique, claim in claims if claim is not None]
    places = {place.position.name: place for place in _planned_cliques(snapshot)} if sharing else {}
    uses = tuple(_uses(root.ref.name, sharing, places))
    gangs = {gang.ref.name: gang for gang in snapshot.gangs if gang.uid and not gang.deleting}
    fates = [_verdict_on(snapshot, kind, use, gangs.get(use.gang, root)) for use in uses for kind in SHARED_KINDS]
    positions = {name: place.position for name, place in places.items()}
    return ScopeJudgement((*fates, *_surplus(snapshot)), mnnvl_annotations_of(snapshot), positions)


def mnnvl_annotations_of(snapshot: Snapshot) -> dict[str, FrozenMap]:
    """By the name of a clique in the template, what its new PodCliques say of MNNVL (MS-010, MS-011)."""
    if not snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return {}
    root, template = snapshot.root, snapshot.root.spec.template
    homes = template.groups_by_clique
    return {
        clique.name: effective_annotations(root.annotations, clique, homes.get(clique.name))
        for clique in template.cliques
    }


class _SharedUse(NamedTuple):
    """A domain and a claim that living PodCliques of a set use.

    Attributes:
        gang: which should own both.
    """

    member: DomainMembership
    gang: str


def _uses(
    set_name: str, sharing: Iterable[tuple[PodClique, FrozenMap]], places: Mapping[str, "_PlannedClique"]
) -> Iterable[_SharedUse]:
    """By what their PodCliques hold, not by what annotations say: whoever was let in without a claim uses none.

    Of several that share, the first whose place is known tells of which class it is, and whose it should be. What
    labels say is of another set is looked after by nobody here: it would be made for that one, and left (MS-046).
    """
    by_place: dict[str, _SharedUse] = {}
    by_labels: dict[str, _SharedUse] = {}
    for clique, claim in sharing:
        place = places.get(clique.ref.name)
        mine = _use_of(clique, place)
        if mine is None or (mine.member.user.set_name, mine.member.claim) != (set_name, claim["resourceClaimName"]):
            continue
        (by_labels if place is None else by_place).setdefault(mine.member.base_name, mine)
    return {**by_labels, **by_place}.values()


def _use_of(clique: PodClique, place: "_PlannedClique | None") -> _SharedUse | None:
    """What a PodClique shares: by what it is called, which nobody edits; by its labels where no part is called so."""
    member = membership_in(clique, place.position if place is not None else None)
    if not isinstance(member, DomainMembership):
        return None
    if place is not None:
        return _SharedUse(member, place.base_gang if member.scope is SharingScope.REPLICA else place.gang)
    gang = str(clique.labels.get(POD_GANG, ""))
    return _SharedUse(member, str(clique.labels.get(BASE_GANG, gang)) if member.scope is SharingScope.REPLICA else gang)


def _verdict_on(snapshot: Snapshot, kind: str, use: _SharedUse, owner: Resource) -> SharedVerdict:
    """What becomes of a domain or claim that is in use."""
    root, member, user = snapshot.root, use.member, str(use.member.user)
    ref = SharedObjectBuilder(snapshot.configuration, snapshot.served, root.ref.namespace).address_of(kind, member)
    found = _named(snapshot, ref)

    def is_so(lot: SharedState, because: Why, subject: Ref, **facts: str) -> SharedVerdict:
        return SharedVerdict(kind, member, found, owner, lot, because.because(subject, **facts))

    here = {"kind": kind, "name": ref.name}
    if found is not None and not serves(found, member):
        return is_so(SharedState.TAKEN, Why.NAME_SERVES_ANOTHER, found.ref, holder=holder_of(found), user=user, **here)
    if not snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return is_so(SharedState.LEFT_ALONE, Why.SWITCHED_OFF, found.ref if found is not None else ref, user=user)
    if found is None:
        if kind not in snapshot.complete:
            return is_so(SharedState.UNKNOWN, Why.SHARED_NOT_COLLECTED, ref, **here)
        return is_so(SharedState.MADE_AGAIN, Why.ENSURED_AGAIN, ref, user=user)
    if found.deleting:
        return is_so(SharedState.WAITED_FOR, Why.DOMAIN_LEAVES, found.ref, **here)
    if found.owner_uid == owner.uid or "PodGang" not in snapshot.complete or not found.uid:
        return is_so(SharedState.BELONGS, Why.BELONGS, found.ref, owner=f"{found.owner_kind} {found.owner_name}")
    known = {root.uid, *(gang.uid for gang in snapshot.gangs)}
    if owner is root or found.owner_uid not in known:
        named = f"{owner.ref.kind} {owner.ref.name}"
        return is_so(SharedState.HANDED_OVER, Why.OWNER_IS_GONE, found.ref, user=user, owner=named)
    before = f"{found.owner_kind} {found.owner_name}"
    return is_so(SharedState.HANDED_OVER, Why.HANDED_OVER, found.ref, owner=before)


def _named(snapshot: Snapshot, ref: Ref) -> ComputeDomain | OwnedObject | None:
    named = snapshot.named_domains if ref.kind == DOMAIN_KIND else snapshot.named_claims
    return named.get((ref.namespace, ref.name))


def _surplus(snapshot: Snapshot) -> Iterator[SharedVerdict]:
    """What the set still owns and whose user is gone (MS-050, MS-051, MS-054, MS-055).

    What a gang owned goes with the gang.
    """
    root = snapshot.root
    items: Iterable[ComputeDomain | OwnedObject] = (
        *snapshot.domains,
        *(other for other in snapshot.others if other.ref.kind == CLAIM_KIND),
    )
    live = {group.ref.name: group.replicas for group in snapshot.groups}
    surplus = [
        (item, user, replica)
        for item in items
        if item.owner_uid == root.uid and not item.deleting
        for user in (managed_user_of(item.labels),)
        if user is not None
        for replica in (index_from(user.replica),)
        if replica is not None and not _is_wanted(root, live, user, replica)
    ]
    holders = _holders(snapshot) if surplus else {}
    outliving = outliving_pods(snapshot, {replica for _, _, replica in surplus})
    unseen = users_not_collected(snapshot)
    for item, user, replica in surplus:
        lot, stem = SharedState.KEPT, base_name_of(item.ref.kind, item.ref.name)
        if stem in holders:
            because = Why.STILL_SHARED.because(item.ref, user=str(user), cliques=holders[stem])
        elif outliving[replica]:
            because = Why.PODS_OUTLIVE.because(item.ref, user=str(user), pods=outliving[replica])
        elif unseen:
            because = Why.USERS_NOT_COLLECTED.because(item.ref, user=str(user), kinds=listed(unseen))
        else:
            lot, because = SharedState.SURPLUS, Why.USER_IS_GONE.because(item.ref, user=str(user))
        yield SharedVerdict(item.ref.kind, None, item, root, lot, because)


def _holders(snapshot: Snapshot) -> Counter[str]:
    """Stem -> how many PodCliques hold the claim; those that go, or were made just now, included."""
    found: Counter[str] = Counter()
    for clique in (*snapshot.cliques, *snapshot.orphans):
        claim = shared_claim_entry(clique.pod_spec)
        if claim is not None:
            found[base_name_of(CLAIM_KIND, str(claim["resourceClaimName"]))] += 1
    for clique in coming_cliques(snapshot):  # whoever admits them writes the claim
        member = membership_in(clique)
        if isinstance(member, DomainMembership):
            found[member.base_name] += 1
    return found


def _is_wanted(root: PodCliqueSet, live: Mapping[str, int], user: DomainUser, replica: int) -> bool:
    """Whether a set consists of this user, by index and name; what it is called is nobody's reason to delete it."""
    group_replica = index_from(user.group_replica)
    if user.set_name != root.ref.name:
        return True
    if replica >= root.spec.replicas:
        return False
    template = root.spec.template
    if user.group:
        names = {group.name: group.replicas for group in template.pod_clique_scaling_groups}
        full = scaling_group_name(root.ref.name, replica, user.group)
        return group_replica is None or group_replica < live.get(full, names.get(user.group, 0))
    return not user.clique or any(clique.name == user.clique for clique in template.cliques)


def shared_domain_ref(snapshot: Snapshot, name: str) -> Ref | None:
    """Where a ComputeDomain that parts of the set share stands, be it only that it should; None for no such one."""
    found = next((one.ref for one in snapshot.domains if one.ref.name == name and is_managed(one.labels)), None)
    if found is not None or not snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return found
    maker = SharedObjectBuilder(snapshot.configuration, snapshot.served, snapshot.root.ref.namespace)
    expected = (member for member in _planned_memberships(snapshot) if member.domain == name)
    return next((maker.address_of(DOMAIN_KIND, member) for member in expected), None)


def _planned_memberships(snapshot: Snapshot) -> Iterator[DomainMembership]:
    """What PodCliques of the set share, by its template; linear in what it consists of."""
    told = mnnvl_annotations_of(snapshot)
    members = (membership_of(place.position, told[place.position.clique]) for place in _planned_cliques(snapshot))
    return (member for member in members if member is not None)


class _PlannedClique(NamedTuple):
    """Where a PodClique of the set belongs by the template.

    Attributes:
        gang, base_gang: that its pods are of, and that its replica has.
    """

    position: CliquePosition
    gang: str
    base_gang: str


def _planned_cliques(snapshot: Snapshot) -> Iterator[_PlannedClique]:
    """Every PodClique that the set consists of; linear in their number, and none where they are too many (WL-024)."""
    root, template = snapshot.root, snapshot.root.spec.template
    homes = template.groups_by_clique
    live = {group.ref.name: group.replicas for group in snapshot.groups}
    for replica in range(0 if is_too_large(snapshot) else root.spec.replicas):
        base = replica_name(root.ref.name, replica)
        for clique in template.cliques:
            group = homes.get(clique.name)
            if group is None:
                yield _PlannedClique(position_in_template(root.ref.name, replica, clique.name), base, base)
                continue
            full = scaling_group_name(root.ref.name, replica, group.name)
            for index in range(live.get(full, group.replicas)):
                beyond = index - group.min_available
                gang = base if beyond < 0 else scaled_gang_name(full, beyond)
                yield _PlannedClique(
                    position_in_template(root.ref.name, replica, clique.name, group.name, index), gang, base
                )
