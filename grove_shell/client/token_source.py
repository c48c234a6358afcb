"""The bearer token of a request; an expired one is renewed from the plugin or file of the kubeconfig."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

FILE_PAUSE_S = 60.0  # kubectl reads the file as often
PLUGIN_PAUSE_S = 10.0  # a plugin with short-lived tokens would run before every request


class TokenSource:
    """Returns the current token of a kubeconfig user (OP-072)."""

    def __init__(self, loader: Any, clock: Callable[[], float] = time.monotonic) -> None:  # noqa: ANN401 - the library has no types for it
        """Start with the token that the loader has read.

        Args:
            loader: of the client library; it runs the credential plugin and knows whether its token has expired.
            clock: seconds.
        """
        user = getattr(loader, "_user", None)
        self._loader = loader
        self._clock = clock
        self._has_plugin = user is not None and "exec" in user
        self._has_file = user is not None and "tokenFile" in user and not self._has_plugin
        self._read_at = clock()
        self._one_at_a_time = asyncio.Lock()

    async def __call__(self) -> str | None:
        """Return the token without the word Bearer; None with a client certificate.

        Raises:
            OSError: the file cannot be read.
        """
        async with self._one_at_a_time:
            if self._has_file and self._clock() >= self._read_at + FILE_PAUSE_S:
                self._read_at = self._clock()
                self._loader._load_user_token()  # noqa: SLF001 - the library reads it once, and has no other way
            elif self._expires() and self._clock() >= self._read_at + PLUGIN_PAUSE_S:
                self._read_at = self._clock()
                await self._loader.load_from_exec_plugin()
        held = getattr(self._loader, "token", None)
        return None if held is None else held.partition(" ")[2] or held

    def _expires(self) -> bool:
        """Return whether the plugin set an expiry; the library renews the token after it."""
        return self._has_plugin and hasattr(self._loader, "exec_plugin_expiry")


def remove_credential_files() -> None:
    """Remove the files into which the library wrote certificates and keys (OP-079)."""
    from kubernetes.aio.config import kube_config  # noqa: PLC0415 - it takes half a second

    kube_config._cleanup_temp_files()  # type: ignore[no-untyped-call]  # noqa: SLF001 - it has no other way
