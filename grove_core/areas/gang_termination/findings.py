"""Every verdict of gang termination as a list of findings, the "do nothing" ones included (PL-003)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from grove_core.areas.gang_termination import group as of_group
from grove_core.areas.gang_termination import replica as of_replica
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.status import Tally, because_of_availability
from grove_core.areas.gang_termination.verdicts import ENDS, WAITS, Judgement, word_of
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Finding
from grove_core.snapshot.snapshot import Snapshot

BREACH: Final = "breach"
TERMINATION: Final = "termination"
SCHEDULED: Final = "scheduled"
AVAILABILITY: Final = "availability"

HEALTHY: Final = Why.SUFFICIENT_READY_PODS.code
"""The code of the reason that a clique has what it needs, by whatever rules: it means the same in all of them."""


def findings_of_termination(snapshot: Snapshot, judgement: Judgement, tally: Tally) -> Iterator[Finding]:
    """The set (availability), each clique (breach, scheduled), each group (breach, termination), each replica."""
    root, now = snapshot.root.ref, snapshot.now
    if judgement.unknown:
        for question in (BREACH, TERMINATION):
            yield Finding(root, question, Truth.UNKNOWN.value, judgement.unknown)
    else:
        because = because_of_availability(snapshot.root, tally.availability)
        yield Finding(root, AVAILABILITY, tally.availability.verdict, because)
    for judged in judgement.cliques:
        clique = judged.clique
        yield Finding(clique.ref, BREACH, judged.breach.value, (judged.reason,))
        placement = tally.placements[clique.ref]
        yield Finding(clique.ref, SCHEDULED, placement.verdict.value, placement.because)
    for leaving in judgement.leaving:
        yield Finding(leaving.ref, BREACH, "Skip", (Why.CLIQUE_BEING_DELETED.because(leaving.ref),))
    for group in judgement.groups:
        ref = group.group.ref
        yield Finding(ref, BREACH, group.breach.value, of_group.because_of_breach(group))
        yield Finding(ref, TERMINATION, word_of(group.fate), of_group.because_of_fate(snapshot.root, group, now))
        for index, fate in group.replica_fates.items():
            because = of_group.because_of_replica(snapshot.root, group, index, now)
            yield Finding(ref.at_replica(index), TERMINATION, word_of(fate), because)
    for replica in judgement.replicas:
        because = of_replica.because_of_fate(snapshot.root, replica, tally.missing[replica.index], now)
        yield Finding(root.at_replica(replica.index), TERMINATION, word_of(replica.fate), because)


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
