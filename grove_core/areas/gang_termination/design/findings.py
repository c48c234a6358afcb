"""Every verdict of gang termination as a list of findings, the "do nothing" ones included (PL-003)."""

from collections.abc import Iterator
from itertools import chain

from grove_core.areas.gang_termination.clocks import deadline_of
from grove_core.areas.gang_termination.design import group as of_group
from grove_core.areas.gang_termination.design import replica as of_replica
from grove_core.areas.gang_termination.design.tally import Tally, because_of_availability
from grove_core.areas.gang_termination.questions import AVAILABILITY, BREACH, SCHEDULED, TERMINATION
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import Judgement, word_of
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Finding
from grove_core.snapshot.snapshot import Snapshot


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
        fate, acting = group.fate, [*chain.from_iterable(group.acting.values())]
        yield Finding(ref, TERMINATION, word_of(fate), of_group.because_of_fate(group, now), deadline_of(fate, acting))
        for index, fate in group.replica_fates.items():
            because, clocks = of_group.because_of_replica(group, index, now), group.acting.get(index, ())
            yield Finding(ref.at_replica(index), TERMINATION, word_of(fate), because, deadline_of(fate, clocks))
    for replica in judgement.replicas:
        missing = tally.missing[replica.index]
        because = of_replica.because_of_fate(snapshot.root, replica, missing, now, judgement.guard)
        fate, subject = replica.fate, root.at_replica(replica.index)
        yield Finding(subject, TERMINATION, word_of(fate), because, deadline_of(fate, replica.breaches))
