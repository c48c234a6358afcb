"""What a rule set is: a name, and a function from a snapshot to everything these rules say about it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from grove_core.areas.gang_termination.verdicts import TerminatingReplicas
from grove_core.kernel.decisions import Finding
from grove_core.kernel.steps import Outcome
from grove_core.kernel.wants import Absent, Desired
from grove_core.snapshot.snapshot import Snapshot


class Ruling(NamedTuple):
    """What some rules say about one set, ready to be joined with what the other areas say.

    Attributes:
        desired: which statuses should change, and what is held back.
        ends: what should be gone; a status of the same object is the weaker wish (PL-013).
        wake_at: when time alone may change the answer; None if never (PL-008).
        ending: which replicas end, for whoever plans what comes after them.
        deferred: what should be gone, and is not tried, for the server could not be asked first (PL-029).
    """

    desired: Desired
    ends: tuple[Absent, ...]
    findings: tuple[Finding, ...]
    wake_at: datetime | None
    ending: TerminatingReplicas
    deferred: tuple[Absent, ...] = ()


def deferred_unless_confirmed(ruling: Ruling, snapshot: Snapshot) -> Ruling:
    """The ruling, or, where the server could not be asked before an end, one that ends nothing (PL-029).

    Of what is due nothing is made again meanwhile (WL-076): an end that has begun may have taken it, or it is there and
    not shown.
    """
    if all(attempt.outcome is not Outcome.NOT_CONFIRMED for attempt in snapshot.attempts):
        return ruling
    return ruling._replace(ends=(), deferred=ruling.ends)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules of gang termination as a value: handed in, never looked up by those who judge by them.

    Attributes:
        name: as a plan tells it, with the release where there are several (GF-100).
        rule: judges a snapshot whose own writes count as seen.
        default_delay: what a new set without ``terminationDelay`` is stored with; None where it stays without.
        unpredicted: what of a snapshot the rule set does not predict, given whether the set lags behind its template;
            None where the operator that it is of acts by the whole plan.
    """

    name: str
    rule: Callable[[Snapshot], Ruling]
    default_delay: timedelta | None = None
    unpredicted: Callable[[Snapshot, bool], tuple[Finding, ...]] | None = None
