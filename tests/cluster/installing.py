"""Installing what ``grove manifests`` prints, for users of a test instead of accounts of pods; running a program."""

import http.client
import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from grove_shell.actions.manifests import installation_objects
from grove_shell.manifests.installation import InstallationOptions
from tests.cluster.api import APPLY, Api, Json, wait_until
from tests.cluster.operators import GROVE
from tests.cluster.programs import HOST
from tests.cluster.rights import await_rights

RBAC: Final = "rbac.authorization.k8s.io"
SECONDS: Final = 30.0


def apply(api: Api, objects: Iterable[Json], **query: str) -> list[Json]:
    """``kubectl apply --server-side``, in the order that is given; definitions and rights are waited for."""
    applied = []
    for one in objects:
        meta = one["metadata"]
        found = api.resource(one["kind"], one["apiVersion"])
        path = found.path(meta.get("namespace"), meta["name"])
        options = "&".join(
            f"{key}={value}" for key, value in {"fieldManager": "kubectl", "force": "true", **query}.items()
        )
        applied.append(api.request("PATCH", f"{path}?{options}", one, media=APPLY))
    for one in applied:
        if one["kind"] == "CustomResourceDefinition":
            name = one["metadata"]["name"]
            wait_until(lambda name=name: api.get("customresourcedefinitions", name), _established, f"{name} is served")  # type: ignore[misc]  # mypy infers no type for a default of a lambda
    await_rights(api, applied)
    return applied


def _established(definition: Json) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def access_for(installation: InstallationOptions, users: Mapping[str, str]) -> list[Json]:
    """Accounts and roles of some programs as they are printed, bound to users: program -> user."""
    found = []
    for one in installation_objects(installation, ("rbac",)):
        user = users.get(one["metadata"]["labels"]["app.kubernetes.io/name"])
        if user is not None:
            bound = {"subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}]} if "subjects" in one else {}
            found.append({**one, **bound})
    return found


def remove_cluster_wide(api: Api, objects: Iterable[Json]) -> None:
    """What no namespace takes with it."""
    for one in objects:
        if "namespace" not in one["metadata"] and one["kind"] not in {"Namespace", "CustomResourceDefinition"}:
            api.delete(one["kind"], one["metadata"]["name"])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class Program:
    """``grove`` as a process that serves its health on a port of its own.

    Args:
        words: the command and its options.
        config: its configuration file; the port of health is written into it.
        log: where its lines go.
    """

    def __init__(self, words: list[str], config: Json, log: Path) -> None:
        self.health = free_port()
        self.log = log
        path = log.with_suffix(".json")
        path.write_text(json.dumps({**config, "serving": {"host": HOST, "port": self.health}}), encoding="utf-8")
        self.words = [*words, "--config", str(path)]

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run it; leaving the context stops it as a cluster does."""
        with self.log.open("ab") as log:
            process = subprocess.Popen([*GROVE, *self.words], stderr=log, stdout=log)
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0, self.log.read_text(encoding="utf-8")[-2000:]
        finally:
            process.kill()
            process.wait()

    def said(self, message: str) -> list[Json]:
        """The lines of its log with this message."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [line for text in lines if text.startswith("{") and (line := json.loads(text))["msg"] == message]

    def ready(self) -> str:
        """What it still waits for; ``ok`` when it is ready."""
        connection = http.client.HTTPConnection(HOST, self.health, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().read().decode().strip()
        except OSError as fault:
            return str(fault)
        finally:
            connection.close()

    def await_ready(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until it is ready, or tell what its log says."""
        deadline = time.monotonic() + SECONDS
        while (words := self.ready()) != "ok":
            log = self.log.read_text(encoding="utf-8")[-3000:]
            assert process.poll() is None, log
            assert time.monotonic() < deadline, f"{words}\n{log}"
            time.sleep(0.05)


def grove_set(name: str, namespace: str, *cliques: Any, **template: Any) -> Json:
    """A PodCliqueSet."""
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "template": {"cliques": list(cliques), **template}},
    }


def clique(name: str, replicas: int = 1, *, pod: Json | None = None, **spec: Any) -> Json:
    """One clique of a template."""
    container = {"name": "main", "image": "example.com/main"}
    whole = {"roleName": name, "replicas": replicas, "podSpec": {"containers": [container], **(pod or {})}, **spec}
    return {"name": name, "spec": whole}
