"""The kinds that daemons and the domain controller read and write: their paths, and how they are parsed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.domain_cliques.verdicts import DaemonRegistry
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, DOMAIN, NVIDIA
from grove_core.resources.compute_domain import (
    CLIQUE_KIND,
    DOMAIN_KIND,
    compute_domain_from_json,
    domain_clique_from_json,
)
from grove_shell.client.kinds import ApiKind

DOMAINS: Final = ApiKind(DOMAIN_KIND, NVIDIA, "computedomains")
CLIQUES: Final = ApiKind(CLIQUE_KIND, NVIDIA, "computedomaincliques")
PODS: Final = ApiKind("Pod", CORE, "pods", DOMAIN)
KINDS: Final[Mapping[str, ApiKind]] = MappingProxyType({one.kind: one for one in (DOMAINS, CLIQUES, PODS)})


def url_path_of(ref: Ref, subresource: str = "") -> str:
    """Return the URL path of an object, or of a subresource of it."""
    return KINDS[ref.kind].path(ref.namespace, ref.name, subresource)


def parse_daemon_registry(raw: Mapping[str, Any]) -> DaemonRegistry:
    """Parse a ComputeDomain or a ComputeDomainClique.

    Raises:
        MalformedObject: with every problem.
    """
    return compute_domain_from_json(raw) if raw.get("kind") == DOMAIN_KIND else domain_clique_from_json(raw)
