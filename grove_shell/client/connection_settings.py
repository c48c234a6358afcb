"""Address and credentials of the API server, found as kubectl finds them; the client library reads the files."""

import asyncio
import os
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from yarl import URL

from grove_core.resources.json_field_reader import short_json
from grove_shell.exit_codes import CommandFailed

_DEFAULT_CONFIG: Final = "~/.kube/config"
_SHAPES: Final = (TypeError, ValueError, LookupError, AttributeError, RecursionError)
_IN_CLUSTER: Final = "KUBERNETES_SERVICE_HOST"
_PEEKED: Final = 4096  # bytes of a file; one that begins with so many spaces counts as empty
_OWN_NAMESPACE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
FILE_PAUSE_S = 60.0  # kubectl reads the file as often
PLUGIN_PAUSE_S = 10.0  # a plugin with short-lived tokens would run before every request


TokenSource: TypeAlias = Callable[[], Awaitable[str | None]]


class ClusterAccessError(CommandFailed):
    """No cluster can be reached: no configuration, or one that cannot be read. The message says what to try."""


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Address and credentials of one API server.

    Attributes:
        server: its address, e.g. ``https://10.0.0.1:6443``.
        tls: its certificate authority, and a client certificate if there is one; None for plain HTTP.
        token: called before every request, because tokens expire; returns None with a client certificate, and raises
            OSError if the token cannot be read.
        namespace: of the context, or of the pod we run in.
        server_name: the name in the certificate of the server, where it is not that of the address.
        proxy: its URL; empty for none.
    """

    server: str
    tls: ssl.SSLContext | None
    token: TokenSource
    namespace: str = "default"
    server_name: str = ""
    proxy: str = ""


async def read_connection_settings(kubeconfig: str | None = None, context: str | None = None) -> ConnectionSettings:
    """Read a kubeconfig, else that of ``KUBECONFIG`` or the home directory, else the service account of the pod.

    Raises:
        ClusterAccessError: with the places that were searched.
    """
    try:
        return await _connected(kubeconfig, context)
    finally:
        remove_credential_files()


async def _connected(kubeconfig: str | None, context: str | None) -> ConnectionSettings:
    from aiohttp import ClientError  # noqa: PLC0415 - as below
    from kubernetes.aio import client, config  # noqa: PLC0415 - it takes half a second
    from yaml import YAMLError  # noqa: PLC0415 - as above

    settings = client.Configuration()
    settings.api_key = {}
    found, given = _config_path(kubeconfig)
    namespace = ""
    read_token: TokenSource = partial(settings.get_api_key_with_prefix, "BearerToken")
    try:
        if given:
            found = _existing_files(found)
            namespace, renewed = await _load_kubeconfig(found, context, settings)
            read_token = renewed or read_token
        elif os.environ.get(_IN_CLUSTER):
            config.load_incluster_config(settings)  # type: ignore[no-untyped-call]  # the library has no types for it
            namespace = _OWN_NAMESPACE.read_text(encoding="utf-8").strip() if _OWN_NAMESPACE.exists() else ""
        else:
            raise ClusterAccessError(
                f"no kubeconfig: {found} does not exist, and KUBECONFIG is not set; try --kubeconfig FILE"
            )
    except config.ConfigException as fault:
        raise ClusterAccessError(f"{found}: {fault}") from fault
    except YAMLError as fault:
        raise ClusterAccessError(f"{found}: this is no YAML ({' '.join(str(fault).split())})") from fault
    except _SHAPES as fault:  # what the library raises for a wrong shape
        raise ClusterAccessError(
            f"{found}: this is no kubeconfig, or its context names what is not in it ({fault})"
        ) from fault
    except (OSError, ClientError) as fault:
        raise ClusterAccessError(f"{found}: what it names cannot be read: {fault}") from fault

    server = _address(settings.host, f"{found}: the server")

    async def token() -> str | None:
        try:
            found = await read_token()
        except config.ConfigException as fault:  # a file without a token
            raise OSError(str(fault)) from fault
        return None if found is None else (found.partition(" ")[2] or found).strip()

    return ConnectionSettings(
        server=server,
        tls=_tls_of(settings, found) if server.startswith("https") else None,
        token=token,
        namespace=namespace or "default",
        server_name=_text(settings.tls_server_name, f"{found}: tls-server-name"),
        proxy=_address(settings.proxy, f"{found}: proxy-url") if settings.proxy else "",
    )


async def _load_kubeconfig(path: str, context: str | None, settings: Any) -> tuple[str, TokenSource | None]:  # noqa: ANN401 - the library has no types for it
    """Load a kubeconfig into settings; return the namespace of the context, and its token if it must be renewed."""
    from kubernetes.aio.config import load_kube_config_from_dict  # noqa: PLC0415 - it takes half a second
    from kubernetes.aio.config.kube_config import KubeConfigMerger  # noqa: PLC0415 - as above

    files = KubeConfigMerger(path).config  # type: ignore[no-untyped-call]  # the library has no types for it
    loader = await load_kube_config_from_dict(files, context, settings)  # type: ignore[no-untyped-call]  # as above
    inner = loader.current_context["context"]
    token, namespace, name = settings.api_key.get("BearerToken"), str(inner.get("namespace") or ""), inner.get("user")
    entry = files["users"].get_with_name(name, safe=True) if name and files.safe_get("users") else None
    user: Any = entry["user"] if entry else {}
    if "exec" in user:
        if not token and not settings.cert_file:  # the library only logs that
            raise ClusterAccessError(
                f"{path}: the credential plugin of the user gave no token; run it by hand, or log in again"
            )
        return namespace, RenewedToken(partial(_token_of_plugin, loader), PLUGIN_PAUSE_S, token)
    if "tokenFile" in user and "token" not in user:
        read = partial(asyncio.to_thread, (Path(user.path).parent / user["tokenFile"]).read_text, encoding="utf-8")
        return namespace, RenewedToken(read, FILE_PAUSE_S, token)
    return namespace, None


def _config_path(kubeconfig: str | None) -> tuple[str, bool]:
    """Return where to look for a configuration, and whether it exists or was named."""
    named = kubeconfig or os.environ.get("KUBECONFIG") or ""
    home = Path(_DEFAULT_CONFIG).expanduser()
    return named or str(home), bool(named) or home.exists()


def _existing_files(path: str) -> str:
    """Return those of several files that exist and are not empty, as kubectl takes them (OP-044).

    The library reports an unreadable file as an empty one.

    Raises:
        ClusterAccessError: none of them exists, all are empty, or one cannot be read.
    """
    found: list[str] = []
    missing = ClusterAccessError(f"{path}: names no file; try --kubeconfig FILE")
    for part in filter(None, reversed(path.split(os.pathsep))):
        try:
            with Path(part).expanduser().open("rb") as file:
                is_empty = not file.read(_PEEKED).strip()
        except OSError as fault:
            missing = ClusterAccessError(f"{part}: {fault.strerror}; try --kubeconfig FILE")
            if not isinstance(fault, FileNotFoundError):
                raise missing from fault
            continue
        if is_empty:
            missing = ClusterAccessError(f"{part}: the file is empty; try --kubeconfig FILE")
        else:
            found.insert(0, part)
    if not found:
        raise missing
    return os.pathsep.join(found)


def _address(value: object, where: str) -> str:
    """Return an address without a trailing slash; it may have a path, but neither query nor fragment.

    Raises:
        ClusterAccessError: it is no such address.
    """
    text = value.rstrip("/") if isinstance(value, str) else ""
    try:
        parts = urlsplit(text)
        host, *_ = (
            (parts.hostname or "").encode("idna"),
            parts.port,
            URL(text),
        )  # which would raise only at the first request
    except ValueError:
        host = b""
    if not host or parts.scheme not in {"http", "https"} or parts.query or parts.fragment:
        raise ClusterAccessError(f"{where} is no address such as https://10.0.0.1:6443, but {short_json(value)}")
    return text


def _text(value: object, where: str) -> str:
    if not isinstance(value, str | None):
        raise ClusterAccessError(f"{where} is no text, but {short_json(value)}")
    return value or ""


def _tls_of(settings: object, path: str) -> ssl.SSLContext:
    authority, certificate = getattr(settings, "ssl_ca_cert", None), getattr(settings, "cert_file", None)
    try:
        tls = ssl.create_default_context(cafile=authority)
        if certificate:
            tls.load_cert_chain(certificate, getattr(settings, "key_file", None))
    except (OSError, ssl.SSLError) as fault:
        raise ClusterAccessError(f"{path}: its certificates cannot be read: {fault}") from fault
    if getattr(settings, "verify_ssl", True) is False:
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    return tls


class RenewedToken:
    """A token that is read again at most once in a while, by one caller at a time (OP-044)."""

    def __init__(self, read: TokenSource, pause: float, first: str | None = None) -> None:
        """Start with a token that was just read; ``pause`` is in seconds."""
        self._read = read
        self._pause = pause
        self._token = first
        self._read_at = time.monotonic()
        self._one_at_a_time = asyncio.Lock()

    async def __call__(self) -> str | None:
        """Return the token; None with a client certificate. Raises OSError if it cannot be read."""
        async with self._one_at_a_time:
            if time.monotonic() >= self._read_at + self._pause:
                self._read_at = time.monotonic()
                self._token = await self._read() or self._token
        return self._token


async def _token_of_plugin(loader: Any) -> str | None:  # noqa: ANN401 - of the library, which has no types for it
    """Return the token of a credential plugin, which runs again after the expiry that it set."""
    if hasattr(loader, "exec_plugin_expiry"):
        await loader.load_from_exec_plugin()
    token: str | None = getattr(loader, "token", None)
    return token


def remove_credential_files() -> None:
    """Remove the files into which the library wrote certificates and keys (OP-044)."""
    from kubernetes.aio.config import kube_config  # noqa: PLC0415 - it takes half a second

    kube_config._cleanup_temp_files()  # type: ignore[no-untyped-call]  # noqa: SLF001 - it has no other way
