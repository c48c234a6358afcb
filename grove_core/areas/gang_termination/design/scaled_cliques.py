"""PodCliques that were scaled at run time, as terminations by the design treat them (GT-110 to GT-112)."""

from collections.abc import Iterable, Iterator

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.scaled_cliques import (
    ScaledClique,
    is_scaled_below_min_available,
    replicas_to_be_terminated,
    scaled_clique_findings,
)
from grove_core.areas.gang_termination.verdicts import CliqueJudgement, SetReplicaFates, TerminationJudgement
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.kernel.time_formats import short_duration_text
from grove_core.resources.podcliqueset import PodCliqueSet


def scaled_clique_findings_by_design(
    root: PodCliqueSet, judgement: TerminationJudgement, fates: SetReplicaFates
) -> Iterable[Finding]:
    """Return a finding on each PodClique that is below its minimum on purpose, or that a termination scales back."""
    ended = replicas_to_be_terminated(root.ref, fates)
    scaled = []
    for one in judgement.cliques:
        too_low = tuple(_below_minimum(root, judgement, one)) if is_scaled_below_min_available(one.clique) else ()
        if too_low or ended:
            is_ended = not ended.isdisjoint(one.clique.enclosing_replicas(root.ref))
            scaled.append(ScaledClique(one.clique, too_low, is_ended=is_ended or len(too_low) > 1))
    return scaled_clique_findings(root, scaled, TerminationReason.SCALED_BACK)


def _below_minimum(root: PodCliqueSet, judgement: TerminationJudgement, one: CliqueJudgement) -> Iterator[Reason]:
    """Yield that a PodClique is below its minimum, and that it is terminated for it, where it may be (GT-111)."""
    clique = one.clique
    facts = {"replicas": clique.replicas, "needed": clique.min_available}
    yield TerminationReason.SCALED_BELOW_MIN_AVAILABLE.because(clique.ref, **facts)
    delay = next((group.delay for group in judgement.groups if group.group.uid == clique.owner_uid), root.shape.delay)
    if one.was_available and delay is not None and judgement.guard is None:
        yield TerminationReason.SCALED_DOWN_IS_A_LOSS.because(
            clique.ref, needed=clique.min_available, delay=short_duration_text(delay)
        )
