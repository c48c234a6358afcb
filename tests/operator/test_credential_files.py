"""Keys of a kubeconfig and a credential plugin are in no file once the connection is set up."""

import asyncio
import base64
import json
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import trustme

from grove_shell.client.connection_settings import ClusterAccessError, read_connection_settings
from tests.operator.test_connection import config_of

Json = dict[str, Any]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files come to be."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def encoded(text: bytes) -> str:
    return base64.b64encode(text).decode()


def kubeconfig(folder: Path, user: Json) -> str:
    authority = encoded(trustme.CA().cert_pem.bytes())
    reported = config_of("https://127.0.0.1:1", user, **{"certificate-authority-data": authority})
    path = folder / "config"
    path.write_text(reported, encoding="utf-8")
    return str(path)


def own(key: bytes | None = None) -> Json:
    mine = trustme.CA().issue_cert("me@example.com")
    certificate = b"".join(one.bytes() for one in mine.cert_chain_pems)
    return {
        "client-certificate-data": encoded(certificate),
        "client-key-data": encoded(mine.private_key_pem.bytes() if key is None else key),
    }


def test_op044_a_key_in_a_kubeconfig_is_left_in_no_file(tmp_path: Path, files: Path) -> None:
    """However often it is read."""
    path = kubeconfig(tmp_path, own())
    for _ in range(2):
        assert asyncio.run(read_connection_settings(path)).tls is not None
        assert list(files.iterdir()) == []


def test_op044_nor_where_there_is_no_way(tmp_path: Path, files: Path) -> None:
    with pytest.raises(ClusterAccessError, match="certificates cannot be read"):
        asyncio.run(read_connection_settings(kubeconfig(tmp_path, own(b"no key"))))
    assert list(files.iterdir()) == []


def test_op044_nor_that_of_a_plugin(tmp_path: Path, files: Path) -> None:
    """One that gives a certificate, and no token."""
    mine = own()
    status = {
        "clientCertificateData": base64.b64decode(mine["client-certificate-data"]).decode(),
        "clientKeyData": base64.b64decode(mine["client-key-data"]).decode(),
    }
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    plugin = tmp_path / "plugin"
    plugin.write_text(f"#!{sys.executable}\nprint({json.dumps(credential)!r})\n", encoding="utf-8")
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    user = {"exec": {"apiVersion": credential["apiVersion"], "command": str(plugin), "interactiveMode": "Never"}}
    assert asyncio.run(read_connection_settings(kubeconfig(tmp_path, user))).tls is not None
    assert list(files.iterdir()) == []
