"""The sets of the random churn: one of each shape, each in a namespace with nodes of its own."""

from collections.abc import Callable, Mapping
from typing import Final

from tests.beside.stage import Stage, part
from tests.cluster.api import Json
from tests.cluster.scenes import group

DELAY: Final = "20s"


def _standalone(stage: Stage) -> Json:
    return stage.two(terminationDelay=DELAY)


def _one_pod_each(stage: Stage) -> Json:
    return stage.two(worker=(1, 1), terminationDelay=DELAY)


def _three_replicas(stage: Stage) -> Json:
    return stage.two(replicas=3, worker=(2, 1), terminationDelay=DELAY)


def _a_group(stage: Stage) -> Json:
    return stage.groups(terminationDelay=DELAY)


def _two_replicas_of_groups(stage: Stage) -> Json:
    return stage.groups(size=2, replicas=2, terminationDelay=DELAY)


def _all_of_a_group_needed(stage: Stage) -> Json:
    return stage.groups(size=2, minimum=2, terminationDelay="40s")


def _on_delete(stage: Stage) -> Json:
    made = stage.groups(size=2, terminationDelay=DELAY)
    made["spec"]["updateStrategy"] = {"type": "OnDelete"}
    return made


def _in_order(stage: Stage) -> Json:
    cliques = (part("frontend", 1, 1), part("leader", 1, 1), part("worker", 2, 1))
    pool = group("pool", "leader", "worker", replicas=2)
    made = stage.set_of(*cliques, podCliqueScalingGroups=[pool], terminationDelay=DELAY)
    made["spec"]["template"]["cliqueStartupType"] = "CliqueStartupTypeInOrder"
    return made


SHAPES: Final[Mapping[str, Callable[[Stage], Json]]] = {
    "standalone": _standalone,
    "one-pod-each": _one_pod_each,
    "three-replicas": _three_replicas,
    "group": _a_group,
    "two-replicas-groups": _two_replicas_of_groups,
    "all-needed": _all_of_a_group_needed,
    "on-delete": _on_delete,
    "in-order": _in_order,
}
