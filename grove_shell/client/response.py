"""What an API server answers, and the codes that mean something to us."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from grove_shell.client.nesting_limit import read

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


@dataclass(frozen=True, slots=True)
class Response:
    """What the server said; ``pause`` is how many seconds it wants to be left alone, where it says so."""

    status: int
    body: bytes
    pause: float | None = None

    @property
    def good(self) -> bool:
        """Whether it did what it was asked."""
        return self.status < _MULTIPLE

    def json(self) -> dict[str, Any]:
        """The body, which an API server has made an object; an empty one where it is none."""
        try:
            raw = read(self.body)
        except ValueError:
            return {}
        return raw if isinstance(raw, dict) else {}

    @property
    def details(self) -> Mapping[str, Any]:
        """Of a ``Status``; empty where it has none."""
        found = self.json().get("details")
        return found if isinstance(found, dict) else {}

    @property
    def words(self) -> str:
        """The server's own words for a refusal."""
        return str(
            self.json().get("message") or self.body[:200].decode("utf-8", "replace").strip() or f"HTTP {self.status}"
        )


def pause_in(status: int, retry_after: str | None) -> float | None:
    """How long the server wants to be left alone; None where it does not."""
    if status != TOO_MANY and not (status == _UNAVAILABLE and retry_after):
        return None
    seconds = 1.0
    with suppress(ValueError):
        seconds = float(retry_after or "")
    return max(seconds, 0.0) if isfinite(seconds) else 1.0
