"""Namespace, service accounts and roles, made from the declared access (MF-020)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from grove_shell.client.access import DAEMON, DOMAIN_CONTROLLER, Access, Scope, operator_access, webhook_access
from grove_shell.manifests.installation import OPERATOR, WEBHOOKS, Installation, program_object
from grove_shell.manifests.schemas import Json

_GROUP: Final = "rbac.authorization.k8s.io"
_API: Final = f"{_GROUP}/v1"
_RESTRICTED: Final = {"pod-security.kubernetes.io/enforce": "restricted"}


def access_objects(installation: Installation) -> Iterator[Json]:
    """Yield the objects that must exist before the programs start."""
    if installation.home != installation.watched:
        namespace = program_object("v1", "Namespace", installation.home, "grove")
        namespace["metadata"]["labels"] |= _RESTRICTED
        yield namespace
    for program in (OPERATOR, WEBHOOKS):
        yield program_object("v1", "ServiceAccount", program, program, installation.where)
    yield from _of_program(
        installation,
        OPERATOR,
        operator_access(everywhere=not installation.watched, by_topology=installation.topology.enabled),
    )
    asked = webhook_access(
        installation.suffix, shared=installation.is_shared, by_topology=installation.topology.enabled
    )
    yield from _of_program(installation, WEBHOOKS, asked)


def daemon_roles() -> Iterator[Json]:
    """Yield the roles of ``grove daemon`` and ``grove domain-controller``; users bind them (DC-110)."""
    for program, access in (("grove-daemon", DAEMON), ("grove-domain-controller", DOMAIN_CONTROLLER)):
        yield program_object(_API, "ClusterRole", program, program, rules=rules_of(access))


def rules_of(access: Iterable[Access]) -> list[Json]:
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


def _of_program(installation: Installation, program: str, access: Iterable[Access]) -> Iterator[Json]:
    by_scope: dict[Scope, list[Access]] = defaultdict(list)
    for one in access:
        scope = Scope.CLUSTER if one.scope is Scope.WATCHED and not installation.watched else one.scope
        by_scope[scope].append(one)
    if by_scope[Scope.CLUSTER]:
        yield from _bound(installation, program, f"{program}{installation.suffix}", None, by_scope[Scope.CLUSTER])
    if by_scope[Scope.WATCHED]:
        yield from _bound(installation, program, program, {"namespace": installation.watched}, by_scope[Scope.WATCHED])
    yield from _bound(installation, program, f"{program}-home", installation.where, by_scope[Scope.HOME])


def _bound(
    installation: Installation, program: str, name: str, where: Json | None, access: Iterable[Access]
) -> Iterator[Json]:
    """Yield a role and its binding to the program's service account; cluster-scoped without a namespace."""
    kind = "Role" if where else "ClusterRole"
    account = {"kind": "ServiceAccount", "name": program, **installation.where}
    yield program_object(_API, kind, name, program, where, rules=rules_of(access))
    yield program_object(
        _API,
        f"{kind}Binding",
        name,
        program,
        where,
        roleRef={"apiGroup": _GROUP, "kind": kind, "name": name},
        subjects=[account],
    )
