"""Reads a decision log: every line held against its chain, every look put together again from its facts."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final, NamedTuple, get_type_hints

from grove_core.document.reading import attempts_from_json
from grove_core.kernel.errors import MalformedObject
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned import Owned
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.replay.facts import from_json
from grove_shell.replay.format import FORMAT, unchained
from grove_shell.replay.recorder import APART, OBJECTS

_KINDS: Final[Mapping[str, type]] = {
    kind.__name__: kind for kind in (PodCliqueSet, ScalingGroup, PodClique, PodGang, Owned, ComputeDomain, Pod)
}
_HINTS: Final = get_type_hints(Snapshot, include_extras=True)
_REST: Final = frozenset(field.name for field in fields(Snapshot)) - APART


class Flaw(NamedTuple):
    """Why a log cannot be taken at its word, and where."""

    line: int
    expected: str
    got: str


class Broken(Exception):
    """A log that cannot be taken at its word from a line on."""

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw)
        self.flaw = flaw


@dataclass(frozen=True, slots=True)
class Head:
    """What a process wrote when it began."""

    line: int
    core_version: str
    rules: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One look.

    Attributes:
        line: where it stands in the log.
        head: of the process that looked.
        plan: as it was written (:func:`grove_shell.replay.format.plan_as_json`).
    """

    line: int
    head: Head
    name: str
    rules: str
    snapshot: Snapshot
    plan: Mapping[str, Any]


def looks_in(lines: Iterable[str]) -> Iterator[Recorded]:
    """Every look of a log, in its order.

    Raises:
        Broken: at the first line that is not what was written, or that does not read.
    """
    return _Reader().looks(lines)


class _Reader:
    """One log under reading."""

    def __init__(self) -> None:
        self._chain = ""
        self._head: Head | None = None
        self._facts: dict[str, Any] = {}

    def looks(self, lines: Iterable[str]) -> Iterator[Recorded]:
        number = 0
        for number, line in enumerate(lines, start=1):
            words = self._words(number, line)
            try:
                if "fact" in words:
                    self._facts[words["fact"]] = self._fact(words)
                elif "look" in words:
                    yield self._look(number, words)
            except MalformedObject as fault:
                raise Broken(Flaw(number, "attempts as plans have them", str(fault))) from fault
            except (KeyError, TypeError, ValueError, AttributeError) as fault:
                raise Broken(Flaw(number, "what an operator of this version writes", f"trouble at {fault}")) from fault
        if self._head is None:
            raise Broken(Flaw(number, "a decision log: its head comes first", "nothing"))

    def _words(self, number: int, line: str) -> Mapping[str, Any]:
        """What a line says, if it is what was written there."""
        if not line.endswith("\n"):
            raise Broken(Flaw(number, "a whole line", "the end of the file: the log is cut short here"))
        line = line.removesuffix("\n")
        if line.startswith('{"decisionLog":'):
            self._chain = ""
        if number == 1 and not line.startswith('{"decisionLog":'):
            raise Broken(Flaw(number, "a decision log: its head comes first", _shown(line)))
        found = unchained(line, self._chain)
        if found is None:
            got = "something else: it was changed, or lines before it are gone"
            raise Broken(Flaw(number, "the line that was written here", got))
        text, self._chain = found
        words: Mapping[str, Any] = json.loads(text)
        if "decisionLog" in words:
            self._begin(number, words)
        return words

    def _begin(self, number: int, words: Mapping[str, Any]) -> None:
        version = words["decisionLog"]
        if not isinstance(version, str) or version.split(".")[0] != FORMAT.split(".")[0]:
            raise Broken(Flaw(number, f"a decision log of format {FORMAT}", str(version)))
        self._head = Head(number, str(words.get("coreVersion")), str(words.get("rules")))
        self._facts = {}

    def _fact(self, words: Mapping[str, Any]) -> Any:  # noqa: ANN401 - an object of the core, or a tuple of some
        if words["kind"] == "list":
            return tuple(self._facts[name] for name in words["is"])
        return from_json(_KINDS[words["kind"]], words["is"])

    def _look(self, number: int, words: Mapping[str, Any]) -> Recorded:
        if self._head is None:
            raise ValueError("no head")
        seen = words["seen"]
        given = {name: from_json(_HINTS[name], seen[name]) for name in _REST & seen.keys()}
        snapshot = Snapshot(
            root=self._facts[seen["root"]],
            **{name: self._facts[seen[name]] for name in OBJECTS if name in seen},
            pods_of={uid: self._facts[name] for uid, name in seen["pods"].items()},
            now=datetime.fromisoformat(seen["now"]),
            attempts=attempts_from_json(words["attempts"]),
            **given,
        )
        return Recorded(
            line=number,
            head=self._head,
            name=words["look"],
            rules=words["rules"],
            snapshot=snapshot,
            plan=words["plan"],
        )


def _shown(line: str) -> str:
    most = 60
    return line if len(line) <= most else f"{line[:most]}..."
