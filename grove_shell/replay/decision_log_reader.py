"""Reads a decision log: checks the chain of every line, and restores every snapshot from its facts."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from grove_core.document.document_reading import attempts_from_json
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_core.snapshot.snapshot import Snapshot
from grove_core.version import VERSION
from grove_shell.reading.json_stream_reader import HALF_PAIR_ESCAPE
from grove_shell.replay.decision_log_format import (
    FORMAT,
    HEAD,
    OBJECT_LISTS,
    SEPARATE_FIELDS,
    canonical_json,
    is_decision_log_start,
    line_without_chain_digest,
)
from grove_shell.replay.json_conversion import core_value_from_json, utc_datetime_from_text

_KINDS: Final[Mapping[str, type]] = {
    kind.__name__: kind for kind in (PodCliqueSet, ScalingGroup, PodClique, PodGang, OwnedObject, ComputeDomain, Pod)
}
_TROUBLES: Final = (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)
_HEADED: Final = "a decision log: its head comes first"
_OURS: Final = "what an operator of this version writes"
_HINTS: Final = get_type_hints(Snapshot, include_extras=True)
_REST: Final = frozenset(Snapshot.__struct_fields__) - SEPARATE_FIELDS


class DamagedDecisionLog(Exception):
    """A log cannot be used: at this line something else was expected; 0 for the whole file."""

    def __init__(self, line: int, expected: str, got: str) -> None:
        super().__init__(line, expected, got)
        self.line, self.expected, self.got = line, expected, got


@dataclass(frozen=True, slots=True)
class DecisionLogHeader:
    """The first line of a process."""

    line: int
    core_version: str
    rules: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedDecision:
    """One recorded snapshot and its plan.

    Attributes:
        head: of the process that wrote it.
        plan: as recorded (:func:`grove_shell.replay.decision_log_format.plan_as_decision_log_json`).
    """

    line: int
    head: DecisionLogHeader
    name: str
    rules: str
    snapshot: Snapshot
    plan: Mapping[str, Any]


def recorded_decisions(lines: Iterable[bytes]) -> Iterator[RecordedDecision]:
    """Yield the recorded decisions of a log, in order.

    Raises:
        DamagedDecisionLog: at the first line that was changed or cannot be parsed.
    """
    return _Reader().looks(lines)


class _Reader:
    """Reads one log."""

    def __init__(self) -> None:
        self._chain = ""
        self._head: DecisionLogHeader | None = None
        self._facts: dict[str, Any] = {}
        self._cut: DamagedDecisionLog | None = None  # of the first half-written line

    def looks(self, lines: Iterable[bytes]) -> Iterator[RecordedDecision]:
        for number, line in enumerate(lines, start=1):
            words = self._words(number, line)
            if words is None:
                continue
            try:
                if "fact" in words:
                    self._facts[words["fact"]] = self._read_fact(words)
                elif "look" in words:
                    yield self._look(number, words)
            except MalformedObject as fault:
                raise DamagedDecisionLog(number, "attempts as plans have them", str(fault)) from fault
            except _TROUBLES as fault:
                raise DamagedDecisionLog(number, _OURS, _trouble(fault)) from fault
        if self._cut is not None:
            raise self._cut
        if self._head is None:
            raise DamagedDecisionLog(0, _HEADED, "nothing")

    def _words(self, number: int, line: bytes) -> Mapping[str, Any] | None:
        """Return the content of a line; None for a half-written line, which only a head may follow (RP-007)."""
        if not line.endswith(b"\n"):
            got = "the end of the file: the log is cut short here"
            raise self._cut or DamagedDecisionLog(number, "a whole line", got)
        text, flaw = _text_of(number, line)
        if number == 1 and not is_decision_log_start(line):
            raise flaw or DamagedDecisionLog(number, _HEADED, _shown(text))
        found = line_without_chain_digest(text, self._chain)
        if flaw is not None or found is None:  # half a line, if only such lines and then a head follow
            self._cut = self._cut or flaw or self._unexpected(number, text)
            return None
        if self._cut is not None and not text.startswith(HEAD):
            raise self._cut
        self._cut = None
        text, self._chain = found
        try:
            words = _read(text)
            if "decisionLog" in words:
                self._begin(number, words)
            elif not words.keys() & {"fact", "look", "answers"}:
                raise ValueError("a line of another kind")
        except _TROUBLES as fault:
            raise DamagedDecisionLog(number, _OURS, _trouble(fault)) from fault
        content: Mapping[str, Any] = words
        return content

    def _unexpected(self, number: int, text: str) -> DamagedDecisionLog:
        """Return the flaw of a line that does not follow the chain; a file of another kind has no head at all."""
        if self._head is None and not text.startswith(HEAD):
            return DamagedDecisionLog(number, _HEADED, _shown(text))
        got = "something else: it was changed, or lines before it are gone"
        return DamagedDecisionLog(number, "the line that was written here", got)

    def _begin(self, number: int, words: Mapping[str, Any]) -> None:
        version = words["decisionLog"]
        if version != FORMAT:
            raise DamagedDecisionLog(number, f"a decision log of format {FORMAT}", str(version))
        self._head = DecisionLogHeader(number, str(words.get("coreVersion")), str(words.get("rules")))
        self._facts = {}

    def _read_fact(self, words: Mapping[str, Any]) -> Any:  # noqa: ANN401 - an object of the core, or a tuple of some
        if words["kind"] == "list":
            return tuple(self._facts[name] for name in words["is"])
        return core_value_from_json(_KINDS[words["kind"]], words["is"])

    def _look(self, number: int, words: Mapping[str, Any]) -> RecordedDecision:
        if self._head is None:
            raise ValueError("no head")
        if words["rules"] not in rule_sets():
            expected = f"rules that this version knows ({VERSION}; the log is of {self._head.core_version})"
            raise DamagedDecisionLog(number, expected, str(words["rules"]))
        seen, plan = words["seen"], words["plan"]
        if unknown := seen.keys() - _REST - {"root", "pods", "now", *OBJECT_LISTS}:
            raise ValueError(f"the unknown field {min(unknown)}")
        root = self._of(PodCliqueSet, seen["root"])
        if not _is_plan(plan):
            raise ValueError("what is no plan")
        listed: dict[str, Any] = {
            name: self._all_of(kind, seen[name]) for name, kind in OBJECT_LISTS.items() if name in seen
        }
        snapshot = Snapshot(
            root=root,
            **listed,
            pods_of=FrozenDict((uid, self._all_of(Pod, name)) for uid, name in seen["pods"].items()),
            now=utc_datetime_from_text(seen["now"]),
            attempts=attempts_from_json(words["attempts"]),
            **{name: core_value_from_json(_HINTS[name], seen[name]) for name in _REST & seen.keys()},
        )
        return RecordedDecision(
            line=number, head=self._head, name=str(words["look"]), rules=words["rules"], snapshot=snapshot, plan=plan
        )

    def _of(self, kind: type, name: str) -> Any:  # noqa: ANN401 - of that kind
        found = self._facts[name]
        if not isinstance(found, kind):
            raise TypeError(f"{name}, which is no {kind.__name__}")
        return found

    def _all_of(self, kind: type, name: str) -> tuple[Any, ...]:
        found = self._of(tuple, name)
        if not all(isinstance(one, kind) for one in found):
            raise TypeError(f"{name}, a list of something else")
        if len({one.ref for one in found}) < len(found):
            raise ValueError(f"{name}, a list with an object twice")
        return tuple(found)


def _text_of(number: int, line: bytes) -> tuple[str, DamagedDecisionLog | None]:
    """Return a line without its newline, and why it is no text; a half-written line may end within a character."""
    try:
        return line.decode().removesuffix("\n"), None
    except UnicodeDecodeError as fault:
        return "", DamagedDecisionLog(number, "UTF-8", fault.reason)


def _trouble(fault: Exception) -> str:
    if isinstance(fault, KeyError):
        return f"a line of which {fault.args[0]!r} is missing or not known"
    return "a line of another shape" if isinstance(fault, AttributeError | RecursionError) else str(fault)


def _read(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Return a line as JSON. Raises ValueError for other text and for an unpaired surrogate (IN-006)."""
    words = json.loads(text)
    if HALF_PAIR_ESCAPE.search(text):
        canonical_json(words).encode()
    return words


def _is_plan(plan: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value has the fields by which plans are compared."""
    return isinstance(plan, Mapping) and all(
        isinstance(plan.get(name), list)
        and all(isinstance(one, Mapping) and {"kind", "name"} <= one.get("target", {}).keys() for one in plan[name])
        for name in ("steps", "withheld")
    )


def _shown(line: str) -> str:
    most = 60
    return line if len(line) <= most else f"{line[:most]}..."
