"""What an operator tells people: one line of JSON for each decision that is carried out, held back or refused."""

import sys
from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from grove_core.document.document import action_name
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt, Outcome, SetStatus
from grove_shell.cache.root_keys import RootKey, shown_key
from grove_shell.controller.round_listener import PlannedRound, RoundListener
from grove_shell.json_text import json_text
from grove_shell.log_lines import log_reason, log_time, write_line

_REMEMBERED: Final = 4096
Words = dict[str, Any]


class JsonLog(RoundListener):
    """Writes lines; what stays the same from round to round is written once."""

    def __init__(self, out: TextIO | None = None) -> None:
        """Write to a stream; to standard error where none is given."""
        self._out: TextIO | None = out or sys.stderr
        self._held: OrderedDict[tuple[RootKey, str], list[tuple[Reason, ...]]] = OrderedDict()

    def say(self, level: str, message: str, **fields: Any) -> None:  # noqa: ANN401 - whatever there is to say
        """One line; one that cannot be written is lost, and nothing else with it (OP-090)."""
        line: Words = {"ts": log_time(datetime.now(UTC)), "level": level, "msg": message}
        write_line(self._out, json_text({**line, **fields}))

    def planned(self, look: PlannedRound) -> None:
        """What is held back is said when it begins, or its reason changes."""
        held: dict[str, list[tuple[Reason, ...]]] = {}
        for one in look.plan.withheld:
            held.setdefault(one.target.short, []).append(one.because)
        for target, reasons in held.items():
            key = (look.root_key, target)
            before, self._held[key] = self._held.get(key, []), reasons
            if before != reasons:
                self._held.move_to_end(key)
            for because in (one for one in reasons if one not in before):
                told = {**shown_key(look.root_key), "plan": look.name, "target": target}
                self.say("info", "held back", **told, because=[*map(log_reason, because)])
        while len(self._held) > _REMEMBERED:
            self._held.popitem(last=False)

    def answered(self, look: PlannedRound, attempts: tuple[Attempt, ...]) -> None:
        """What was done and what was not, alike together."""
        self._tell(look.root_key, attempts, plan=look.name)

    def released(self, root_key: RootKey, attempts: tuple[Attempt, ...]) -> None:
        """The same of what is left of a set that is gone; it has no plan."""
        self._tell(root_key, attempts)

    def _tell(self, root_key: RootKey, attempts: Iterable[Attempt], **plan: str) -> None:
        alike: dict[tuple[str, str, str, str], list[Attempt]] = {}
        for attempt in attempts:
            step = attempt.step
            outcome = attempt.outcome.value
            key = (action_name(step.action), step.target.kind, step.because[0].rule.requirement, outcome)
            alike.setdefault(key, []).append(attempt)
        for (action, kind, requirement, outcome), found in alike.items():
            good = found[0].outcome is Outcome.DONE
            level = "debug" if good and isinstance(found[0].step.action, SetStatus) else "info" if good else "warning"
            more = {} if good else {"detail": found[0].detail}
            if level != "debug":
                self.say(
                    level,
                    f"{action} {kind}: {outcome}",
                    **shown_key(root_key),
                    **plan,
                    count=len(found),
                    first=found[0].step.target.name,
                    rule=requirement,
                    because=[*map(log_reason, found[0].step.because)],
                    **more,
                )

    def failed(self, root_key: RootKey, words: str) -> None:
        """A round broke off."""
        self.say("error", "round broke off", **shown_key(root_key), error=words)

    def gone(self, root_key: RootKey) -> None:
        """What was held back there is held back no more."""
        for key in [key for key in self._held if key[0] == root_key]:
            del self._held[key]
