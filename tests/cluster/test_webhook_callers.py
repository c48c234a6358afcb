"""An API server that shows a client certificate to the webhooks, and webhooks that answer no other program."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import trustme

from grove_shell.actions.manifests import installation_objects
from grove_shell.manifests.installation import InstallationOptions
from tests.cluster.api import ApiError, Json, wait_until
from tests.cluster.installing import apply
from tests.cluster.operators import let
from tests.cluster.plane import REVIEWER, STORE, ControlPlane
from tests.cluster.webhooks import Installed

NAME: Final = "kube-apiserver"


def written(path: Path, content: Json) -> str:
    """Write a file, and return its path."""
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.fixture
def calling_plane(programs: dict[str, Path], tmp_path: Path) -> Iterator[ControlPlane]:
    """One whose API server shows a certificate of ``callers.crt`` to every webhook."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "callers.crt")
    issued = authority.issue_cert(common_name=NAME)
    issued.cert_chain_pems[0].write_to_path(tmp_path / "client.crt")
    issued.private_key_pem.write_to_path(tmp_path / "client.key")
    user = {"client-certificate": str(tmp_path / "client.crt"), "client-key": str(tmp_path / "client.key")}
    kubeconfig = {"apiVersion": "v1", "kind": "Config", "users": [{"name": "*", "user": user}]}
    configuration = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "WebhookAdmissionConfiguration",
        "kubeConfigFile": written(tmp_path / "webhooks.kubeconfig", kubeconfig),
    }
    admission = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [
            {"name": f"{kind}AdmissionWebhook", "configuration": configuration} for kind in ("Mutating", "Validating")
        ],
    }
    path = tmp_path / "admission.json"
    written(path, admission)
    with ControlPlane(programs, parts=STORE, admission=path) as plane:
        let(plane.api(), REVIEWER)
        apply(plane.api(), installation_objects(InstallationOptions(), ("crds",)))
        yield plane


def test_wh049_an_api_server_with_the_certificate_is_answered(calling_plane: ControlPlane, tmp_path: Path) -> None:
    api = calling_plane.api()
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
    installed = Installed(calling_plane, "ml", tmp_path)
    apply(api, installed.objects)
    authority = str(tmp_path / "callers.crt")
    program = installed.program(callers={"authorityFile": authority, "names": [NAME]})
    with program.running() as process:
        program.await_ready(process)
        installed.is_called()
        assert installed.create(installed.set_of("sound"))["metadata"]["name"] == "sound"
    other = installed.program("other", callers={"authorityFile": authority, "names": ["another"]})

    def refusal() -> str:
        try:
            installed.create(installed.set_of("unasked"))
        except ApiError as refused:
            return refused.message
        return ""

    with other.running() as process:
        other.await_ready(process)
        wait_until(refusal, lambda said: "may not call the webhooks" in said, "the API server is refused by its name")
        assert other.said("unknown caller")[0]["names"] == [NAME]
