"""``grove webhooks`` as a process, with files for certificates and no cluster in reach."""

import http.client
import json
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import trustme

from grove_shell.settings.webhook_settings import PATHS, VALIDATION
from tests.webhooks.reviews import Json, review, set_of

HOST: Final = "127.0.0.1"
SECONDS: Final = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def kubeconfig(folder: Path) -> Path:
    """Of a cluster that does not respond."""
    path = folder / "kubeconfig"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "none",
        "clusters": [{"name": "none", "cluster": {"server": f"http://{HOST}:{free_port()}"}}],
        "users": [{"name": "none", "user": {"token": "none"}}],
        "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def issue(authority: trustme.CA, folder: Path, name: str = HOST) -> None:
    """Renew the files, the key first, as a careless user would."""
    issued = authority.issue_cert(name)
    issued.private_key_pem.write_to_path(folder / "tls.key")
    issued.cert_chain_pems[0].write_to_path(folder / "tls.crt")


class Server:
    """A process that serves, and how it is called."""

    def __init__(self, folder: Path, **certificates: Any) -> None:
        self.authority = trustme.CA()
        self.folder = folder
        self.port, self.health = free_port(), free_port()
        self.log = folder / "log"
        self.config = {
            "kind": "WebhookConfiguration",
            "certificates": {"mode": "manual", "directory": str(folder), "checkEvery": "200ms", **certificates},
            "listening": {"host": HOST, "port": self.port},
            "serving": {"host": HOST, "port": self.health},
            "farewell": "500ms",
        }

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        (self.folder / "config.yaml").write_text(json.dumps(self.config), encoding="utf-8")
        command = [sys.executable, "-m", "grove_shell", "webhooks", "--kubeconfig", str(kubeconfig(self.folder))]
        command += words
        with self.log.open("wb") as log:
            process = subprocess.Popen([*command, "--config", str(self.folder / "config.yaml")], stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def said(self) -> list[Json]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def wait_for(self, message: str, count: int = 1) -> list[Json]:
        deadline = time.monotonic() + SECONDS
        while len(found := [line for line in self.said() if line["msg"] == message]) < count:
            assert time.monotonic() < deadline, self.log.read_text(encoding="utf-8")
            time.sleep(0.05)
        return found

    def look(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(HOST, self.health, timeout=SECONDS)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def connect(self, caller: trustme.LeafCert | None = None) -> http.client.HTTPSConnection:
        tls = ssl.create_default_context()
        self.authority.configure_trust(tls)
        if caller is not None:
            caller.configure_cert(tls)
        connection = http.client.HTTPSConnection(HOST, self.port, context=tls, timeout=SECONDS)
        connection.connect()
        return connection

    def ask(self, connection: http.client.HTTPSConnection, body: Json) -> Json:
        connection.request("POST", PATHS[VALIDATION], json.dumps(body), {"Content-Type": "application/json"})
        answer: Json = json.loads(connection.getresponse().read())
        return answer


def shown_by(connection: http.client.HTTPSConnection) -> bytes:
    assert isinstance(connection.sock, ssl.SSLSocket)
    found = connection.sock.getpeercert(binary_form=True)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "warnings"),
    [("grove-webhooks.ml.svc", 0), ("*.ml.svc", 0), ("grove-webhooks.other.svc", 1), ("*.svc", 1)],
)
def test_wh021_files_without_the_name_of_the_service_are_served_with_a_warning(
    tmp_path: Path, name: str, warnings: int
) -> None:
    server = Server(tmp_path)
    issue(server.authority, tmp_path, name)
    with server.running("-n", "ml"):
        server.wait_for("listening")
    found = [line for line in server.said() if line["msg"] == "the API server refuses this certificate"]
    assert [(line["level"], line["names"]) for line in found] == [("warning", [name])] * warnings
    assert all("grove-webhooks.ml.svc" in line["error"] for line in found)


def test_wh021_an_address_in_another_spelling_is_the_name_of_the_certificate(tmp_path: Path) -> None:
    server = Server(tmp_path)
    issue(server.authority, tmp_path, "fd00::1")
    with server.running("-n", "ml", "--url-host", "FD00:0::1"):
        server.wait_for("listening")
    assert all(line["msg"] != "the API server refuses this certificate" for line in server.said())


def test_wh021_files_are_followed_while_requests_go_on(tmp_path: Path) -> None:
    server = Server(tmp_path)
    issue(server.authority, tmp_path)
    with server.running():
        server.wait_for("listening")
        old = server.connect()
        assert server.ask(old, review(set_of()))["response"]["allowed"]
        issue(server.authority, tmp_path)
        server.wait_for("certificate loaded", 2)
        new = server.connect()
        assert shown_by(new) != shown_by(old)
        for connection in (old, new):
            assert not server.ask(connection, review(set_of(min_available=9)))["response"]["allowed"]
            connection.close()
        (tmp_path / "tls.key").write_text("no key", encoding="utf-8")
        (trouble,) = server.wait_for("certificates")
        assert "private key" in trouble["error"]
        again = server.connect()
        assert server.ask(again, review(set_of()))["response"]["allowed"]
        again.close()


