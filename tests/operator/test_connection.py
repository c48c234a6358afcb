"""The way to a cluster from inside a pod."""

import asyncio
from pathlib import Path

import pytest
import trustme
from kubernetes.aio.config import incluster_config

from grove_shell.client import connection
from grove_shell.client.connection import connect


@pytest.mark.parametrize("namespace", ["grove-system", None])
def test_in_a_pod_its_namespace_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, namespace: str | None) -> None:
    """There the Lease is, and there alone the role allows it."""
    (tmp_path / "token").write_text("secret", encoding="utf-8")
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.crt")
    if namespace is not None:
        (tmp_path / "namespace").write_text(f"{namespace}\n", encoding="utf-8")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setattr(connection, "_OWN_NAMESPACE", tmp_path / "namespace")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.delenv("KUBECONFIG", raising=False)

    async def found() -> tuple[str, str, str | None]:
        way = await connect()
        return way.server, way.namespace, await way.token()

    assert asyncio.run(found()) == ("https://10.0.0.1:443", namespace or "default", "secret")
