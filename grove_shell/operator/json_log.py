"""The log of the operator, a line of JSON for each group of steps; and withheld writes to topologies."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, TextIO, TypeAlias

from grove_core.document.plan_document import step_action_name
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt, AttemptOutcome, SetStatus
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener
from grove_shell.cache.root_keys import RootKey, is_topology_cache_key, root_key_log_fields
from grove_shell.log_lines import format_log_timestamp, reason_log_fields, write_log_line
from grove_shell.styled_text_page import json_text

_REMEMBERED: Final = 4096
LogFields: TypeAlias = dict[str, Any]


class OperatorJsonLog(ReconcileRoundListener):
    """Writes log lines; a step that stays withheld for the same reason is logged once."""

    def __init__(self, out: TextIO | None = None) -> None:
        """Write to ``out``; to standard error by default."""
        self._out: TextIO | None = out or sys.stderr
        self._held: OrderedDict[tuple[RootKey, str], list[tuple[Reason, ...]]] = OrderedDict()

    def write_line(self, level: str, message: str, **fields: Any) -> None:  # noqa: ANN401 - any JSON
        """Write one line; a line that cannot be written is dropped (OP-064)."""
        line: LogFields = {"ts": format_log_timestamp(datetime.now(UTC)), "level": level, "msg": message}
        write_log_line(self._out, json_text({**line, **fields}))

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        """Log what is withheld, when that begins and when its reason changes."""
        held: dict[str, list[tuple[Reason, ...]]] = {}
        for one in planned_round.plan.withheld:
            held.setdefault(one.target.short, []).append(one.because)
        for target, reasons in held.items():
            key = (planned_round.root_key, target)
            before, self._held[key] = self._held.get(key, []), reasons
            if before != reasons:
                self._held.move_to_end(key)
            for because in (one for one in reasons if one not in before):
                fields = {
                    **root_key_log_fields(planned_round.root_key),
                    "plan": planned_round.plan_name,
                    "target": target,
                }
                self.write_line("info", "withheld", **fields, because=[*map(reason_log_fields, because)])
        while len(self._held) > _REMEMBERED:
            self._held.popitem(last=False)

    def on_steps_executed(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> None:
        """Log the outcome of the steps, equal ones in one line."""
        self._log(planned_round.root_key, attempts, plan=planned_round.plan_name)

    def on_finalizers_dropped(self, root_key: RootKey, attempts: tuple[Attempt, ...]) -> None:
        """Log the same for the leftovers of a deleted set, which has no plan."""
        self._log(root_key, attempts)

    def _log(self, root_key: RootKey, attempts: Iterable[Attempt], **plan: str) -> None:
        alike: dict[tuple[str, str, str, str], list[Attempt]] = {}
        for attempt in attempts:
            step = attempt.step
            outcome = attempt.outcome.value
            key = (step_action_name(step.action), step.target.kind, step.because[0].rule.requirement, outcome)
            alike.setdefault(key, []).append(attempt)
        for (action, kind, requirement, outcome), found in alike.items():
            good = found[0].outcome is AttemptOutcome.DONE
            level = "debug" if good and isinstance(found[0].step.action, SetStatus) else "info" if good else "warning"
            more = {} if good else {"detail": found[0].detail}
            if level != "debug":
                self.write_line(
                    level,
                    f"{action} {kind}: {outcome}",
                    **root_key_log_fields(root_key),
                    **plan,
                    count=len(found),
                    first=found[0].step.target.name,
                    rule=requirement,
                    because=[*map(reason_log_fields, found[0].step.because)],
                    **more,
                )

    def on_round_failed(self, root_key: RootKey, words: str) -> None:
        """Log that a round failed."""
        self.write_line("error", "round failed", **root_key_log_fields(root_key), error=words)

    def on_root_deleted(self, root_key: RootKey) -> None:
        """Forget what was withheld there."""
        for key in [key for key in self._held if key[0] == root_key]:
            del self._held[key]


class WithheldTopologyWrites(ReconcileRoundListener):
    """The withheld writes in the last plan of each topology, as notes of ``/readyz`` (TP-047)."""

    def __init__(self, holds: Callable[[RootKey], bool]) -> None:
        """Start without a note; ``holds`` returns whether a root still exists."""
        self._holds = holds
        self._held: dict[RootKey, tuple[str, ...]] = {}

    @property
    def readiness_notes(self) -> Iterator[str]:
        """One sentence for each withheld write."""
        return (note for root_key, notes in sorted(self._held.items()) if self._holds(root_key) for note in notes)

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        """Replace the notes of a topology by those of its plan."""
        if not is_topology_cache_key(planned_round.root_key):
            return
        self._held.pop(planned_round.root_key, None)
        if planned_round.plan.withheld:
            self._held[planned_round.root_key] = tuple(
                f"{held.target.short}: {held.because[0].sentence}" for held in planned_round.plan.withheld
            )

    def on_root_deleted(self, root_key: RootKey) -> None:
        """Drop the notes of a topology."""
        self._held.pop(root_key, None)