def test_op034_ready_means_that_it_can_be_called(tmp_path: Path) -> None:
    server = Server(tmp_path)
    with server.running():
        (trouble,) = server.wait_for("certificates")
        assert trouble["error"] == f"{tmp_path / 'tls.crt'}: No such file or directory"
        code, words = server.look("/readyz")
        assert (code, words) == (
            503,
            "waits for a valid certificate, the listener, the first list of PodCliqueSet\n",
        )
        assert server.look("/healthz")[0] == 200
        issue(server.authority, tmp_path)
        server.wait_for("listening")
        assert server.look("/readyz") == (503, "waits for the first list of PodCliqueSet\n")
        connection = server.connect()
        warnings = server.ask(connection, review(set_of()))["response"]["warnings"]
        assert "were not compared" in warnings[0]
        connection.close()
        assert "grove_webhook_certificate_expiry_timestamp_seconds" in server.look("/metrics")[1]


def test_op033_after_a_signal_reviews_are_answered_for_a_while(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.config["farewell"] = "5s"
    issue(server.authority, tmp_path)
    with server.running() as process:
        server.wait_for("listening")
        process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + SECONDS
        while "the listener" not in server.look("/readyz")[1]:
            assert time.monotonic() < deadline
        connection = server.connect()
        assert server.ask(connection, review(set_of()))["response"]["allowed"]
        connection.close()
        assert process.wait(SECONDS) == 0
    assert server.said()[-1]["msg"] == "webhooks stop"


def test_in030_a_bad_configuration_starts_nothing(tmp_path: Path) -> None:
    server = Server(tmp_path, mode="now and then")
    server.config["colour"] = "red"
    with server.running() as process:
        assert process.wait(SECONDS) == 1
    report = server.log.read_text(encoding="utf-8")
    assert "certificates.mode" in report
    assert "colour" in report
    assert "Traceback" not in report


@pytest.mark.parametrize("place", ["listening", "serving"])
def test_in030_a_port_that_is_taken_is_said(tmp_path: Path, place: str) -> None:
    server = Server(tmp_path)
    issue(server.authority, tmp_path)
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        server.config[place] = {"host": HOST, "port": port}
        with server.running() as process:
            assert process.wait(SECONDS) == 1
    *_, last = server.log.read_text(encoding="utf-8").splitlines()
    assert last.startswith(f"cannot listen at {HOST}:{port}: ")


class TestWH049:
    """With `listening.callers.authorityFile` the webhooks MUST answer only connections with a client certificate of
    that authority; with `names`, only a certificate with one of these common names. Any other request is refused and
    logged.
    """

    def test_callers(self, tmp_path: Path) -> None:
        server, callers = Server(tmp_path), trustme.CA()
        issue(server.authority, tmp_path)
        callers.cert_pem.write_to_path(tmp_path / "callers.crt")
        accepted = {"authorityFile": str(tmp_path / "callers.crt"), "names": ["kube-apiserver"]}
        server.config["listening"] = {"host": HOST, "port": server.port, "callers": accepted}
        known, unknown, foreign = (
            authority.issue_cert(common_name=name)
            for authority, name in (
                (callers, "kube-apiserver"),
                (callers, "kubelet"),
                (trustme.CA(), "kube-apiserver"),
            )
        )
        with server.running():
            server.wait_for("listening")
            connection = server.connect(known)
            assert server.ask(connection, review(set_of()))["response"]["allowed"]
            connection.close()
            connection = server.connect(unknown)
            connection.request("POST", PATHS[VALIDATION], json.dumps(review(set_of())))
            assert connection.getresponse().status == 403
            connection.close()
            for caller in (None, foreign):
                with closing(server.connect(caller)) as refused_at_once, pytest.raises((ssl.SSLError, ConnectionError)):
                    server.ask(refused_at_once, review(set_of()))
            (refused,) = server.wait_for("unknown caller")
            assert refused["names"] == ["kubelet"]
            assert server.look("/healthz") == (200, "ok\n"), "probes need no certificate"

    @pytest.mark.parametrize(
        ("callers", "said"),
        [
            ({"authorityFile": "/nowhere/ca.crt"}, "/nowhere/ca.crt: No such file or directory"),
            ({"names": ["kube-apiserver"]}, "authorityFile beside names"),
        ],
    )
    def test_what_cannot_be_used(self, callers: Json, said: str, tmp_path: Path) -> None:
        server = Server(tmp_path)
        server.config["listening"] = {"host": HOST, "port": server.port, "callers": callers}
        with server.running() as process:
            assert process.wait(SECONDS) == 1
        assert said in server.log.read_text(encoding="utf-8")
