"""No access to a cluster: one clear sentence, exit code 1, no traceback."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.cluster.operators import grove
from tests.cluster.plane import STORE, ControlPlane

PLAN: Final = ("plan", "--live")
OPERATOR: Final = ("operator",)
Change = Callable[[dict[str, Any]], None]


def refused(command: tuple[str, ...], kubeconfig: Path, *more: str) -> str:
    """What a command says that cannot begin; on one line."""
    ran = grove(*command, *more, kubeconfig=kubeconfig)
    assert ran.returncode == 1, ran
    assert "Traceback" not in ran.stderr
    assert not ran.stdout
    return " ".join(ran.stderr.split())


def without_authority(config: dict[str, Any]) -> None:
    del config["clusters"][0]["cluster"]["certificate-authority-data"]


def another_token(config: dict[str, Any]) -> None:
    config["users"][0]["user"]["token"] = "ran-out-yesterday"  # noqa: S105 - it opens nothing


def another_context(config: dict[str, Any]) -> None:
    config["current-context"] = "elsewhere"


def another_user(config: dict[str, Any]) -> None:
    config["contexts"][0]["context"]["user"] = "somebody"


@pytest.fixture(scope="module")
def bare_plane(programs: dict[str, Path], api_server: ControlPlane) -> Iterator[ControlPlane]:
    """A cluster that has never heard of Grove."""
    with ControlPlane(programs, parts=STORE) as plane:
        yield plane


@pytest.mark.parametrize("command", [PLAN, OPERATOR], ids=["plan", "operator"])
class TestOP044:
    """A kubeconfig MUST be used as kubectl uses it. Files that do not exist are skipped, expired tokens are renewed,
    and no credential is left in a file. A command without access prints what it tried and exits with 1.
    """

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (None, "No such file or directory; try --kubeconfig FILE"),
            ("", "config"),
            ("]", "config"),
            ("- a list", "config"),
            ("apiVersion: v1\nkind: Config\n", "config"),
        ],
        ids=["missing", "empty", "no YAML", "a list", "nothing in it"],
    )
    def test_op044_a_kubeconfig_that_is_none(
        self, api_server: ControlPlane, command: tuple[str, ...], tmp_path: Path, content: str | None, says: str
    ) -> None:
        path = tmp_path / "kubeconfig"
        if content is not None:
            path.write_text(content, encoding="utf-8")
        said = refused(command, path)
        assert said.startswith(str(path))
        assert says in said

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (without_authority, "certificate verify failed"),
            (another_token, "the credentials are not accepted, or ran out; log in again"),
            (another_context, "elsewhere"),
            (another_user, "its context names what is not in it"),
        ],
    )
    def test_op044_a_kubeconfig_that_does_not_fit(
        self, grove_plane: ControlPlane, command: tuple[str, ...], tmp_path: Path, change: Change, says: str
    ) -> None:
        config = json.loads(grove_plane.kubeconfig().read_text(encoding="utf-8"))
        change(config)
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(config), encoding="utf-8")
        said = refused(command, path)
        assert says in said
        assert grove_plane.url in said or str(path) in said

    def test_op044_no_operator_is_found(
        self, api_server: ControlPlane, command: tuple[str, ...], tmp_path: Path
    ) -> None:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            server = f"https://127.0.0.1:{held.getsockname()[1]}"
            config = json.loads(api_server.kubeconfig().read_text(encoding="utf-8"))
            config["clusters"][0]["cluster"]["server"] = server
            path = tmp_path / "kubeconfig"
            path.write_text(json.dumps(config), encoding="utf-8")
            said = refused(command, path)
        assert said.startswith(server)
        assert "is it up, and is --context the one you mean?" in said

    def test_op044_a_user_without_rights_on_sets(self, grove_plane: ControlPlane, command: tuple[str, ...]) -> None:
        said = refused(command, grove_plane.kubeconfig("nobody"))
        assert 'User "nobody" cannot list resource "podcliquesets" in API group "grove.io"' in said

    def test_op044_a_cluster_without_grove(self, bare_plane: ControlPlane, command: tuple[str, ...]) -> None:
        said = refused(command, bare_plane.kubeconfig())
        assert "is Grove installed there? (grove manifests | kubectl apply --server-side -f -)" in said


@pytest.mark.req("IN-030")
class TestConfigurationFile:
    """Nothing is started with a mistake in it."""

    def test_in030_five_mistakes_are_reported_at_once(self, api_server: ControlPlane, tmp_path: Path) -> None:
        config = {
            "apiVersion": "operator.config.grove.io/v1alpha1",
            "kind": "OperatorConfiguration",
            "workers": "many",
            "rules": "mine",
            "leaderElection": {"leaseDuration": 15},
            "client": {"qsp": 5},
            "serving": {"port": 70_000},
        }
        path = tmp_path / "operator.yaml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        said = refused(OPERATOR, api_server.kubeconfig(), "--config", str(path))
        assert said.startswith("5 problems in the input")
        for field in ("workers", "rules", "leaderElection.leaseDuration", "client.qsp", "serving.port"):
            assert field in said
        assert said.endswith("Nothing was started.")
        assert said.count(str(path)) == 5

    def test_in030_a_configuration_that_is_not_there(self, api_server: ControlPlane, tmp_path: Path) -> None:
        said = refused(OPERATOR, api_server.kubeconfig(), "--config", str(tmp_path / "none.yaml"))
        assert str(tmp_path / "none.yaml") in said

    def test_op044_a_port_that_is_taken(self, grove_plane: ControlPlane, tmp_path: Path) -> None:
        path = tmp_path / "operator.yaml"
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            held.listen()
            port = held.getsockname()[1]
            path.write_text(yaml.safe_dump({"serving": {"host": "127.0.0.1", "port": port}}), encoding="utf-8")
            said = refused(OPERATOR, grove_plane.kubeconfig(), "--config", str(path))
        assert f"127.0.0.1:{port}" in said
        assert "--config" in said

    def test_op044_a_decision_log_that_cannot_be_written(self, grove_plane: ControlPlane, tmp_path: Path) -> None:
        path = tmp_path / "nowhere" / "decisions.jsonl"
        said = refused(OPERATOR, grove_plane.kubeconfig(), "--decision-log", str(path))
        assert str(path) in said
