"""PodCliques whose own ``replicas`` were changed at run time, as terminations treat them (GT-110, GF-125)."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.verdicts import SetReplicaFates, Terminate, Wait
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import SCALED
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Ref
from grove_core.resources.naming_rules import member_clique_name, standalone_clique_name
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet

BELOW_MIN_AVAILABLE: Final = "ScaledBelowMinAvailable"
_BACK: Final = "ScaledBack"


class RunTimeScaledClique(NamedTuple):
    """A PodClique that may have been scaled at run time.

    Attributes:
        too_low: why it is below its minimum, and what follows; empty where it is not below.
        is_ended: whether it is terminated, now or later, so that it is created again from its template.
    """

    clique: PodClique
    too_low: tuple[Reason, ...]
    is_ended: bool


def is_scaled_below_min_available(clique: PodClique) -> bool:
    """Return whether a PodClique asks for fewer pods than it needs."""
    return clique.replicas < clique.min_available


def replicas_to_be_terminated(root: Ref, fates: SetReplicaFates) -> frozenset[Ref]:
    """Return the replicas of a set and of its scaling groups that are terminated now or after their delay."""
    of_set = (root.at_replica(one.number) for one in fates.replicas if isinstance(one.fate, Terminate | Wait))
    of_groups = (
        group.group.ref.at_replica(index)
        for group in fates.groups
        for index, fate in group.fates.items()
        if isinstance(fate, Terminate | Wait)
    )
    return frozenset((*of_set, *of_groups))


def run_time_scaled_clique_findings(
    root: PodCliqueSet, cliques: Iterable[RunTimeScaledClique], back: Rule
) -> Iterable[Finding]:
    """Yield a finding on each PodClique that is below its minimum on purpose, or that a termination scales back.

    Args:
        back: the rule that its template's number comes back.
    """
    for one in cliques:
        clique, because = one.clique, one.too_low
        template = clique_template_replicas(root, clique) if one.is_ended else None
        if template is not None and template != clique.replicas:
            because = (*because, back.because(clique.ref, replicas=clique.replicas, template=template))
        if because:
            verdict = BELOW_MIN_AVAILABLE if one.too_low else _BACK
            yield Finding(clique.ref, SCALED, verdict, because, within=clique.enclosing_replicas(root.ref))


def clique_template_replicas(root: PodCliqueSet, clique: PodClique) -> int | None:
    """Return the number of replicas in the template of a PodClique; None where the set has no template of its name."""
    name = clique.ref.name
    for template in root.spec.template.cliques:
        expected = (
            member_clique_name(clique.owner_name, clique.group_replica_index, template.name)
            if clique.is_in_scaling_group
            else standalone_clique_name(root.ref.name, clique.replica_index, template.name)
        )
        if name == expected:
            return template.spec.replicas
    return None
