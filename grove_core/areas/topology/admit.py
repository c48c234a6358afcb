"""Admission of the topology name and constraints of a PodCliqueSet (TP-060 to TP-075)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from grove_core.areas.topology.rules import TopologyDenial, TopologyWarning
from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CLIQUE_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, Levels
from grove_core.resources.configuration import Configuration, GangBackend
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.naming_rules import did_you_mean, name_list_text
from grove_core.resources.podcliqueset_manifest import (
    CLIQUES,
    TEMPLATE,
    BadField,
    PodCliqueSetManifest,
    bad_fields_new_in_update,
)
from grove_core.resources.topology_usage import (
    STRENGTHS,
    ConstrainedLevel,
    TemplateTopology,
    TopologyUser,
    constrained_levels,
    domains_text,
    has_ineffective_constraints,
    topology_in_template,
)

NAME: Final = f"{TEMPLATE}.clusterTopologyName"


class KnownTopologiesForAdmission(NamedTuple):
    """The part of the cluster that admission compares with; None for what is unknown.

    Attributes:
        scheduled: (namespace, name) of a set -> number of its pods that are bound to nodes; sets without any may be
            left out.
        users: topology -> the sets that use it, by name or by default.
        unreadable: names of topologies that exist and cannot be parsed.
        incomplete_kinds: kinds of which an object cannot be parsed, so that users or pods may be missing above.
    """

    topologies: Mapping[str, ClusterTopology] | None = None
    scheduled: Mapping[tuple[str, str], int] | None = None
    users: Mapping[str, tuple[TopologyUser, ...]] | None = None
    unreadable: frozenset[str] = frozenset()
    incomplete_kinds: frozenset[str] = frozenset()


NOTHING_KNOWN: Final = KnownTopologiesForAdmission()


def topology_objections(
    subject: Ref,
    new: PodCliqueSetManifest,
    old: PodCliqueSetManifest | None,
    configuration: Configuration,
    view: KnownTopologiesForAdmission = NOTHING_KNOWN,
) -> Iterator[DenialReason]:
    """Yield every objection to the topology name and constraints of a set.

    Args:
        subject: the set.
        new: the manifest.
        old: the manifest before the update; None for a new set.
        configuration: of the operator.
        view: what is known of topologies and placed pods; what is unknown is not compared.
    """
    update = _SetUpdate(new, old, configuration, view)
    own = bad_fields_new_in_update(
        _manifest_violations(update),
        _manifest_violations(_SetUpdate(old, None, configuration, view)) if old is not None else (),
    )
    for found in (*own, *_reference_violations(update), *_domain_violations(update), *_change_violations(update)):
        yield found.as_objection(subject)


def topology_warnings(
    subject: Ref,
    new: PodCliqueSetManifest,
    old: PodCliqueSetManifest | None,
    configuration: Configuration,
    view: KnownTopologiesForAdmission = NOTHING_KNOWN,
) -> Iterator[AdmissionWarning]:
    """Yield warnings on what is probably a mistake, or could not be checked.

    Args:
        subject, new, old, configuration, view: as of :func:`topology_objections`.
    """
    for found in _warnings(_SetUpdate(new, old, configuration, view)):
        yield found.as_warning(subject)


def topology_off_objections(
    subject: Ref, new: PodCliqueSetManifest, old: PodCliqueSetManifest | None, configuration: Configuration
) -> Iterator[DenialReason]:
    """Yield the objection to a topology that is newly named while topology-aware scheduling is off (TP-064).

    Args:
        subject, new, old, configuration: as of :func:`topology_objections`.
    """
    update = _SetUpdate(new, old, configuration, NOTHING_KNOWN)
    if update.is_new and update.use.named and not configuration.topology.enabled:
        fault = BadField(update.reference_path, update.use.named, TopologyDenial.NAMED_WHILE_OFF, {})
        yield fault.as_objection(subject)


def topology_off_warnings(
    subject: Ref, new: PodCliqueSetManifest, configuration: Configuration
) -> Iterator[AdmissionWarning]:
    """Yield a warning for each constraint that has no effect while topology-aware scheduling is off (TP-073)."""
    for one in () if configuration.topology.enabled else constrained_levels(new.spec.template):
        got = domains_text(one.constraint.domains)
        yield BadField(one.path, got, TopologyWarning.NO_EFFECT_WHILE_OFF, {}).as_warning(subject)


class _SetUpdate:
    """A set that is created or updated, with what several checks need.

    Attributes:
        is_new: whether the topology reference is checked: the set is new, or names another topology than before.
        known: the topologies by name; None if they are unknown, or if the set's own one cannot be parsed.
        topology: the set's own one; None if it is unknown or missing.
        scheduled: number of its pods that are bound to nodes; None if unknown.
    """

    def __init__(
        self,
        manifest: PodCliqueSetManifest,
        old: PodCliqueSetManifest | None,
        configuration: Configuration,
        view: KnownTopologiesForAdmission,
    ) -> None:
        self.manifest = manifest
        self.view = view
        self.settings = configuration.topology
        self.gang_backend = configuration.gang_backend
        self.use = topology_in_template(manifest.spec.template)
        self.constrained = tuple(constrained_levels(manifest.spec.template))
        self.old = old
        self.previous_use: TemplateTopology | None = (
            topology_in_template(old.spec.template) if old is not None else None
        )
        self.is_new = self.previous_use is None or self.previous_use.named != self.use.named
        self.known = None if self.use.effective_topology_name in view.unreadable else view.topologies
        self.topology = (self.known or {}).get(self.use.effective_topology_name)
        bound = (view.scheduled or {}).get((manifest.namespace or "default", manifest.name), 0)
        is_complete = view.scheduled is not None and CLIQUE_KIND not in view.incomplete_kinds
        self.scheduled = bound if bound or is_complete else None

    @property
    def reference_path(self) -> str:
        """The path of the topology name; of the first constraint if no name is written."""
        if self.manifest.spec.template.cluster_topology_name or not self.constrained:
            return NAME
        named = (f"{one.path}.topologyName" for one in self.constrained if one.constraint.topology_name)
        return next(named, self.constrained[0].path)

    @property
    def levels(self) -> Levels | None:
        """The levels of the set's topology; None if unknown."""
        if self.topology is not None:
            return self.topology.levels
        return (self.settings.levels or None) if self.use.effective_topology_name == DEFAULT_TOPOLOGY else None


