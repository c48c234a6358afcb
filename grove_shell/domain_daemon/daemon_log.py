"""What a daemon tells people: each thing that it does or waits for, once, with the reason and its rule."""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TextIO

from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.verdicts import (
    Apply,
    ClearOtherEntry,
    DaemonAction,
    Idle,
    LabelPod,
    ListPods,
    Post,
    PushPeers,
    Put,
    ReadObject,
    RemoveEntry,
    Request,
    RequestResult,
    RestartFabric,
    ResultKind,
    StandBy,
    StartFabric,
    Stopped,
    Wait,
)
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_shell.json_text import json_text
from grove_shell.log_lines import log_reason, log_time, write_line
from grove_shell.page import Page, print_page_to

_WORDS: Final[Mapping[type[DaemonAction], str]] = MappingProxyType(
    {
        Apply: "applies its entry",
        Put: "writes its entry",
        Post: "makes the object",
        RemoveEntry: "takes its entry away",
        ClearOtherEntry: "clears the other object",
        LabelPod: "labels its pod",
        ListPods: "lists the pods of its node",
        ReadObject: "reads the other object",
        StartFabric: "starts the fabric daemon",
        PushPeers: "pushes the peer map",
        RestartFabric: "restarts the fabric daemon",
        Wait: "waits",
        StandBy: "steps back",
        Idle: "rests",
        Stopped: "has stopped",
    }
)
_STYLES: Final[Mapping[type[DaemonAction], str]] = MappingProxyType(
    {StartFabric: "green", RestartFabric: "yellow", StandBy: "yellow"}
)
_PASSING: Final = frozenset({Why.BACKING_OFF})
_CHANGING: Final = frozenset({"until"})


class DaemonLog:
    """Writes a line for each; what stays the same is said once."""

    def __init__(
        self,
        out: TextIO | None = None,
        *,
        as_json: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Write to a stream; standard error where none is given."""
        self._out: TextIO | None = out or sys.stderr
        self._as_json = as_json
        self._clock = clock
        self._last: object = None

    def say(self, level: str, message: str, **fields: Any) -> None:  # noqa: ANN401 - whatever there is to say
        """One line that is no decision."""
        shown = "  ".join(f"{name}={value}" for name, value in fields.items())
        self._write(level, message, shown, "yellow" if level == "warning" else "", fields)

    def decided(self, decision: Decision[DaemonAction]) -> None:
        """What it does now, and why; a pause after a failure is told with the failure."""
        kind, because = type(decision.verdict), decision.because
        if because[0].rule in _PASSING:
            return
        key = (kind, tuple(_key(reason) for reason in because))
        if key == self._last:
            return
        self._last = key
        reason = because[0]
        shown = f"{reason.sentence}  {reason.rule.requirement}"
        told = [*map(log_reason, because)]
        self._write("info", _WORDS[kind], shown, _STYLES.get(kind, ""), {"because": told})

    def answered(self, request: Request, answer: RequestResult) -> None:
        """What went wrong is told; what went well shows in what it does next."""
        self._last = None
        if answer.kind is not ResultKind.DONE:
            self.say("warning", f"{_WORDS[type(request)]}: {answer.kind.value}", detail=answer.detail)

    def _write(self, level: str, message: str, shown: str, style: str, fields: Mapping[str, Any]) -> None:
        at = log_time(self._clock())
        if self._as_json:
            write_line(self._out, json_text({"ts": at, "level": level, "msg": message, **fields}))
        elif self._out is not None:
            page = Page()
            page.add((at[11:-1], "dim"), "  ", (f"{message:<26}", style), " ", shown)
            with suppress(OSError):  # as a line of JSON
                print_page_to(page, self._out)


def _key(reason: Reason) -> object:
    return (reason.rule, tuple(fact for fact in reason.facts if fact[0] not in _CHANGING))
