"""The check of ``grove topology check``: whether the gangs of a set fit on nodes, by each topology (TP-111)."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, assert_never

from grove_core.areas.mnnvl.design.judge import compute_domains_of_new_parts, judge_mnnvl
from grove_core.areas.mnnvl_scopes.judge import mnnvl_annotations_of_new_cliques
from grove_core.areas.topology.admit import KnownTopologiesForAdmission, domain_nesting_facts, topology_objections
from grove_core.areas.topology.fit_check import PodCliqueSetFit, check_gangs_fit_on_nodes
from grove_core.areas.topology.gang_constraint_tree import CliquePodsToPlace, GangToPlace
from grove_core.areas.topology.judge import judge_topology, missing_topology_domains, topology_levels_of
from grove_core.areas.topology.node_capacity import (
    NO_UNLABELLED_NODES,
    NodesWithoutTopologyLabels,
    free_node_capacity,
    nodes_without_topology_labels,
)
from grove_core.areas.topology.rules import FitReason, TopologyDenial
from grove_core.areas.topology.verdicts import (
    DisabledTopology,
    FitVerdict,
    NoTopology,
    PlacedByTopology,
    PlacingTopology,
    TopologyJudgement,
    UnknownTopology,
    UnusableTopology,
)
from grove_core.areas.workload.set_too_large import set_too_large_reason
from grove_core.kernel.admission import DenialReason
from grove_core.kernel.frozen import EMPTY, FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct, replace
from grove_core.resources.cluster_topology import Levels
from grove_core.resources.domain_sharing import sharing_scope_in_annotations
from grove_core.resources.node import Node
from grove_core.resources.pod_demand import PodDemand, PodOnNode, pod_demand_of
from grove_core.resources.podcliqueset_manifest import PodCliqueSetManifest
from grove_core.resources.podgang import NO_PLACEMENT, PodGangConstraints
from grove_core.resources.topology_usage import bound_pod_count_of_clique, constrained_levels
from grove_core.snapshot.expected_replicas import ExpectedGang, expected_set_of
from grove_core.snapshot.snapshot import Snapshot

_CLAIMS: Final = "resource claims"


class TopologyFit(Struct, frozen=True, kw_only=True):
    """The fit of a set's gangs by one topology.

    Attributes:
        name: of the topology; empty where none applies.
        levels: of the topology; empty if unknown.
        because: why this topology applies, or why no gang can be placed by it.
        switch_refusals: why the set may not switch to it; empty for its own topology.
        unlabelled: the nodes that are not part of the topology.
        fit: of the gangs; None if the topology can place no gang, or if that is unknown.
        is_unknown: whether that is unknown (TP-128).
    """

    name: str
    levels: Levels
    because: tuple[Reason, ...]
    switch_refusals: tuple[Reason, ...] = ()
    unlabelled: NodesWithoutTopologyLabels = NO_UNLABELLED_NODES
    fit: PodCliqueSetFit | None
    is_unknown: bool = False

    @property
    def worst_verdict(self) -> FitVerdict:
        """The worst verdict on a gang, each gang by itself."""
        if self.fit is None:
            return FitVerdict.UNDECIDED if self.is_unknown else FitVerdict.CANNOT
        verdicts = {gang.result.verdict for gang in self.fit.gangs}
        return next((one for one in (FitVerdict.CANNOT, FitVerdict.UNDECIDED) if one in verdicts), FitVerdict.FITS)


class GangFitReport(Struct, frozen=True):
    """The fit of one set by its own topology and by every other.

    Attributes:
        root: the set.
        own: by the topology that the set uses.
        others: by every other topology, by name.
        objections: of admission, for a set that is not in the cluster yet (TP-111).
    """

    root: Ref
    own: TopologyFit
    others: tuple[TopologyFit, ...]
    objections: tuple[DenialReason, ...] = ()

    @property
    def all_gangs_fit(self) -> bool:
        """Whether every gang fits by the topology of the set, and admission accepts the set (TP-111)."""
        return self.own.worst_verdict is FitVerdict.FITS and not self.objections


def check_gang_fit(snapshot: Snapshot, nodes: Iterable[Node], pods: Iterable[PodOnNode]) -> GangFitReport:
    """Return whether each gang of a set fits on nodes (TP-100 to TP-120).

    Args:
        pods: the pods on the nodes; pods of the set itself are not subtracted, since they are what is placed.
    """
    root, judgement = snapshot.root.ref, judge_topology(snapshot)
    because = set_too_large_reason(snapshot)
    if because is not None:
        own = TopologyFit(name=judgement.name, levels=(), because=(because,), fit=None, is_unknown=True)
        return GangFitReport(root, own, ())
    fit_check = _SetFitCheck(snapshot, nodes, tuple(pods))
    own = fit_check.fit_by_own(judgement)
    others = sorted(snapshot.topologies.keys() - {own.name}) if own.name else ()
    refused = tuple(_admission_objections(snapshot)) if own.fit is not None else ()
    return GangFitReport(root, own, tuple(fit_check.fit_by_other(name, own.name) for name in others), refused)


def check_replica_fit(snapshot: Snapshot, replica: Ref, nodes: Iterable[Node]) -> PodCliqueSetFit | None:
    """Return whether the gangs of one replica of a set, or of a scaling group, fit on nodes by the set's topology.

    Args:
        nodes: with the amounts that are free for them.

    Returns:
        None where the replica has no gang of its own, or where the topology can place none or is unknown.
    """
    if set_too_large_reason(snapshot) is not None:
        return None
    fit_check = _SetFitCheck(snapshot, nodes, ())
    fit_check.gangs = [gang for gang in fit_check.gangs if _is_gang_of_replica(gang, snapshot, replica)]
    if not fit_check.gangs:
        return None
    return fit_check.fit_by_own(judge_topology(snapshot)).fit


def contains_whole_gang(snapshot: Snapshot, replica: Ref) -> bool:
    """Return whether a gang is terminated with a replica as a whole; a gang of the set's replica is larger."""
    gangs = (gang for one in expected_set_of(snapshot).replicas for gang in one.gangs)
    return any(_is_gang_of_replica(gang, snapshot, replica) for gang in gangs)


