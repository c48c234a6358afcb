"""Whether the gangs of a set have a place on some nodes, by its topology and by every other, on one page (TP-111)."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from grove_core.areas.mnnvl.judge import clique_domains_of, judge_mnnvl
from grove_core.areas.mnnvl_scopes.judge import mnnvl_annotations_of
from grove_core.areas.topology.admit import TopologyView, broader_than_parent, objections_to
from grove_core.areas.topology.fit import SetFit, fit_gangs
from grove_core.areas.topology.gang_tree import CliqueRequest, GangRequest
from grove_core.areas.topology.judge import judge_topology, levels_of, missing_domains
from grove_core.areas.topology.node_capacity import (
    NO_UNLABELLED_NODES,
    UnlabelledNodes,
    free_capacity_of,
    unlabelled_nodes,
)
from grove_core.areas.topology.rules import Fit, Refuse
from grove_core.areas.topology.verdicts import FitVerdict, GangTopology, TopologyJudgement, TopologyResolution
from grove_core.areas.workload.blueprint import GangPart, blueprint_of
from grove_core.areas.workload.oversize import too_large
from grove_core.areas.workload.placing import placement_of
from grove_core.kernel.admission import Objection
from grove_core.kernel.frozen import EMPTY
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import Levels
from grove_core.resources.domain_sharing import scope_of
from grove_core.resources.manifest import Manifest
from grove_core.resources.node import Node
from grove_core.resources.pod_demand import PodDemand, pod_demand_of
from grove_core.resources.pod_on_node import PodOnNode
from grove_core.resources.topology_usage import bound_pods_of, constrained_levels
from grove_core.snapshot.snapshot import Snapshot

_CLAIMS: Final = "resource claims"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyFit:
    """What one topology would mean for a set.

    Attributes:
        name: empty where no topology applies.
        levels: of it; empty where nobody knows them.
        because: which topology it is, or why it can place no gang.
        against: why the set may not come to it, whatever has a place there; empty for its own.
        outsiders: nodes that are not part of it.
        fit: None where it can place no gang, or nobody knows.
        is_unknown: whether nobody knows (TP-128).
    """

    name: str
    levels: Levels
    because: tuple[Reason, ...]
    switch_refusals: tuple[Reason, ...] = ()
    unlabelled: UnlabelledNodes = NO_UNLABELLED_NODES
    fit: SetFit | None
    is_unknown: bool = False

    @property
    def verdict(self) -> FitVerdict:
        """The worst of its gangs, each for itself."""
        if self.fit is None:
            return FitVerdict.UNDECIDED if self.is_unknown else FitVerdict.CANNOT
        verdicts = {gang.all_pods.verdict for gang in self.fit.gangs}
        return next((one for one in (FitVerdict.CANNOT, FitVerdict.UNDECIDED) if one in verdicts), FitVerdict.FITS)


@dataclass(frozen=True, slots=True)
class TopologyCheck:
    """A set on its own topology, and on each other in turn.

    Attributes:
        refused: what admission objects to, where the set is in no cluster yet and would fit (TP-129).
    """

    root: Ref
    own: TopologyFit
    others: tuple[TopologyFit, ...]
    objections: tuple[Objection, ...] = ()

    @property
    def is_success(self) -> bool:
        """Whether every gang has a place by the topology of the set, and the set may be made (TP-114)."""
        return self.own.verdict is FitVerdict.FITS and not self.objections


def check_topology(snapshot: Snapshot, nodes: Iterable[Node], tenants: Iterable[PodOnNode]) -> TopologyCheck:
    """Whether each gang of a set has a place (TP-100 to TP-120).

    Args:
        snapshot: of the set, with the topologies there are.
        nodes: all of them.
        tenants: the pods on them; those of the set itself take nothing, for it is they that are placed.
    """
    root, judgement = snapshot.root.ref, judge_topology(snapshot)
    because = too_large(snapshot)
    if because is not None:
        own = TopologyFit(name=judgement.name, levels=(), because=(because,), fit=None, is_unknown=True)
        return TopologyCheck(root, own, ())
    ask = _SetOnNodes(snapshot, nodes, tuple(tenants))
    applies = judgement.resolution not in {TopologyResolution.NONE, TopologyResolution.OFF}
    if judgement.resolution is TopologyResolution.USED or not applies:
        levels = (levels_of(snapshot, judgement.name) or ()) if applies else ()
        own = ask.on(judgement.name if applies else "", levels, judgement.because)
    else:
        own = _cannot_place(snapshot, judgement)
    others = sorted(snapshot.topologies.keys() - {judgement.name}) if applies else ()
    refused = tuple(_admission_objections(snapshot)) if own.fit is not None else ()
    return TopologyCheck(root, own, tuple(ask.other(name, judgement.name) for name in others), refused)


def _cannot_place(snapshot: Snapshot, judgement: TopologyJudgement) -> TopologyFit:
    """The set's own topology where it can place no gang, or nobody knows."""
    found = snapshot.topologies.get(judgement.name)
    is_unknown = judgement.resolution is TopologyResolution.UNKNOWN
    to_add = (Fit.TOPOLOGIES_TO_ADD.because(snapshot.root.ref),) if is_unknown else ()
    return TopologyFit(
        name=judgement.name,
        levels=found.levels if found is not None else (),
        because=(*judgement.because, *to_add),
        fit=None,
        is_unknown=is_unknown,
    )


