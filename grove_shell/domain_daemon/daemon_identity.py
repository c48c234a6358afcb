"""The identity of a daemon: from its arguments, its domain and its pod, with every problem of them."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity
from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    DaemonRegistrationSettings,
    RegistrationProtocol,
    registration_protocol_by_name,
    registration_protocol_problems,
)
from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CORE, DOMAIN
from grove_core.resources.compute_domain import DaemonPod, daemon_pod_from_json
from grove_core.resources.naming_rules import compute_domain_clique_name, is_dns_subdomain, is_label_value
from grove_core.resources.object_metadata import metadata_in
from grove_shell.client.api_discovery import connection_error_advice
from grove_shell.client.api_kinds import ApiKind
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ClusterAccessError
from grove_shell.client.proxy_response_check import response_confirms_absence, response_is_about_object
from grove_shell.domain_daemon.daemon_requests import DOMAINS, PODS

_EXAMPLE_UID: Final = "00000000-0000-0000-0000-000000000000"  # as long as real ones


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonCommandOptions:
    """The options of ``grove daemon``; empty ones are read from the API server.

    Attributes:
        domain: ``NAMESPACE/NAME``.
        pod: ``NAMESPACE/NAME``; empty if there is no pod to label and to own the clique.
        fabric: the command of the fabric daemon; empty to keep the peer map in the file ``peers``.
        grace: time to remove the entry at the end.
    """

    domain: str
    domain_uid: str = ""
    clique: str
    pod: str = ""
    node: str = ""
    ip: str = ""
    protocol: str
    limit: int
    fabric: tuple[str, ...] = ()
    peers: str = ""
    grace: timedelta

    @property
    def daemon_settings(self) -> DaemonRegistrationSettings:
        """The settings of the daemon; only meaningful if the arguments have no problems."""
        return DaemonRegistrationSettings(
            protocol=registration_protocol_by_name(self.protocol) or RegistrationProtocol.SSA,
            limit=self.limit,
            has_pods=bool(self.pod),
        )


def problems_in_daemon_options(arguments: DaemonCommandOptions) -> tuple[ObjectProblem, ...]:
    """Return every problem that is found without the API server (CL-005)."""
    return tuple(_problems(arguments))


async def read_daemon_identity(
    api: ApiSession, arguments: DaemonCommandOptions
) -> tuple[DaemonIdentity | None, tuple[ObjectProblem, ...]]:
    """Read the domain and the pod of a daemon (CL-005).

    Returns:
        The identity, or None with every problem.

    Raises:
        ClusterAccessError: the server does not respond.
    """
    problems: list[ObjectProblem] = []
    domain, pod = _key_of(arguments.domain), _key_of(arguments.pod)
    uid = arguments.domain_uid
    if domain is not None and not uid:
        found = await _read_object(api, DOMAINS, domain, "--domain", problems)
        uid = metadata_in(found).uid if found is not None else ""
    ref = Ref(CORE, PODS.kind, domain[0] if domain else "", "")
    own = DaemonPod(ref=ref, uid="", node=arguments.node, ip=arguments.ip)
    if pod is not None:
        raw = await _read_object(api, PODS, pod, "--pod", problems)
        parsed = _parse_pod(raw, problems) if raw is not None else None
        if parsed is not None:
            problems += _problems_of_pod(arguments, parsed, uid)
            own = parsed
    if problems or domain is None:
        return None, tuple(problems)
    return DaemonIdentity(
        node=arguments.node or own.node,
        ip=arguments.ip or own.ip,
        clique=arguments.clique,
        namespace=domain[0],
        domain=domain[1],
        domain_uid=uid,
        pod_namespace=own.ref.namespace,
        pod=own.ref.name,
        pod_uid=own.uid,
    ), ()


def _problems(arguments: DaemonCommandOptions) -> Iterator[ObjectProblem]:
    yield from (_as_option(problem) for problem in registration_protocol_problems(arguments.protocol, arguments.limit))
    if _key_of(arguments.domain) is None:
        yield ObjectProblem(path="--domain", expected="NAMESPACE/NAME of a ComputeDomain", got=f'"{arguments.domain}"')
    if arguments.pod and _key_of(arguments.pod) is None:
        yield ObjectProblem(path="--pod", expected="NAMESPACE/NAME of its pod", got=f'"{arguments.pod}"')
    name = compute_domain_clique_name(arguments.domain_uid or _EXAMPLE_UID, arguments.clique)
    if arguments.clique and not (is_label_value(arguments.clique) and is_dns_subdomain(name)):
        expected = "an id of at most 63 lowercase letters, digits, dots and dashes; empty for a node without fabric"
        yield ObjectProblem(path="--clique", expected=expected, got=f'"{arguments.clique}"')
    protocol = registration_protocol_by_name(arguments.protocol)
    if not arguments.pod:
        if protocol is not None and protocol.sharded:
            yield ObjectProblem(
                path="--pod", expected="its pod, which becomes an owner of the clique's object", got="none"
            )
        for path, value in (("--node", arguments.node), ("--ip", arguments.ip)):
            if not value:
                yield ObjectProblem(path=path, expected="a value, since no --pod is given", got="none")
    if arguments.node and not is_dns_subdomain(arguments.node):
        yield ObjectProblem(path="--node", expected="the name of a node", got=f'"{arguments.node}"')
    if arguments.ip and not _is_address(arguments.ip):
        yield ObjectProblem(path="--ip", expected="an IP address", got=f'"{arguments.ip}"')
    yield from _problems_of_fabric(arguments)


def _problems_of_fabric(arguments: DaemonCommandOptions) -> Iterator[ObjectProblem]:
    if arguments.fabric:
        if shutil.which(arguments.fabric[0]) is None:
            yield ObjectProblem(path="--fabric", expected="an executable program", got=f'"{arguments.fabric[0]}"')
    elif not arguments.peers:
        expected = "a file for the peer map, or a --fabric program that reads it"
        yield ObjectProblem(path="--peers", expected=expected, got="none")
    elif not Path(arguments.peers).parent.is_dir() or Path(arguments.peers).is_dir():
        yield ObjectProblem(path="--peers", expected="a file in an existing directory", got=f'"{arguments.peers}"')


def _problems_of_pod(arguments: DaemonCommandOptions, pod: DaemonPod, uid: str) -> Iterator[ObjectProblem]:
    for path, given, found in (("--node", arguments.node, pod.node), ("--ip", arguments.ip, pod.ip)):
        if given and found and given != found:
            yield ObjectProblem(path=path, expected=f'what the pod {arguments.pod} has, "{found}"', got=f'"{given}"')
        elif not (given or found):
            yield ObjectProblem(path=path, expected="a value, since the pod has none yet", got="none")
    if uid and pod.domain_uid != uid:
        got = f'"{pod.domain_uid}"' if pod.domain_uid else "none"
        expected = f"a pod with the label {DOMAIN}={uid}; without it the controller removes the entry as stale"
        yield ObjectProblem(path="--pod", expected=expected, got=got)


def _as_option(problem: ObjectProblem) -> ObjectProblem:
    return replace(problem, path=f"--{problem.path}")


def _key_of(text: str) -> tuple[str, str] | None:
    namespace, slash, name = text.partition("/")
    return (namespace, name) if slash and is_dns_subdomain(namespace) and is_dns_subdomain(name) else None


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


async def _read_object(
    api: ApiSession, kind: ApiKind, key: tuple[str, str], path: str, problems: list[ObjectProblem]
) -> Mapping[str, Any] | None:
    try:
        response = await api.request("GET", kind.url_path(*key))
    except NoServerResponse as fault:
        raise ClusterAccessError(connection_error_advice(fault)) from fault
    ref = Ref(kind.api_version, kind.kind, *key)
    if response_is_about_object(response, ref):
        return response.json_body()
    if response.is_success:
        raise ClusterAccessError(
            f"the response is no {kind.kind}: {response.error_message}; is there a proxy on the way?"
        )
    got = "none of that name" if response_confirms_absence(response, ref) else response.error_message
    problems.append(ObjectProblem(path=path, expected=f"an existing {kind.kind}", got=got))
    return None


def _parse_pod(raw: Mapping[str, Any], problems: list[ObjectProblem]) -> DaemonPod | None:
    try:
        return daemon_pod_from_json(raw)
    except MalformedObject as fault:
        problems += [replace(one, path=f"--pod {one.path}") for one in fault.problems]
        return None
