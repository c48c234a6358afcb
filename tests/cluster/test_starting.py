"""The program of the init container, with the account that a set's pods have, against a real API server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.image import UNPACKED, image_command
from tests.cluster.operators import Operator, Starting
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique

COMMAND: Final = (
    image_command("grove-initc") if os.environ.get(UNPACKED) else (str(Path(sys.executable).parent / "grove-initc"),)
)


def ordered(scene: Scene) -> Json:
    cliques = (clique("router", 2), clique("worker"))
    return scene.set_of(*cliques, cliqueStartupType="CliqueStartupTypeInOrder")


def container_of(scene: Scene) -> Json:
    """The one that waits, of the pod that has it."""
    (pod,) = scene.pods("llama-0-worker")
    (container,) = pod["spec"]["initContainers"]
    found: Json = container
    return found


def mounted(scene: Scene, plane: ControlPlane, folder: Path, account: str) -> Path:
    """The two volumes of the container as a kubelet fills them; the token is one of the account."""
    path = f"/api/v1/namespaces/{scene.namespace}/serviceaccounts/{account}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
    token = scene.api.request("POST", path, request)["status"]["token"]
    (folder / "token").write_text(token, encoding="utf-8")
    (folder / "ca.crt").write_bytes(plane.authority.read_bytes())
    (folder / "namespace").write_text(scene.namespace, encoding="utf-8")
    (folder / "podgangname").write_text("llama-0", encoding="utf-8")
    return folder


@contextmanager
def running(url: str, container: Json, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    address = urlsplit(url)
    environment = {
        **os.environ,
        "KUBERNETES_SERVICE_HOST": str(address.hostname),
        "KUBERNETES_SERVICE_PORT": str(address.port),
    }
    words = [*COMMAND, *container["args"], "--account", str(folder), "--pod-info", str(folder)]
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(words, env=environment, stderr=log, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def said(folder: Path) -> list[str]:
    return (folder / "log").read_text(encoding="utf-8").splitlines()


@pytest.mark.req("WL-011")
def test_wl084_it_waits_until_enough_are_ready(scene: Scene, operator: Operator, tmp_path: Path) -> None:
    scene.api.create(ordered(scene))
    scene.await_ready(3)
    scene.annotate_pods("llama-0-router", not_ready="true")
    wait_until(
        lambda: scene.get("podcliques", "llama-0-router")["status"].get("readyReplicas", 0),
        lambda n: n == 0,
        "none is ready",
    )
    container = container_of(scene)
    assert container["command"] == ["grove-initc"]
    folder = mounted(scene, operator.plane, tmp_path, "llama")
    with running(operator.plane.url, container, folder) as process:
        waits = ["grove-initc: waits for llama-0-router: 0 of 2 pods ready"]
        wait_until(lambda: said(folder), lambda lines: lines == waits, "it waits")
        first, second = scene.pods("llama-0-router")
        scene.api.annotate("pods", first["metadata"]["name"], scene.namespace, not_ready=None)
        waits.append("grove-initc: waits for llama-0-router: 1 of 2 pods ready")
        wait_until(lambda: said(folder), lambda lines: lines == waits, "one is ready")
        assert process.poll() is None
        scene.api.annotate("pods", second["metadata"]["name"], scene.namespace, not_ready=None)
        assert process.wait(30) == 0
        assert said(folder) == [*waits, "grove-initc: all are ready"]


def test_wl084_trouble_is_reported_and_waited_out(scene: Scene, operator: Operator, tmp_path: Path) -> None:
    """An account without read access to pods: the operator reports it, and waits on."""
    scene.api.create(ordered(scene))
    scene.await_ready(3)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "poor", "namespace": scene.namespace}}
    scene.api.create(account)
    folder = mounted(scene, operator.plane, tmp_path, "poor")
    with running(operator.plane.url, container_of(scene), folder) as process:
        wait_until(lambda: said(folder), lambda lines: any("forbidden" in line for line in lines), "it says so")
        assert process.poll() is None
        process.terminate()
        assert process.wait(30) == 143


def test_wl084_a_namespace_that_enforces_restricted_takes_its_pods(scene: Scene, operator: Operator) -> None:
    enforced = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    scene.api.patch("namespaces", scene.namespace, patch=enforced)
    confined = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    raw = ordered(scene)
    for part in raw["spec"]["template"]["cliques"]:
        for container in part["spec"]["podSpec"]["containers"]:
            container["securityContext"] = confined
    scene.api.create(raw)
    scene.await_ready(3)
    assert container_of(scene)["securityContext"].items() >= confined.items()


def test_wl084_the_operator_names_its_own_image(scene: Scene, starting: Starting) -> None:
    starting(options=("--own-image", "example.com/grove:9")).start()
    scene.api.create(ordered(scene))
    scene.await_ready(3)
    assert container_of(scene)["image"] == "example.com/grove:9"
