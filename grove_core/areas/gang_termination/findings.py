"""Every verdict of gang termination as a list of findings, the "do nothing" ones included (PL-003)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.gang_termination.judge import placement_of
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import Judgement
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref

BREACH: Final = "breach"
TERMINATION: Final = "termination"
SCHEDULED: Final = "scheduled"


def findings_of_termination(root: Ref, judgement: Judgement) -> Iterator[Finding]:
    """Each clique (breach, scheduled), each group (breach, termination) and each replica judged (termination)."""
    if judgement.unknown:
        for question in (BREACH, TERMINATION):
            yield Finding(root, question, Truth.UNKNOWN.value, judgement.unknown)
    for judged in judgement.cliques:
        yield Finding(judged.clique.ref, BREACH, judged.breach.value, (judged.reason,))
        placement = placement_of(judged)
        yield Finding(judged.clique.ref, SCHEDULED, placement.verdict.value, placement.because)
    for clique in judgement.leaving:
        yield Finding(clique.ref, BREACH, "Skip", (Why.CLIQUE_BEING_DELETED.because(clique.ref),))
    for group in judgement.groups:
        yield Finding(group.group.ref, BREACH, group.breach.value, group.because)
        yield Finding(group.group.ref, TERMINATION, type(group.fate.verdict).__name__, group.fate.because)
        for index, fate in group.replica_fates:
            yield Finding(group.group.ref.at_replica(index), TERMINATION, type(fate.verdict).__name__, fate.because)
    for replica in judgement.replicas:
        verdict = type(replica.fate.verdict).__name__
        yield Finding(root.at_replica(replica.index), TERMINATION, verdict, replica.fate.because)
