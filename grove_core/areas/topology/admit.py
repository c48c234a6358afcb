"""Admission of what a set says of its topology (TP-060 to TP-075)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from grove_core.areas.topology.rules import Refuse, Warn
from grove_core.kernel.admission import Caution, Objection
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, Levels, did_you_mean
from grove_core.resources.configuration import Configuration
from grove_core.resources.fields import shown
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import CLIQUES, TEMPLATE
from grove_core.resources.names import listed
from grove_core.resources.topology_usage import (
    CLIQUE_KIND,
    ConstrainedLevel,
    TopologyUse,
    TopologyUser,
    constrained_levels,
    is_ineffective,
    topology_use_of,
)
from grove_core.resources.violation import Violation, new_violations

NAME: Final = f"{TEMPLATE}.clusterTopologyName"
_STRENGTHS: Final = ("required", "preferred")  # the domains of a constraint, in their order


class TopologyView(NamedTuple):
    """What admission is told of the cluster; None for what is not known.

    Attributes:
        topologies: by name.
        scheduled: (namespace, name) of a set -> how many of its pods are bound to nodes; a set without any may be left
            out.
        users: topology -> who uses it, implicitly too.
        obscured: names of topologies that are there and cannot be read.
        partial: kinds of which some object cannot be read: there may be more users, and more pods, than are known.
    """

    topologies: Mapping[str, ClusterTopology] | None = None
    scheduled: Mapping[tuple[str, str], int] | None = None
    users: Mapping[str, tuple[TopologyUser, ...]] | None = None
    unreadable: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()


NOTHING_KNOWN: Final = TopologyView()


def objections_to(
    subject: Ref,
    new: Manifest,
    old: Manifest | None,
    configuration: Configuration,
    around: TopologyView = NOTHING_KNOWN,
) -> Iterator[Objection]:
    """Every objection to what a set says of its topology."""
    case = _SetView(new, old, configuration, around)
    own = new_violations(
        _manifest_violations(case),
        _manifest_violations(_SetView(old, None, configuration, around)) if old is not None else (),
    )
    for found in (*own, *_reference_violations(case), *_domain_violations(case), *_change_violations(case)):
        yield found.objection(subject)


def warnings_to(
    subject: Ref,
    new: Manifest,
    old: Manifest | None,
    configuration: Configuration,
    around: TopologyView = NOTHING_KNOWN,
) -> Iterator[Caution]:
    """What is probably not meant, or could not be judged."""
    for found in _warnings(_SetView(new, old, configuration, around)):
        yield found.caution(subject)


class _SetView:
    """A manifest with what is asked of it again and again.

    Attributes:
        is_new: whether its reference is judged: the set is new, or names another topology than before.
        known: the topologies by name; None where nobody knows them, or the one that counts cannot be read.
        levels: of the topology that counts; None where nobody knows.
        scheduled: how many of its pods are bound to nodes; None where nobody knows.
    """

    def __init__(
        self, manifest: Manifest, old: Manifest | None, configuration: Configuration, around: TopologyView
    ) -> None:
        self.manifest = manifest
        self.around = around
        self.told = configuration.topology
        self.use = topology_use_of(manifest.spec.template)
        self.constrained = tuple(constrained_levels(manifest.spec.template))
        self.old = old
        self.before: TopologyUse | None = topology_use_of(old.spec.template) if old is not None else None
        self.is_new = self.before is None or self.before.named != self.use.named
        self.known = None if self.use.topology in around.unreadable else around.topologies
        self.topology = (self.known or {}).get(self.use.topology)
        seen = (around.scheduled or {}).get((manifest.namespace or "default", manifest.name), 0)
        is_sure = around.scheduled is not None and CLIQUE_KIND not in around.partial
        self.scheduled = seen if seen or is_sure else None

    @property
    def place(self) -> str:
        """Where the reference stands; the first constraint where it is not written."""
        if self.manifest.spec.template.cluster_topology_name or not self.constrained:
            return NAME
        named = (f"{one.path}.topologyName" for one in self.constrained if one.constraint.topology_name)
        return next(named, self.constrained[0].path)

    @property
    def levels(self) -> Levels | None:
        if self.topology is not None:
            return self.topology.levels
        return (self.told.levels or None) if self.use.topology == DEFAULT_TOPOLOGY else None


def _manifest_violations(case: _SetView) -> Iterator[Violation]:
    """TP-063, TP-067, TP-068, TP-070: what the manifest alone says wrong."""
    use, written = case.use, case.manifest.spec.template.cluster_topology_name
    if written and not use.constraints:
        yield Violation(NAME, written, Refuse.NAMED_WITHOUT_CONSTRAINT, {})
    for one in case.constrained:
        constraint = one.constraint
        if not any(constraint.domains):
            yield Violation(one.path, "none", Refuse.CONSTRAINT_EMPTY, {})
        if constraint.pack_domain and constraint.pack.required:
            facts = {"required": constraint.pack.required}
            yield Violation(f"{one.path}.packDomain", constraint.pack_domain, Refuse.REQUIRED_TWICE, facts)
        if constraint.topology_name not in {"", use.named}:
            yield Violation(
                f"{one.path}.topologyName", constraint.topology_name, Refuse.NAMES_DIFFER, {"named": use.named}
            )


def _reference_violations(case: _SetView) -> Iterator[Violation]:
    """TP-060, TP-061, TP-064: judged where it is new, or a set that outlived its topology could never be changed."""
    name, known = case.use.topology, case.known
    if not case.is_new or not name:
        return
    if not case.told.enabled:
        if case.use.named:
            yield Violation(case.place, name, Refuse.NAMED_WHILE_OFF, {})
    elif known is not None and case.topology is None and case.use.named:
        if name != DEFAULT_TOPOLOGY or not case.told.levels:
            facts = {"known": listed(known), "meant": did_you_mean(name, known)}
            yield Violation(case.place, name, Refuse.TOPOLOGY_UNKNOWN, facts)
    elif case.topology is not None and case.topology.deleting:
        yield Violation(case.place, name, Refuse.TOPOLOGY_LEAVING, {})


def _domain_violations(case: _SetView) -> Iterator[Violation]:
    """TP-065, TP-066: domains that the topology does not have, or has in another order."""
    levels = case.levels
    moved = case.is_new or (case.old is not None and _domains_by_owner(case.old) != _domains_by_owner(case.manifest))
    if levels is None or not case.told.enabled or not moved:
        return
    order = [level.domain for level in levels]
    for one in case.constrained:
        for which, domain in enumerate(one.constraint.domains):
            path = _path_of(one, which)
            if domain and domain not in order:
                facts = {"topology": case.use.topology, "known": ", ".join(order), "meant": did_you_mean(domain, order)}
                yield Violation(path, domain, Refuse.DOMAIN_UNKNOWN, facts)
            over = broader_than_parent(one, which, order)
            if over:
                yield Violation(path, domain, Refuse.BROADER_THAN_PARENT, over)


def broader_than_parent(one: ConstrainedLevel, which: int, order: Sequence[str]) -> dict[str, Fact]:
    """What to say of a domain that is broader than that above it (TP-066); empty where it is not.

    Args:
        one: whose domain.
        which: 0 for the required one, 1 for the preferred one.
        order: the domains of the topology, from broad to narrow.
    """
    domain = one.constraint.domains[which]
    over = next(((at, other.domains[which]) for at, other in one.above if other.domains[which]), None)
    if over is None or not {domain, over[1]} <= set(order) or order.index(domain) >= order.index(over[1]):
        return {}
    return {"domain": over[1], "above": over[0], "order": ", ".join(order)}


def _change_violations(case: _SetView) -> Iterator[Violation]:
    """TP-062, TP-069: what may not change, or not any more."""
    if case.old is None or case.before is None:
        return
    manifest, before = case.manifest, case.before
    if case.is_new and case.scheduled:
        facts: dict[str, Fact] = {"before": before.named or "absent", "scheduled": case.scheduled}
        yield Violation(case.place if case.use.named else NAME, case.use.named, Refuse.TOPOLOGY_LOCKED, facts)
    was, now = _domains_by_owner(case.old), _domains_by_owner(manifest)
    places = {one.owner: one.path for one in (*constrained_levels(case.old.spec.template), *case.constrained)}
    for owner, path in places.items():
        if was.get(owner) != now.get(owner) and _has_part(owner, case.old) and _has_part(owner, manifest):
            facts = {"before": shown(_domains_text(was.get(owner)))}
            yield Violation(path, _domains_text(now.get(owner)), Refuse.CONSTRAINT_IMMUTABLE, facts)


def _warnings(case: _SetView) -> Iterator[Violation]:
    """TP-072 to TP-075."""
    if not case.constrained:
        return
    if not case.told.enabled:
        for one in case.constrained:
            yield Violation(one.path, _domains_text(one.constraint.domains), Warn.NO_EFFECT_WHILE_OFF, {})
        return
    if is_ineffective(case.manifest.spec.template):  # said once, for all cliques have one scheduler (WL-129)
        name = case.manifest.pods[0].scheduler_name
        yield Violation(f"{CLIQUES}[0].spec.podSpec.schedulerName", name or None, Warn.SCHEDULER_IGNORES_GANGS, {})
    unknown = case.levels is None and case.known is None
    if case.is_new and (unknown or (case.before is not None and case.scheduled is None)):
        what = "the topologies of the cluster" if unknown else "how many pods are bound to nodes by the one before"
        yield Violation(case.place, case.use.topology, Warn.NOT_CHECKED, {"what": what})
    order = [level.domain for level in case.levels or ()]
    for one in case.constrained:
        required, preferred = one.constraint.domains
        if {required, preferred} <= set(order) and order.index(preferred) <= order.index(required):
            yield Violation(_path_of(one, 1), preferred, Warn.PREFERS_BROADER, {"required": required})


def _domains_by_owner(manifest: Manifest) -> dict[tuple[str, str], tuple[str, str]]:
    """What of a set has a constraint -> its domains; in either spelling they are the same."""
    return {one.owner: one.constraint.domains for one in constrained_levels(manifest.spec.template)}


def _has_part(owner: tuple[str, str], manifest: Manifest) -> bool:
    """Whether a set has that part; who comes or goes is reported elsewhere (GT-101)."""
    template = manifest.spec.template
    names = {clique.name for clique in template.cliques} | {group.name for group in template.pod_clique_scaling_groups}
    return owner[0] == TEMPLATE or owner[1] in names


def _path_of(one: ConstrainedLevel, which: int) -> str:
    if which == 0 and one.constraint.pack_domain and not one.constraint.pack.required:
        return f"{one.path}.packDomain"
    return f"{one.path}.pack.{_STRENGTHS[which]}"


def _domains_text(domains: tuple[str, str] | None) -> str:
    if domains is None:
        return "absent"
    return ", ".join(f"{how} {domain}" for how, domain in zip(_STRENGTHS, domains, strict=True) if domain) or "empty"
