"""PodCliques that were scaled at run time, as terminations by the design treat them (GT-110 to GT-112)."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement, SetTerminationJudgement
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.run_time_scaling import (
    RunTimeScaledClique,
    is_scaled_below_min_available,
    replicas_to_be_terminated,
    run_time_scaled_clique_findings,
)
from grove_core.areas.gang_termination.verdicts import SetReplicaFates
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.kernel.time_formats import short_duration_text
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet


def below_minimum_findings(
    root: PodCliqueSet, judgement: SetTerminationJudgement, fates: SetReplicaFates
) -> Iterable[Finding]:
    """Return a finding on each PodClique that is below its minimum on purpose, or that a termination scales back."""
    ended = replicas_to_be_terminated(root.ref, fates)
    scaled = []
    for one in judgement.cliques:
        is_too_low = is_scaled_below_min_available(one.clique)
        if is_too_low or ended:
            delay = _delay_after_loss(root, judgement, one) if is_too_low else None
            is_ended = delay is not None or not ended.isdisjoint(one.clique.enclosing_replicas(root.ref))
            too_low = tuple(_below_minimum(one.clique, delay)) if is_too_low else ()
            scaled.append(RunTimeScaledClique(one.clique, too_low, is_ended))
    return run_time_scaled_clique_findings(root, scaled, TerminationReason.SCALED_BACK)


def _delay_after_loss(root: PodCliqueSet, judgement: SetTerminationJudgement, one: CliqueJudgement) -> timedelta | None:
    """Return the delay after which a loss of pods terminates the replica of a PodClique; None where it does not."""
    if not one.was_available or judgement.guard is not None:
        return None
    of_groups = (group.delay for group in judgement.groups if group.group.uid == one.clique.owner_uid)
    return next(of_groups, root.shape.delay)


def _below_minimum(clique: PodClique, delay: timedelta | None) -> Iterator[Reason]:
    needed = clique.min_available
    yield TerminationReason.SCALED_BELOW_MIN_AVAILABLE.because(clique.ref, replicas=clique.replicas, needed=needed)
    if delay is not None:
        text = short_duration_text(delay)
        yield TerminationReason.SCALED_DOWN_IS_A_LOSS.because(clique.ref, needed=needed, delay=text)
