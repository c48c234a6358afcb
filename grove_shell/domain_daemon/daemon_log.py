"""The log of a daemon: each decision once, with its reason and rule, as text or as JSON."""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TextIO

from grove_core.areas.domain_cliques.daemon.verdicts import (
    DaemonAction,
    DaemonRequest,
    RequestFailed,
    RequestResult,
    RestartFabricAction,
    StartFabricAction,
    StopFabricAction,
    TooManyRequests,
    WaitAction,
)
from grove_core.kernel.decisions import Decision
from grove_shell.log_lines import format_log_timestamp, reason_log_fields, write_log_line
from grove_shell.styled_text_page import StyledTextPage, json_text, print_page_to_stream

_STYLES: Final[Mapping[type[DaemonAction], str]] = MappingProxyType(
    {StartFabricAction: "green", RestartFabricAction: "yellow", StopFabricAction: "yellow"}
)
_VARYING_FACTS: Final = frozenset({"until"})


class DaemonDecisionLog:
    """Writes one line for each new decision and for each failed request."""

    def __init__(
        self,
        out: TextIO | None = None,
        *,
        as_json: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._out: TextIO | None = out or sys.stderr
        self._as_json = as_json
        self._clock = clock
        self._last: object = None

    def write_message(self, level: str, message: str, **fields: Any) -> None:  # noqa: ANN401 - fields of any type
        """Write a line that is no decision."""
        shown = "  ".join(f"{name}={value}" for name, value in fields.items())
        self._write(level, message, shown, "yellow" if level == "warning" else "", fields)

    def on_decision(self, decision: Decision[DaemonAction]) -> None:
        """Write a decision unless it equals the last one; a wait during backoff is not logged."""
        verdict, because = decision.verdict, decision.because
        if isinstance(verdict, WaitAction) and verdict.after_failure:
            return
        kind = type(verdict)
        facts = (tuple(fact for fact in one.facts if fact[0] not in _VARYING_FACTS) for one in because)
        key = (kind, tuple((one.rule, *shown) for one, shown in zip(because, facts, strict=True)))
        if key == self._last:
            return
        self._last = key
        reason = because[0]
        shown = f"{reason.sentence}  {reason.rule.requirement}"
        reasons = [*map(reason_log_fields, because)]
        self._write("info", decision.verdict.summary, shown, _STYLES.get(kind, ""), {"because": reasons})

    def on_request_result(self, request: DaemonRequest, result: RequestResult) -> None:
        """Write a failed request; the next decision shows a success."""
        self._last = None
        if isinstance(result, TooManyRequests | RequestFailed):
            self.write_message("warning", f"{request.summary}: {result.kind.value}", detail=result.detail)

    def _write(self, level: str, message: str, shown: str, style: str, fields: Mapping[str, Any]) -> None:
        at = format_log_timestamp(self._clock())
        if self._as_json:
            write_log_line(self._out, json_text({"ts": at, "level": level, "msg": message, **fields}))
        elif self._out is not None:
            page = StyledTextPage()
            page.add_line((at[11:-1], "dim"), "  ", (f"{message:<26}", style), " ", shown)
            with suppress(OSError):  # as a line of JSON
                print_page_to_stream(page, self._out)
