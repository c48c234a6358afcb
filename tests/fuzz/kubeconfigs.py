"""Kubeconfigs, as commands that ask a cluster read them: every connection is refused, and one program may be run."""

import asyncio
import base64
import json
import logging
import random
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import trustme
from kubernetes.aio.config import kube_config

from tests.fuzz import mutations
from tests.fuzz.commands import NOW, kept
from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.seeds import ROOT

Json = dict[str, Any]
_FILE: Final = "FILE"
_SERVER: Final = "https://127.0.0.1:6443"
_MANIFEST: Final = str(ROOT / "examples/manifests/disaggregated.yaml")
_OF: Final = ("--kubeconfig", _FILE)
ASKED: Final[dict[str, tuple[str, ...]]] = {
    "plan": ("plan", "--live", *_OF, "-f", _MANIFEST, "--now", NOW),
    "plan, context": ("plan", "--live", *_OF, "--context", "here", "-n", "ml", "--now", NOW),
    "topology list": ("topology", "list", "--live", *_OF),
    "snapshot": ("snapshot", *_OF),
    "preflight": ("validate", "--preflight", "--live", *_OF, "--config", str(ROOT / "examples/mnnvl/operator.yaml")),
}
_PLUGIN: Final = "echo"
_EXPIRED: Final = "e30.eyJleHAiOjF9.e30"


@contextmanager
def kubeconfigs(folder: Path) -> Iterator[FuzzTarget]:
    """Kubeconfigs with certificates, tokens and plugins, as YAML or as JSON."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    (folder / "ca.crt").write_bytes(authority.cert_pem.bytes())
    (folder / "tls.crt").write_bytes(issued.cert_chain_pems[0].bytes())
    (folder / "tls.key").write_bytes(issued.private_key_pem.bytes())
    (folder / "token").write_text("secret\n", encoding="utf-8")
    forget: Callable[[], None] = kube_config._cleanup_temp_files  # noqa: SLF001 - otherwise at the end alone
    texts = tuple(json.dumps(one) for one in _examples(authority, issued))

    def make(chance: random.Random, _way: str) -> bytes:
        return mutations.made(texts, chance, chance.choice((mutations.as_json, mutations.as_yaml)))

    def feed(way: str, data: bytes) -> str:
        path = folder / "config"
        path.write_bytes(data)
        try:
            return kept(*(str(path) if word == _FILE else word for word in ASKED[way]))
        finally:
            forget()  # the library keeps a file of every certificate it saw

    with _alone():
        yield FuzzTarget(tuple(ASKED), make, feed)


@contextmanager
def _alone() -> Iterator[None]:
    """No connection is opened, no name is resolved, and only a plugin that prints its arguments is run."""
    run = asyncio.create_subprocess_exec

    async def running(program: Any, *words: Any, **options: Any) -> Any:
        if isinstance(program, str) and program != _PLUGIN and "\0" not in program:
            raise FileNotFoundError(2, "No such file or directory", program)
        return await run(program, *words, **options)

    async def refused(*_words: Any, **_options: Any) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")

    def looked_up(host: Any, *_words: Any, **_options: Any) -> Any:
        if isinstance(host, str):
            host.encode("idna")
        raise socket.gaierror(-2, "Name or service not known")

    with ExitStack() as stack:
        stack.enter_context(patch("asyncio.create_subprocess_exec", running))
        stack.enter_context(patch("aiohttp.connector.aiohappyeyeballs.start_connection", refused))
        stack.enter_context(patch("socket.getaddrinfo", looked_up))
        stack.callback(logging.disable, logging.NOTSET)
        logging.disable(logging.CRITICAL)
        yield


@cache
def _examples(authority: trustme.CA, issued: trustme.LeafCert) -> tuple[Json, ...]:
    """One for each way to name a server and a user."""
    encoded = {
        name: base64.b64encode(pem).decode()
        for name, pem in (
            ("ca", authority.cert_pem.bytes()),
            ("crt", issued.cert_chain_pems[0].bytes()),
            ("key", issued.private_key_pem.bytes()),
        )
    }
    version = "client.authentication.k8s.io/v1"
    status = {"token": "secret", "expirationTimestamp": "2036-01-01T00:00:00Z"}
    proof = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})
    plugin = {"apiVersion": version, "command": _PLUGIN, "args": [proof], "env": [{"name": "A", "value": "b"}]}
    held = {"client-certificate-data": encoded["crt"], "client-key-data": encoded["key"]}
    oidc = {"id-token": "e30.eyJleHAiOjQwMDAwMDAwMDB9.e30", "client-id": "grove", "idp-issuer-url": _SERVER}
    refresh = {"client-secret": "x", "refresh-token": "y", "idp-certificate-authority-data": encoded["ca"]}
    return (
        _config({"certificate-authority-data": encoded["ca"]}, held),
        _config({"certificate-authority": "ca.crt"}, {"client-certificate": "tls.crt", "client-key": "tls.key"}),
        _config({"insecure-skip-tls-verify": True, "tls-server-name": "grove"}, {"token": "secret"}),
        _config({"proxy-url": "http://127.0.0.1:3128"}, {"tokenFile": "token"}),
        _config({"server": "http://127.0.0.1:1"}, {"username": "me", "password": "secret"}),
        _config({"certificate-authority-data": encoded["ca"]}, {"exec": {**plugin, "interactiveMode": "Never"}}),
        _config({}, {"auth-provider": {"name": "oidc", "config": oidc}}),
        _config({}, {"auth-provider": {"name": "oidc", "config": {**oidc, "id-token": _EXPIRED, **refresh}}}),
    )


def _config(cluster: Json, user: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{"name": "here", "cluster": {"server": _SERVER, **cluster}}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me", "namespace": "ml"}}],
        "current-context": "here",
    }
