"""Formats of ComputeDomains and of claims to them, by API version (D2, D14), and which of them a cluster reads."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLAIM_KIND, CLAIM_VERSIONS, DOMAIN_KIND, NVIDIA
from grove_core.resources.configuration import ComputeDomainFormatName, Configuration, MnnvlMode, ServedApis

_ALPHA: Final = "resource.nvidia.com/v1alpha1"


class ComputeDomainManifestFormat(NamedTuple):
    """The format of a ComputeDomain.

    Attributes:
        api_version: of the object.
        spec_for: name of the ResourceClaimTemplate that the driver creates -> ``spec``.
    """

    api_version: str
    spec_for: Callable[[str], FrozenMap]


def _flat(template: str) -> FrozenMap:
    return FrozenMap({"channel": FrozenMap({"resourceClaimTemplateName": template})})


def _nested(template: str) -> FrozenMap:
    named = FrozenMap({"name": template})
    return FrozenMap({"numNodes": 0, "channel": FrozenMap({"resourceClaimTemplate": named})})


DOMAIN_FORMATS: Final[Mapping[tuple[MnnvlMode, ComputeDomainFormatName], ComputeDomainManifestFormat]] = (
    MappingProxyType(
        {
            (MnnvlMode.OPERATOR, ComputeDomainFormatName.DESIGN): ComputeDomainManifestFormat(NVIDIA, _flat),
            (MnnvlMode.OPERATOR, ComputeDomainFormatName.NVIDIA): ComputeDomainManifestFormat(NVIDIA, _nested),
            (MnnvlMode.ANNOTATIONS, ComputeDomainFormatName.DESIGN): ComputeDomainManifestFormat(
                _ALPHA, lambda _template: FrozenMap({"numNodes": 0})
            ),
            (MnnvlMode.ANNOTATIONS, ComputeDomainFormatName.NVIDIA): ComputeDomainManifestFormat(NVIDIA, _nested),
        }
    )
)


def compute_domain_format_to_write(configuration: Configuration, served: ServedApis) -> ComputeDomainManifestFormat:
    """Return the format to write: the configured one, else the one that is served, else the design's (MN-005)."""
    mnnvl = configuration.mnnvl
    return DOMAIN_FORMATS[mnnvl.mode, mnnvl.shape or served.domains or ComputeDomainFormatName.DESIGN]


class ClaimFormat(NamedTuple):
    """The format of a ResourceClaim.

    Attributes:
        api_version: of the object.
        spec_for: name and content of a device request -> ``spec``.
    """

    api_version: str
    spec_for: Callable[[str, FrozenMap], FrozenMap]


def _claim_of(request: FrozenMap) -> FrozenMap:
    return FrozenMap({"devices": FrozenMap({"requests": (request,)})})


def _exact_claim(name: str, request: FrozenMap) -> FrozenMap:
    return _claim_of(FrozenMap({"name": name, "exactly": request}))


_V1, _V1BETA2, _V1BETA1 = CLAIM_VERSIONS
CLAIM_FORMATS: Final[Mapping[str, ClaimFormat]] = MappingProxyType(
    {
        _V1: ClaimFormat(_V1, _exact_claim),
        _V1BETA2: ClaimFormat(_V1BETA2, _exact_claim),
        _V1BETA1: ClaimFormat(_V1BETA1, lambda name, request: _claim_of(FrozenMap({"name": name, **request}))),
    }
)


_VERSIONS: Final[Mapping[str, AbstractSet[str]]] = MappingProxyType(
    {DOMAIN_KIND: frozenset(one.api_version for one in DOMAIN_FORMATS.values()), CLAIM_KIND: frozenset(CLAIM_VERSIONS)}
)


def refs_across_api_versions(ref: Ref) -> Iterator[Ref]:
    """Yield the addresses of an object in every API version that Grove may write, the given one first (SM-080)."""
    yield ref
    for version in sorted(_VERSIONS.get(ref.kind, frozenset()) - {ref.api_version}):
        yield replace(ref, api_version=version)


def resource_claim_format_to_write(served: ServedApis) -> ClaimFormat:
    """Return the format of the newest served version; the design's where no version is known (MS-023)."""
    return CLAIM_FORMATS[served.claims or _V1BETA1]
