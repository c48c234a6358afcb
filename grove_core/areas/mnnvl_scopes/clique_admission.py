"""The admission of one PodClique: what it shares, what must exist before it, or why it has to wait (MS-001 to MS-039).

The same decision stands behind the webhook, which judges whoever makes a PodClique, and behind plans, which show one
as the webhook leaves it (specs/decisions/0013).
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from grove_core.areas.mnnvl_scopes.manifests import SharedObjectBuilder
from grove_core.areas.mnnvl_scopes.rules import Why
from grove_core.kernel.frozen import FrozenMap, list_of
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Ensured
from grove_core.resources.api_names import DOMAIN_TEMPLATE, MNNVL_DEVICE_CLASS, MNNVL_ENABLED, MNNVL_SCOPE, SHARED_CLAIM
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_core.resources.configuration import Configuration, MnnvlMode, ServedApis
from grove_core.resources.domain_sharing import (
    SCOPES,
    CliquePosition,
    DomainMembership,
    LabelledClique,
    managed_user_of,
    membership_of,
    position_of_clique,
    scope_of,
)
from grove_core.resources.fields import shown
from grove_core.resources.meta import Resource
from grove_core.resources.name_syntax import is_dns_subdomain
from grove_core.resources.owned_object import CLAIM_KIND, OwnedObject
from grove_core.resources.pod_spec_edits import with_gpu_claim

SharedObject: TypeAlias = ComputeDomain | OwnedObject
SHARED_KINDS = (DOMAIN_KIND, CLAIM_KIND)


@dataclass(frozen=True, slots=True, kw_only=True)
class CliqueAdmissionView:
    """What the admission of a PodClique looks at besides the PodClique.

    Attributes:
        owner: the set that it is of, which is to own what it needs; None where that is not known (yet).
        domains, claims: (namespace, name) -> what holds that name.
        refused: kind and name -> why a server would not have it lately.
    """

    configuration: Configuration
    served: ServedApis
    owner: Resource | None
    domains: Mapping[tuple[str, str], ComputeDomain]
    claims: Mapping[tuple[str, str], OwnedObject]
    refused: Mapping[tuple[str, str], str] = field(default_factory=dict)


class JoinsDomain(NamedTuple):
    """It shares a domain.

    Attributes:
        pod_spec: with the claim.
        ensures: what has to be made before it is stored; empty where all of that is there.
    """

    pod_spec: FrozenMap
    ensures: tuple[Ensured, ...]
    because: Reason


class LeftUnchanged(NamedTuple):
    """It shares nothing, and is left as it is.

    Attributes:
        odd: annotation, and what is wrong with it; empty where nothing is.
    """

    because: Reason
    odd: tuple[str, str] = ("", "")


class MustWait(NamedTuple):
    """It must not be stored now."""

    because: Reason


class ClaimConflict(NamedTuple):
    """Its pod spec has a claim of its own under the name of the claim that it would get (MS-008).

    Attributes:
        place: of that claim among ``resourceClaims``.
    """

    because: Reason
    place: int


CliqueAdmission: TypeAlias = JoinsDomain | LeftUnchanged | MustWait | ClaimConflict


def judge_clique_admission(
    clique: LabelledClique, around: CliqueAdmissionView, ensured: AbstractSet[Ref] = frozenset()
) -> CliqueAdmission:
    """What the admission of a new PodClique decides. The same again for what it leads to: idempotent (MS-033).

    Args:
        clique: as it would be stored.
        around: what else there is.
        ensured: what others who share it have ensured a moment before.
    """
    if not around.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return LeftUnchanged(Why.SCOPES_OFF.because(clique.ref))
    member = membership_in(clique)
    if not isinstance(member, DomainMembership):
        return member
    entry = FrozenMap({"name": SHARED_CLAIM, "resourceClaimName": member.claim})
    for place, claim in enumerate(list_of(clique.pod_spec, "resourceClaims")):
        if isinstance(claim, FrozenMap) and claim.get("name") == SHARED_CLAIM and claim != entry:
            return ClaimConflict(Why.CLAIM_NAME_TAKEN.because(clique.ref, name=SHARED_CLAIM), place)
    if around.owner is None:
        return MustWait(Why.SET_UNKNOWN.because(clique.ref, name=member.user.set_name))
    maker = SharedObjectBuilder(around.configuration, around.served, clique.ref.namespace)
    ensures: list[Ensured] = []
    for kind in SHARED_KINDS:
        ref = maker.address_of(kind, member)
        named: Mapping[tuple[str, str], SharedObject] = around.domains if kind == DOMAIN_KIND else around.claims
        found = named.get((ref.namespace, ref.name))
        obstacle = _obstacle(clique.ref, ref, found, member, around.refused)
        if obstacle is not None:
            return MustWait(obstacle)
        if found is None and ref not in ensured:
            ensures.append(maker.ensured(kind, member, around.owner))
    return JoinsDomain(with_gpu_claim(clique.pod_spec, entry), tuple(ensures), opt_in_reason(clique, member))


def opt_in_reason(clique: LabelledClique, member: DomainMembership) -> Reason:
    """Why a PodClique shares something."""
    facts = {"scope": member.scope.value, "domain": member.domain, "user": str(member.user)}
    return Why.OPTED_IN.because(clique.ref, **facts)


def membership_in(clique: LabelledClique, position: CliquePosition | None = None) -> DomainMembership | LeftUnchanged:
    """What a PodClique shares by its annotations; or why nothing (MS-002, MS-003, MS-007).

    Args:
        clique: stored, or to be made.
        position: where it stands; by its labels where this is not told.
    """
    if DOMAIN_TEMPLATE in clique.annotations:
        return LeftUnchanged(Why.IN_THE_DOMAIN_OF_ITS_REPLICA.because(clique.ref, annotation=DOMAIN_TEMPLATE))
    said = clique.annotations.get(MNNVL_ENABLED)
    if said in {None, "false"}:
        value = "absent" if said is None else '"false"'
        return LeftUnchanged(Why.NOT_OPTED_IN.because(clique.ref, annotation=MNNVL_ENABLED, value=value))
    if said != "true":
        return _invalid(clique, MNNVL_ENABLED, 'is neither "true" nor "false"')
    if scope_of(clique.annotations) is None:
        return _invalid(clique, MNNVL_SCOPE, f"is none of {', '.join(SCOPES)}")
    device_class = clique.annotations.get(MNNVL_DEVICE_CLASS)
    if device_class == "":
        return _invalid(clique, MNNVL_DEVICE_CLASS, "names no device class")
    if device_class is not None and not is_dns_subdomain(str(device_class)):
        return _invalid(clique, MNNVL_DEVICE_CLASS, "is no name that a DeviceClass can have")
    position = position or position_of_clique(clique)
    if position is None:
        return _invalid(clique, MNNVL_ENABLED, "says so of a PodClique whose labels name no replica of a set")
    return membership_of(position, clique.annotations) or _invalid(clique, MNNVL_SCOPE, "is of no scaling group")


def serves(found: SharedObject, member: DomainMembership) -> bool:
    """Whether an object is the domain or the claim of a membership: its labels say what and for whom (MS-036).

    Claims of ``resourceSharing`` have the labels of a user, too.
    """
    return managed_user_of(found.labels) == member.user


def holder_of(found: SharedObject) -> str:
    """Whom an object serves, in words."""
    user = managed_user_of(found.labels)
    return str(user) if user is not None else "somebody else: no label says whom"


def _obstacle(
    clique: Ref, ref: Ref, found: SharedObject | None, member: DomainMembership, refused: Mapping[tuple[str, str], str]
) -> Reason | None:
    """Why a domain or claim cannot be had now; None where it can."""
    here = {"kind": ref.kind, "name": ref.name}
    if found is not None and not serves(found, member):
        holder, user = holder_of(found), str(member.user)
        return Why.NAME_SERVES_ANOTHER.because(clique, holder=holder, user=user, **here)
    if found is not None and found.deleting:
        return Why.DOMAIN_LEAVES.because(clique, **here)
    if found is None and (ref.kind, ref.name) in refused:
        return Why.NOT_ENSURED.because(clique, error=refused[ref.kind, ref.name], **here)
    return None


def _invalid(clique: LabelledClique, annotation: str, trouble: str) -> LeftUnchanged:
    got = shown(clique.annotations[annotation]) if annotation in clique.annotations else "nothing"
    because = Why.ODD_ANNOTATION.because(clique.ref, annotation=annotation, trouble=trouble, got=got)
    return LeftUnchanged(because, (annotation, trouble))
