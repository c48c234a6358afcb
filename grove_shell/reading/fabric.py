"""What an input says of ComputeDomains: the objects, whoever's they are, and in which shape its cluster has them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain, compute_domain_of
from grove_core.resources.configuration import UNASKED, DomainShape, Served
from grove_core.resources.fields import Fields
from grove_core.resources.keys import CLAIM_VERSIONS, NVIDIA
from grove_shell.reading.manifests import text_of

_GROUP: Final = NVIDIA.partition("/")[0]
_DEFINITION: Final = f"computedomains.{_GROUP}"
_DEFINITION_KIND: Final = "CustomResourceDefinition"


@dataclass(slots=True)
class Fabric:
    """What was found so far.

    Attributes:
        domains: by namespace and name.
        templates: (namespace, name) -> ``spec`` of a ResourceClaimTemplate: what shared claims may be made of (WL-019).
        served: as far as objects of the input give it away.
    """

    domains: dict[tuple[str, str], ComputeDomain] = field(default_factory=dict)
    templates: dict[tuple[str, str], FrozenMap] = field(default_factory=dict)
    served: Served = UNASKED

    def take(self, raw: Mapping[str, Any], shared: dict[str, str]) -> ComputeDomain:
        """A ComputeDomain, as it is filed. Raises MalformedObject with every problem (IN-030)."""
        domain = compute_domain_of(raw, shared)
        return self.domains.setdefault((domain.ref.namespace, domain.ref.name), domain)

    def take_template(self, raw: Mapping[str, Any]) -> None:
        """A template; what has no spec is none."""
        spec = raw.get("spec")
        if isinstance(spec, Mapping):
            self.templates[text_of(raw, "namespace") or "default", text_of(raw, "name")] = FrozenMap.over(spec)

    def notice(self, kind: str, raw: Mapping[str, Any]) -> None:
        """An object that shows what its cluster offers: the definition of ComputeDomains, or a claim (IN-060)."""
        if kind == "ResourceClaim":
            version = str(raw.get("apiVersion"))
            known = [one for one in CLAIM_VERSIONS if one in {version, self.served.claims}]
            self.served = replace(self.served, claims=known[0] if known else "")
        elif kind == _DEFINITION_KIND and Fields(raw, "", []).part("metadata").text("name") == _DEFINITION:
            self.served = replace(self.served, domains=_shape_in(raw), without_domains=False)


def is_domain(kind: str, group: str) -> bool:
    """Whether an object is a ComputeDomain."""
    return (kind, group) == (DOMAIN_KIND, _GROUP)


def shape_of(channel: Mapping[str, Any]) -> DomainShape:
    """By the properties that the schema of ``spec.channel`` has."""
    return DomainShape.NVIDIA if "resourceClaimTemplate" in channel else DomainShape.DESIGN


def _shape_in(definition: Mapping[str, Any]) -> DomainShape:
    """Of the newest version that has a channel."""
    shapes = []
    for version in Fields(definition, "", []).part("spec").parts("versions"):
        spec = version.part("schema").part("openAPIV3Schema").part("properties").part("spec").part("properties")
        shapes.append(shape_of(spec.part("channel").part("properties").raw))
    return DomainShape.NVIDIA if DomainShape.NVIDIA in shapes else DomainShape.DESIGN
