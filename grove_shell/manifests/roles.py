"""Namespace, accounts and roles: what the declared access amounts to, and nothing more (MF-020)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from grove_shell.client.access import DAEMON, DOMAIN_CONTROLLER, Access, Scope, operator_access, webhook_access
from grove_shell.manifests.installation import OPERATOR, WEBHOOKS, Installation, program_object
from grove_shell.manifests.schemas import Json

_GROUP: Final = "rbac.authorization.k8s.io"
_API: Final = f"{_GROUP}/v1"
_RESTRICTED: Final = {"pod-security.kubernetes.io/enforce": "restricted"}


def access_objects(told: Installation) -> Iterator[Json]:
    """Everything that has to be there before the programs start."""
    if told.home != told.watched:
        namespace = program_object("v1", "Namespace", told.home, "grove")
        namespace["metadata"]["labels"] |= _RESTRICTED
        yield namespace
    for program in (OPERATOR, WEBHOOKS):
        yield program_object("v1", "ServiceAccount", program, program, told.where)
    yield from _of_program(
        told, OPERATOR, operator_access(everywhere=not told.watched, by_topology=told.topology.enabled)
    )
    asked = webhook_access(told.suffix, shared=told.is_shared, by_topology=told.topology.enabled)
    yield from _of_program(told, WEBHOOKS, asked)


def daemon_roles() -> Iterator[Json]:
    """What ``grove daemon`` and ``grove domain-controller`` may do; who runs them binds the roles (DC-129)."""
    for program, access in (("grove-daemon", DAEMON), ("grove-domain-controller", DOMAIN_CONTROLLER)):
        yield program_object(_API, "ClusterRole", program, program, rules=rules_of(access))


def rules_of(access: Iterable[Access]) -> list[Json]:
    """The rules of a role: resources of one group with the same verbs and names stand together."""
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


def _of_program(told: Installation, program: str, access: Iterable[Access]) -> Iterator[Json]:
    by_scope: dict[Scope, list[Access]] = defaultdict(list)
    for one in access:
        scope = Scope.CLUSTER if one.scope is Scope.WATCHED and not told.watched else one.scope
        by_scope[scope].append(one)
    if by_scope[Scope.CLUSTER]:
        yield from _bound(told, program, f"{program}{told.suffix}", None, by_scope[Scope.CLUSTER])
    if by_scope[Scope.WATCHED]:
        yield from _bound(told, program, program, {"namespace": told.watched}, by_scope[Scope.WATCHED])
    yield from _bound(told, program, f"{program}-home", told.where, by_scope[Scope.HOME])


def _bound(told: Installation, program: str, name: str, where: Json | None, access: Iterable[Access]) -> Iterator[Json]:
    """A role and its binding to the account of the program; in no namespace they are of the cluster."""
    kind = "Role" if where else "ClusterRole"
    account = {"kind": "ServiceAccount", "name": program, **told.where}
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
