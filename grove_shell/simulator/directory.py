"""Who there can be at a moment of a scenario, by name; names in events are looked up before a run (SM-006).

Only what no run could bring about counts as unknown. A clique that was scaled away, or a pod that is gone, is found out
about when the event happens (SM-007).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic.alias_generators import to_camel

from grove_core.admit import admit
from grove_core.areas.workload.defaults import with_defaults
from grove_core.kernel.admission import Deny
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TOPOLOGY_KIND
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.configuration import Configuration, TopologyAware
from grove_core.resources.names import (
    domain_name,
    member_clique_name,
    replica_name,
    scaled_gang_name,
    scaling_group_name,
    standalone_clique_name,
)
from grove_core.resources.owned import CLAIM_KIND
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_of
from grove_core.resources.template import SetTemplate
from grove_core.snapshot.cluster import Cluster
from grove_shell.simulator.events import Event
from grove_shell.simulator.fault_events import EditStatus, ForeignDomain, GateForeign, HoldForeign, RemoveLabels
from grove_shell.simulator.likeness import closest
from grove_shell.simulator.scenario import Expectation, Scenario
from grove_shell.simulator.shared_names import memberships_of
from grove_shell.simulator.spans import span_text
from grove_shell.simulator.user_events import (
    ApplySet,
    ApplyTopology,
    Autoscale,
    ClaimAt,
    DomainAt,
    Named,
    NodeAt,
    NodePool,
    PodAt,
    Scale,
    TopologyAt,
)

_AUTOSCALER: Final = "HorizontalPodAutoscaler"
_NODE: Final = "node"
_TEMPLATE: Final = "clique"
_KINDS: Final = frozenset(
    {"PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", DOMAIN_KIND, CLAIM_KIND, TOPOLOGY_KIND}
)

_OPEN: Final = Configuration(topology=TopologyAware(enabled=True))
"""Which topologies may be named is not known beforehand; nobody is refused for the one that a manifest names."""
_EXPECTED_OF: Final = {
    "failed_domains": "PodCliqueSet",
    "in_sync": "PodCliqueSet",
    "stands_on": "PodClique",
    "topologies": "PodGang",
    "held": TOPOLOGY_KIND,
    "levels": TOPOLOGY_KIND,
}
"""Fields of an expectation that say something of objects of one kind."""


MOST: Final = 200_000
"""Objects that sets may come to have, for each is known by its name before anything is played."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """A name that nobody can have by then.

    Attributes:
        path: of the field with the name.
        expected: who might have been meant, the closest name first.
    """

    path: str
    expected: str
    got: str


def strangers_in(scenario: Scenario, dump: Cluster | None = None) -> list[Stranger]:
    """Every name in a scenario that nobody can have by then (SM-006).

    Args:
        scenario: its sets are admitted.
        dump: what it starts from, where it names one.
    """
    spec = scenario.spec
    known = Directory(spec.sets, spec.nodes, dump, spec.topologies)
    return strangers_among(known, dict(enumerate(spec.events)), dict(enumerate(spec.expect)), spec.kubelet.cliques)


def _unknown_to(known: "Directory", place: int, event: Event) -> Iterator[Stranger]:
    for path, kind, name in _named_by(event):
        if not known.has(kind, name):
            meant = f"a {kind} that can be there at {span_text(event.at)}; {known.like(kind, name)}"
            yield Stranger(f"spec.events[{place}].{path}", meant, f'"{name}"')


def _too_many(path: str, known: "Directory") -> Stranger:
    return Stranger(path, f"sets that come to have at most {MOST:,} objects", f"{known.size:,}")


def strangers_among(
    known: "Directory", events: Mapping[int, Event], expected: Mapping[int, Expectation], paces: Iterable[str]
) -> list[Stranger]:
    """The same of parts of a scenario.

    Args:
        known: who is there at the start; learns of what the events may bring about.
        events: by place in their list; those of one moment happen in this order.
        expected: by place in their list; they may name whoever can be there at any moment.
        paces: short names of cliques for which a kubelet has a pace of its own.
    """
    found: list[Stranger] = []
    if known.size > MOST:
        return [_too_many("spec.sets", known)]
    for place, event in sorted(events.items(), key=lambda pair: (pair[1].at, pair[0])):
        found.extend(_unknown_to(known, place, event))
        known.take(event)
        if known.size > MOST:
            return [*found, _too_many(f"spec.events[{place}]", known)]
    for place, expectation in expected.items():
        for path, kind, name in _expected_by(expectation):
            if known.knows_of(kind) and not known.has(kind, name):
                meant = f"a {kind} that can ever be there; {known.like(kind, name)}"
                found.append(Stranger(f"spec.expect[{place}].{path}", meant, f'"{name}"'))
    for name in paces:
        if not known.has(_TEMPLATE, name):
            meant = f"a clique of some set's template; {known.like(_TEMPLATE, name)}"
            found.append(Stranger(f"spec.kubelet.cliques.{name}", meant, f'"{name}"'))
    return found


def _named_by(event: Event) -> Iterator[tuple[str, str, str]]:
    """Field path, kind and name of everybody that an event names."""
    deed, field = event.deed, event.written
    match deed:
        case Scale() | HoldForeign():
            yield f"{field}.name", deed.kind, deed.name
        case Autoscale(name=name):
            yield f"{field}.name", _AUTOSCALER, name
        case Named(name=name):
            yield f"{field}.name", "PodCliqueSet", name
        case DomainAt(name=name) | ForeignDomain(name=name):
            yield f"{field}.name", DOMAIN_KIND, name
        case ClaimAt(name=name):
            yield f"{field}.name", CLAIM_KIND, name
        case TopologyAt(name=name):
            yield f"{field}.name", TOPOLOGY_KIND, name
        case PodAt() | GateForeign() | EditStatus() | RemoveLabels():
            yield f"{field}.clique", "PodClique", deed.clique
        case NodeAt(of=PodAt(clique=name)):
            yield f"{field}.of.clique", "PodClique", name
        case NodeAt(node=name):
            yield f"{field}.node", _NODE, name
        case _:
            return


def _expected_by(expectation: Expectation) -> Iterator[tuple[str, str, str]]:
    """Field path, kind and name of everybody that an expectation names."""
    for field in ("pods", "scheduled", "ready", "gated", "joined", "images"):
        value = getattr(expectation, field)
        for name in value if isinstance(value, Mapping) else ():
            yield f"{field}.{name}", "PodClique", name
    for field, kind in _EXPECTED_OF.items():
        for name in getattr(expectation, field):
            yield f"{to_camel(field)}.{name}", kind, name
    for field in ("exists", "gone"):
        for place, whole in enumerate(getattr(expectation, field)):
            kind, _, name = whole.partition("/")
            yield f"{field}[{place}]", kind, name


class Directory:
    """Everybody who may have been there so far, by kind.

    Names are ``namespace/name``; those of nodes and topologies bare. The operator may make the default topology.
    """

    def __init__(
        self,
        sets: Iterable[Mapping[str, Any]],
        nodes: Iterable[NodePool],
        dump: Cluster | None,
        topologies: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        self._roots: defaultdict[str, list[PodCliqueSet]] = defaultdict(list)
        self._asked: dict[tuple[str, str], int] = {}  # kind and name -> the most replicas that somebody asked for
        self._stored: defaultdict[str, set[str]] = defaultdict(set)
        self._names: dict[str, dict[str, None]] | None = None
        self._bare: dict[str, set[str]] = {}
        for pool in nodes:
            self._add_pool(pool)
        self._add(TOPOLOGY_KIND, [DEFAULT_TOPOLOGY, *map(_name_in, topologies)])
        for manifest in sets:
            self._add_root(podcliqueset_of(manifest))
        if dump is not None:
            self._add_dump(dump)

    def take(self, event: Event) -> None:
        """What an event may bring about."""
        deed = event.deed
        if isinstance(deed, NodePool):
            self._add_pool(deed)
        elif isinstance(deed, ApplySet) and not isinstance(admit(deed.manifest, configuration=_OPEN).verdict, Deny):
            self._add_root(podcliqueset_of(with_defaults(deed.manifest)))
        elif isinstance(deed, ApplyTopology):
            self._add(TOPOLOGY_KIND, [_name_in(deed.manifest)])
        elif isinstance(deed, Scale):
            self._ask(deed.kind, deed.name, deed.replicas)
        elif isinstance(deed, Autoscale):
            self._ask("PodCliqueScalingGroup", deed.name, deed.replicas)

    @property
    def size(self) -> int:
        """How many objects the sets may come to have, or more; nothing is listed for it."""
        return sum(self._size_of(full.rpartition("/")[2], roots) for full, roots in self._roots.items())

    def _size_of(self, name: str, roots: list[PodCliqueSet]) -> int:
        most = max(self._asked.get(("PodCliqueSet", name), 0), *(root.spec.replicas for root in roots))
        asked = max((count for (kind, _), count in self._asked.items() if kind == "PodCliqueScalingGroup"), default=0)
        each = 0
        for template in (root.spec.template for root in roots):
            each += 2 + len(template.cliques)
            for group in template.pod_clique_scaling_groups:
                least = group.scale_config.min_replicas or 0 if group.scale_config is not None else 0
                each += (max(group.replicas, asked, least) + 1) * (len(group.clique_names) + 1)
        return most * each

    def knows_of(self, kind: str) -> bool:
        """Whether all objects of a kind are known by name."""
        return kind in _KINDS

    def has(self, kind: str, name: str) -> bool:
        """Whether somebody of the kind may have the name: bare, or behind its namespace."""
        return name in self._all().get(kind, {}) or name in self._bare.get(kind, ())

    def like(self, kind: str, name: str) -> str:
        """Who there is of a kind, the closest name first."""
        namespace = "/" in name
        full = self._all().get(kind, {})
        found = list(full if namespace else dict.fromkeys(name.rpartition("/")[2] for name in full))
        return closest(name, found) or f"there is no {kind}"

    def _add_pool(self, pool: NodePool) -> None:
        self._add(_NODE, pool.names)

    def _add_root(self, root: PodCliqueSet) -> None:
        self._roots[f"{root.ref.namespace}/{root.ref.name}"].append(root)
        self._names = None

    def _add_dump(self, dump: Cluster) -> None:
        for root in dump.sets:
            self._add_root(root)
        parts = (*dump.cliques_of.values(), *dump.groups_of.values(), *dump.gangs_of.values())
        for item in (item for found in parts for item in found):
            self._add(item.ref.kind, [f"{item.ref.namespace}/{item.ref.name}"])
        for owned in (item for found in dump.others_of.values() for item in found):
            if owned.ref.kind == _AUTOSCALER:
                self._add(_AUTOSCALER, [f"{owned.ref.namespace}/{owned.ref.name}"])
        for kind, held in ((DOMAIN_KIND, dump.domains), (CLAIM_KIND, dump.claims)):
            self._add(kind, [f"{namespace}/{name}" for namespace, name in held])
        self._add(TOPOLOGY_KIND, dump.topologies)
        for group in (group for found in dump.groups_of.values() for group in found):
            self._ask("PodCliqueScalingGroup", group.ref.name, group.replicas)
        self._add(_NODE, sorted({pod.node for pods in dump.pods_of.values() for pod in pods if pod.node}))

    def _add(self, kind: str, names: Iterable[str]) -> None:
        self._stored[kind].update(names)
        self._names = None

    def _ask(self, kind: str, name: str, replicas: int) -> None:
        key = (kind, name.rpartition("/")[2])
        self._asked[key] = max(self._asked.get(key, 0), replicas)
        self._names = None

    def _all(self) -> Mapping[str, Mapping[str, None]]:
        """Every name by kind, in a fixed order."""
        if self._names is None:
            found = {kind: dict.fromkeys(sorted(names)) for kind, names in self._stored.items()}
            for full, roots in self._roots.items():
                namespace, _, name = full.partition("/")
                found.setdefault("PodCliqueSet", {})[full] = None
                for kind, part in self._parts_of(name, roots):
                    found.setdefault(kind, {})[f"{namespace}/{part}"] = None
            self._names = found
            self._bare = {kind: {full.rpartition("/")[2] for full in names} for kind, names in found.items()}
        return self._names

    def _parts_of(self, name: str, roots: list[PodCliqueSet]) -> Iterator[tuple[str, str]]:
        """Kind and name of what a set may have become, in any of the forms that it had; an update spares one more."""
        most = max(self._asked.get(("PodCliqueSet", name), 0), *(root.spec.replicas for root in roots))
        for root in roots:
            yield from ((_TEMPLATE, clique.name) for clique in root.spec.template.cliques)
            for replica in range(most):
                yield "PodGang", replica_name(name, replica)
                yield DOMAIN_KIND, domain_name(name, replica)
                spare = int(len(roots) > 1)
                yield from self._parts_of_replica(root.spec.template, name, replica, spare=spare)
                for member in memberships_of(root, replica, self._asked, spare):
                    yield DOMAIN_KIND, member.domain
                    yield CLAIM_KIND, member.claim

    def _parts_of_replica(
        self, template: SetTemplate, name: str, replica: int, *, spare: int
    ) -> Iterator[tuple[str, str]]:
        members = {short for group in template.pod_clique_scaling_groups for short in group.clique_names}
        for clique in (clique for clique in template.cliques if clique.name not in members):
            whole = standalone_clique_name(name, replica, clique.name)
            yield "PodClique", whole
            if clique.spec.auto_scaling_config is not None:
                yield _AUTOSCALER, whole
        for group in template.pod_clique_scaling_groups:
            owner = scaling_group_name(name, replica, group.name)
            yield "PodCliqueScalingGroup", owner
            least = group.min_available if group.min_available is not None else 1
            asked = self._asked.get(("PodCliqueScalingGroup", owner), 0)
            if group.scale_config is not None:
                yield _AUTOSCALER, owner
                asked = max(asked, group.scale_config.min_replicas or 0)
            for index in range(max(group.replicas, asked) + spare):
                yield from (("PodClique", member_clique_name(owner, index, short)) for short in group.clique_names)
                if index >= least:
                    yield "PodGang", scaled_gang_name(owner, index - least)


def _name_in(manifest: Mapping[str, Any]) -> str:
    meta = manifest.get("metadata")
    return str(meta.get("name")) if isinstance(meta, Mapping) else ""
