"""Every resource and verb that Grove requests. The RBAC roles are generated from this table.

A new kind of request needs a line here: tests compare the table with the requests that are made.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from grove_core.resources.cluster_topology import BINDING_KIND, TOPOLOGY_KIND, TOPOLOGY_KINDS
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.podclique import GROUP_KIND
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET, watched_kinds
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import MUTATING, REGISTRATION_GROUP, VALIDATING, WebhookSettings


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
_WITH_STATUS: Final = (POD_CLIQUE_SET, GROUP_KIND, "PodClique", "PodGang")
_BLOCKING: Final = (
    "an API server with OwnerReferencesPermissionEnforcement asks for it where an owner waits for its parts"
)
_GRANTED: Final = "the Role of a set has it, and a user can grant only what it has"

VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {
        POD_CLIQUE_SET: "get patch",
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
        "ResourceClaim": "create delete get patch",
        "ResourceClaimTemplate": "",
        DOMAIN_KIND: "create delete get patch",
        TOPOLOGY_KIND: "create get patch",
        BINDING_KIND: "patch",
    }
)
"""The verbs on objects of each kind besides list and watch; ``get`` reads what a creation without a response left."""


def _of_kinds(*, everywhere: bool, by_topology: bool) -> Iterator[ResourceAccess]:
    for kind in watched_kinds(KINDS, everywhere=everywhere, by_topology=by_topology).values():
        done = "" if kind.clustered and not everywhere else VERBS[kind.kind]
        verbs = tuple(sorted(f"{_WATCHED} {done}".split()))
        scope = RequestScope.CLUSTER if kind.clustered else RequestScope.WATCHED
        yield ResourceAccess(group=kind.group, resource=kind.plural, verbs=verbs, scope=scope)
        if kind.kind in _WITH_STATUS:
            yield ResourceAccess(group=kind.group, resource=f"{kind.plural}/status", verbs=("patch",))
            yield ResourceAccess(
                group=kind.group, resource=f"{kind.plural}/finalizers", verbs=("update",), unrequested=_BLOCKING
            )


_LEASES: Final = "coordination.k8s.io"


def operator_access(*, everywhere: bool = True, by_topology: bool = False) -> tuple[ResourceAccess, ...]:
    """Return the access of ``grove operator``.

    Args:
        everywhere: whether it watches all namespaces.
        by_topology: whether pods are placed by topology.
    """
    return (
        *_of_kinds(everywhere=everywhere, by_topology=by_topology),
        ResourceAccess(group="", resource="pods/status", verbs=("get", "list", "watch"), unrequested=_GRANTED),
        ResourceAccess(group="events.k8s.io", resource="events", verbs=("create",)),
        ResourceAccess(group=_LEASES, resource="leases", scope=RequestScope.HOME, verbs=("create",)),
        ResourceAccess(
            group=_LEASES,
            resource="leases",
            scope=RequestScope.HOME,
            verbs=("get", "update"),
            names=(OperatorSettings().leader_election.name,),
        ),
    )


_TABLE: Final = "it is in the table of the design; the operator does it instead (D12)"
_SHARED: Final = (DOMAIN_KIND, "ResourceClaim")


def domain_sharing_access() -> Iterator[ResourceAccess]:
    """Return the further access of ``grove webhooks`` where PodCliques share ComputeDomains (WH-010)."""
    for kind in (KINDS[name] for name in _SHARED):
        yield ResourceAccess(group=kind.group, resource=kind.plural, verbs=("create", "get", "list", "watch"))
        yield ResourceAccess(group=kind.group, resource=kind.plural, verbs=("patch", "update"), unrequested=_TABLE)
    sets, gangs = KINDS[POD_CLIQUE_SET], KINDS["PodGang"]
    yield ResourceAccess(group=sets.group, resource=sets.plural, verbs=("get",), unrequested=_TABLE)
    yield ResourceAccess(group=gangs.group, resource=gangs.plural, verbs=("get", "list", "watch"), unrequested=_TABLE)


def topology_access() -> Iterator[ResourceAccess]:
    """Return the further access of ``grove webhooks`` where pods are placed by topology; it only reads (WH-005)."""
    cliques = KINDS["PodClique"]
    yield ResourceAccess(group=cliques.group, resource=cliques.plural, verbs=("list", "watch"))
    for kind in (KINDS[name] for name in TOPOLOGY_KINDS):
        yield ResourceAccess(
            group=kind.group, resource=kind.plural, scope=RequestScope.CLUSTER, verbs=("get", "list", "watch")
        )


def webhook_access(suffix: str = "", *, shared: bool = False, by_topology: bool = False) -> tuple[ResourceAccess, ...]:
    """Return the access of ``grove webhooks``.

    Args:
        suffix: of the names of its webhook configurations.
        shared: whether PodCliques share ComputeDomains by annotation.
        by_topology: whether pods are placed by topology.
    """
    defaults, sets = WebhookSettings(), KINDS[POD_CLIQUE_SET]
    return (
        ResourceAccess(group=sets.group, resource=sets.plural, verbs=("list", "watch")),
        *(domain_sharing_access() if shared else ()),
        *(topology_access() if by_topology else ()),
        ResourceAccess(group="", resource="secrets", scope=RequestScope.HOME, verbs=("create",)),
        ResourceAccess(
            group="",
            resource="secrets",
            scope=RequestScope.HOME,
            verbs=("get", "update"),
            names=(defaults.certificates.secret,),
        ),
        *(
            ResourceAccess(
                group=REGISTRATION_GROUP,
                resource=resource,
                scope=RequestScope.CLUSTER,
                verbs=("get", "patch"),
                names=(f"{name}{suffix}",),
            )
            for resource, name in (
                (MUTATING, defaults.registration.mutating),
                (VALIDATING, defaults.registration.validating),
            )
        ),
    )


_OWNING: Final = (
    "an API server with OwnerReferencesPermissionEnforcement asks for it where an owner is added to what is there"
)
_DOMAINS: Final = (KINDS[DOMAIN_KIND].group, KINDS[DOMAIN_KIND].plural)
_CLIQUES: Final = (_DOMAINS[0], "computedomaincliques")


def _access(resource: tuple[str, str], verbs: str, part: str = "") -> ResourceAccess:
    return ResourceAccess(group=resource[0], resource=f"{resource[1]}{part}", verbs=tuple(sorted(verbs.split())))


DAEMON: Final = (
    _access(_DOMAINS, "get list watch"),
    _access(_DOMAINS, "patch update", "/status"),
    _access(_CLIQUES, "create get list patch update watch"),
    ResourceAccess(group=_CLIQUES[0], resource=_CLIQUES[1], verbs=("delete",), unrequested=_OWNING),
    _access(("", "pods"), "get list patch watch"),
)
"""The access of ``grove daemon``, with any protocol."""

DOMAIN_CONTROLLER: Final = (
    _access(_DOMAINS, "list watch"),
    _access(_DOMAINS, "patch", "/status"),
    _access(_CLIQUES, "list patch watch"),
    _access(("", "pods"), "list watch"),
)
"""The access of ``grove domain-controller``."""