def _admission_objections(snapshot: Snapshot) -> Iterator[Objection]:
    """What admission would say to a set that is new; one that is there was admitted."""
    root = snapshot.root
    if root.uid:
        return
    manifest = Manifest(
        name=root.ref.name,
        namespace=root.ref.namespace,
        labels=EMPTY,
        annotations=EMPTY,
        spec=root.spec,
        pods=(),
        device_requests=(),
    )
    around = TopologyView(snapshot.topologies or None)
    found = objections_to(root.ref, manifest, None, snapshot.configuration, around)
    yield from sorted(found, key=lambda one: one.sort_key)


class _SetOnNodes:
    """What the gangs of a set ask of some nodes: the same by every topology, and worked out once."""

    def __init__(self, snapshot: Snapshot, nodes: Iterable[Node], tenants: tuple[PodOnNode, ...]) -> None:
        root = snapshot.root.ref
        self.snapshot = snapshot
        self.free = free_capacity_of(nodes, tenants, (root.namespace, root.name))
        shunned = {
            name for one in tenants if one.owner != (root.namespace, root.name) for name in one.repelled_namespaces
        }
        common = {"pods on nodes that keep others away"} if shunned & {"", root.namespace} else set()
        template = snapshot.root.spec.template
        claiming = _cliques_with_added_claims(snapshot)
        self.demands = {
            clique.name: _demand(clique.spec.pod_spec, common | ({_CLAIMS} if clique.name in claiming else set()))
            for clique in template.cliques
        }
        self.gangs = [gang for replica in blueprint_of(snapshot) for gang in replica.gangs]

    def on(self, name: str, levels: Levels, because: tuple[Reason, ...]) -> TopologyFit:
        """By one topology."""
        placing = GangTopology(name, dict(levels))
        gangs = tuple(_gang_request(self.snapshot, gang, placing, self.demands) for gang in self.gangs)
        fit = fit_gangs(gangs, self.free, levels, self.snapshot.root.ref)
        outsiders = unlabelled_nodes(self.free, levels)
        return TopologyFit(name=name, levels=levels, because=because, unlabelled=outsiders, fit=fit)

    def other(self, name: str, before: str) -> TopologyFit:
        """By a topology that the set might come to.

        Args:
            before: the one it has.
        """
        snapshot = self.snapshot
        root, levels = snapshot.root.ref, snapshot.topologies[name].levels
        refusals: list[Reason] = []
        if snapshot.topologies[name].deleting:
            refusals.append(Refuse.TOPOLOGY_LEAVING.because(root))
        bound = sum(bound_pods_of(clique, snapshot.pods_of.get(clique.uid, ())) for clique in snapshot.cliques)
        if bound:
            refusals.append(Refuse.TOPOLOGY_LOCKED.because(root, before=before, scheduled=bound))
        order = [level.domain for level in levels]
        broader = (
            broader_than_parent(one, which, order)
            for one in constrained_levels(snapshot.root.spec.template)
            for which in range(len(one.constraint.domains))
        )
        refusals += [Refuse.BROADER_THAN_PARENT.because(root, **facts) for facts in broader if facts]
        lacking = tuple(missing_domains(snapshot, name, levels))
        if lacking:
            return TopologyFit(name=name, levels=levels, because=lacking, switch_refusals=tuple(refusals), fit=None)
        return replace(self.on(name, levels, ()), switch_refusals=tuple(refusals))


def _gang_request(
    snapshot: Snapshot, gang: GangPart, placing: GangTopology, demands: Mapping[str, PodDemand]
) -> GangRequest:
    cliques = tuple(
        CliqueRequest(
            name=part.name,
            template=part.template.name,
            group=part.group_template.name if part.group_template is not None else "",
            pods=part.replicas,
            minimum=min(part.replicas, part.template.min_available),
            demand=demands[part.template.name],
        )
        for part in gang.cliques
    )
    return GangRequest(gang.name, cliques, placement_of(snapshot.root, gang, placing))


def _cliques_with_added_claims(snapshot: Snapshot) -> AbstractSet[str]:
    """Cliques of the template whose pods get claims besides those of their pod specs: shared ones, and for MNNVL."""
    template = snapshot.root.spec.template
    every = {clique.name for clique in template.cliques}
    sharing = (template.resource_sharing, *(one.resource_sharing for one in template.pod_clique_scaling_groups))
    fabric = judge_mnnvl(snapshot)
    if any(sharing) or any(clique.resource_sharing for clique in template.cliques):
        return every
    if fabric.is_wanted or clique_domains_of(snapshot, fabric).templates:
        return every
    return {name for name, annotations in mnnvl_annotations_of(snapshot).items() if scope_of(annotations) is not None}


def _demand(pod_spec: Mapping[str, Any], besides: AbstractSet[str]) -> PodDemand:
    """What a pod of a clique asks for, and what besides has to do with where it may be."""
    demand = pod_demand_of(pod_spec)
    return demand._replace(unseen=tuple(sorted({*demand.unseen, *besides})))
