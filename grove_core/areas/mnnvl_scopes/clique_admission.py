"""Admission of one PodClique: what it shares, what must exist before it, or why it has to wait (MS-001 to MS-039).

Both the webhook and plans use this decision; a plan shows a PodClique as the webhook would store it
(specs/decisions/0013).
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen, list_at
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import ObjectToEnsure
from grove_core.resources.api_names import (
    CLAIM_KIND,
    DOMAIN_KIND,
    DOMAIN_TEMPLATE,
    MNNVL_DEVICE_CLASS,
    MNNVL_ENABLED,
    MNNVL_SCOPE,
    SHARED_CLAIM,
)
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, MnnvlMode, ServedApis
from grove_core.resources.domain_and_claim_formats import compute_domain_format_to_write, resource_claim_format_to_write
from grove_core.resources.domain_sharing import (
    SCOPES,
    CliquePositionInSet,
    CliqueSharingFacts,
    DomainMembership,
    clique_indices_from_labels,
    domain_membership_of_position,
    sharing_scope_in_annotations,
)
from grove_core.resources.domain_sharing_labels import sharing_user_in_labels
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.naming_rules import is_dns_subdomain
from grove_core.resources.owned_object import NewObjectMetadata, OwnedObject
from grove_core.resources.pod_spec_gpus import pod_spec_with_gpu_claim
from grove_core.snapshot.snapshot import Snapshot

_REQUEST = "mnnvl"
_SELECTOR = 'device.attributes["compute-domain.nvidia.com"].name == "{}"'


class SharedObjectBuilder:
    """Builds the ComputeDomains and ResourceClaims that PodCliques share, in the API versions that are served."""

    def __init__(self, configuration: Configuration, served: ServedApis, namespace: str) -> None:
        self._domain_format = compute_domain_format_to_write(configuration, served)
        self._claim_format = resource_claim_format_to_write(served)
        self._namespace = namespace

    @classmethod
    def for_set(cls, snapshot: Snapshot) -> "SharedObjectBuilder":
        """Return the builder for the objects of a set."""
        return cls(snapshot.configuration, snapshot.served, snapshot.root.ref.namespace)

    def ref_of_membership(self, kind: str, membership: DomainMembership) -> Ref:
        """Return the address of the domain or claim of a membership."""
        if kind == DOMAIN_KIND:
            return Ref(self._domain_format.api_version, kind, self._namespace, membership.domain_name)
        return Ref(self._claim_format.api_version, kind, self._namespace, membership.claim_name)

    def object_to_ensure(
        self, kind: str, membership: DomainMembership, owner: Resource, because: Reason | None = None
    ) -> ObjectToEnsure:
        """Return the want for a domain or claim.

        Args:
            kind: ``ComputeDomain`` or ``ResourceClaim``.
            owner: the controller of the new object.
            because: None for the reason that new PodCliques share it.
        """
        user = str(membership.user)
        if kind == DOMAIN_KIND:
            spec = self._domain_format.spec_for(f"{membership.base_name}-mnnvl-rct")
            why = because or SharedDomainReason.DOMAIN_SHARED.because(owner.ref, user=user)
        else:
            request = {
                "deviceClassName": membership.device_class,
                "selectors": [{"cel": {"expression": _SELECTOR.format(membership.domain_name)}}],
            }
            spec = self._claim_format.spec_for(_REQUEST, frozen(request))
            why = because or SharedDomainReason.CLAIM_SHARED.because(
                owner.ref, user=user, domain=membership.domain_name
            )
        ref = self.ref_of_membership(kind, membership)
        new = NewObjectMetadata(
            api_version=ref.api_version,
            kind=kind,
            name=ref.name,
            owner=owner,
            labels=membership.labels,
            blocks=blocks_deletion_of_owner(owner),
        )
        return ObjectToEnsure(ref, new.manifest_with_fields({"spec": spec}), (why,))


def blocks_deletion_of_owner(owner: Resource) -> bool:
    """Return whether a shared object blocks the deletion of its owner: of a PodGang, not of the set (MS-020)."""
    return owner.ref.kind == "PodGang"


SharedObject: TypeAlias = ComputeDomain | OwnedObject
SHARED_KINDS = (DOMAIN_KIND, CLAIM_KIND)


class CliqueAdmissionView(Struct, frozen=True, kw_only=True):
    """What the admission of a PodClique needs besides the PodClique.

    Attributes:
        served: the API versions that the server serves.
        owner: the PodCliqueSet that is to own new domains and claims; None if it is not known (yet).
        domains, claims: (namespace, name) -> the object of that name.
        refused: (kind, name) -> why the API server refused to create it lately.
    """

    configuration: Configuration
    served: ServedApis
    owner: Resource | None
    domains: Mapping[tuple[str, str], ComputeDomain]
    claims: Mapping[tuple[str, str], OwnedObject]
    refused: Mapping[tuple[str, str], str] = FrozenDict()


class CliqueAdmittedToDomain(NamedTuple):
    """The PodClique shares a domain; `ensures` are the missing objects to create before it is stored."""

    pod_spec: FrozenMap
    ensures: tuple[ObjectToEnsure, ...]
    because: Reason


class CliqueAdmittedUnchanged(NamedTuple):
    """The PodClique shares nothing and is stored unchanged; `invalid` is a bad annotation and what is wrong with it."""

    because: Reason
    invalid: tuple[str, str] = ("", "")


class CliqueAdmissionDeferred(NamedTuple):
    """The PodClique must not be stored now."""

    because: Reason


class ClaimNameConflict(NamedTuple):
    """The pod spec has a claim of the user, at `claim_index`, under the name of the one that it would get (MS-008)."""

    because: Reason
    claim_index: int


CliqueAdmission: TypeAlias = (
    CliqueAdmittedToDomain | CliqueAdmittedUnchanged | CliqueAdmissionDeferred | ClaimNameConflict
)


def judge_clique_admission(
    clique: CliqueSharingFacts, view: CliqueAdmissionView, ensured: AbstractSet[Ref] = frozenset()
) -> CliqueAdmission:
    """Return what the admission of a new PodClique decides. Idempotent: its own result is left unchanged (MS-032).

    Objects that are `ensured` are already wanted for another PodClique.
    """
    if not view.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        return CliqueAdmittedUnchanged(SharedDomainReason.SCOPES_OFF.because(clique.ref))
    membership = domain_membership_of(clique)
    if not isinstance(membership, DomainMembership):
        return membership
    entry = FrozenMap({"name": SHARED_CLAIM, "resourceClaimName": membership.claim_name})
    for index, claim in enumerate(list_at(clique.pod_spec, "resourceClaims")):
        if isinstance(claim, FrozenMap) and claim.get("name") == SHARED_CLAIM and claim != entry:
            return ClaimNameConflict(SharedDomainReason.CLAIM_NAME_TAKEN.because(clique.ref, name=SHARED_CLAIM), index)
    if view.owner is None:
        return CliqueAdmissionDeferred(
            SharedDomainReason.SET_UNKNOWN.because(clique.ref, name=membership.user.set_name)
        )
    builder = SharedObjectBuilder(view.configuration, view.served, clique.ref.namespace)
    ensures: list[ObjectToEnsure] = []
    for kind in SHARED_KINDS:
        ref = builder.ref_of_membership(kind, membership)
        existing: Mapping[tuple[str, str], SharedObject] = view.domains if kind == DOMAIN_KIND else view.claims
        found = existing.get((ref.namespace, ref.name))
        obstacle = _obstacle(clique.ref, ref, found, membership, view.refused)
        if obstacle is not None:
            return CliqueAdmissionDeferred(obstacle)
        if found is None and ref not in ensured:
            ensures.append(builder.object_to_ensure(kind, membership, view.owner))
    return CliqueAdmittedToDomain(
        pod_spec_with_gpu_claim(clique.pod_spec, entry), tuple(ensures), domain_sharing_reason(clique, membership)
    )


def domain_sharing_reason(clique: CliqueSharingFacts, membership: DomainMembership) -> Reason:
    """Return why a PodClique shares a domain."""
    facts = {"scope": membership.scope.value, "domain": membership.domain_name, "user": str(membership.user)}
    return SharedDomainReason.OPTED_IN.because(clique.ref, **facts)


def domain_membership_of(
    clique: CliqueSharingFacts, position: CliquePositionInSet | None = None
) -> DomainMembership | CliqueAdmittedUnchanged:
    """Return the domain that a PodClique shares by its annotations, or why it shares none (MS-002, MS-003, MS-007).

    Without a position in the set it is read from the labels.
    """
    if DOMAIN_TEMPLATE in clique.annotations:
        return CliqueAdmittedUnchanged(
            SharedDomainReason.IN_THE_DOMAIN_OF_ITS_REPLICA.because(clique.ref, annotation=DOMAIN_TEMPLATE)
        )
    choice = clique.annotations.get(MNNVL_ENABLED)
    if choice in {None, "false"}:
        value = "absent" if choice is None else '"false"'
        return CliqueAdmittedUnchanged(
            SharedDomainReason.NOT_OPTED_IN.because(clique.ref, annotation=MNNVL_ENABLED, value=value)
        )
    if choice != "true":
        return _invalid(clique, MNNVL_ENABLED, 'is neither "true" nor "false"')
    if sharing_scope_in_annotations(clique.annotations) is None:
        return _invalid(clique, MNNVL_SCOPE, f"is none of {', '.join(SCOPES)}")
    device_class = clique.annotations.get(MNNVL_DEVICE_CLASS)
    if device_class == "":
        return _invalid(clique, MNNVL_DEVICE_CLASS, "names no device class")
    if device_class is not None and not is_dns_subdomain(str(device_class)):
        return _invalid(clique, MNNVL_DEVICE_CLASS, "is not a valid name of a DeviceClass")
    position = position or clique_indices_from_labels(clique)
    if position is None:
        return _invalid(clique, MNNVL_ENABLED, "is set on a PodClique whose labels name no replica of a set")
    return domain_membership_of_position(position, clique.annotations) or _invalid(
        clique, MNNVL_SCOPE, "is set on a PodClique of no scaling group"
    )


def is_shared_object_of_membership(found: SharedObject, membership: DomainMembership) -> bool:
    """Return whether an object is the domain or claim of a membership, by the user in its labels (MS-036).

    Claims of ``resourceSharing`` have labels of a user too, and do not count.
    """
    return sharing_user_in_labels(found.labels) == membership.user


def shared_object_user_text(found: SharedObject) -> str:
    """Return the user of an object, as a text."""
    user = sharing_user_in_labels(found.labels)
    return str(user) if user is not None else "another user, which no label names"


def _obstacle(
    clique: Ref,
    ref: Ref,
    found: SharedObject | None,
    membership: DomainMembership,
    refused: Mapping[tuple[str, str], str],
) -> Reason | None:
    kind_and_name = {"kind": ref.kind, "name": ref.name}
    if found is not None and not is_shared_object_of_membership(found, membership):
        holder, user = shared_object_user_text(found), str(membership.user)
        return SharedDomainReason.NAME_SERVES_ANOTHER.because(clique, holder=holder, user=user, **kind_and_name)
    if found is not None and found.deleting:
        return SharedDomainReason.EARLIER_OBJECT_BEING_DELETED.because(clique, **kind_and_name)
    if found is None and (ref.kind, ref.name) in refused:
        return SharedDomainReason.NOT_ENSURED.because(clique, error=refused[ref.kind, ref.name], **kind_and_name)
    return None


def _invalid(clique: CliqueSharingFacts, annotation: str, trouble: str) -> CliqueAdmittedUnchanged:
    got = short_json(clique.annotations[annotation]) if annotation in clique.annotations else "nothing"
    because = SharedDomainReason.ANNOTATION_INVALID.because(clique.ref, annotation=annotation, trouble=trouble, got=got)
    return CliqueAdmittedUnchanged(because, (annotation, trouble))
