"""PodCliques that were scaled at run time, as the Go operator's terminations treat them (GF-125, GF-126)."""

from collections.abc import Iterator

from grove_core.areas.gang_termination.field.judge import GoOperatorJudgement
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.termination_findings import SCALED
from grove_core.areas.gang_termination.verdicts import Terminate, Wait
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.resources.naming_rules import member_clique_name, standalone_clique_name
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot


def scaled_clique_findings(snapshot: Snapshot, judgement: GoOperatorJudgement) -> Iterator[Finding]:
    """Yield a finding on each PodClique that is below its minimum on purpose, or that a termination scales back."""
    root = snapshot.root
    ended = {root.ref.at_replica(one.number) for one in judgement.replicas if isinstance(one.fate, Terminate | Wait)}
    for group in judgement.groups:
        ends = (index for index, fate in group.fates.items() if isinstance(fate, Terminate | Wait))
        ended |= {group.group.ref.at_replica(index) for index in ends}
    for seen in judgement.cliques:
        clique, within = seen.clique, seen.clique.enclosing_replicas(root.ref)
        is_ended = any(replica in ended for replica in within)
        is_too_low = seen.is_breached and clique.replicas < clique.min_available
        because = tuple(_reasons(root, clique, is_too_low=is_too_low, is_ended=is_ended))
        if because:
            yield Finding(clique.ref, SCALED, "BelowMinimum" if is_too_low else "ScaledBack", because, within=within)


def _reasons(root: PodCliqueSet, clique: PodClique, *, is_too_low: bool, is_ended: bool) -> Iterator[Reason]:
    if is_too_low:
        facts = {"replicas": clique.replicas, "needed": clique.min_available}
        yield GoOperatorReason.SCALED_BELOW_MINIMUM.because(clique.ref, **facts)
    template = _template_replicas(root, clique)
    if is_ended and template is not None and template != clique.replicas:
        yield GoOperatorReason.SCALED_BACK.because(clique.ref, replicas=clique.replicas, template=template)


def _template_replicas(root: PodCliqueSet, clique: PodClique) -> int | None:
    """Return the number of replicas in the template of a PodClique; None where the set has no template of its name."""
    name = clique.ref.name
    for template in root.spec.template.cliques:
        expected = (
            member_clique_name(clique.owner_name, clique.group_replica_index, template.name)
            if clique.owner_kind == GROUP_KIND
            else standalone_clique_name(root.ref.name, clique.replica_index, template.name)
        )
        if name == expected:
            return template.spec.replicas
    return None
