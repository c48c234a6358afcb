"""The plan: ordered steps, withheld steps, the time to plan again, and every finding."""

from dataclasses import dataclass
from datetime import datetime

from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.kernel.wants import Withheld


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do about one root at one time.

    Attributes:
        root, root_uid: the object that is planned for; the uid is empty for a set that is not in a cluster yet.
        rules: name of the rule set; empty where the plan depends on none.
        steps: sorted by stage and target; at most one for each target (PL-013).
        withheld: sorted by target.
        wake_at: the next time at which time alone may change the plan (PL-008); None if never.
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
        """Whether the plan has no steps."""
        return not self.steps
