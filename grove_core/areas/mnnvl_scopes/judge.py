"""What is shared by annotation, by whom, and whose it should be (MS-040 to MS-060). Linear in a set's parts."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from grove_core.areas.mnnvl_scopes.entry import SHARED_KINDS, holder_of, member_in, serves
from grove_core.areas.mnnvl_scopes.manifests import Maker
from grove_core.areas.mnnvl_scopes.rules import Why
from grove_core.areas.mnnvl_scopes.verdicts import Lot, ScopeJudgement, SharedFate
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_core.resources.configuration import MnnvlMode
from grove_core.resources.keys import BASE_GANG, POD_GANG
from grove_core.resources.membership import (
    Membership,
    Scope,
    User,
    effective_annotations,
    is_managed,
    joined_claim,
    membership_of,
    seat_for,
    user_of,
)
from grove_core.resources.meta import Resource
from grove_core.resources.names import index_from, scaling_group_name
from grove_core.resources.owned import CLAIM_KIND, Owned
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot

_SET_KIND = "PodCliqueSet"


def judge_scopes(snapshot: Snapshot) -> ScopeJudgement:
    """What becomes of the domains and claims that parts of a set share.

    Args:
        snapshot: of the set, own writes counted as seen.
    """
    root = snapshot.root
    if root.deleting or not root.uid:
        return ScopeJudgement(annotations=annotations_for(snapshot))
    uses = tuple(_uses(snapshot))
    gangs = {gang.ref.name: gang for gang in snapshot.gangs if gang.uid and not gang.deleting}
    fates = [_fate(snapshot, kind, use, gangs.get(use.gang, root)) for use in uses for kind in SHARED_KINDS]
    return ScopeJudgement((*fates, *_left_behind(snapshot)), annotations_for(snapshot))


def annotations_for(snapshot: Snapshot) -> dict[str, FrozenMap]:
    """By the name of a clique in the template, what its new PodCliques say of MNNVL (MS-010, MS-011)."""
    if not snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return {}
    root, template = snapshot.root, snapshot.root.spec.template
    homes = {name: group for group in template.pod_clique_scaling_groups for name in group.clique_names}
    return {
        clique.name: effective_annotations(root.annotations, clique, homes.get(clique.name))
        for clique in template.cliques
    }


class _Use(NamedTuple):
    """A domain and a claim that living PodCliques of a set use.

    Attributes:
        gang: which should own both.
    """

    member: Membership
    gang: str


def _uses(snapshot: Snapshot) -> Iterator[_Use]:
    """By what their PodCliques hold, not by what annotations say: whoever was let in without a claim uses none."""
    found: dict[str, _Use] = {}
    for clique in snapshot.cliques:
        member = None if clique.deleting else _membership(clique)
        if member is None:
            continue
        gang = str(clique.labels.get(POD_GANG, ""))
        if member.scope is Scope.REPLICA:
            gang = str(clique.labels.get(BASE_GANG, gang))
        use = found.setdefault(member.stem, _Use(member, gang))
        if gang and (gang < use.gang or not use.gang):
            found[member.stem] = use._replace(gang=gang)
    yield from found.values()


def _membership(clique: PodClique) -> Membership | None:
    """What a PodClique shares, if it holds the claim to it."""
    claim = joined_claim(clique.pod_spec)
    member = member_in(clique) if claim is not None else None
    return member if isinstance(member, Membership) and claim and claim["resourceClaimName"] == member.claim else None


def _fate(snapshot: Snapshot, kind: str, use: _Use, owner: Resource) -> SharedFate:
    """What becomes of a domain or claim that is in use."""
    root, member, user = snapshot.root, use.member, str(use.member.user)
    ref = Maker(snapshot.configuration, snapshot.served, root.ref.namespace).address_of(kind, member)
    found = _named(snapshot, ref)

    def is_so(lot: Lot, because: Why, subject: Ref, **facts: str) -> SharedFate:
        return SharedFate(kind, member, found, owner, lot, because.because(subject, **facts))

    here = {"kind": kind, "name": ref.name}
    if found is not None and not serves(found, member):
        return is_so(Lot.TAKEN, Why.NAME_SERVES_ANOTHER, found.ref, holder=holder_of(found), user=user, **here)
    if not snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return is_so(Lot.LEFT_ALONE, Why.SWITCHED_OFF, found.ref if found is not None else ref, user=user)
    if found is None:
        lot = Lot.MADE_AGAIN if kind in snapshot.complete else Lot.UNKNOWN
        return is_so(lot, Why.ENSURED_AGAIN, ref, user=user)
    if found.deleting:
        return is_so(Lot.WAITED_FOR, Why.DOMAIN_LEAVES, found.ref, **here)
    if found.owner_uid == owner.uid or "PodGang" not in snapshot.complete or not found.uid:
        return is_so(Lot.BELONGS, Why.BELONGS, found.ref, owner=f"{found.owner_kind} {found.owner_name}")
    known = {root.uid, *(gang.uid for gang in snapshot.gangs)}
    if owner is root or found.owner_uid not in known:
        named = f"{owner.ref.kind} {owner.ref.name}"
        return is_so(Lot.HANDED_OVER, Why.OWNER_IS_GONE, found.ref, user=user, owner=named)
    before = f"{found.owner_kind} {found.owner_name}"
    return is_so(Lot.HANDED_OVER, Why.HANDED_OVER, found.ref, owner=before)


def _named(snapshot: Snapshot, ref: Ref) -> ComputeDomain | Owned | None:
    named = snapshot.named_domains if ref.kind == DOMAIN_KIND else snapshot.named_claims
    return named.get((ref.namespace, ref.name))


def _left_behind(snapshot: Snapshot) -> Iterator[SharedFate]:
    """What the set still owns and whose user is gone (MS-050, MS-051); what a gang owned goes with the gang."""
    root = snapshot.root
    items: Iterable[ComputeDomain | Owned] = (
        *snapshot.domains,
        *(other for other in snapshot.others if other.ref.kind == CLAIM_KIND),
    )
    surplus = [
        (item, user)
        for item in items
        if is_managed(item.labels) and item.owner_uid == root.uid and not item.deleting
        for user in (user_of(item.labels),)
        if user is not None and not _is_wanted(snapshot, root, user)
    ]
    users = _holders(snapshot) if surplus else {}
    for item, user in surplus:
        stem = item.ref.name.removesuffix("-cd").removesuffix("-mnnvl-claim")
        if stem in users:
            because = Why.STILL_SHARED.because(item.ref, user=str(user), cliques=users[stem])
            yield SharedFate(item.ref.kind, None, item, root, Lot.KEPT, because)
        else:
            because = Why.USER_IS_GONE.because(item.ref, user=str(user))
            yield SharedFate(item.ref.kind, None, item, root, Lot.SURPLUS, because)


def _holders(snapshot: Snapshot) -> dict[str, int]:
    """Stem -> how many PodCliques hold the claim, those that are being deleted included."""
    found: dict[str, int] = {}
    for clique in snapshot.cliques:
        claim = joined_claim(clique.pod_spec)
        if claim is not None:
            stem = str(claim["resourceClaimName"]).removesuffix("-mnnvl-claim")
            found[stem] = found.get(stem, 0) + 1
    return found


def _is_wanted(snapshot: Snapshot, root: PodCliqueSet, user: User) -> bool:
    """Whether a set consists of this user, by index and name; what it is called is nobody's reason to delete it."""
    replica, group_replica = index_from(user.replica), index_from(user.group_replica)
    if replica is None or user.set_name != root.ref.name:
        return True
    if replica >= root.spec.replicas:
        return False
    template = root.spec.template
    if user.group:
        names = {group.name: group.replicas for group in template.pod_clique_scaling_groups}
        full = scaling_group_name(root.ref.name, replica, user.group)
        live = next((group.replicas for group in snapshot.groups if group.ref.name == full), names.get(user.group, 0))
        return group_replica is None or group_replica < live
    return not user.clique or any(clique.name == user.clique for clique in template.cliques)


