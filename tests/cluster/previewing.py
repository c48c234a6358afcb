"""The preview of updates as a program under test, for one namespace, and a user with kubectl there."""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

from grove_shell.manifests.installation import InstallationOptions
from grove_shell.manifests.preview_program import preview_webhook_manifests
from grove_shell.settings.webhook_settings import PREVIEW_LABELS
from tests.cluster.api import Json
from tests.cluster.installing import RBAC, Program
from tests.cluster.operators import grove
from tests.cluster.plane import REVIEWER, ControlPlane
from tests.cluster.programs import HOST
from tests.cluster.scenes import Scene
from tests.cluster.webhooks import on_loopback

WARNING: Final = "Warning: "
APPLIED: Final = frozenset({"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"})


class Kubectl:
    """The administrator with kubectl in the namespace of a scene."""

    def __init__(self, plane: ControlPlane, scene: Scene) -> None:
        self.plane = plane
        self.scene = scene

    def kubectl(self, *words: str, manifest: Json | None = None) -> "subprocess.CompletedProcess[str]":
        command = ["kubectl", "--kubeconfig", str(self.plane.kubeconfig("admin")), "-n", self.scene.namespace, *words]
        text = json.dumps(manifest) if manifest is not None else ""
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)

    def applied(self, manifest: Json, *, dry: bool = False) -> list[str]:
        """Return the warnings of ``kubectl apply``, which must succeed."""
        ran = self.kubectl("apply", "-f", "-", *(["--dry-run=server"] if dry else []), manifest=manifest)
        assert ran.returncode == 0, ran.stderr
        return [line.removeprefix(WARNING) for line in ran.stderr.splitlines() if line.startswith(WARNING)]


class Preview(Kubectl):
    """The preview for one namespace, and a user with kubectl there."""

    def __init__(self, plane: ControlPlane, scene: Scene, folder: Path, **settings: Any) -> None:
        super().__init__(plane, scene)
        self.folder = folder
        installation = InstallationOptions(home=scene.namespace, watched=scene.namespace)
        printed = list(preview_webhook_manifests(installation))
        user = {"subjects": [{"apiGroup": RBAC, "kind": "User", "name": REVIEWER}]}
        self.roles = [{**one, **(user if "subjects" in one else {})} for one in printed if one["kind"] in APPLIED]
        self.objects = [*self.roles, *(on_loopback(one) for one in printed if "webhooks" in one)]
        config = {
            "kind": "WebhookConfiguration",
            "certificates": {"checkEvery": "300ms", "settle": "1s"},
            "listening": {"host": HOST, "port": 0},
            "farewell": "300ms",
            "preview": settings,
        }
        words = ["webhooks", "--only", "preview", "--kubeconfig", str(plane.kubeconfig(REVIEWER))]
        words += ["-n", scene.namespace, "--watch-namespace", scene.namespace, "--url-host", HOST]
        self.program = Program(words, config, folder / "preview.log")

    def label(self, **labels: str | None) -> None:
        """Label the namespace; the API server and the preview see it with the next request."""
        found = {f"{PREVIEW_LABELS}{key.replace('_', '-')}": value for key, value in labels.items()}
        self.scene.api.patch("namespaces", self.scene.namespace, patch={"metadata": {"labels": found}})

    def plan(self, manifest: Json) -> tuple[str, Json]:
        """Return the first line of ``grove plan --live -f``, and its edit as JSON."""
        file = self.folder / "new.json"
        file.write_text(json.dumps(manifest), encoding="utf-8")
        asked = ("plan", "--live", "-n", self.scene.namespace, "-f", str(file))
        page, document = (
            grove(*asked, *more, kubeconfig=self.plane.kubeconfig("admin")) for more in ((), ("-o", "json"))
        )
        edit: Json = json.loads(document.stdout)["plans"][0]["edit"]
        return page.stdout.splitlines()[0], edit