def _is_gang_of_replica(gang: ExpectedGang, snapshot: Snapshot, replica: Ref) -> bool:
    """Return whether a gang is terminated with a replica as a whole."""
    if replica.without_replica == snapshot.root.ref:
        return gang.replica == replica.replica
    return gang.group is not None and gang.group.key == (replica.name, replica.replica)


def _cannot_place(snapshot: Snapshot, judgement: UnknownTopology | UnusableTopology) -> TopologyFit:
    """Return the fit by the set's own topology if that can place no gang, or if this is unknown."""
    found = snapshot.topologies.get(judgement.name)
    is_unknown = isinstance(judgement, UnknownTopology)
    to_add = (FitReason.TOPOLOGIES_TO_ADD.because(snapshot.root.ref),) if is_unknown else ()
    return TopologyFit(
        name=judgement.name,
        levels=found.levels if found is not None else (),
        because=(*judgement.because, *to_add),
        fit=None,
        is_unknown=is_unknown,
    )


def _admission_objections(snapshot: Snapshot) -> Iterator[DenialReason]:
    """Yield the objections of admission to a set that is not in the cluster yet."""
    root = snapshot.root
    if root.uid:
        return
    manifest = PodCliqueSetManifest(
        name=root.ref.name,
        namespace=root.ref.namespace,
        labels=EMPTY,
        annotations=EMPTY,
        spec=root.spec,
        pods=(),
        device_requests=(),
    )
    view = KnownTopologiesForAdmission(snapshot.topologies or None)
    found = topology_objections(root.ref, manifest, None, snapshot.configuration, view)
    yield from sorted(found, key=lambda one: one.sort_key)


