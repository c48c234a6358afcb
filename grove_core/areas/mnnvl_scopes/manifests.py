"""Manifests of the ComputeDomains and ResourceClaims that are shared by annotation (MS-020 to MS-023)."""

from grove_core.areas.mnnvl_scopes.rules import Why
from grove_core.kernel.frozen import frozen
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Ensured
from grove_core.resources.api_formats import claim_format_of, domain_format_of
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.domain_sharing import DomainMembership
from grove_core.resources.meta import Resource
from grove_core.resources.new_object import NewObject

_REQUEST = "mnnvl"
_SELECTOR = 'device.attributes["compute-domain.nvidia.com"].name == "{}"'


class SharedObjectBuilder:
    """Makes what PodCliques of one namespace share, as a cluster reads it."""

    def __init__(self, configuration: Configuration, served: ServedApis, namespace: str) -> None:
        """For a namespace."""
        self._dialect = domain_format_of(configuration, served)
        self._claims = claim_format_of(served)
        self._namespace = namespace

    def address_of(self, kind: str, member: DomainMembership) -> Ref:
        """Where the domain or the claim of a membership stands."""
        if kind == DOMAIN_KIND:
            return Ref(self._dialect.api_version, kind, self._namespace, member.domain)
        return Ref(self._claims.api_version, kind, self._namespace, member.claim)

    def ensured(self, kind: str, member: DomainMembership, owner: Resource, because: Reason | None = None) -> Ensured:
        """The wish for the domain or the claim.

        Args:
            kind: which of them.
            member: who shares it.
            owner: its controller.
            because: why, where it is not for somebody who is new.
        """
        user = str(member.user)
        if kind == DOMAIN_KIND:
            spec = self._dialect.spec_for(f"{member.base_name}-mnnvl-rct")
            why = because or Why.DOMAIN_SHARED.because(owner.ref, user=user)
        else:
            request = {
                "deviceClassName": member.device_class,
                "selectors": [{"cel": {"expression": _SELECTOR.format(member.domain)}}],
            }
            spec = self._claims.spec_for(_REQUEST, frozen(request))
            why = because or Why.CLAIM_SHARED.because(owner.ref, user=user, domain=member.domain)
        ref = self.address_of(kind, member)
        blank = NewObject(
            api_version=ref.api_version,
            kind=kind,
            name=ref.name,
            owner=owner,
            labels=member.labels,
            blocks=blocks_deletion_of(owner),
        )
        return Ensured(ref, blank.filled({"spec": spec}), (why,))


def blocks_deletion_of(owner: Resource) -> bool:
    """Whether what is shared blocks the deletion of its owner: that of a gang, and not that of the set (MS-045)."""
    return owner.ref.kind == "PodGang"
