"""The pods and owners of a cluster as facts."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from benchmarks.data.cast import CREATED, HASHES, NAMESPACE, STARTED, State, cliques_for, pods_of, sets_for
from benchmarks.data.owners import owners_of_set
from benchmarks.data.pods import GPUS
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.node_loss import NOT_READY, UNREACHABLE, NodeLossSigns
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json

_UNREADY: Final = NodeLossSigns(
    parse_time(STARTED), written_for_node=False, tolerates=((UNREACHABLE, 300), (NOT_READY, 300))
)


def pod_facts(pods: int, shared: dict[str, str]) -> list[Pod]:
    """The pods as facts, in the order in which they were created, strings shared as a load shares them."""
    return list(islice(_pod_facts(pods, shared), pods))


def _pod_facts(pods: int, shared: dict[str, str]) -> Iterator[Pod]:
    for clique in cliques_for(pods):
        owner, template_hash = shared.setdefault(clique.uid, clique.uid), HASHES[clique.role]
        gang = shared.setdefault(clique.gang, clique.gang)
        for pod in pods_of(clique):
            placed, ready = pod.state is not State.GATED, pod.state is State.READY
            yield Pod(
                NAMESPACE,
                pod.name,
                pod.uid,
                pod.version,
                owner,
                template_hash,
                gang,
                pod.node,
                "Running" if placed else "Pending",
                pod.state.value,
                deleting=False,
                scheduled=placed,
                gated=not placed,
                ready=ready,
                has_grove_gate=not placed,
                index=pod.number,
                set_name=shared.setdefault(clique.set_name, clique.set_name),
                gpus=GPUS,
                created=CREATED,
                node_signs=_UNREADY if placed and not ready else None,
            )


@dataclass(frozen=True, slots=True)
class Owners:
    """Everything of a cluster but its pods, as facts."""

    sets: tuple[PodCliqueSet, ...]
    groups: tuple[ScalingGroup, ...]
    cliques: tuple[PodClique, ...]


def owner_facts(pods: int, shared: dict[str, str]) -> Owners:
    """The sets, scaling groups and cliques of that many pods."""
    raws = [raw for number in sets_for(pods) for raw in owners_of_set(number)]
    return Owners(
        sets=tuple(podcliqueset_from_json(raw, shared) for raw in raws if raw["kind"] == "PodCliqueSet"),
        groups=tuple(scaling_group_from_json(raw, shared) for raw in raws if raw["kind"] == "PodCliqueScalingGroup"),
        cliques=tuple(podclique_from_json(raw, shared) for raw in raws if raw["kind"] == "PodClique"),
    )
