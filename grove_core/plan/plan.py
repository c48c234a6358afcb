"""The plan: steps in order, what was held back, when to look again, and every verdict behind it."""

from dataclasses import dataclass
from datetime import datetime

from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.kernel.wants import Withheld


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do about one root at one moment.

    Attributes:
        root, root_uid: whose plan this is; the uid is empty for a set that is not in a cluster yet.
        rules: name of the rule set that judged; empty where none did.
        steps: sorted by stage and target; at most one for each target (PL-005).
        withheld: sorted by target.
        wake_at: the next moment at which time alone may change the answer (PL-008); None if never.
        findings: every verdict, sorted by subject and question.
    """

    root: Ref
    root_uid: str
    rules: str = ""
    steps: tuple[Step, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    wake_at: datetime | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether there is nothing to do now."""
        return not self.steps
