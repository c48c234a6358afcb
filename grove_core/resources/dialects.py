"""The shapes of a ComputeDomain, side by side (decision D2); and which of them a cluster reads."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.configuration import Configuration, DomainShape, MnnvlMode, Served
from grove_core.resources.keys import NVIDIA

_ALPHA: Final = "resource.nvidia.com/v1alpha1"


class Dialect(NamedTuple):
    """How a ComputeDomain is written.

    Attributes:
        spec_for: the name of the ResourceClaimTemplate that the driver is to make -> ``spec``.
    """

    api_version: str
    spec_for: Callable[[str], FrozenMap]


def _flat(template: str) -> FrozenMap:
    return FrozenMap({"channel": FrozenMap({"resourceClaimTemplateName": template})})


def _nested(template: str) -> FrozenMap:
    named = FrozenMap({"name": template})
    return FrozenMap({"numNodes": 0, "channel": FrozenMap({"resourceClaimTemplate": named})})


def _bare(_template: str) -> FrozenMap:
    return FrozenMap({"numNodes": 0})


DIALECTS: Final[Mapping[tuple[MnnvlMode, DomainShape], Dialect]] = MappingProxyType(
    {
        (MnnvlMode.OPERATOR, DomainShape.DESIGN): Dialect(NVIDIA, _flat),
        (MnnvlMode.OPERATOR, DomainShape.NVIDIA): Dialect(NVIDIA, _nested),
        (MnnvlMode.ANNOTATIONS, DomainShape.DESIGN): Dialect(_ALPHA, _bare),
        (MnnvlMode.ANNOTATIONS, DomainShape.NVIDIA): Dialect(NVIDIA, _nested),
    }
)


def dialect_of(configuration: Configuration, served: Served) -> Dialect:
    """The dialect to write: as configured, else as the cluster reads it, else that of the design (MN-006)."""
    told = configuration.mnnvl
    return DIALECTS[told.mode, told.shape or served.domains or DomainShape.DESIGN]
