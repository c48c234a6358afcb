"""Connections from inside a pod and by kubeconfigs of any shape."""

import asyncio
import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from kubernetes.aio.config import incluster_config

from grove_shell.cli.main import run_command_line
from grove_shell.client import connection_settings
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ClusterAccessError, read_connection_settings


@pytest.mark.parametrize("namespace", ["grove-system", None])
def test_in_a_pod_its_namespace_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, namespace: str | None) -> None:
    """There the Lease is, and there alone the role allows it."""
    (tmp_path / "token").write_text("secret", encoding="utf-8")
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.crt")
    if namespace is not None:
        (tmp_path / "namespace").write_text(f"{namespace}\n", encoding="utf-8")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setattr(connection_settings, "_OWN_NAMESPACE", tmp_path / "namespace")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.delenv("KUBECONFIG", raising=False)

    async def found() -> tuple[str, str, str | None]:
        way = await read_connection_settings()
        return way.server, way.namespace, await way.token()

    assert asyncio.run(found()) == ("https://10.0.0.1:443", namespace or "default", "secret")


SECRET = {"token": "secret"}
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
}


@pytest.mark.parametrize(
    "named", ["{there}", "{there}:", ":{there}", "{there}:{gone}", "{gone}:{there}", "{gone}::{there}:{gone}"]
)
def test_op044_files_that_are_not_there_are_passed_over(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"
    there.write_text(json.dumps(KUBECONFIG), encoding="utf-8")
    monkeypatch.setenv("KUBECONFIG", named.format(there=there, gone=tmp_path / "gone").replace(":", os.pathsep))
    assert asyncio.run(read_connection_settings()).server == "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("{gone}", "{gone}: No such file or directory; try"),
        ("{gone}:{gone}2", "{gone}: No such file or directory; try"),
        (":", ":: names no file; try"),
        ("{folder}:{gone}", "{folder}: Is a directory; try"),
    ],
)
def test_op044_where_none_is_there_it_is_reported(
    named: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"gone": tmp_path / "gone", "folder": tmp_path}
    monkeypatch.setenv("KUBECONFIG", named.format(**places).replace(":", os.pathsep))
    with pytest.raises(ClusterAccessError, match=f"^{re.escape(words.format(**places))}"):
        asyncio.run(read_connection_settings())


def config_of(server: str | None, user: object = SECRET, **more: object) -> str:
    """A kubeconfig with a user, and a server of which more may be said."""
    cluster = more if server is None else {"server": server, **more}
    return json.dumps(
        {
            "clusters": [{"name": "here", "cluster": cluster}],
            "users": [{"name": "me", "user": user}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
            "current-context": "here",
        }
    )


@pytest.mark.req("OP-044")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (config_of(None), "the server is no address such as https://10.0.0.1:6443"),
        (config_of("10.0.0.1:6443"), "the server is no address"),
        (config_of("ftp://10.0.0.1"), "the server is no address"),
        (config_of("https://[::1"), "the server is no address"),
        (config_of("http://10.0.0.1\\"), "the server is no address"),
        (config_of("http://10.0.0.1:99999"), "the server is no address"),
        (config_of(f"http://{'a' * 70}.example.com"), "the server is no address"),
        (config_of("http://10.0.0.1/x?y=1"), "the server is no address"),
        (config_of("http://10.0.0.1", **{"proxy-url": "socks5://10.0.0.2"}), "proxy-url is no address"),
        (config_of("http://10.0.0.1", **{"tls-server-name": 5}), "tls-server-name is no text, but 5"),
        ("x: " + "[" * 600 + "]" * 600, "this is no kubeconfig"),
        ("", "config: the file is empty; try --kubeconfig FILE"),
        ("\n", "config: the file is empty; try --kubeconfig FILE"),
    ],
)
def test_what_leads_nowhere_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config").write_text(text, encoding="utf-8")
    with pytest.raises(ClusterAccessError) as caught:
        asyncio.run(read_connection_settings(str(tmp_path / "config")))
    assert said in str(caught.value)


