"""PodCliques that were scaled at run time, as the Go operator's terminations treat them (GF-125, GF-126)."""

from collections.abc import Iterable, Iterator

from grove_core.areas.gang_termination.field.judge import replica_fates_by_go_operator
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.verdicts import GoOperatorJudgement
from grove_core.areas.gang_termination.run_time_scaling import (
    RunTimeScaledClique,
    is_scaled_below_min_available,
    replicas_to_be_terminated,
    run_time_scaled_clique_findings,
)
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot


def scaled_clique_findings_by_go_operator(snapshot: Snapshot, judgement: GoOperatorJudgement) -> Iterable[Finding]:
    """Return a finding on each PodClique that is below its minimum on purpose, or that a termination scales back."""
    root = snapshot.root
    ended = replicas_to_be_terminated(root.ref, replica_fates_by_go_operator(judgement))
    scaled = (
        RunTimeScaledClique(
            clique, tuple(_below_minimum(clique)), not ended.isdisjoint(clique.enclosing_replicas(root.ref))
        )
        for clique in (seen.clique for seen in judgement.cliques)
    )
    return run_time_scaled_clique_findings(root, scaled, GoOperatorReason.SCALED_BACK)


def _below_minimum(clique: PodClique) -> Iterator[Reason]:
    if is_scaled_below_min_available(clique):
        facts = {"replicas": clique.replicas, "needed": clique.min_available}
        yield GoOperatorReason.SCALED_BELOW_MIN_AVAILABLE.because(clique.ref, **facts)
