"""Findings on terminations, and the constituents whose breaches lead to one."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from grove_core.areas.gang_termination.breach_delays import constituents_behind_fate, termination_time_of_fate
from grove_core.areas.gang_termination.verdicts import (
    GroupFate,
    MinAvailableBreach,
    finding_verdict_of_fate,
)
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref


def termination_finding(
    subject: Ref, fate: GroupFate, because: tuple[Reason, ...], breaches: Sequence[MinAvailableBreach], now: datetime
) -> Finding:
    """Return the finding on the termination of one replica, or of a scaling group as a whole.

    Args:
        breaches: those of its constituents that may be acted on; at least one if the fate is to wait or to terminate.
    """
    causes = constituents_behind_fate(fate, breaches, now)
    return Finding(
        subject,
        TERMINATION,
        finding_verdict_of_fate(fate),
        because,
        termination_time_of_fate(fate, breaches),
        causes=causes,
    )


def constituents_behind_termination(termination: Finding, breaches: Mapping[Ref, Finding]) -> Iterator[Ref]:
    """Yield the constituents whose breaches lead to a termination; of a scaling group also its breached PodCliques.

    Args:
        breaches: the findings about breaches by their subjects.
    """
    for cause in termination.causes:
        yield cause
        yield from breaches[cause].causes if cause in breaches else ()