@pytest.mark.req("IN-030")
def test_what_no_terminal_can_show_is_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config").write_text('{"users": "\\u001b["}', encoding="utf-8")
    assert run_command_line(["snapshot", "--kubeconfig", str(tmp_path / "config")], "grove") == 1
    assert all(line.isprintable() for line in capsys.readouterr().err.split("\n"))


def test_a_server_may_be_behind_a_path(tmp_path: Path) -> None:
    """As those that a cluster manager shows: https://manager/k8s/clusters/c-1."""

    async def hear(request: web.Request) -> web.Response:
        return web.json_response({"asked": request.path})

    async def asked() -> str:
        application = web.Application()
        application.router.add_get("/{path:.*}", hear)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            server = f"http://127.0.0.1:{runner.addresses[0][1]}/k8s/clusters/c-1"
            (tmp_path / "config").write_text(config_of(f"{server}/"), encoding="utf-8")
            way = await read_connection_settings(str(tmp_path / "config"))
            assert way.server == server
            async with ApiSession(way) as api:
                return str((await api.request("GET", "/apis/grove.io")).json_body()["asked"])
        finally:
            await runner.cleanup()

    assert asyncio.run(asked()) == "/k8s/clusters/c-1/apis/grove.io"


def of_user(folder: Path, user: dict[str, Any]) -> str:
    """A kubeconfig of a user with these credentials."""
    raw = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "config"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return str(path)


def tokens(kubeconfig: str, between: Callable[[], object] = lambda: None) -> list[str | None]:
    """What one connection is known by, before and after something."""

    async def scenario() -> list[str | None]:
        way = await read_connection_settings(kubeconfig)
        first = await way.token()
        between()
        return [first, await way.token()]

    return asyncio.run(scenario())


@pytest.mark.parametrize(("lifetime", "later"), [(-1, "token-2"), (3600, "token-1")])
def test_op044_a_plugin_is_asked_again_when_its_token_ran_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lifetime: int, later: str
) -> None:
    monkeypatch.setattr(connection_settings, "PLUGIN_PAUSE_S", 0.0)
    until = f"{datetime.now(UTC) + timedelta(seconds=lifetime):%Y-%m-%dT%H:%M:%SZ}"
    plugin = tmp_path / "plugin"
    asked = tmp_path / "asked"
    plugin.write_text(
        "#!/bin/sh\n"
        f"echo >> {asked}\n"
        f"n=$(wc -l < {asked} | tr -d ' ')\n"
        """printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": """
        f"""{{"token": "token-%s", "expirationTimestamp": "{until}"}}}}' $n\n""",
        encoding="utf-8",
    )
    plugin.chmod(0o755)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin)}}
    first, second = tokens(of_user(tmp_path, user))
    assert later in {first, second}
    assert (first == second) is (lifetime > 0)


def test_op044_a_token_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = tmp_path / "token"
    held.write_text("one", encoding="utf-8")
    kubeconfig = of_user(tmp_path, {"tokenFile": str(held)})

    def changed() -> None:
        held.write_text("two", encoding="utf-8")

    assert tokens(kubeconfig, changed) == ["one", "one"], "not before every request"
    monkeypatch.setattr(connection_settings, "FILE_PAUSE_S", 0.0)
    assert tokens(kubeconfig, changed) == ["two", "two"]
    held.write_text("one", encoding="utf-8")
    assert tokens(kubeconfig, changed) == ["one", "two"]


def test_op044_a_token_that_cannot_be_had_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither ends the process; a list and a watch are tried again."""
    monkeypatch.setattr(connection_settings, "FILE_PAUSE_S", 0.0)
    held = tmp_path / "token"
    held.write_text("one", encoding="utf-8")
    kubeconfig = of_user(tmp_path, {"tokenFile": str(held)})

    async def scenario() -> None:
        async with ApiSession(await read_connection_settings(kubeconfig)) as api:
            for spoil in (lambda: held.write_text("", encoding="utf-8"), held.unlink):
                spoil()
                with pytest.raises(NoServerResponse):
                    await api.request("GET", "/api")
                with pytest.raises(NoServerResponse):
                    await anext(api.stream_lines("/api/v1/pods", {}))

    asyncio.run(scenario())
