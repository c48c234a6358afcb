"""Dynamic resource allocation: ComputeDomains and claim templates of an input, and the versions its cluster serves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.api_names import CLAIM_VERSIONS, NVIDIA
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain, shape_of
from grove_core.resources.configuration import DomainShape, ServedApis
from grove_core.resources.fields import Fields
from grove_shell.reading.items import meta_text

_GROUP: Final = NVIDIA.partition("/")[0]
DEFINITION: Final = f"computedomains.{_GROUP}"
DEFINITION_KIND: Final = "CustomResourceDefinition"
TEMPLATE_KIND: Final = "ResourceClaimTemplate"


@dataclass(slots=True)
class DraObjects:
    """The objects that were read so far.

    Attributes:
        domains: by namespace and name.
        templates: (namespace, name) -> ``spec`` of a ResourceClaimTemplate: templates of shared claims (WL-019).
        shapes: form of ComputeDomains, from their definition.
        claims: newest API version of a claim in the input; empty for none.
    """

    domains: dict[tuple[str, str], ComputeDomain] = field(default_factory=dict)
    templates: dict[tuple[str, str], FrozenMap] = field(default_factory=dict)
    shapes: dict[tuple[str, str], DomainShape] = field(default_factory=dict)
    claims: str = ""

    def record_claim_version(self, raw: Mapping[str, Any]) -> None:
        """Record the API version of a claim, which its cluster serves (IN-047)."""
        known = [one for one in CLAIM_VERSIONS if one in {str(raw.get("apiVersion")), self.claims}]
        self.claims = known[0] if known else ""

    @property
    def served(self) -> ServedApis:
        """What the cluster serves, as far as the objects show it."""
        return ServedApis(domains=next(iter(self.shapes.values()), None), claims=self.claims)


def template_in(raw: Mapping[str, Any]) -> tuple[tuple[str, str], FrozenMap | None]:
    """Return namespace and name of a claim template, and its spec; None without a valid spec."""
    spec = raw.get("spec")
    key = meta_text(raw, "namespace") or "default", meta_text(raw, "name")
    return key, FrozenMap.over(spec) if isinstance(spec, Mapping) else None


def shape_in_definition(kind: str, raw: Mapping[str, Any]) -> DomainShape | None:
    """Return the form of ComputeDomains that their definition serves (IN-047); None for any other object."""
    is_theirs = kind == DEFINITION_KIND and Fields(raw, "", []).part("metadata").text("name") == DEFINITION
    return _shape_in(raw) if is_theirs else None


def is_compute_domain(kind: str, group: str) -> bool:
    """Return whether an object of a kind and API group is a ComputeDomain."""
    return (kind, group) == (DOMAIN_KIND, _GROUP)


def _shape_in(definition: Mapping[str, Any]) -> DomainShape:
    """Return the form of the newest version that has a channel."""
    shapes = []
    for version in Fields(definition, "", []).part("spec").parts("versions"):
        spec = version.part("schema").part("openAPIV3Schema").part("properties").part("spec").part("properties")
        shapes.append(shape_of(spec.part("channel").part("properties").raw))
    return DomainShape.NVIDIA if DomainShape.NVIDIA in shapes else DomainShape.DESIGN
