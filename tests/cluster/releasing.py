"""The Helm chart as a release under test: with the preview alone, or whole with the programs of its pods."""

import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from grove_shell.settings.webhook_settings import PATHS
from tests.cluster.api import Json, wait_until
from tests.cluster.installing import Program
from tests.cluster.plane import ControlPlane
from tests.cluster.programs import HOST, write_kubeconfig
from tests.manifests.chart import CHART
from tests.manifests.chart_rendering import helm

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


def documented_values() -> str:
    """The file of values that the how-to has its reader write."""
    _, _, after = PAGE.read_text(encoding="utf-8").partition(f"cat > {_FILE} <<'END'\n")
    text, end, _ = after.partition("END\n")
    assert end
    return text


NEAR: Final = {"certificates": {"checkEvery": "300ms", "settle": "1s"}, "listening": {"host": HOST, "port": 0}}
"""Settings of webhooks that run on this machine."""


class Release:
    """A release of the chart, and the programs that its pods would run.

    There is no kubelet that runs containers, so each program is started beside the control plane, with a token of the
    release's ServiceAccount, the arguments of the Deployment and the content of the ConfigMap.

    Args:
        plane: where it is installed.
        name: of the release.
        home: its namespace.
        folder: for Helm's home, configurations and logs.
        values: words of the command line that every installation and upgrade has.
    """

    def __init__(self, plane: ControlPlane, name: str, home: str, folder: Path, values: tuple[str, ...] = ()) -> None:
        self.plane = plane
        self.api = plane.api()
        self.name = name
        self.home = home
        self.folder = folder
        self._values = values
        self._started = 0

    def helm(self, *words: str, code: int = 0) -> str:
        """Run Helm for its namespace, and return what it printed, or its error."""
        ran = helm(*words, "-n", self.home, folder=self.folder, kubeconfig=self.plane.kubeconfig(), code=code)
        return ran.stderr if code else ran.stdout

    def upgrade(self, *words: str) -> str:
        """Install or upgrade it, with further settings, and return the notes; ``--wait`` would wait for containers."""
        chart = (str(CHART), "--create-namespace", *self._values)
        return self.helm("upgrade", "--install", self.name, *chart, *words)

    def uninstall(self) -> str:
        """Uninstall it, and return what was printed."""
        return self.helm("uninstall", self.name)

    def program(self, deployment: str, **near: Any) -> Program:
        """Return the program of a Deployment, with the rights, arguments and file that it has now.

        Args:
            deployment: its name.
            near: settings for a process on this machine instead of a pod.
        """
        self._started += 1
        (container,) = self.api.get("deployments", deployment, self.home)["spec"]["template"]["spec"]["containers"]
        words = [word for word in container["args"] if not word.startswith("--config=")]
        file: Json = {}
        if words != container["args"]:
            data = self.api.get("configmaps", f"{deployment}-config", self.home)["data"]
            file = json.loads(data["config.json"])
        log = self.folder / f"{deployment}-{self._started}.log"
        return Program([*words, "--kubeconfig", str(self._kubeconfig(deployment))], {**file, **near}, log)

    def webhooks(self, deployment: str) -> Program:
        """Return the program of a Deployment of webhooks, which registers its address in the place of the Service."""
        found = self.program(deployment, **NEAR, farewell="300ms")
        found.words += ["-n", self.home, "--url-host", HOST]
        return found

    def _kubeconfig(self, account: str) -> Path:
        path = f"/api/v1/namespaces/{self.home}/serviceaccounts/{account}/token"
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = self.api.request("POST", path, asked)["status"]["token"]
        kubeconfig = self.folder / f"{account}-{self._started}.kubeconfig"
        authority = self.plane.authority.read_bytes()
        write_kubeconfig(kubeconfig, url=self.plane.url, authority=authority, user=account, token=token)
        return kubeconfig

    def call_the_service(self, kind: str, registration: str, service: str) -> None:
        """Register the Service again, as the chart has it; the program under test has registered its address."""
        names = [one["name"] for one in self.api.get(kind, registration)["webhooks"]]
        entries = [
            {
                "name": name,
                "clientConfig": {
                    "url": None,
                    "service": {"namespace": self.home, "name": service, "path": PATHS[name], "port": 443},
                },
            }
            for name in names
        ]
        media = "application/strategic-merge-patch+json"
        self.api.patch(kind, registration, patch={"webhooks": entries}, media=media)

    def pod_template(self, deployment: str) -> Json:
        """Return the metadata of the pods of a Deployment."""
        found: Json = self.api.get("deployments", deployment, self.home)["spec"]["template"]["metadata"]
        return found

    def cluster_wide(self) -> set[tuple[str, str]]:
        """Return kind and name of what no namespace takes with it."""
        return {(kind, one["metadata"]["name"]) for kind in CLUSTER_WIDE for one in self.api.all_of(kind)}

    def left(self) -> set[tuple[str, str]]:
        """Return kind and name of what is in the namespace of the release."""
        found: list[dict[str, Any]] = self.api.everything_in(self.home)
        return {(one["kind"], one["metadata"]["name"]) for one in found}


def preview_release(plane: ControlPlane, home: str, folder: Path) -> Release:
    """Return a release of the preview alone, with the file of values that the how-to has its reader write."""
    values = folder / _FILE
    values.write_text(documented_values(), encoding="utf-8")
    return Release(plane, NAME, home, folder, ("--skip-crds", "-f", str(values)))


class Running:
    """The operator and the webhooks of a release as processes, until they are stopped; each life is a new pod."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._runs = True
        election = {"namespace": release.home, "leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "300ms"}
        with ExitStack() as lives:
            self.webhooks = release.webhooks("grove-webhooks")
            lives.enter_context(self.webhooks.running())
            wait_until(self.registered, bool, "the webhooks are registered")
            self.operator = release.program("grove-operator", leaderElection=election)
            lives.enter_context(self.operator.running())
            wait_until(lambda: self.operator.said("caches are filled"), bool, "the operator acts")
            self._lives = lives.pop_all()

    def registered(self) -> bool:
        """Return whether the API server calls this life of the webhooks."""
        return bool(self.webhooks.said("authority registered")) and self.webhooks.ready() == "ok"

    def stop(self) -> None:
        """End both, and register the Service again; nothing where they have been stopped."""
        if not self._runs:
            return
        self._runs = False
        self._lives.close()
        for kind, name in (
            ("mutatingwebhookconfigurations", "grove-defaulting"),
            ("validatingwebhookconfigurations", "grove-validation"),
        ):
            self.release.call_the_service(kind, name, "grove-webhooks")


def documented_commands(page: Path, heading: str) -> list[str]:
    """Return the first shell commands under a heading of a how-to, each with its continuation lines."""
    _, _, after = page.read_text(encoding="utf-8").partition(f"{heading}\n")
    block = re.search(r"```sh\n(.*?)```", after, re.DOTALL)
    assert block, heading
    return block[1].splitlines()