def _manifest_violations(update: _SetUpdate) -> Iterator[BadField]:
    """Violations that show in the manifest alone (TP-063, TP-067, TP-068, TP-070)."""
    use, written = update.use, update.manifest.spec.template.cluster_topology_name
    if written and not use.constraints:
        yield BadField(NAME, written, TopologyDenial.NAMED_WITHOUT_CONSTRAINT, {})
    for one in update.constrained:
        constraint = one.constraint
        if not any(constraint.domains):
            yield BadField(one.path, "none", TopologyDenial.CONSTRAINT_EMPTY, {})
        if constraint.pack_domain and constraint.pack.required:
            facts = {"required": constraint.pack.required}
            yield BadField(f"{one.path}.packDomain", constraint.pack_domain, TopologyDenial.REQUIRED_TWICE, facts)
        if constraint.topology_name not in {"", use.named}:
            yield BadField(
                f"{one.path}.topologyName", constraint.topology_name, TopologyDenial.NAMES_DIFFER, {"named": use.named}
            )


def _reference_violations(update: _SetUpdate) -> Iterator[BadField]:
    """Violations of a new topology reference (TP-060, TP-061).

    An unchanged reference is not checked, or a set whose topology was deleted could never be updated.
    """
    name, known = update.use.effective_topology_name, update.known
    if not update.is_new or not name or not update.settings.enabled:
        return
    if known is not None and update.topology is None and update.use.named:
        if name != DEFAULT_TOPOLOGY or not update.settings.levels:
            facts = {"known": name_list_text(known), "meant": did_you_mean(name, known)}
            yield BadField(update.reference_path, name, TopologyDenial.TOPOLOGY_UNKNOWN, facts)
    elif update.topology is not None and update.topology.deleting:
        yield BadField(update.reference_path, name, TopologyDenial.TOPOLOGY_BEING_DELETED, {})


def _domain_violations(update: _SetUpdate) -> Iterator[BadField]:
    """Domains that the topology lacks, or has in another order (TP-065, TP-066)."""
    levels = update.levels
    is_judged = update.is_new or (
        update.old is not None and _domains_by_owner(update.old) != _domains_by_owner(update.manifest)
    )
    if levels is None or not update.settings.enabled or not is_judged:
        return
    order = [level.domain for level in levels]
    for one in update.constrained:
        for position, domain in enumerate(one.constraint.domains):
            path = _path_of(one, position)
            if domain and domain not in order:
                facts = {
                    "topology": update.use.effective_topology_name,
                    "known": ", ".join(order),
                    "meant": did_you_mean(domain, order),
                }
                yield BadField(path, domain, TopologyDenial.DOMAIN_UNKNOWN, facts)
            above = domain_nesting_facts(one, position, order)
            if above:
                yield BadField(path, domain, TopologyDenial.BROADER_THAN_PARENT, above)


