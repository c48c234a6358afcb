"""Who a daemon is: what it was told, what the server says of its domain and pod, and everything that is wrong of it."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity
from grove_core.areas.domain_cliques.protocols import DaemonSettings, Protocol, problems_in_settings, protocol_named
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, DOMAIN
from grove_core.resources.daemon_pod import DaemonPod, daemon_pod_of
from grove_core.resources.name_syntax import is_dns_subdomain, is_label_value
from grove_core.resources.names import domain_clique_name
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.connect_check import advice_on
from grove_shell.client.connection import NoAccess
from grove_shell.client.kinds import ApiKind
from grove_shell.client.response_check import confirms_absence, shows_object
from grove_shell.domain_daemon.kinds import DOMAINS, PODS

_UID: Final = "00000000-0000-0000-0000-000000000000"  # as long as real ones


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonArguments:
    """What a daemon is told; empty for what the server is asked.

    Attributes:
        domain, pod: ``NAMESPACE/NAME``; without a pod there is none to label, and no clique to own.
        fabric: the command of the fabric daemon; empty for the stand-in, which keeps the map in ``peers``.
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
    def settings(self) -> DaemonSettings:
        """How it registers. Only once nothing is wrong."""
        return DaemonSettings(
            protocol=protocol_named(self.protocol) or Protocol.SSA, limit=self.limit, has_pods=bool(self.pod)
        )


def problems_in_arguments(told: DaemonArguments) -> tuple[Problem, ...]:
    """Everything that is wrong with what it is told, whatever the server says (DC-126)."""
    return tuple(_problems(told))


async def resolve_identity(api: Api, told: DaemonArguments) -> tuple[DaemonIdentity | None, tuple[Problem, ...]]:
    """Ask the server for what was not told; the daemon, or everything that keeps it from being one (DC-126).

    Raises:
        NoAccess: the server does not answer.
    """
    problems: list[Problem] = []
    domain, pod = _place(told.domain), _place(told.pod)
    uid = told.domain_uid
    if domain is not None and not uid:
        found = await _found(api, DOMAINS, domain, "--domain", problems)
        uid = str((found.get("metadata") or {}).get("uid") or "") if found is not None else ""
    own = DaemonPod(ref=Ref(CORE, PODS.kind, domain[0] if domain else "", ""), uid="", node=told.node, ip=told.ip)
    if pod is not None:
        raw = await _found(api, PODS, pod, "--pod", problems)
        read = _read(raw, problems) if raw is not None else None
        if read is not None:
            problems += _problems_of_pod(told, read, uid)
            own = read
    if problems or domain is None:
        return None, tuple(problems)
    return DaemonIdentity(
        node=told.node or own.node,
        ip=told.ip or own.ip,
        clique=told.clique,
        namespace=domain[0],
        domain=domain[1],
        domain_uid=uid,
        pod_namespace=own.ref.namespace,
        pod=own.ref.name,
        pod_uid=own.uid,
    ), ()


def _problems(told: DaemonArguments) -> Iterator[Problem]:
    yield from (_as_option(problem) for problem in problems_in_settings(told.protocol, told.limit))
    if _place(told.domain) is None:
        yield Problem(path="--domain", expected="NAMESPACE/NAME of a ComputeDomain", got=f'"{told.domain}"')
    if told.pod and _place(told.pod) is None:
        yield Problem(path="--pod", expected="NAMESPACE/NAME of its pod", got=f'"{told.pod}"')
    name = domain_clique_name(told.domain_uid or _UID, told.clique)
    if told.clique and not (is_label_value(told.clique) and is_dns_subdomain(name)):
        words = "an id of at most 63 small letters, digits, dots and dashes, or nothing where the node has no fabric"
        yield Problem(path="--clique", expected=words, got=f'"{told.clique}"')
    protocol = protocol_named(told.protocol)
    if not told.pod:
        if protocol is not None and protocol.sharded:
            yield Problem(path="--pod", expected="its pod, which will be an owner of the clique's object", got="none")
        for path, value in (("--node", told.node), ("--ip", told.ip)):
            if not value:
                yield Problem(path=path, expected="a value, where no --pod has it", got="none")
    if told.node and not is_dns_subdomain(told.node):
        yield Problem(path="--node", expected="the name of a node", got=f'"{told.node}"')
    if told.ip and not _is_address(told.ip):
        yield Problem(path="--ip", expected="an IP address", got=f'"{told.ip}"')
    yield from _problems_of_fabric(told)


def _problems_of_fabric(told: DaemonArguments) -> Iterator[Problem]:
    if told.fabric:
        if shutil.which(told.fabric[0]) is None:
            yield Problem(path="--fabric", expected="a program that can be started", got=f'"{told.fabric[0]}"')
    elif not told.peers:
        words = "a file for the peer map, or a --fabric program that takes it"
        yield Problem(path="--peers", expected=words, got="none")
    elif not Path(told.peers).parent.is_dir() or Path(told.peers).is_dir():
        yield Problem(path="--peers", expected="a file in a directory that is there", got=f'"{told.peers}"')


def _problems_of_pod(told: DaemonArguments, pod: DaemonPod, uid: str) -> Iterator[Problem]:
    """What the pod says against what was told."""
    for path, given, found in (("--node", told.node, pod.node), ("--ip", told.ip, pod.ip)):
        if given and found and given != found:
            yield Problem(path=path, expected=f'what the pod {told.pod} has, "{found}"', got=f'"{given}"')
        elif not (given or found):
            yield Problem(path=path, expected="a value, for the pod has none yet", got="none")
    if uid and pod.domain_uid != uid:
        got = f'"{pod.domain_uid}"' if pod.domain_uid else "none"
        expected = f"a pod with the label {DOMAIN}={uid}, or the controller takes the entry for a left-over"
        yield Problem(path="--pod", expected=expected, got=got)


def _as_option(problem: Problem) -> Problem:
    return Problem(path=f"--{problem.path}", expected=problem.expected, got=problem.got)


def _place(text: str) -> tuple[str, str] | None:
    namespace, slash, name = text.partition("/")
    return (namespace, name) if slash and is_dns_subdomain(namespace) and is_dns_subdomain(name) else None


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


async def _found(
    api: Api, kind: ApiKind, place: tuple[str, str], path: str, problems: list[Problem]
) -> Mapping[str, Any] | None:
    try:
        answer = await api.request("GET", kind.path(*place))
    except Unreachable as fault:
        raise NoAccess(advice_on(fault)) from fault
    ref = Ref(kind.api_version, kind.kind, *place)
    if shows_object(answer, ref):
        return answer.json()
    if answer.ok:
        raise NoAccess(f"what came is no {kind.kind}: {answer.message}; is there a proxy on the way?")
    got = "none of that name" if confirms_absence(answer, ref) else answer.message
    problems.append(Problem(path=path, expected=f"a {kind.kind} that is there", got=got))
    return None


def _read(raw: Mapping[str, Any], problems: list[Problem]) -> DaemonPod | None:
    try:
        return daemon_pod_of(raw)
    except MalformedObject as fault:
        problems += [Problem(path=f"--pod {one.path}", expected=one.expected, got=one.got) for one in fault.problems]
        return None