class _SetFitCheck:
    """The fit check of one set; what is the same for every topology is computed once."""

    def __init__(self, snapshot: Snapshot, nodes: Iterable[Node], pods: tuple[PodOnNode, ...]) -> None:
        root = snapshot.root.ref
        self.snapshot = snapshot
        self.free = free_node_capacity(nodes, pods, (root.namespace, root.name))
        avoided_namespaces = {
            name for one in pods if one.owner != (root.namespace, root.name) for name in one.repelled_namespaces
        }
        extra_for_all = {"pods on nodes that keep others away"} if avoided_namespaces & {"", root.namespace} else set()
        template = snapshot.root.spec.template
        with_added_claims = _cliques_with_added_claims(snapshot)
        self.demands = {
            clique.name: _demand(
                clique.spec.pod_spec, extra_for_all | ({_CLAIMS} if clique.name in with_added_claims else set())
            )
            for clique in template.cliques
        }
        self.gangs = [gang for replica in expected_set_of(snapshot).replicas for gang in replica.gangs]

    def fit_by_own(self, judgement: TopologyJudgement) -> TopologyFit:
        """Return the fit by the topology that the set uses."""
        match judgement:
            case NoTopology() | DisabledTopology():
                return self.fit_by("", (), judgement.because)
            case PlacedByTopology():
                name = judgement.name
                return self.fit_by(name, topology_levels_of(self.snapshot, name) or (), judgement.because)
            case UnknownTopology() | UnusableTopology():
                return _cannot_place(self.snapshot, judgement)
            case _:
                assert_never(judgement)

    def fit_by(self, name: str, levels: Levels, because: tuple[Reason, ...]) -> TopologyFit:
        """Return the fit by one topology; by none if the name is empty."""
        root = self.snapshot.root
        topology = PlacingTopology(name, FrozenDict(levels)) if name else None
        gangs = tuple(
            _gang_request(
                gang, NO_PLACEMENT if topology is None else topology.constraints_of_gang(root, gang), self.demands
            )
            for gang in self.gangs
        )
        fit = check_gangs_fit_on_nodes(gangs, self.free, levels, root.ref)
        unlabelled = nodes_without_topology_labels(self.free, levels)
        return TopologyFit(name=name, levels=levels, because=because, unlabelled=unlabelled, fit=fit)

    def fit_by_other(self, name: str, current: str) -> TopologyFit:
        """Return the fit by a topology that the set does not use."""
        snapshot = self.snapshot
        root, levels = snapshot.root.ref, snapshot.topologies[name].levels
        refusals: list[Reason] = []
        if snapshot.topologies[name].deleting:
            refusals.append(TopologyDenial.TOPOLOGY_BEING_DELETED.because(root))
        bound = sum(
            bound_pod_count_of_clique(clique, snapshot.pods_of.get(clique.uid, ())) for clique in snapshot.cliques
        )
        if bound:
            refusals.append(TopologyDenial.TOPOLOGY_LOCKED.because(root, before=current, scheduled=bound))
        order = [level.domain for level in levels]
        broader = (
            domain_nesting_facts(one, position, order)
            for one in constrained_levels(snapshot.root.spec.template)
            for position in range(len(one.constraint.domains))
        )
        refusals += [TopologyDenial.BROADER_THAN_PARENT.because(root, **facts) for facts in broader if facts]
        lacking = tuple(missing_topology_domains(snapshot, name, levels))
        if lacking:
            return TopologyFit(name=name, levels=levels, because=lacking, switch_refusals=tuple(refusals), fit=None)
        return replace(self.fit_by(name, levels, ()), switch_refusals=tuple(refusals))


def _gang_request(gang: ExpectedGang, placement: PodGangConstraints, demands: Mapping[str, PodDemand]) -> GangToPlace:
    cliques = tuple(
        CliquePodsToPlace(
            name=part.name,
            template=part.template.name,
            group=part.group.template.name if part.group is not None else "",
            pods=part.replicas,
            minimum=min(part.replicas, part.template.min_available),
            demand=demands[part.template.name],
        )
        for part in gang.cliques
    )
    return GangToPlace(gang.name, cliques, placement)


def _cliques_with_added_claims(snapshot: Snapshot) -> AbstractSet[str]:
    """Return the cliques whose pods get claims that their pod specs lack: shared claims, and those for MNNVL."""
    template = snapshot.root.spec.template
    every = {clique.name for clique in template.cliques}
    sharing = (template.resource_sharing, *(one.resource_sharing for one in template.pod_clique_scaling_groups))
    mnnvl = judge_mnnvl(snapshot)
    if any(sharing) or any(clique.resource_sharing for clique in template.cliques):
        return every
    if mnnvl.is_wanted or compute_domains_of_new_parts(snapshot, mnnvl).templates:
        return every
    return {
        name
        for name, annotations in mnnvl_annotations_of_new_cliques(snapshot).items()
        if sharing_scope_in_annotations(annotations) is not None
    }


def _demand(pod_spec: Mapping[str, object], extra: AbstractSet[str]) -> PodDemand:
    """Return the demand of a pod, with further constraints on its node that are not checked here."""
    demand = pod_demand_of(pod_spec)
    return demand._replace(unchecked=tuple(sorted({*demand.unchecked, *extra})))
