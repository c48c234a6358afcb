"""Every resource and verb that Grove requests. The RBAC roles are generated from this table.

A new kind of request needs a line here: tests compare the table with the requests that are made.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from grove_core.resources.api_names import (
    BINDING_KIND,
    COMPOSITE_KIND,
    DOMAIN_KIND,
    GROUP_KIND,
    POD_GROUP_KIND,
    SET_KIND,
    TOPOLOGY_KIND,
    WORKLOAD_KIND,
)
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.owned_object import GROUP_KINDS
from grove_shell.client.api_kinds import KINDS, ApiKind, kinds_watched_by_operator
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import (
    MUTATING,
    REGISTRATION_GROUP,
    VALIDATING,
    WebhookSettings,
    default_preview_webhook_settings,
)


class RequestScope(StrEnum):
    """Where a resource is requested: in the cluster, in the watched namespace, or in the namespace of the process."""

    WATCHED = "watched"
    """In every watched namespace."""
    HOME = "home"
    """In the namespace in which the process runs."""
    CLUSTER = "cluster"
    """Outside all namespaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAccess:
    """One resource and the verbs on it.

    Attributes:
        group: of the API; empty for the core.
        resource: its plural, with ``/status`` and the like for a part of it.
        verbs: sorted.
        names: of the only objects that are requested; empty for all.
        unrequested: why the rule is needed although Grove sends no such request; empty where it does.
    """

    group: str
    resource: str
    verbs: tuple[str, ...]
    scope: RequestScope = RequestScope.WATCHED
    names: tuple[str, ...] = ()
    unrequested: str = ""


_WATCHED: Final = "list watch"
_CLUSTER: Final = RequestScope.CLUSTER
_LEASES: Final = ("coordination.k8s.io", "leases")
LEASE_NAME: Final = OperatorSettings().leader_election.name
"""The Lease of an operator without a configuration."""
_SECRETS: Final = ("", "secrets")
_PODS: Final = ("", "pods")
_WITH_STATUS: Final = (SET_KIND, GROUP_KIND, "PodClique", "PodGang")
_BLOCKING: Final = (
    "an API server with OwnerReferencesPermissionEnforcement asks for it where an owner waits for its parts"
)
_GRANTED: Final = "the Role of a set has it, and a user can grant only what it has"

VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {
        SET_KIND: "get patch",
        GROUP_KIND: "create delete get patch",
        "PodClique": "create delete get patch",
        "PodGang": "create delete get patch",
        "Pod": "create delete get patch",
        "Service": "create delete get patch",
        "ServiceAccount": "create get",
        "Secret": "create get",
        "Role": "create get",
        "RoleBinding": "create get",
        "HorizontalPodAutoscaler": "create delete get patch",
        WORKLOAD_KIND: "create delete get",
        COMPOSITE_KIND: "create delete get",
        POD_GROUP_KIND: "create delete get patch",
        "ResourceClaim": "create delete get patch",
        "ResourceClaimTemplate": "",
        DOMAIN_KIND: "create delete get patch",
        TOPOLOGY_KIND: "create get patch",
        BINDING_KIND: "patch",
    }
)
"""The verbs on objects of each kind besides list and watch; ``get`` reads what a creation without a response left."""


def _access(
    resource: ApiKind | tuple[str, str],
    verbs: str,
    part: str = "",
    *,
    scope: RequestScope = RequestScope.WATCHED,
    name: str = "",
    unrequested: str = "",
) -> ResourceAccess:
    """Return the access to a kind, or to a plural in an API group; ``part`` is ``/status`` and the like."""
    group, plural = resource if isinstance(resource, tuple) else (resource.group, resource.plural)
    return ResourceAccess(
        group=group,
        resource=f"{plural}{part}",
        verbs=tuple(sorted(verbs.split())),
        scope=scope,
        names=(name,) if name else (),
        unrequested=unrequested,
    )


def _of_kinds(*, everywhere: bool, by_topology: bool, with_groups: bool) -> Iterator[ResourceAccess]:
    for kind in kinds_watched_by_operator(
        KINDS, everywhere=everywhere, by_topology=by_topology, with_groups=with_groups
    ).values():
        done = "" if kind.clustered and not everywhere else VERBS[kind.kind]
        yield _access(kind, f"{_WATCHED} {done}", scope=_CLUSTER if kind.clustered else RequestScope.WATCHED)
        if kind.kind in _WITH_STATUS:
            yield _access(kind, "patch", "/status")
            yield _access(kind, "update", "/finalizers", unrequested=_BLOCKING)


