"""How each program of a control plane is started: its flags, and the files it reads."""

import base64
import json
import secrets
import socket
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.cluster.binaries import CONTROLLERS, HERE, KUBELET, SCHEDULER

HOST: Final = "127.0.0.1"
ADMIN: Final = "admin"
REQUESTS_PER_SECOND: Final = 1000
STAGES: Final = HERE / "stages.yaml"
_MASTERS: Final = "system:masters"
_OWN_USERS: Final = (ADMIN, CONTROLLERS, SCHEDULER, KUBELET)
_CONTROLLERS: Final = (
    "garbage-collector-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "pod-garbage-collector-controller",
    "resourceclaim-controller",
    "resourcequota-controller",
)
_CONTROLLER_OF_GROUPS: Final = "podgroup-protection-controller"
# SEC 1 form of a private key on P-256, around its 32 bytes; the reader works out the public half by itself.
_KEY_HEAD: Final = bytes.fromhex("30310201010420")
_KEY_TAIL: Final = bytes.fromhex("a00a06082a8648ce3d030107")


@dataclass(frozen=True, slots=True)
class Ports:
    """One free port for each thing that listens."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controllers: int
    scheduler: int
    kubelet: int


def free_ports() -> Ports:
    """Six ports that were free a moment ago; all are held at once so that they differ."""
    held = [socket.socket() for _ in range(6)]
    try:
        for each in held:
            each.bind((HOST, 0))
        return Ports(*(each.getsockname()[1] for each in held))
    finally:
        for each in held:
            each.close()


def write_tokens(path: Path, users: Iterable[str]) -> dict[str, str]:
    """Give every user a token. Only the control plane's own and ``admin`` may do anything by themselves."""
    tokens = {user: secrets.token_hex(16) for user in (*_OWN_USERS, *users)}
    groups = dict.fromkeys(_OWN_USERS, f',"{_MASTERS}"')
    lines = [f"{token},{user},{user}{groups.get(user, '')}\n" for user, token in tokens.items()]
    path.write_text("".join(lines), encoding="utf-8")
    return tokens


def write_signing_key(path: Path) -> None:
    """Make a key that service account tokens are signed with."""
    secret = (secrets.randbelow(2**255) + 1).to_bytes(32, "big")
    body = base64.encodebytes(_KEY_HEAD + secret + _KEY_TAIL).decode()
    path.write_text(f"-----BEGIN EC PRIVATE KEY-----\n{body}-----END EC PRIVATE KEY-----\n", encoding="utf-8")


def requests_of(users: Iterable[str]) -> list[dict[str, Any]]:
    """Rules by which every request of these users is written to the audit log, without its body, and no other."""
    return [{"level": "Metadata", "users": list(users), "omitStages": ["RequestReceived"]}, {"level": "None"}]


def write_audit_policy(path: Path, rules: Iterable[Mapping[str, Any]]) -> None:
    """Write the policy by which the API server keeps its audit log."""
    policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": list(rules)}
    path.write_text(json.dumps(policy), encoding="utf-8")


def write_kubeconfig(path: Path, *, url: str, authority: bytes, user: str, token: str) -> None:
    """Write a configuration that needs no other file."""
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(authority).decode()}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": user,
        "clusters": [{"name": "grove-test", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": user, "context": {"cluster": "grove-test", "user": user}}],
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(config, indent=1), encoding="utf-8")


def write_scheduler_configuration(path: Path, kubeconfig: Path) -> None:
    """Let it ask as often as it likes, and try again soon."""
    connection = {"kubeconfig": str(kubeconfig), "qps": REQUESTS_PER_SECOND, "burst": REQUESTS_PER_SECOND}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": connection,
        "leaderElection": {"leaderElect": False},
        "podMaxBackoffSeconds": 1,
    }
    path.write_text(json.dumps(config), encoding="utf-8")


