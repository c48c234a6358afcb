"""Where the pods of a PodGang stand, by each required topology constraint (TP-131, CL-081)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.refs import Ref
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podgang import PodGang
from grove_core.snapshot.snapshot import Snapshot

NodeLabels = Mapping[str, Mapping[str, str]]
"""Name of a node -> its labels."""


class ConstraintPlacement(NamedTuple):
    """Where pods stand that have to share one value of a node label.

    Attributes:
        gang: the PodGang that requires it.
        key: of the node label.
        cliques: the PodCliques of the pods.
        domains: value of the label -> names of the pods on nodes with it; an empty value for nodes without the label.
        unknown: names of the pods on nodes that are not known.
    """

    gang: Ref
    key: str
    cliques: tuple[str, ...]
    domains: FrozenDict[str, tuple[str, ...]]
    unknown: tuple[str, ...]

    @property
    def is_broken(self) -> bool:
        """Whether pods stand in more than one domain, or in none."""
        return len(self.domains) > 1 or "" in self.domains

    def domain_of_pod(self, name: str) -> str | None:
        """Return the domain of a pod, empty for none; None where it is not placed, or its node is not known."""
        return next((value for value, names in self.domains.items() if name in names), None)


def pod_placements_by_constraint(snapshot: Snapshot, nodes: NodeLabels) -> Iterator[ConstraintPlacement]:
    """Yield where the pods stand for each required constraint of each PodGang. Linear.

    Args:
        nodes: the known nodes.
    """
    placed = {
        clique.ref.name: [pod for pod in snapshot.pods_of.get(clique.uid, ()) if pod.node and is_active_pod(pod)]
        for clique in snapshot.cliques
    }
    for gang in snapshot.gangs:
        for key, cliques in required_labels_of_gang(gang):
            domains: defaultdict[str, list[str]] = defaultdict(list)
            unknown = []
            for pod in (pod for name in cliques for pod in placed.get(name, ())):
                if pod.node in nodes:
                    domains[nodes[pod.node].get(key, "")].append(pod.name)
                else:
                    unknown.append(pod.name)
            yield ConstraintPlacement(gang.ref, key, cliques, frozen_dict_of_tuples(domains), tuple(unknown))


def is_active_pod(pod: Pod) -> bool:
    """Whether a pod is neither being deleted nor finished."""
    return not pod.deleting and pod.phase not in FINISHED_PHASES


def required_labels_of_gang(gang: PodGang) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each required node label of a gang, with the PodCliques whose pods have to share its value."""
    placement = gang.placement
    scopes: Iterable[tuple[str, tuple[str, ...]]] = (
        (placement.gang.required, tuple(group.name for group in gang.groups)),
        *((one.pack.required, one.cliques) for one in placement.packed_groups),
        *((pack.required, (name,)) for name, pack in placement.cliques),
    )
    return (scope for scope in scopes if scope[0] and scope[1])
