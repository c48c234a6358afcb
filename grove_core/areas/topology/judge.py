"""Judges which topology a set uses, and whether it is usable (TP-001 to TP-031). Linear in the objects of a set."""

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from grove_core.areas.topology.rules import TopologyReason
from grove_core.areas.topology.verdicts import (
    DisabledTopology,
    GangsPlacedByTopology,
    GangsWithoutTopology,
    GangTopology,
    NoTopology,
    PlacedByTopology,
    PlacingTopology,
    TopologyJudgement,
    TopologyResolution,
    UnknownTopology,
    UnusableTopology,
    WithheldGangs,
)
from grove_core.kernel.conditions import LONGEST_MESSAGE
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.resources.api_names import TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, Levels
from grove_core.resources.naming_rules import did_you_mean, name_list_text
from grove_core.resources.topology_usage import bound_pod_count_of_clique, constrained_levels, topology_in_template
from grove_core.snapshot.snapshot import Snapshot


def judge_topology(snapshot: Snapshot) -> TopologyJudgement:
    """Return which topology applies to the PodGangs of a set."""
    root = snapshot.root.ref
    use = topology_in_template(snapshot.root.spec.template)
    name = use.effective_topology_name
    if not name:
        return NoTopology((TopologyReason.NO_TOPOLOGY.because(root),))
    which = (TopologyReason.TOPOLOGY_NAMED if use.named else TopologyReason.TOPOLOGY_BY_DEFAULT).because(
        root, topology=name
    )
    if not snapshot.configuration.topology.enabled:
        return DisabledTopology(name, (TopologyReason.TOPOLOGY_OFF.because(root), which))
    levels = topology_levels_of(snapshot, name)
    if levels is None and TOPOLOGY_KIND not in snapshot.complete:
        return UnknownTopology(name, (TopologyReason.TOPOLOGY_NOT_COLLECTED.because(root, topology=name), which))
    if levels is None:
        facts = {"known": name_list_text(snapshot.topologies), "meant": did_you_mean(name, snapshot.topologies)}
        missing = TopologyReason.TOPOLOGY_MISSING.because(root, topology=name, **facts)
        return UnusableTopology(TopologyResolution.MISSING, name, (missing,), which)
    lacking = tuple(missing_topology_domains(snapshot, name, levels))
    if lacking:
        return UnusableTopology(TopologyResolution.LACKING, name, lacking, which)
    return PlacedByTopology(PlacingTopology(name, FrozenDict(levels)), (which,))


def topology_of_new_gangs(snapshot: Snapshot, judgement: TopologyJudgement) -> GangTopology:
    """Return the topology of new PodGangs, or why they are withheld."""
    match judgement:
        case NoTopology() | DisabledTopology():
            return GangsWithoutTopology()
        case UnknownTopology() | UnusableTopology():
            return WithheldGangs(judgement.because)
        case PlacedByTopology(topology):
            follows = not has_bound_pods(snapshot)
            rule = TopologyReason.GANG_FOLLOWS_TOPOLOGY if follows else TopologyReason.PLACED_OTHERWISE
            return GangsPlacedByTopology(topology, follows, rule.because(snapshot.root.ref, topology=topology.name))
        case _:
            assert_never(judgement)


def has_bound_pods(snapshot: Snapshot) -> bool:
    """Return whether a pod of the set is bound to a node, by the statuses of its PodCliques or by its pods."""
    return any(bound_pod_count_of_clique(clique, snapshot.pods_of.get(clique.uid, ())) for clique in snapshot.cliques)


def topology_condition_reason(judgement: TopologyJudgement, misplaced: Sequence[str]) -> tuple[str, str] | None:
    """Return reason code and message of the set's condition (TP-030); None if the set has none."""
    if isinstance(judgement, UnusableTopology):
        message = "; ".join(fault.sentence for fault in judgement.faults)
        return judgement.faults[0].rule.code, message[:LONGEST_MESSAGE]
    if misplaced:
        message = f"pods were bound before topology {judgement.name} was changed: {name_list_text(misplaced)}"
        return TopologyReason.PLACED_OTHERWISE.code, message
    return None


def missing_topology_domains(snapshot: Snapshot, name: str, levels: Levels) -> Iterator[Reason]:
    """Yield a reason for each domain that a constraint asks for and the topology lacks."""
    known: Mapping[str, str] = dict(levels)
    for level in constrained_levels(snapshot.root.spec.template):
        for domain in filter(None, level.constraint.domains):
            if domain not in known:
                meant = did_you_mean(domain, known)
                yield TopologyReason.DOMAIN_MISSING.because(
                    snapshot.root.ref,
                    topology=name,
                    domain=domain,
                    path=level.path,
                    known=", ".join(known),
                    meant=meant,
                )


def topology_levels_of(snapshot: Snapshot, name: str) -> Levels | None:
    """Return the levels of a topology; the configured ones if it is the default one and does not exist yet."""
    found = snapshot.topologies.get(name)
    if found is not None:
        return found.levels
    return (snapshot.configuration.topology.levels or None) if name == DEFAULT_TOPOLOGY else None
