"""Writes a decision log while an operator runs: snapshots, plans and outcomes."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from grove_core.document.step_writing import ref_as_json, step_as_json
from grove_core.kernel.steps import Attempt
from grove_core.snapshot.snapshot import Snapshot, trim_snapshot
from grove_core.version import VERSION
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener
from grove_shell.cache.root_keys import RootKey
from grove_shell.replay.decision_log_format import (
    FORMAT,
    OBJECT_LISTS,
    SEPARATE_FIELDS,
    DecisionLog,
    canonical_json,
    line_with_chain_digest,
    plan_as_decision_log_json,
    short_text_digest,
)
from grove_shell.replay.json_conversion import core_value_as_json, nondefault_fields_as_json

_REMEMBERED: Final = 20_000
Known = dict[int, tuple[object, str]]


def _nothing(*_words: object, **_fields: object) -> None:
    """Report nothing."""


class DecisionLogRecorder(ReconcileRoundListener):
    """Follows an operator; a fact is written when it is first seen, and again if it was gone in between.

    An operator acts whether or not its log can be written: what keeps it from being written is said once, and no more
    is written then (OP-064).
    """

    def __init__(self, log: DecisionLog, rules: str, namespace: str, say: Callable[..., None] = _nothing) -> None:
        """Begin with a head; rules and namespace are those of the operator.

        Args:
            say: takes a level, a message and fields.
        """
        self._out, self._chain = log
        self._say = say
        self._broken = False
        self._known: dict[RootKey, Known] = {}
        self._written: OrderedDict[str, None] = OrderedDict()  # of facts; the longest unused are forgotten
        self._write({"decisionLog": FORMAT, "coreVersion": VERSION, "rules": rules, "namespace": namespace})

    @property
    def remembered_set_count(self) -> int:
        """Of how many sets it knows what it wrote."""
        return len(self._known)

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        """A look and its plan; of topologies nothing is recorded."""
        if not isinstance(planned_round.observation, Snapshot) or self._broken:
            return
        seen, known = trim_snapshot(planned_round.observation), Known()
        before = self._known.get(planned_round.root_key, {})
        entry: dict[str, Any] = {
            "look": planned_round.plan_name,
            "root": ref_as_json(seen.root.ref),
            "rules": planned_round.plan.rules,
            "seen": self._seen(seen, before, known),
            "attempts": [_attempt_as_json(attempt) for attempt in seen.attempts],
            "plan": plan_as_decision_log_json(planned_round.plan, seen.now),
        }
        self._known[planned_round.root_key] = known
        self._write(entry)

    def on_steps_executed(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> None:
        """What became of the steps, in their order."""
        if isinstance(planned_round.observation, Snapshot):
            outcomes = [[attempt.outcome.value, attempt.detail] for attempt in attempts]
            self._write({"answers": planned_round.plan_name, "outcomes": outcomes})

    def on_root_deleted(self, root_key: RootKey) -> None:
        """Nothing is left of a set."""
        self._known.pop(root_key, None)

    def _seen(self, seen: Snapshot, before: Known, known: Known) -> dict[str, Any]:
        return {
            "now": seen.now.isoformat(),
            "root": self._reference_to(seen.root, before, known),
            **{name: self._list(getattr(seen, name), before, known) for name in OBJECT_LISTS if getattr(seen, name)},
            "pods": {uid: self._list(pods, before, known) for uid, pods in sorted(seen.pods_of.items()) if pods},
            **nondefault_fields_as_json(seen, without=SEPARATE_FIELDS),
        }

    def _list(self, items: Sequence[object], before: Known, known: Known) -> str:
        return self._written_fact("list", [self._reference_to(item, before, known) for item in items])

    def _reference_to(self, item: object, before: Known, known: Known) -> str:
        """The reference to an object; one that is the same as at the last look costs nothing."""
        found = before.get(id(item))
        if found is None or found[0] is not item:
            found = (item, self._written_fact(type(item).__name__, core_value_as_json(item)))
        known[id(item)] = found
        return found[1]

    def _written_fact(self, kind: str, value: Any) -> str:  # noqa: ANN401 - any JSON
        text = canonical_json(value)
        name = short_text_digest(f"{kind} {text}")
        if name in self._written:
            self._written.move_to_end(name)
        else:
            self._write({"fact": name, "kind": kind, "is": value})
            self._written[name] = None
            if len(self._written) > _REMEMBERED:
                self._written.popitem(last=False)
        return name

    def _write(self, words: Mapping[str, Any]) -> None:
        if self._broken:
            return
        line, chain = line_with_chain_digest(words, self._chain)
        try:
            self._out.write(line)
            self._out.flush()
        except OSError as fault:
            self._broken = True
            self._say("error", "the decision log ends here", error=fault.strerror or str(fault))
        self._chain = chain


def _attempt_as_json(attempt: Attempt) -> dict[str, Any]:
    words = {**step_as_json(attempt.step), "outcome": attempt.outcome.value, "detail": attempt.detail}
    return words if attempt.withheld is None else {**words, "withheld": attempt.withheld}
