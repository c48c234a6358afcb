"""Generates clusters of the Go operator: its labels, its conditions, pods that crash or start."""

from datetime import timedelta
from typing import Final

from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import TERMINATION_IN_PROGRESS
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.testing import (
    RandomCluster,
    busy_clusters,
    cluster_of,
    clusters,
    storms,
    stormy,
)
from grove_core.testing.cluster_builder import AGES, START
from grove_core.testing.tape import ByteChoices

BEFORE: Final = tuple(timedelta(seconds=seconds) for seconds in (86_400, 0, 4, 5, 6, 60, 305))
"""How long before its oldest condition an object was created."""


def fielded(generated: RandomCluster, tape: ByteChoices) -> RandomCluster:
    """Return the cluster with the fields that the Go operator writes, and without those that it does not know."""
    names = {group.uid: group.ref.name for group in generated.groups}
    return replace(
        generated,
        cliques=tuple(_clique(clique, generated.root.ref.name, names, tape) for clique in generated.cliques),
        groups=tuple(_group(group, tape) for group in generated.groups),
        pods=tuple(_pod(pod, tape) for pod in generated.pods),
    )


def _clique(clique: PodClique, root: str, groups: dict[str, str], tape: ByteChoices) -> PodClique:
    labels = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": root}
    if clique.is_in_scaling_group:
        labels["app.kubernetes.io/component"] = "pcsg-podclique"
        labels["grove.io/podcliquescalinggroup"] = groups[clique.owner_uid]
    conditions = clique.status.conditions
    oldest = min((condition.last_transition_time for condition in conditions), default=START)
    status = replace(clique.status, was_available=None, observed=None if tape.rarely() else 1)
    made = oldest - tape.pick(BEFORE)
    return replace(clique, labels=FrozenMap(labels), created_at=made, status=status)


def _group(group: ScalingGroup, tape: ByteChoices) -> ScalingGroup:
    oldest = min((condition.last_transition_time for condition in group.status.conditions), default=START)
    made = oldest - tape.pick(BEFORE)
    if not tape.rarely():
        return replace(group, created_at=made)
    truth = tape.pick((ConditionStatus.TRUE, ConditionStatus.FALSE))
    flag = Condition(TERMINATION_IN_PROGRESS, truth, "Recorded", "as recorded", START - tape.pick(AGES))
    status = replace(group.status, conditions=(*group.status.conditions, flag))
    return replace(group, created_at=made, status=status)


def _pod(pod: Pod, tape: ByteChoices) -> Pod:
    crashed, unready = (False, False) if pod.ready else tape.pick(((False, False), (True, False), (False, True)))
    return replace(pod, crashed=crashed, unready=unready)


def field_clusters() -> st.SearchStrategy[RandomCluster]:
    """Generate clusters of the Go operator, also with many changes and many breaches."""
    return _fielded(st.one_of(clusters(), busy_clusters(), storms()))


def field_storms() -> st.SearchStrategy[RandomCluster]:
    """Generate clusters in which nearly everything is breached, for longer or shorter than its delay."""
    return _fielded(busy_clusters().map(stormy))


def field_storm(generated: bytes, more: bytes) -> RandomCluster:
    """Return the cluster that these bytes generate."""
    return fielded(stormy(cluster_of(generated)), ByteChoices(more))


def _fielded(drawn: st.SearchStrategy[RandomCluster]) -> st.SearchStrategy[RandomCluster]:
    tapes = st.one_of(st.binary(max_size=120), st.binary(min_size=60, max_size=120))
    return st.tuples(drawn, tapes).map(lambda pair: fielded(pair[0], ByteChoices(pair[1])))