def operator_resource_access(
    *, everywhere: bool = True, by_topology: bool = False, with_groups: bool = True, lease: str = LEASE_NAME
) -> tuple[ResourceAccess, ...]:
    """Return the access of ``grove operator``.

    Args:
        everywhere: whether it watches all namespaces.
        by_topology: whether pods are placed by topology.
        with_groups: whether gangs may be placed by the Workload API.
        lease: the name of the Lease of its leader election.
    """
    return (
        *_of_kinds(everywhere=everywhere, by_topology=by_topology, with_groups=with_groups),
        _access(_PODS, "get list watch", "/status", unrequested=_GRANTED),
        _access(("events.k8s.io", "events"), "create"),
        *_of_one_object(_LEASES, lease),
    )


def _of_one_object(resource: tuple[str, str], name: str) -> Iterator[ResourceAccess]:
    """Yield the access to create, read and replace one object in the namespace of the process."""
    yield _access(resource, "create", scope=RequestScope.HOME)
    yield _access(resource, "get update", scope=RequestScope.HOME, name=name)


_TABLE: Final = "it is in the table of the design; the operator does it instead (D12)"
_SHARED: Final = (DOMAIN_KIND, "ResourceClaim")


def webhook_domain_sharing_access() -> Iterator[ResourceAccess]:
    """Yield the further access of ``grove webhooks`` where PodCliques share ComputeDomains (WH-010)."""
    for kind in (KINDS[name] for name in _SHARED):
        yield _access(kind, "create get list watch")
        yield _access(kind, "patch update", unrequested=_TABLE)
    yield _access(KINDS[SET_KIND], "get", unrequested=_TABLE)
    yield _access(KINDS["PodGang"], "get list watch", unrequested=_TABLE)


def webhook_topology_access() -> Iterator[ResourceAccess]:
    """Yield the further access of ``grove webhooks`` where pods are placed by topology; it only reads (WH-005)."""
    yield _access(KINDS["PodClique"], "list watch")
    for name in TOPOLOGY_KINDS:
        yield _access(KINDS[name], "get list watch", scope=_CLUSTER)


def webhook_resource_access(
    suffix: str = "", *, shared: bool = False, by_topology: bool = False
) -> tuple[ResourceAccess, ...]:
    """Return the access of ``grove webhooks``.

    Args:
        suffix: of the names of its webhook configurations.
        shared: whether PodCliques share ComputeDomains by annotation.
        by_topology: whether pods are placed by topology.
    """
    defaults = WebhookSettings()
    registered = ((MUTATING, defaults.registration.mutating), (VALIDATING, defaults.registration.validating))
    return (
        _access(KINDS[SET_KIND], "list watch"),
        *(webhook_domain_sharing_access() if shared else ()),
        *(webhook_topology_access() if by_topology else ()),
        *_of_one_object(_SECRETS, defaults.certificates.secret),
        *(
            _access((REGISTRATION_GROUP, plural), "get patch", scope=_CLUSTER, name=f"{name}{suffix}")
            for plural, name in registered
        ),
    )


PREVIEWED_KINDS: Final = ("PodClique", GROUP_KIND, "PodGang", "Pod")
"""The kinds that the preview of an update lists, besides groups of the Workload API and topologies."""


def preview_resource_access(suffix: str = "") -> tuple[ResourceAccess, ...]:
    """Return the access of ``grove webhooks --only preview``; it only reads, and watches nothing (WH-047).

    Args:
        suffix: of the name of its webhook configuration.
    """
    settings = default_preview_webhook_settings()
    return (
        *(_access(KINDS[kind], "list") for kind in (*PREVIEWED_KINDS, *sorted(GROUP_KINDS))),
        *(_access(KINDS[kind], "list", scope=_CLUSTER) for kind in TOPOLOGY_KINDS),
        _access(("", "namespaces"), "get"),
        *_of_one_object(_SECRETS, settings.certificates.secret),
        _access(
            (REGISTRATION_GROUP, VALIDATING),
            "get patch",
            scope=_CLUSTER,
            name=f"{settings.registration.validating}{suffix}",
        ),
    )


_OWNING: Final = (
    "an API server with OwnerReferencesPermissionEnforcement asks for it where an owner is added to what is there"
)
_DOMAINS: Final = KINDS[DOMAIN_KIND]
_CLIQUES: Final = (_DOMAINS.group, "computedomaincliques")
DAEMON: Final = (
    _access(_DOMAINS, "get list watch"),
    _access(_DOMAINS, "patch update", "/status"),
    _access(_CLIQUES, "create get list patch update watch"),
    _access(_CLIQUES, "delete", unrequested=_OWNING),
    _access(_PODS, "get list patch watch"),
)
"""The access of ``grove daemon``, with any protocol."""

DOMAIN_CONTROLLER: Final = (
    _access(_DOMAINS, "list watch"),
    _access(_DOMAINS, "patch", "/status"),
    _access(_CLIQUES, "list patch watch"),
    _access(_PODS, "list watch"),
)
"""The access of ``grove domain-controller``."""