def _certificate(folder: Path) -> list[str]:
    """Flags of a server that is to show the certificate that the API server made for itself."""
    certs = folder / "certs"
    return [f"--tls-cert-file={certs / 'apiserver.crt'}", f"--tls-private-key-file={certs / 'apiserver.key'}"]


def etcd(program: Path, folder: Path, ports: Ports) -> list[str]:
    """The store; what it holds need not survive a power cut."""
    return [
        str(program),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls=http://{HOST}:{ports.etcd}",
        f"--advertise-client-urls=http://{HOST}:{ports.etcd}",
        f"--listen-peer-urls=http://{HOST}:{ports.etcd_peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def apiserver(
    program: Path, folder: Path, ports: Ports, *, compaction: str | None, gates: Mapping[str, str]
) -> list[str]:
    """The API server, with RBAC, its own certificate, and an audit log.

    Args:
        compaction: how often old versions are dropped, e.g. ``10s``; None leaves its default of minutes.
        gates: further flags by name, most of them for features that are off by default.
    """
    return [
        str(program),
        f"--etcd-servers=http://{HOST}:{ports.etcd}",
        f"--cert-dir={folder / 'certs'}",
        f"--secure-port={ports.apiserver}",
        f"--bind-address={HOST}",
        f"--advertise-address={HOST}",
        "--endpoint-reconciler-type=none",
        "--service-account-issuer=https://localhost",
        f"--service-account-key-file={folder / 'signing.key'}",
        f"--service-account-signing-key-file={folder / 'signing.key'}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/16",
        "--allow-privileged=true",
        "--disable-admission-plugins=ServiceAccount",
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",  # some distributions have it on
        f"--audit-policy-file={folder / 'audit-policy.json'}",
        f"--audit-log-path={folder / 'audit.log'}",
        *([f"--etcd-compaction-interval={compaction}"] if compaction else []),
        *(f"--{name}={value}" for name, value in gates.items()),
    ]


def controllers(
    program: Path, folder: Path, ports: Ports, *, more: Collection[str] = (), gates: Mapping[str, str]
) -> list[str]:
    """Garbage collection, namespaces, quotas, the life of nodes, with gates protection of PodGroups; and ``more``."""
    return [
        str(program),
        f"--kubeconfig={folder / f'{CONTROLLERS}.kubeconfig'}",
        "--leader-elect=false",
        f"--secure-port={ports.controllers}",
        f"--bind-address={HOST}",
        *_certificate(folder),
        f"--controllers={','.join([*_CONTROLLERS, *([_CONTROLLER_OF_GROUPS] if gates else []), *more])}",
        f"--service-account-private-key-file={folder / 'signing.key'}",
        "--use-service-account-credentials=false",
        "--node-monitor-period=1s",
        f"--kube-api-qps={REQUESTS_PER_SECOND}",
        f"--kube-api-burst={REQUESTS_PER_SECOND}",
        *(f"--{name}={value}" for name, value in gates.items()),
    ]


def scheduler(program: Path, folder: Path, ports: Ports, *, gates: Mapping[str, str]) -> list[str]:
    """The stock scheduler."""
    kubeconfig = folder / f"{SCHEDULER}.kubeconfig"
    return [
        str(program),
        f"--config={folder / 'scheduler.json'}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--authentication-skip-lookup=true",
        f"--secure-port={ports.scheduler}",
        f"--bind-address={HOST}",
        *_certificate(folder),
        *(f"--{name}={value}" for name, value in gates.items()),
    ]


def kubelet(program: Path, folder: Path, ports: Ports) -> list[str]:
    """The kubelet of all nodes, which moves pods as the stages say and runs nothing."""
    return [
        str(program),
        f"--kubeconfig={folder / f'{KUBELET}.kubeconfig'}",
        "--manage-all-nodes",
        f"--config={STAGES}",
        "--node-lease-duration-seconds=40",
        "--node-ip=192.0.2.1",
        "--cidr=10.128.0.1/9",
        f"--server-address={HOST}:{ports.kubelet}",
        *_certificate(folder),
    ]
