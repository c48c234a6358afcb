"""The names of all objects that can exist at a time of a scenario, by kind."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from grove_core.admit import admit, manifest_with_defaults_of
from grove_core.kernel.admission import Deny
from grove_core.resources.api_names import CLAIM_KIND, DOMAIN_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.configuration import Configuration, TopologyAwareSettings
from grove_core.resources.domain_sharing import (
    DomainMembership,
    domain_membership_of_position,
    effective_mnnvl_annotations,
)
from grove_core.resources.naming_rules import compute_domain_name, scaling_group_name, set_replica_name
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.expected_replicas import ExpectedReplica, ExpectedSetReplicas
from grove_shell.simulator.scenario.scenario_events import (
    ApplySetScenarioEvent,
    ApplyTopologyScenarioEvent,
    AutoscaleScenarioEvent,
    ScaleScenarioEvent,
    ScenarioEvent,
    ScenarioNodePool,
)
from grove_shell.simulator.scenario.scenario_field_types import AUTOSCALER, NODE


def shared_domain_memberships(root: PodCliqueSet, replica: ExpectedReplica) -> Iterator[DomainMembership]:
    """Yield the shared ComputeDomain of each PodClique in one replica of a set; PodCliques may share the same one."""
    order = {clique.name: place for place, clique in enumerate(root.spec.template.cliques)}
    for part in sorted(replica.all_cliques, key=lambda one: order[one.template.name]):
        group = None if part.group is None else part.group.template
        annotations = effective_mnnvl_annotations(root.annotations, part.template, group)
        member = domain_membership_of_position(part.position_in(root.ref.name), annotations)
        if member is not None:
            yield member


_SHOWN: Final = 4
_MOST_COMPARED: Final = 2_000
CLIQUE_TEMPLATE: Final = "clique"
_SET_PARTS: Final = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", AUTOSCALER)
_KINDS: Final = frozenset({*_SET_PARTS, DOMAIN_KIND, CLAIM_KIND, TOPOLOGY_KIND, NODE})

_OPEN: Final = Configuration(topology=TopologyAwareSettings(enabled=True))
"""Configuration under which admission accepts any topology name: the topologies of that time are not known yet."""


class PossibleObjectNames:
    """The names that objects may have had so far, by kind.

    Names are ``namespace/name``; nodes and topologies have no namespace. The default topology is always
    included, because the operator may create it. Sets are admitted by the operator of the rules.
    """

    def __init__(
        self,
        sets: Iterable[Mapping[str, Any]],
        nodes: Iterable[ScenarioNodePool],
        dump: IndexedCluster | None,
        topologies: Iterable[Mapping[str, Any]] = (),
        rules: RuleSet = DESIGN,
    ) -> None:
        self._rules = rules
        self._roots: defaultdict[str, list[PodCliqueSet]] = defaultdict(list)
        self._requested: dict[tuple[str, str], int] = {}  # kind and name -> the most replicas that an event requests
        self._stored: defaultdict[str, set[str]] = defaultdict(set)
        self._names: dict[str, dict[str, None]] | None = None
        self._without_namespace: dict[str, set[str]] = {}
        self._add(NODE, [name for pool in nodes for name in pool.node_names])
        self._add(TOPOLOGY_KIND, [DEFAULT_TOPOLOGY, *(metadata_in(one).name for one in topologies)])
        for manifest in sets:
            self._add_root(podcliqueset_from_json(manifest))
        if dump is not None:
            self._add_dump(dump)

    def add_names_created_by(self, event: ScenarioEvent) -> None:
        """Add the names of the objects that an event may create."""
        arguments = event.arguments
        if isinstance(arguments, ScenarioNodePool):
            self._add(NODE, arguments.node_names)
        elif isinstance(arguments, ApplySetScenarioEvent) and not isinstance(
            admit(arguments.manifest, configuration=_OPEN, rules=self._rules).verdict, Deny
        ):
            self._add_root(podcliqueset_from_json(manifest_with_defaults_of(arguments.manifest, self._rules)))
        elif isinstance(arguments, ApplyTopologyScenarioEvent):
            self._add(TOPOLOGY_KIND, [metadata_in(arguments.manifest).name])
        elif isinstance(arguments, ScaleScenarioEvent):
            self._request(arguments.kind, arguments.name, arguments.replicas)
        elif isinstance(arguments, AutoscaleScenarioEvent):
            self._request("PodCliqueScalingGroup", arguments.name, arguments.replicas)

    @property
    def max_object_count(self) -> int:
        """An upper bound of the number of objects of all sets, computed without listing names."""
        return sum(self._size_of(full.rpartition("/")[2], roots) for full, roots in self._roots.items())

    def _size_of(self, name: str, roots: list[PodCliqueSet]) -> int:
        most = max(self._requested.get(("PodCliqueSet", name), 0), *(root.spec.replicas for root in roots))
        counts = (count for (kind, _), count in self._requested.items() if kind == "PodCliqueScalingGroup")
        requested = max(counts, default=0)
        each = 0
        for template in (root.spec.template for root in roots):
            each += 2 + len(template.cliques)
            for group in template.pod_clique_scaling_groups:
                least = group.scale_config.min_replicas or 0 if group.scale_config is not None else 0
                each += (max(group.replicas, requested, least) + 1) * (len(group.clique_names) + 1)
        return most * each

    def knows_all_names_of_kind(self, kind: str) -> bool:
        """Return whether the registry knows all names of a kind."""
        return kind in _KINDS

    def can_exist(self, kind: str, name: str) -> bool:
        """Return whether an object of a kind may have a name, with or without its namespace."""
        return name in self._all().get(kind, {}) or name in self._without_namespace.get(kind, ())

    def similar_names(self, kind: str, name: str) -> str:
        """Return the known names of a kind as text, the most similar first."""
        has_namespace = "/" in name
        full = self._all().get(kind, {})
        found = list(full if has_namespace else dict.fromkeys(name.rpartition("/")[2] for name in full))
        return similar_known_names_text(name, found) or f"there is no {kind}"

    def _add_root(self, root: PodCliqueSet) -> None:
        self._roots[f"{root.ref.namespace}/{root.ref.name}"].append(root)
        self._names = None

    def _add_dump(self, dump: IndexedCluster) -> None:
        for root in dump.sets:
            self._add_root(root)
        parts = (*dump.cliques_of.values(), *dump.groups_of.values(), *dump.gangs_of.values())
        for item in (item for found in parts for item in found):
            self._add(item.ref.kind, [f"{item.ref.namespace}/{item.ref.name}"])
        for owned in (item for found in dump.others_of.values() for item in found):
            if owned.ref.kind == AUTOSCALER:
                self._add(AUTOSCALER, [f"{owned.ref.namespace}/{owned.ref.name}"])
        for kind, held in ((DOMAIN_KIND, dump.domains), (CLAIM_KIND, dump.claims)):
            self._add(kind, [f"{namespace}/{name}" for namespace, name in held])
        self._add(TOPOLOGY_KIND, dump.topologies)
        for group in (group for found in dump.groups_of.values() for group in found):
            self._request("PodCliqueScalingGroup", group.ref.name, group.replicas)
        self._add(NODE, sorted({pod.node for pods in dump.pods_of.values() for pod in pods if pod.node}))

    def _add(self, kind: str, names: Iterable[str]) -> None:
        self._stored[kind].update(names)
        self._names = None

    def _request(self, kind: str, name: str, replicas: int) -> None:
        key = (kind, name.rpartition("/")[2])
        self._requested[key] = max(self._requested.get(key, 0), replicas)
        self._names = None

    def _all(self) -> Mapping[str, Mapping[str, None]]:
        """Return all names by kind, in a fixed order."""
        if self._names is None:
            found = {kind: dict.fromkeys(sorted(names)) for kind, names in self._stored.items()}
            for full, roots in self._roots.items():
                namespace, _, name = full.partition("/")
                found.setdefault("PodCliqueSet", {})[full] = None
                for kind, part in self._parts_of(name, roots):
                    found.setdefault(kind, {})[f"{namespace}/{part}"] = None
            self._names = found
            self._without_namespace = {
                kind: {full.rpartition("/")[2] for full in names} for kind, names in found.items()
            }
        return self._names

    def _parts_of(self, name: str, roots: list[PodCliqueSet]) -> Iterator[tuple[str, str]]:
        """Kind and name of what a set may have become, in any of the forms that it had; an update spares one more."""
        most = max(self._requested.get(("PodCliqueSet", name), 0), *(root.spec.replicas for root in roots))
        for root in roots:
            yield from ((CLIQUE_TEMPLATE, clique.name) for clique in root.spec.template.cliques)
            expected = ExpectedSetReplicas(
                root.ref.name, root.spec, self._most_group_replicas(root, most, spare=int(len(roots) > 1))
            )
            for index in range(most):
                yield "PodGang", set_replica_name(name, index)
                yield DOMAIN_KIND, compute_domain_name(name, index)
                yield from _names_in_replica(root, expected.replica(index))

    def _most_group_replicas(self, root: PodCliqueSet, replicas: int, *, spare: int) -> Mapping[str, int]:
        """Return the most replicas that each scaling group may have had, by its name."""
        found = {}
        for group in root.spec.template.pod_clique_scaling_groups:
            least = group.scale_config.min_replicas or 0 if group.scale_config is not None else 0
            for index in range(replicas):
                name = scaling_group_name(root.ref.name, index, group.name)
                requested = self._requested.get(("PodCliqueScalingGroup", name), 0)
                found[name] = max(group.replicas, requested, least) + spare
        return found


def _names_in_replica(root: PodCliqueSet, replica: ExpectedReplica) -> Iterator[tuple[str, str]]:
    """Yield kind and name of what one replica may consist of."""
    for part in replica.all_cliques:
        yield "PodClique", part.name
        if part.group is None and part.template.spec.auto_scaling_config is not None:
            yield AUTOSCALER, part.name
    for group in replica.groups:
        yield "PodCliqueScalingGroup", group.name
        if group.template.scale_config is not None:
            yield AUTOSCALER, group.name
    yield from (("PodGang", gang.name) for gang in replica.gangs)
    for member in shared_domain_memberships(root, replica):
        yield DOMAIN_KIND, member.domain_name
        yield CLAIM_KIND, member.claim_name


def similar_known_names_text(name: str, known: Iterable[str]) -> str:
    """Return ``known: a, b and 3 more`` with the most similar names first; empty without known names.

    Above 2,000 known names they stay in their order, because comparing them takes too long.
    """
    found = list(known)
    matcher = SequenceMatcher(b=name)

    def dissimilarity(other: str) -> float:
        matcher.set_seq1(other)
        return -matcher.ratio()

    ordered = sorted(found, key=dissimilarity) if len(found) <= _MOST_COMPARED else found
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"known: {', '.join(ordered[:_SHOWN])}{more}" if found else ""
