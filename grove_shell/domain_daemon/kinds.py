"""Where an API server keeps what daemons register in, and how it is read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.domain_cliques.verdicts import DaemonRegistry
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, DOMAIN, NVIDIA
from grove_core.resources.compute_domain import DOMAIN_KIND, compute_domain_of
from grove_core.resources.compute_domain_clique import CLIQUE_KIND, compute_domain_clique_of
from grove_shell.client.kinds import ApiKind

DOMAINS: Final = ApiKind(DOMAIN_KIND, NVIDIA, "computedomains")
CLIQUES: Final = ApiKind(CLIQUE_KIND, NVIDIA, "computedomaincliques")
PODS: Final = ApiKind("Pod", CORE, "pods", DOMAIN)
KINDS: Final[Mapping[str, ApiKind]] = MappingProxyType({one.kind: one for one in (DOMAINS, CLIQUES, PODS)})


def path_of(ref: Ref, part: str = "") -> str:
    """The path of an object."""
    return KINDS[ref.kind].path(ref.namespace, ref.name, part)


def registry_of(raw: Mapping[str, Any]) -> DaemonRegistry:
    """Project a domain or a clique. Raises MalformedObject with every problem."""
    return compute_domain_of(raw) if raw.get("kind") == DOMAIN_KIND else compute_domain_clique_of(raw)