def shared_domain(snapshot: Snapshot, name: str) -> Ref | None:
    """Where a ComputeDomain that parts of the set share stands, be it only that it should; None for no such one."""
    found = next((one.ref for one in snapshot.domains if one.ref.name == name and is_managed(one.labels)), None)
    if found is not None or not snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return found
    maker = Maker(snapshot.configuration, snapshot.served, snapshot.root.ref.namespace)
    expected = (member for member in _expected(snapshot) if member.domain == name)
    return next((maker.address_of(DOMAIN_KIND, member) for member in expected), None)


def _expected(snapshot: Snapshot) -> Iterator[Membership]:
    """What PodCliques of the set share, by its template; linear in what it consists of."""
    root, template, told = snapshot.root, snapshot.root.spec.template, annotations_for(snapshot)
    homes = {name: group for group in template.pod_clique_scaling_groups for name in group.clique_names}
    live = {group.ref.name: group.replicas for group in snapshot.groups}
    for replica in range(max(root.spec.replicas, 0)):
        for clique in template.cliques:
            group = homes.get(clique.name)
            times = live.get(scaling_group_name(root.ref.name, replica, group.name), group.replicas) if group else 1
            for index in range(times):
                where = (group.name, index) if group else ("", -1)
                member = membership_of(seat_for(root.ref.name, replica, clique.name, *where), told[clique.name])
                if member is not None:
                    yield member
