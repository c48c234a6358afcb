"""The Go operator as a process under test: two processes of one binary, one that acts and one that only admits."""

import base64
import contextlib
import os
import secrets
import shutil
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import trustme
import yaml

from tests.cluster.api import Api, Json, wait_until
from tests.cluster.installing import free_port
from tests.cluster.operators import is_served, let
from tests.cluster.plane import ControlPlane
from tests.cluster.programs import HOST

BINARY: Final = "GROVE_GO_OPERATOR"
DEFINITIONS: Final = "GROVE_GO_CRDS"
USER: Final = "operator"
ADMITTING: Final = "operator-2"
HOME: Final = "grove-system"
TOKENS: Final = "serviceaccount-token-controller"
EVICTION: Final = "taint-eviction-controller"
_READER: Final[Json] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "reads-everything"},
    "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}],
}
_PATHS: Final = {"Mutating": "/webhooks/default-podcliqueset", "Validating": "/webhooks/validate-podcliqueset"}


def missing() -> str:
    """Why this cannot run here; empty if it can."""
    binary, folder = os.environ.get(BINARY, ""), os.environ.get(DEFINITIONS, "")
    if not os.access(binary, os.X_OK) or not Path(binary).is_file():
        return f"{BINARY} names no program"
    if not list(Path(folder or "/nowhere").glob("*.yaml")):
        return f"{DEFINITIONS} names no folder with *.yaml"
    return ""


def install_definitions(api: Api) -> None:
    """Have the server know that operator's kinds."""
    plurals = []
    for path in sorted(Path(os.environ[DEFINITIONS]).glob("*.yaml")):
        for found in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader):
            if found and found.get("kind") == "CustomResourceDefinition":
                api.create(found)
                plurals.append(found["spec"]["names"]["plural"])
    wait_until(
        lambda: [each for each in plurals if not is_served(api, each)], lambda left: not left, "all kinds are served"
    )


class GoOperator:
    """The acting process, which may be paused, killed and started again, and one beside it that serves admission.

    The admitting process is of the same binary, as a user that may read everything and write nothing, so that its
    controllers change nothing. An edit is thus defaulted and judged by that operator's own webhooks, also while the
    acting process stands still. Requests of both are told apart in the audit log by their users.

    Args:
        plane: the control plane that both work for, with their definitions installed.
        network: the part ``network`` of the configuration.
        topology: whether topologies are followed.
    """

    def __init__(self, plane: ControlPlane, *, network: Json | None = None, topology: bool = False) -> None:
        self.plane = plane
        self._api = plane.api()
        self._network = network or {}
        self._topology = topology
        self._folder = plane.folder / "go-operator"
        self._folder.mkdir(exist_ok=True)
        self._acting = ""

    def install(self) -> "GoOperator":
        """Give it its rights, start the admitting process, and have the API server call it."""
        self._api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}})
        self._api.create(_READER)
        let(self._api, USER)
        let(self._api, ADMITTING, _READER["metadata"]["name"])
        authority = trustme.CA()
        leaf = authority.issue_cert(HOST)
        leaf.cert_chain_pems[0].write_to_path(self._folder / "tls.crt")
        leaf.private_key_pem.write_to_path(self._folder / "tls.key")
        port = free_port()
        self._launch("admitting", ADMITTING, port)
        wait_until(lambda: _is_open(port), bool, "the admitting process listens", seconds=60)
        bundle = base64.b64encode(authority.cert_pem.bytes()).decode()
        for kind, path in _PATHS.items():
            self._api.create(_registration(kind, f"https://{HOST}:{port}{path}", bundle))
        return self

    def start(self) -> "GoOperator":
        """Start the acting process, again if need be, and wait until its controllers run."""
        port = free_port()
        self._acting = f"acting-{secrets.token_hex(3)}"
        self._launch(self._acting, USER, port)
        wait_until(
            lambda: self.plane.log(self._acting).read_text("utf-8", "replace").count("Starting workers"),
            lambda count: count >= 5,  # one line a controller
            "its controllers run",
            seconds=60,
        )
        return self

    def pause(self) -> None:
        """Let the acting process stand still."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the acting process between two instructions."""
        self._signal(signal.SIGKILL)
        wait_until(lambda: self.plane.code(self._acting), lambda code: code is not None, "the operator ended")

    @property
    def is_running(self) -> bool:
        """Whether the acting process runs."""
        return self.plane.code(self._acting) is None

    def _launch(self, name: str, user: str, port: int) -> None:
        config = {
            "apiVersion": "operator.config.grove.io/v1alpha1",
            "kind": "OperatorConfiguration",
            "runtimeClientConnection": {"qps": 100, "burst": 150},
            "leaderElection": {
                "enabled": False,
                "leaseDuration": "15s",
                "renewDeadline": "10s",
                "retryPeriod": "2s",
                "resourceLock": "leases",
                "resourceName": "grove-operator-leader-election",
                "resourceNamespace": HOME,
            },
            "server": {
                "webhooks": {
                    "bindAddress": HOST,
                    "port": port,
                    "serverCertDir": str(self._folder),
                    "certProvisionMode": "manual",
                },
                "healthProbes": {"bindAddress": HOST, "port": free_port()},
                "metrics": {"bindAddress": HOST, "port": free_port()},
            },
            "controllers": {
                kind: {"concurrentSyncs": 3} for kind in ("podCliqueSet", "podClique", "podCliqueScalingGroup")
            },
            "scheduler": {"defaultProfileName": "default-scheduler", "profiles": [{"name": "default-scheduler"}]},
            "logLevel": "info",
            "logFormat": "json",
            "topologyAwareScheduling": {"enabled": self._topology},
            "authorizer": {"enabled": False},
            "network": {"autoMNNVLEnabled": False, **self._network},
        }
        path = self._folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        self.plane.run(name, _command(self.plane.kubeconfig(user), path))

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.plane.pids[self._acting], number)


def _command(kubeconfig: Path, config: Path) -> Sequence[str]:
    """Its command line: it takes the kubeconfig and the init container's image from the environment."""
    program = shutil.which("env")
    assert program
    variables = (f"KUBECONFIG={kubeconfig}", "GROVE_INIT_CONTAINER_IMAGE=grove-initc")
    return [program, *variables, os.environ[BINARY], f"--config={config}"]


def _registration(kind: str, url: str, bundle: str) -> Json:
    name = f"podcliqueset-{kind.lower()}"
    rule = {
        "apiGroups": ["grove.io"],
        "apiVersions": ["v1alpha1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["podcliquesets"],
        "scope": "Namespaced",
    }
    webhook: dict[str, Any] = {
        "name": f"{name}.webhooks.grove.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": url, "caBundle": bundle},
        "failurePolicy": "Fail",
        "matchPolicy": "Exact",
        "sideEffects": "None",
        "timeoutSeconds": 10,
        "rules": [rule],
    }
    version = "admissionregistration.k8s.io/v1"
    return {
        "apiVersion": version,
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    }


def _is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((HOST, port)) == 0
