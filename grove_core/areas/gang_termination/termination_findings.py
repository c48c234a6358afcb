"""The questions that findings of gang termination answer, and terminations that the steps of a plan avert."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from grove_core.areas.gang_termination.breach_delays import deciding_breaches, fate_deadline
from grove_core.areas.gang_termination.verdicts import TERMINATES, WAITS, GroupFate, MinAvailableBreach, verdict_of_fate
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref

BREACH: Final = "breach"
TERMINATION: Final = "termination"
SCHEDULED: Final = "scheduled"
AVAILABILITY: Final = "availability"
PREDICTION: Final = "prediction"


def termination_finding(
    subject: Ref, fate: GroupFate, because: tuple[Reason, ...], breaches: Sequence[MinAvailableBreach], now: datetime
) -> Finding:
    """Return the finding on the termination of one replica, or of a scaling group as a whole.

    Args:
        breaches: those of its constituents that may be acted on; at least one if the fate is to wait or to terminate.
    """
    causes = deciding_breaches(fate, breaches, now)
    return Finding(subject, TERMINATION, verdict_of_fate(fate), because, fate_deadline(fate, breaches), causes=causes)


def averted_termination_findings(first: Sequence[Finding], rest: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings about terminations that are waited for at first and are averted by the steps (PL-025).

    Args:
        first: the findings of the first round.
        rest: those of the round after which there is nothing to do, before time passes.

    Returns:
        The findings of the later round about these terminations, and about the breaches behind them that have ended.
        A replica that the first round terminates keeps its findings of that round.
    """
    waits = [one for one in first if one.question == TERMINATION and one.verdict == WAITS]
    if not waits:
        return ()
    there = {(one.subject, one.question): one for one in rest}
    breaches = {one.subject: one for one in first if one.question == BREACH}
    found: list[Finding] = []
    behind: dict[Ref, None] = {}
    for one in waits:
        # A group has a finding on a replica only where that replica is breached; else the finding on the group counts.
        now = there.get((one.subject, TERMINATION)) or there.get((one.subject.whole, TERMINATION))
        if now is not None and now.verdict not in {WAITS, TERMINATES}:
            found.append(now._replace(subject=one.subject))
            behind |= dict.fromkeys(_behind(one, breaches))
    ends = (one for one in first if one.question == TERMINATION and one.verdict == TERMINATES)
    causes = {subject for one in ends for subject in _behind(one, breaches)} if found else set[Ref]()
    pairs = ((breaches[ref], there.get((ref, BREACH))) for ref in behind if ref in breaches and ref not in causes)
    return (*found, *(now for one, now in pairs if now is not None and now.verdict != one.verdict))


def _behind(termination: Finding, breaches: Mapping[Ref, Finding]) -> Iterator[Ref]:
    """Yield the constituents whose breaches lead to a termination; of a scaling group also its breached PodCliques."""
    for cause in termination.causes:
        yield cause
        yield from breaches[cause].causes if cause in breaches else ()
