"""Which topology a set uses, and which sets use a topology (TP-001 to TP-003)."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.kernel.frozen import text_under_key
from grove_core.resources.api_names import SCHEDULER_FIELD, SET_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.labels import podcliqueset_name_from_labels
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_manifest import CLIQUES, GROUPS, TEMPLATE
from grove_core.resources.podcliqueset_spec import SetTemplate, TopologyConstraint

PODS_ONE_BY_ONE: Final = frozenset({"", "default-scheduler"})
"""Names of the scheduler of Kubernetes, which reads no PodGangs (TP-075)."""
_FIELD: Final = "topologyConstraint"
STRENGTHS: Final = ("required", "preferred")  # the domains of a constraint, in their order
NO_PODS: Final[Mapping[str, Iterable[Pod]]] = MappingProxyType({})


class TemplateTopology(NamedTuple):
    """The topology in a set's template.

    Attributes:
        named: the name in the template; empty where there is none.
        constraints: the number of levels with a constraint.
    """

    named: str
    constraints: int

    @property
    def effective_topology_name(self) -> str:
        """The name of the topology that applies; empty where none does. Total (TP-001)."""
        return (self.named or DEFAULT_TOPOLOGY) if self.constraints else ""


class ConstrainedLevel(NamedTuple):
    """The set, a scaling group or a clique that has a topology constraint.

    Attributes:
        path: of the constraint.
        constraint: as written.
        owner: level and name of its owner.
        above: the enclosing constraints with their paths, the nearest first.
    """

    path: str
    constraint: TopologyConstraint
    owner: tuple[str, str]
    above: tuple[tuple[str, TopologyConstraint], ...] = ()


class TopologyUser(NamedTuple):
    """A set that uses a topology, and the number of its pods that are bound to nodes."""

    namespace: str
    name: str
    scheduled: int = 0

    @property
    def namespace_and_name(self) -> str:
        """Namespace and name, for a sentence."""
        return f"{self.namespace}/{self.name}"


def sets_with_bound_pods(users: Iterable[TopologyUser]) -> tuple[TopologyUser, ...]:
    """Return the sets with a pod that is bound to a node."""
    return tuple(user for user in users if user.scheduled)


def topology_in_template(template: SetTemplate) -> TemplateTopology:
    """Return the topology in a set's template; released manifests name it in their constraints."""
    levels = tuple(constrained_levels(template))
    names = (template.cluster_topology_name, *(level.constraint.topology_name for level in levels))
    return TemplateTopology(next(filter(None, names), ""), len(levels))


def constrained_levels(template: SetTemplate) -> Iterator[ConstrainedLevel]:
    """Yield the set, then its groups, then its cliques, as far as they have a constraint."""
    top, path = template.topology_constraint, f"{TEMPLATE}.{_FIELD}"
    whole = ((path, top),) if top is not None else ()
    if top is not None:
        yield ConstrainedLevel(path, top, (TEMPLATE, ""))
    above: dict[str, tuple[tuple[str, TopologyConstraint], ...]] = {}
    for index, group in enumerate(template.pod_clique_scaling_groups):
        if group.topology_constraint is not None:
            path = f"{GROUPS}[{index}].{_FIELD}"
            yield ConstrainedLevel(path, group.topology_constraint, (GROUPS, group.name), whole)
            above |= dict.fromkeys(group.clique_names, ((path, group.topology_constraint), *whole))
    for index, clique in enumerate(template.cliques):
        if clique.topology_constraint is not None:
            path = f"{CLIQUES}[{index}].{_FIELD}"
            yield ConstrainedLevel(
                path, clique.topology_constraint, (CLIQUES, clique.name), above.get(clique.name, whole)
            )


def domains_text(domains: tuple[str, str] | None) -> str:
    """Return the domains of a constraint with their strengths, for a sentence."""
    if domains is None:
        return "absent"
    return ", ".join(f"{how} {domain}" for how, domain in zip(STRENGTHS, domains, strict=True) if domain) or "empty"


def has_ineffective_constraints(template: SetTemplate) -> bool:
    """Return whether there are constraints that have no effect, because all pods are placed one by one."""
    named = {
        text_under_key(clique.spec.pod_spec, SCHEDULER_FIELD) for clique in template.cliques if clique.spec.pod_spec
    }
    return bool(named) and named <= PODS_ONE_BY_ONE and topology_in_template(template).constraints > 0


def bound_pod_count_of_clique(clique: PodClique, pods: Iterable[Pod] = ()) -> int:
    """Return how many pods of a clique are bound to nodes: the larger of its status and its known pods."""
    return max(clique.status.scheduled or 0, sum(bool(pod.node) for pod in pods))


def set_name_of_clique(clique: PodClique) -> str:
    """Return the set that owns a clique, else the set in its labels; empty where neither is known."""
    return clique.owner_name if clique.owner_kind == SET_KIND else podcliqueset_name_from_labels(clique.labels)


def bound_pod_counts_by_set(
    cliques: Iterable[PodClique], pods_of: Mapping[str, Iterable[Pod]] = NO_PODS
) -> dict[tuple[str, str], int]:
    """Return (namespace, name) of a set -> how many of its pods are bound to nodes.

    Cliques of unknown sets do not count. ``pods_of`` has the known pods by uid of their clique.
    """
    found: dict[tuple[str, str], int] = {}
    for clique in cliques:
        name = set_name_of_clique(clique)
        bound = bound_pod_count_of_clique(clique, pods_of.get(clique.uid, ())) if name else 0
        if bound:
            key = (clique.ref.namespace, name)
            found[key] = found.get(key, 0) + bound
    return found


def sets_by_topology(
    sets: Iterable[tuple[str, str, SetTemplate]], scheduled: Mapping[tuple[str, str], int]
) -> dict[str, tuple[TopologyUser, ...]]:
    """Return topology -> the sets that use it, sorted; sets that name none use the default one (TP-002).

    A set is given by namespace, name and template; ``scheduled`` has the number of its bound pods.
    """
    found: dict[str, list[TopologyUser]] = {}
    for namespace, name, template in sets:
        topology = topology_in_template(template).effective_topology_name
        if topology:
            found.setdefault(topology, []).append(TopologyUser(namespace, name, scheduled.get((namespace, name), 0)))
    return {topology: tuple(sorted(users)) for topology, users in found.items()}
