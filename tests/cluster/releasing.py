"""The Helm chart as a release under test, installed by Helm with the preview alone."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.cluster.api import Json
from tests.cluster.installing import Program
from tests.cluster.plane import ControlPlane
from tests.cluster.programs import HOST, write_kubeconfig
from tests.manifests.chart import CHART

NAME: Final = "grove-preview"
ALONE: Final = ("--set", "operator.enabled=false,webhooks.enabled=false,preview.enabled=true")
PAGE: Final = CHART.parents[2] / "docs" / "how-to" / "preview-edits-at-apply.md"
_FILE: Final = "preview-values.yaml"
CLUSTER_WIDE: Final = (
    "clusterroles",
    "clusterrolebindings",
    "mutatingwebhookconfigurations",
    "validatingwebhookconfigurations",
    "customresourcedefinitions",
    "priorityclasses",
)


def helm(*words: str, folder: Path, kubeconfig: Path | None = None) -> str:
    """Run Helm with a home of its own, and return what it printed; it must succeed."""
    homes = {f"HELM_{kind}_HOME": str(folder / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    env = {**os.environ, **homes, "KUBECONFIG": str(kubeconfig or folder / "none")}
    ran = subprocess.run(["helm", *words], capture_output=True, text=True, check=False, timeout=120, env=env)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def documented_values() -> str:
    """The file of values that the how-to has its reader write."""
    _, _, after = PAGE.read_text(encoding="utf-8").partition(f"cat > {_FILE} <<'END'\n")
    text, end, _ = after.partition("END\n")
    assert end
    return text


class Release:
    """A release of the chart with the preview alone, and the program that its pods would run.

    There is no kubelet that runs containers, so the program is started beside the control plane, with a token of the
    release's ServiceAccount and the content of the release's ConfigMap.
    """

    def __init__(self, plane: ControlPlane, home: str, folder: Path) -> None:
        self.plane = plane
        self.api = plane.api()
        self.home = home
        self._folder = folder
        self._started = 0
        self._values = folder / _FILE
        self._values.write_text(documented_values(), encoding="utf-8")

    def helm(self, *words: str) -> str:
        return helm(*words, folder=self._folder, kubeconfig=self.plane.kubeconfig())

    def upgrade(self, *words: str) -> None:
        """Install or upgrade it as the how-to does, with further settings; ``--wait`` would wait for containers."""
        chart = (str(CHART), "-n", self.home, "--create-namespace", "-f", str(self._values))
        self.helm("upgrade", "--install", NAME, *chart, *words)

    def uninstall(self) -> None:
        self.helm("uninstall", NAME, "-n", self.home)

    def program(self) -> Program:
        """The program with the rights and the configuration of the release as they are now."""
        self._started += 1
        account = f"/api/v1/namespaces/{self.home}/serviceaccounts/{NAME}/token"
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = self.api.request("POST", account, asked)["status"]["token"]
        kubeconfig = self._folder / f"account-{self._started}.kubeconfig"
        authority = self.plane.authority.read_bytes()
        write_kubeconfig(kubeconfig, url=self.plane.url, authority=authority, user=NAME, token=token)
        near = {
            "certificates": {"checkEvery": "300ms", "settle": "1s"},
            "listening": {"host": HOST, "port": 0},
            "farewell": "300ms",
        }
        file = json.loads(self.api.get("configmaps", f"{NAME}-config", self.home)["data"]["config.json"])
        words = ["webhooks", "--only", "preview", "--kubeconfig", str(kubeconfig), "-n", self.home, "--url-host", HOST]
        return Program(words, {**file, **near}, self._folder / f"release-{self._started}.log")

    @property
    def client_config(self) -> Json:
        """Where the API server calls the preview, and which authority it trusts."""
        (webhook,) = self.api.get("validatingwebhookconfigurations", NAME)["webhooks"]
        found: Json = webhook["clientConfig"]
        return found

    def call_the_service(self) -> None:
        """Register the Service again, as the chart has it; the program under test has registered its address."""
        service = {"namespace": self.home, "name": NAME, "path": "/webhooks/preview-podcliqueset", "port": 443}
        entry = {"name": "preview.podcliquesets.grove.io", "clientConfig": {"url": None, "service": service}}
        self.api.patch(
            "validatingwebhookconfigurations",
            NAME,
            patch={"webhooks": [entry]},
            media="application/strategic-merge-patch+json",
        )

    @property
    def pod_template(self) -> Json:
        """Metadata of the pods of the Deployment."""
        found: Json = self.api.get("deployments", NAME, self.home)["spec"]["template"]["metadata"]
        return found

    def cluster_wide(self) -> set[tuple[str, str]]:
        """Kind and name of what no namespace takes with it."""
        return {(kind, one["metadata"]["name"]) for kind in CLUSTER_WIDE for one in self.api.all_of(kind)}

    def left(self) -> set[tuple[str, str]]:
        """Kind and name of what is in the namespace of the release."""
        found: list[dict[str, Any]] = self.api.everything_in(self.home)
        return {(one["kind"], one["metadata"]["name"]) for one in found}
