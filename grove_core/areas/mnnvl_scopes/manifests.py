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
    """Builds the ComputeDomains and ResourceClaims that PodCliques share, in the API versions that are served."""

    def __init__(self, configuration: Configuration, served: ServedApis, namespace: str) -> None:
        """Choose the API versions; cost: constant."""
        self._domain_format = domain_format_of(configuration, served)
        self._claim_format = claim_format_of(served)
        self._namespace = namespace

    def ref_of(self, kind: str, membership: DomainMembership) -> Ref:
        """Return the address of the domain or claim of a membership."""
        if kind == DOMAIN_KIND:
            return Ref(self._domain_format.api_version, kind, self._namespace, membership.domain)
        return Ref(self._claim_format.api_version, kind, self._namespace, membership.claim)

    def ensured(
        self, kind: str, membership: DomainMembership, owner: Resource, because: Reason | None = None
    ) -> Ensured:
        """Return the want for a domain or claim.

        Args:
            kind: ComputeDomain or ResourceClaim.
            membership: of the PodCliques that share it.
            owner: its controller.
            because: the reason; without one, that new PodCliques share it.
        """
        user = str(membership.user)
        if kind == DOMAIN_KIND:
            spec = self._domain_format.spec_for(f"{membership.base_name}-mnnvl-rct")
            why = because or Why.DOMAIN_SHARED.because(owner.ref, user=user)
        else:
            request = {
                "deviceClassName": membership.device_class,
                "selectors": [{"cel": {"expression": _SELECTOR.format(membership.domain)}}],
            }
            spec = self._claim_format.spec_for(_REQUEST, frozen(request))
            why = because or Why.CLAIM_SHARED.because(owner.ref, user=user, domain=membership.domain)
        ref = self.ref_of(kind, membership)
        new = NewObject(
            api_version=ref.api_version,
            kind=kind,
            name=ref.name,
            owner=owner,
            labels=membership.labels,
            blocks=blocks_deletion_of(owner),
        )
        return Ensured(ref, new.filled({"spec": spec}), (why,))


def blocks_deletion_of(owner: Resource) -> bool:
    """Return whether a shared object blocks the deletion of its owner: of a PodGang, not of the set (MS-045)."""
    return owner.ref.kind == "PodGang"