def domain_nesting_facts(one: ConstrainedLevel, position: int, order: Sequence[str]) -> dict[str, Fact]:
    """Return the facts for a domain that is broader than the one it is nested in (TP-066); empty if it is not.

    Args:
        position: 0 for the required domain, 1 for the preferred one.
    """
    domain = one.constraint.domains[position]
    above = next(((at, other.domains[position]) for at, other in one.above if other.domains[position]), None)
    if above is None or not {domain, above[1]} <= set(order) or order.index(domain) >= order.index(above[1]):
        return {}
    return {"domain": above[1], "above": above[0], "order": ", ".join(order)}


def _change_violations(update: _SetUpdate) -> Iterator[BadField]:
    """Changes of what is immutable, always or once pods are bound (TP-062, TP-069)."""
    if update.old is None or update.previous_use is None:
        return
    manifest, previous_use = update.manifest, update.previous_use
    if update.is_new and update.scheduled:
        facts: dict[str, Fact] = {"before": previous_use.named or "absent", "scheduled": update.scheduled}
        yield BadField(
            update.reference_path if update.use.named else NAME, update.use.named, TopologyDenial.TOPOLOGY_LOCKED, facts
        )
    domains_before, domains_now = _domains_by_owner(update.old), _domains_by_owner(manifest)
    paths = {one.owner: one.path for one in (*constrained_levels(update.old.spec.template), *update.constrained)}
    for owner, path in paths.items():
        was, now = domains_before.get(owner), domains_now.get(owner)
        if was != now and all(_has_part(owner, one) for one in (update.old, manifest)):
            facts = {"before": short_json(domains_text(was))}
            yield BadField(path, domains_text(now), TopologyDenial.CONSTRAINT_IMMUTABLE, facts)


def _warnings(update: _SetUpdate) -> Iterator[BadField]:
    """Warnings on constraints (TP-072, TP-074, TP-075)."""
    if not update.constrained or not update.settings.enabled:
        return
    ignored = update.gang_backend is not GangBackend.KUBERNETES
    if ignored and has_ineffective_constraints(update.manifest.spec.template):
        path, name = f"{CLIQUES}[0].spec.podSpec.schedulerName", update.manifest.pods[0].scheduler_name
        unless = " unless its Workload API is served" if update.gang_backend is None else ""
        # One warning: all cliques have one scheduler (WL-129).
        yield BadField(path, name or None, TopologyWarning.SCHEDULER_IGNORES_GANGS, {"unless": unless})
    unknown = update.levels is None and update.known is None
    if update.is_new and (unknown or (update.previous_use is not None and update.scheduled is None)):
        what = "the topologies of the cluster" if unknown else "how many of its pods are bound to nodes"
        yield BadField(
            update.reference_path, update.use.effective_topology_name, TopologyWarning.NOT_CHECKED, {"what": what}
        )
    order = [level.domain for level in update.levels or ()]
    for one in update.constrained:
        required, preferred = one.constraint.domains
        if {required, preferred} <= set(order) and order.index(preferred) <= order.index(required):
            yield BadField(_path_of(one, 1), preferred, TopologyWarning.PREFERS_BROADER, {"required": required})


def _domains_by_owner(manifest: PodCliqueSetManifest) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the domains of each part of a set that has a constraint; both spellings give the same domains."""
    return {one.owner: one.constraint.domains for one in constrained_levels(manifest.spec.template)}


def _has_part(owner: tuple[str, str], manifest: PodCliqueSetManifest) -> bool:
    """Return whether a set has that part; added and removed parts are reported by GT-101."""
    template = manifest.spec.template
    names = {clique.name for clique in template.cliques} | {group.name for group in template.pod_clique_scaling_groups}
    return owner[0] == TEMPLATE or owner[1] in names


def _path_of(one: ConstrainedLevel, position: int) -> str:
    if position == 0 and one.constraint.pack_domain and not one.constraint.pack.required:
        return f"{one.path}.packDomain"
    return f"{one.path}.pack.{STRENGTHS[position]}"
