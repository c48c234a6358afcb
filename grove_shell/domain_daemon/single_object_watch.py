"""Watches one object by its name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

from grove_core.kernel.errors import MalformedObject
from grove_core.resources.object_metadata import metadata_in, resource_version_number
from grove_shell.client.api_session import ApiSession
from grove_shell.client.kinds import ApiKind
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.reflector import Reflector
from grove_shell.client.response_check import parse_watch_event

T = TypeVar("T")
_LONGEST_PAUSE_S: Final = 10.0


class SingleObjectWatch(Generic[T]):
    """Calls a function with every state of one object."""

    def __init__(
        self,
        api: ApiSession,
        kind: ApiKind,
        key: tuple[str, str],
        parse: Callable[[Mapping[str, Any]], T],
        on_change: Callable[[int, T | None], None],
        *,
        report: Callable[[str], None] = lambda _message: None,
        limiter: RateLimiter | None = None,
        parse_event: Callable[[bytes], tuple[str, dict[str, Any]]] = parse_watch_event,
    ) -> None:
        """Start without a list.

        Args:
            key: namespace and name of the object.
            parse: of JSON; raises MalformedObject.
            on_change: called with the version and the parsed object; None if it does not exist.
            report: called once for each error.
            limiter, parse_event: see :class:`Reflector`.
        """
        self._parse = parse
        self._on_change = on_change
        self._report = report
        self._malformed = ""  # the last report of an object that cannot be parsed
        self._reflector = Reflector(
            api,
            replace(kind, name=key[1], selector=""),
            self,
            namespace=key[0],
            report=lambda _kind, message: report(message),
            longest_pause=_LONGEST_PAUSE_S,
            limiter=limiter,
            parse_event=parse_event,
        )

    async def run(self) -> None:
        """List and watch until cancelled."""
        await self._reflector.run()

    def newest(self, _kind: str) -> int:
        """See :class:`ReflectorCache`; older states are dropped by the core (DC-010)."""
        return 0

    def replace(self, _kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply the list of the objects of this name: one or none."""
        self._apply(resource_version_number(version), next(iter(items), None))

    def put(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """Apply the new or changed object."""
        self._apply(metadata_in(raw).version, raw)

    def drop(self, _kind: str, raw: Mapping[str, Any]) -> None:
        """Apply the deletion."""
        self._apply(metadata_in(raw).version, None)

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """Keep the last state."""

    def _apply(self, version: int, raw: Mapping[str, Any] | None) -> None:
        try:
            found = None if raw is None else self._parse(raw)
        except MalformedObject as fault:
            if str(fault) != self._malformed:
                self._malformed = str(fault)
                self._report(f"malformed object: {fault}")
            return
        self._malformed = ""
        self._on_change(version, found)
