"""The rule set of the Gang Termination Design Doc: from a judgement to what follows."""

from collections.abc import Callable
from typing import Final

from grove_core.areas.gang_termination.design.counts import count_set
from grove_core.areas.gang_termination.design.findings import findings_of_termination
from grove_core.areas.gang_termination.design.judge import judge_by_design
from grove_core.areas.gang_termination.design.wants import (
    ends_of_termination,
    wake_of_termination,
    wants_of_statuses,
)
from grove_core.areas.gang_termination.ruling import RuleSet, Ruling
from grove_core.areas.gang_termination.verdicts import Judgement, terminating_of
from grove_core.snapshot.snapshot import Snapshot


def ruling_by(judge: Callable[[Snapshot], Judgement]) -> Callable[[Snapshot], Ruling]:
    """Rules that judge as the design does, or nearly so, as a function to what follows."""

    def rule(snapshot: Snapshot) -> Ruling:
        judgement = judge(snapshot)
        tally = count_set(snapshot, judgement)
        return Ruling(
            desired=wants_of_statuses(snapshot, judgement, tally),
            ends=tuple(ends_of_termination(snapshot.root, judgement)),
            findings=tuple(findings_of_termination(snapshot, judgement, tally)),
            wake_at=wake_of_termination(judgement),
            ending=terminating_of(judgement),
        )

    return rule


DESIGN: Final = RuleSet("design", ruling_by(judge_by_design))
