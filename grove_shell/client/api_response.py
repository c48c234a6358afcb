"""A response of an API server, and the status codes that Grove distinguishes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, Final

from grove_shell.client.nesting_limit import read_json_with_nesting_limit

OK: Final = 200
CREATED: Final = 201
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
CONFLICT: Final = 409
GONE: Final = 410
TOO_MANY: Final = 429
SERVER_FAULT: Final = 500  # and above
_UNAVAILABLE: Final = 503
_MULTIPLE: Final = 300


@dataclass(frozen=True)
class ApiResponse:
    """The status and body of a response; ``retry_after`` is the value of ``Retry-After`` in seconds, if it has one."""

    status: int
    body: bytes
    retry_after: float | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is a success."""
        return self.status < _MULTIPLE

    def json_body(self) -> dict[str, Any]:
        """Return the body, which must not be changed; an empty object if it is none."""
        return self._decoded

    @cached_property
    def _decoded(self) -> dict[str, Any]:
        try:
            raw = read_json_with_nesting_limit(self.body)
        except ValueError:
            return {}
        return raw if isinstance(raw, dict) else {}

    @property
    def status_details(self) -> Mapping[str, Any]:
        """The details of a ``Status``; empty without any."""
        found = self.json_body().get("details")
        return found if isinstance(found, dict) else {}

    @property
    def error_message(self) -> str:
        """The message of the server for an error."""
        return str(
            self.json_body().get("message")
            or self.body[:200].decode("utf-8", "replace").strip()
            or f"HTTP {self.status}"
        )


def retry_after_seconds(status: int, retry_after: str | None) -> float | None:
    """Return the value of ``Retry-After`` in seconds; None without one."""
    if status != TOO_MANY and not (status == _UNAVAILABLE and retry_after):
        return None
    seconds = 1.0
    with suppress(ValueError):
        seconds = float(retry_after or "")
    return max(seconds, 0.0) if isfinite(seconds) else 1.0
