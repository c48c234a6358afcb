"""What gang termination is asked about a subject, by whatever rules, and what became of ends that were pending."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import ENDS, WAITS
from grove_core.kernel.decisions import Finding

BREACH: Final = "breach"
TERMINATION: Final = "termination"
SCHEDULED: Final = "scheduled"
AVAILABILITY: Final = "availability"

HEALTHY: Final = Why.SUFFICIENT_READY_PODS.code
"""The code of the reason that a clique has what it needs, by whatever rules: it means the same in all of them."""


def averted_between(first: Sequence[Finding], rest: Sequence[Finding]) -> tuple[Finding, ...]:
    """What the first look waits to end, and nobody waits for any more when its steps are done (PL-025).

    Args:
        first: the findings of the first look.
        rest: those of the look after which there is nothing to do, before time passed.

    Returns:
        The findings of that look about these terminations, and about the breaches that were so and are not any more.
    """
    waits = [one for one in first if one.question == TERMINATION and one.verdict == WAITS]
    if not waits:
        return ()
    there = {(one.subject, one.question): one for one in rest}
    found: list[Finding] = []
    for one in waits:
        # A group says of a replica only what it does to it.
        now = there.get((one.subject, TERMINATION)) or there.get((one.subject.whole, TERMINATION))
        if now is not None and now.verdict not in {WAITS, ENDS}:
            found.append(replace(now, subject=one.subject))
    breaches = ((one, there.get((one.subject, BREACH))) for one in first if one.question == BREACH)
    changed = (now for one, now in breaches if now is not None and now.verdict != one.verdict)
    return (*found, *changed) if found else ()
