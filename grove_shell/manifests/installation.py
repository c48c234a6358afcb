"""The options of an installation; its namespace, service accounts and roles, which are the declared access (MF-020)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from grove_core.resources.configuration import GangBackend, MnnvlConfiguration, MnnvlMode, TopologyAwareSettings
from grove_core.version import IMAGE
from grove_shell.client.rbac_rules import (
    DAEMON,
    DOMAIN_CONTROLLER,
    LEASE_NAME,
    RequestScope,
    ResourceAccess,
    operator_resource_access,
    preview_resource_access,
    webhook_resource_access,
)
from grove_shell.settings.webhook_settings import AUTO, PREVIEW_PROGRAM

Json = dict[str, Any]

OPERATOR: Final = "grove-operator"
WEBHOOKS: Final = "grove-webhooks"
SYSTEM: Final = "grove-system"
REPLICAS: Final = 2
_GROUP: Final = "rbac.authorization.k8s.io"
_API: Final = f"{_GROUP}/v1"
_RESTRICTED: Final = {"pod-security.kubernetes.io/enforce": "restricted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationOptions:
    """The options of an installation.

    Attributes:
        home: the namespace it runs in.
        watched: the only namespace it manages; empty for all.
        image: of its containers.
        mnnvl, topology: settings of operator and webhooks.
        gang_backend: of the operator; None for what the API server serves.
        operator: the operator's whole configuration file; empty for one made of the settings above.
        lease: name of the Lease of the operator's leader election.
        lease_home: namespace of that Lease; empty for ``home``.
        previewed_rules: the rule set that the preview of updates follows.
    """

    home: str = SYSTEM
    watched: str = ""
    image: str = IMAGE
    mnnvl: MnnvlConfiguration = MnnvlConfiguration()  # noqa: RUF009 - it is frozen
    topology: TopologyAwareSettings = TopologyAwareSettings()  # noqa: RUF009 - as above
    gang_backend: GangBackend | None = None
    operator: Mapping[str, Any] = field(default_factory=dict)
    lease: str = LEASE_NAME
    lease_home: str = ""
    previewed_rules: str = AUTO

    @property
    def cluster_scoped_name_suffix(self) -> str:
        """Suffix of the names of cluster-scoped objects, so that two installations do not share them."""
        return f"-{self.watched}" if self.watched else ""

    @property
    def shares_domains_by_annotation(self) -> bool:
        """Whether PodCliques share ComputeDomains by annotation (WH-010)."""
        return self.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS)

    @property
    def needs_topology_validation(self) -> bool:
        """Whether topologies are validated, which needs access to all namespaces (TP-045)."""
        return self.topology.enabled and not self.watched

    def has_configuration_file(self, program: str) -> bool:
        """Return whether a program gets a configuration file."""
        return (
            self.mnnvl.enabled
            or self.topology.enabled
            or self.gang_backend is not None
            or (program == OPERATOR and bool(self.operator))
            or program == PREVIEW_PROGRAM
        )

    @property
    def namespace_metadata(self) -> Json:
        """The namespace in the form of metadata."""
        return {"namespace": self.home}


def program_labels(name: str) -> Json:
    """Return the labels of every object of one program, which also select its pods."""
    return {"app.kubernetes.io/name": name}


def program_object_manifest(
    api_version: str,
    kind: str,
    name: str,
    program: str,
    where: Json | None = None,
    **fields: Any,  # noqa: ANN401 - parts of a manifest, of any shape
) -> Json:
    """Return one object of a program.

    Args:
        program: as its labels name it.
        where: its namespace, as metadata has it; None for an object without one.
        fields: the rest of the manifest.
    """
    metadata = {"name": name, **(where or {}), "labels": program_labels(program)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def namespace_and_role_manifests(installation: InstallationOptions) -> Iterator[Json]:
    """Yield the objects that must exist before the programs start."""
    yield from namespace_manifests(installation)
    for program in (OPERATOR, WEBHOOKS):
        yield program_object_manifest("v1", "ServiceAccount", program, program, installation.namespace_metadata)
    yield from role_manifests(
        installation,
        OPERATOR,
        operator_resource_access(
            everywhere=not installation.watched,
            by_topology=installation.topology.enabled,
            with_groups=installation.gang_backend is not GangBackend.PODGANG,
            lease=installation.lease,
        ),
    )
    asked = webhook_resource_access(
        installation.cluster_scoped_name_suffix,
        shared=installation.shares_domains_by_annotation,
        by_topology=installation.topology.enabled,
    )
    yield from role_manifests(installation, WEBHOOKS, asked)


def namespace_manifests(installation: InstallationOptions) -> Iterator[Json]:
    """Yield the namespace of the programs, unless a user has it already."""
    if installation.home != installation.watched:
        namespace = program_object_manifest("v1", "Namespace", installation.home, "grove")
        namespace["metadata"]["labels"] |= _RESTRICTED
        yield namespace


def preview_role_manifests(installation: InstallationOptions) -> Iterator[Json]:
    """Yield the namespace, the account and the roles of the preview of updates (MF-031)."""
    yield from namespace_manifests(installation)
    yield program_object_manifest(
        "v1", "ServiceAccount", PREVIEW_PROGRAM, PREVIEW_PROGRAM, installation.namespace_metadata
    )
    access = preview_resource_access(installation.cluster_scoped_name_suffix)
    yield from role_manifests(installation, PREVIEW_PROGRAM, access)


def daemon_rbac_roles() -> Iterator[Json]:
    """Yield the roles of ``grove daemon`` and ``grove domain-controller``; users bind them (DC-110)."""
    for program, access in (("grove-daemon", DAEMON), ("grove-domain-controller", DOMAIN_CONTROLLER)):
        yield program_object_manifest(_API, "ClusterRole", program, program, rules=rbac_rules_from_access(access))


def rbac_rules_from_access(access: Iterable[ResourceAccess]) -> list[Json]:
    """Return the rules of a role; resources of one group with the same verbs and names share a rule."""
    alike: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for one in access:
        alike[one.group, one.verbs, one.names].append(one.resource)
    return [
        {
            "apiGroups": [group],
            "resources": sorted(resources),
            **({"resourceNames": list(names)} if names else {}),
            "verbs": list(verbs),
        }
        for (group, verbs, names), resources in sorted(alike.items())
    ]


def role_manifests(installation: InstallationOptions, program: str, access: Iterable[ResourceAccess]) -> Iterator[Json]:
    """Yield the roles of a program and their bindings."""
    by_scope: dict[RequestScope, list[ResourceAccess]] = defaultdict(list)
    for one in access:
        scope = RequestScope.CLUSTER if one.scope is RequestScope.WATCHED and not installation.watched else one.scope
        by_scope[scope].append(one)
    if by_scope[RequestScope.CLUSTER]:
        yield from _bound(
            installation,
            program,
            f"{program}{installation.cluster_scoped_name_suffix}",
            None,
            by_scope[RequestScope.CLUSTER],
        )
    if by_scope[RequestScope.WATCHED]:
        yield from _bound(
            installation, program, program, {"namespace": installation.watched}, by_scope[RequestScope.WATCHED]
        )
    home, name = installation.home, f"{program}-home"
    if program == OPERATOR and installation.lease_home not in {"", home}:  # the Lease is all that it has at home
        home, name = installation.lease_home, f"{program}-of-{home}"
    yield from _bound(installation, program, name, {"namespace": home}, by_scope[RequestScope.HOME])


def _bound(
    installation: InstallationOptions, program: str, name: str, where: Json | None, access: Iterable[ResourceAccess]
) -> Iterator[Json]:
    """Yield a role and its binding to the program's service account; cluster-scoped without a namespace."""
    kind = "Role" if where else "ClusterRole"
    account = {"kind": "ServiceAccount", "name": program, **installation.namespace_metadata}
    yield program_object_manifest(_API, kind, name, program, where, rules=rbac_rules_from_access(access))
    yield program_object_manifest(
        _API,
        f"{kind}Binding",
        name,
        program,
        where,
        roleRef={"apiGroup": _GROUP, "kind": kind, "name": name},
        subjects=[account],
    )
