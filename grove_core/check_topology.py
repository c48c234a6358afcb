"""Whether the gangs of a set have a place on some nodes, by its topology and by every other, on one page (TP-111)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from grove_core.areas.topology.bundle import CliqueAsk, GangAsk
from grove_core.areas.topology.fit import SetFit, fit_of
from grove_core.areas.topology.ground import NOBODY, Outsiders, outsiders_of
from grove_core.areas.topology.judge import judge_topology, lacking_in
from grove_core.areas.topology.rules import Refuse
from grove_core.areas.topology.verdicts import Fits, Placing, Standing
from grove_core.areas.workload.blueprint import MOST, GangPart, blueprint_of, size_of
from grove_core.areas.workload.placing import placement_of
from grove_core.areas.workload.rules import Why
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import Levels
from grove_core.resources.demand import Amounts, Demand, amounts_of, demand_of
from grove_core.resources.fields import Fields
from grove_core.resources.keys import SET
from grove_core.resources.node import Node
from grove_core.resources.template import SetTemplate
from grove_core.resources.topology_use import bound_of
from grove_core.snapshot.snapshot import Snapshot

_ENDED: Final = ("Succeeded", "Failed")


class Tenant(NamedTuple):
    """A pod on a node.

    Attributes:
        owner: namespace and name of the set it is of; the name is empty for a pod of none.
    """

    node: str
    owner: tuple[str, str]
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyFit:
    """What one topology would mean for a set.

    Attributes:
        name: empty where no topology applies.
        levels: of it; empty where nobody knows them.
        because: which topology it is, or why it can place no gang.
        against: why the set may not come to it, whatever has a place there; empty for its own.
        outsiders: nodes that are not part of it.
        fit: None where it can place no gang.
    """

    name: str
    levels: Levels
    because: tuple[Reason, ...]
    against: tuple[Reason, ...] = ()
    outsiders: Outsiders = NOBODY
    fit: SetFit | None

    @property
    def verdict(self) -> Fits:
        """The worst of its gangs, each for itself."""
        if self.fit is None:
            return Fits.CANNOT
        verdicts = {gang.whole.verdict for gang in self.fit.gangs}
        return next((one for one in (Fits.CANNOT, Fits.UNDECIDED) if one in verdicts), Fits.FITS)


@dataclass(frozen=True, slots=True)
class Check:
    """A set on its own topology, and on each other in turn."""

    root: Ref
    own: TopologyFit
    others: tuple[TopologyFit, ...]


def check_topology(snapshot: Snapshot, nodes: Iterable[Node], tenants: Iterable[Tenant]) -> Check:
    """Whether each gang of a set has a place (TP-100 to TP-120).

    Args:
        snapshot: of the set, with the topologies there are.
        nodes: all of them.
        tenants: the pods on them; those of the set itself take nothing, for it is they that are placed.
    """
    root, size = snapshot.root.ref, size_of(snapshot)
    if size > MOST:
        because = Why.TOO_LARGE.because(root, objects=size, most=MOST)
        return Check(root, TopologyFit(name="", levels=(), because=(because,), fit=None), ())
    free = _free(nodes, tenants, (root.namespace, root.name))
    judgement = judge_topology(snapshot)
    applies = judgement.standing not in {Standing.NONE, Standing.OFF}
    if judgement.standing is Standing.USED or not applies:
        levels = _levels_of(snapshot, judgement.name) if applies else ()
        own = _on(snapshot, judgement.name if applies else "", levels, free, judgement.because)
    else:
        found = snapshot.topologies.get(judgement.name)
        levels = found.levels if found is not None else ()
        own = TopologyFit(name=judgement.name, levels=levels, because=judgement.because, fit=None)
    others = sorted(snapshot.topologies.keys() - {judgement.name}) if applies else ()
    return Check(root, own, tuple(_other(snapshot, name, free, judgement.name) for name in others))


def tenant_of(raw: Mapping[str, Any]) -> Tenant | None:
    """A pod as it takes room on a node; None for one that takes none.

    Raises:
        MalformedObject: with every problem of what it asks for.
    """
    problems: list[Problem] = []
    pod = Fields(raw, "", problems)
    node = pod.part("spec").text("nodeName")
    if not node or pod.part("status").text("phase") in _ENDED:
        return None
    meta = pod.part("metadata")
    labels = meta.part("labels")
    name = next((labels.text(key) for key in SET if labels.text(key)), "")
    tenant = Tenant(node, (meta.text("namespace") or "default", name), amounts_of(pod.part("spec")))
    if problems:
        raise MalformedObject(tuple(problems))
    return tenant


def _other(snapshot: Snapshot, name: str, free: list[Node], before: str) -> TopologyFit:
    """A topology that the set might come to."""
    root, levels = snapshot.root.ref, snapshot.topologies[name].levels
    against: list[Reason] = []
    if snapshot.topologies[name].deleting:
        against.append(Refuse.TOPOLOGY_LEAVING.because(root))
    bound = sum(bound_of(clique, snapshot.pods_of.get(clique.uid, ())) for clique in snapshot.cliques)
    if bound:
        against.append(Refuse.TOPOLOGY_LOCKED.because(root, before=before, scheduled=bound))
    lacking = tuple(lacking_in(snapshot, name, levels))
    if lacking:
        return TopologyFit(name=name, levels=levels, because=lacking, against=tuple(against), fit=None)
    return replace(_on(snapshot, name, levels, free, ()), against=tuple(against))


def _on(snapshot: Snapshot, name: str, levels: Levels, free: list[Node], because: tuple[Reason, ...]) -> TopologyFit:
    gangs = tuple(_asks(snapshot, Placing(name, dict(levels))))
    fit = fit_of(gangs, free, levels, snapshot.root.ref)
    return TopologyFit(name=name, levels=levels, because=because, outsiders=outsiders_of(free, levels), fit=fit)


def _levels_of(snapshot: Snapshot, name: str) -> Levels:
    """Of a topology that is there, or is only configured."""
    found = snapshot.topologies.get(name)
    return found.levels if found is not None else snapshot.configuration.topology.levels


def _asks(snapshot: Snapshot, placing: Placing) -> Iterator[GangAsk]:
    template = snapshot.root.spec.template
    demands = {clique.name: _demand(clique.spec.pod_spec, template) for clique in template.cliques}
    for replica in blueprint_of(snapshot):
        for gang in replica.gangs:
            yield _ask(snapshot, gang, placing, demands)


def _ask(snapshot: Snapshot, gang: GangPart, placing: Placing, demands: Mapping[str, Demand]) -> GangAsk:
    groups = {
        f"{snapshot.root.ref.name}-{gang.replica}-{group.name}": group.name
        for group in snapshot.root.spec.template.pod_clique_scaling_groups
    }
    cliques = tuple(
        CliqueAsk(
            name=part.name,
            template=part.template.name,
            group=groups.get(part.group, ""),
            pods=part.replicas,
            minimum=min(part.replicas, part.template.min_available),
            demand=demands[part.template.name],
        )
        for part in gang.cliques
    )
    return GangAsk(gang.name, cliques, placement_of(snapshot.root, gang, placing))


def _demand(pod_spec: Mapping[str, Any], template: SetTemplate) -> Demand:
    """What a pod of a clique asks for; claims that are shared through the set are claims too."""
    demand = demand_of(pod_spec)
    sharing = (template.resource_sharing, *(one.resource_sharing for one in template.pod_clique_scaling_groups))
    shares = any(sharing) or any(clique.resource_sharing for clique in template.cliques)
    return demand._replace(unseen=tuple(sorted({*demand.unseen, "resource claims"}))) if shares else demand


def _free(nodes: Iterable[Node], tenants: Iterable[Tenant], of: tuple[str, str]) -> list[Node]:
    """Nodes with what is left of them (TP-103)."""
    taken: dict[str, dict[str, int]] = {}
    for tenant in tenants:
        if tenant.owner != of:
            there = taken.setdefault(tenant.node, {})
            for resource, amount in tenant.amounts.items():
                there[resource] = there.get(resource, 0) + amount
    return [_less(node, taken[node.name]) if node.name in taken else node for node in nodes]


def _less(node: Node, taken: Amounts) -> Node:
    return replace(node, amounts={key: max(0, amount - taken.get(key, 0)) for key, amount in node.amounts.items()})
