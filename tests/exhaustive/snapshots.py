"""Builds the snapshot of a state, with objects as the product reads them."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet, PodCliqueSetStatus
from grove_core.resources.podcliqueset_spec import (
    CliqueSpec,
    CliqueTemplate,
    ScalingGroupTemplate,
    SetSpec,
    SetTemplate,
)
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from tests.exhaustive.states import (
    SET,
    Clique,
    Group,
    PodState,
    State,
    Stored,
    alone_name,
    group_name,
    member_name,
)

NOW: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)


def snapshot_of(state: State) -> Snapshot:
    """Return the snapshot of a state."""
    alone = len(state.replicas[0].alone)
    root = _root(alone, state.shape, state.wanted, state.delay, state.override, state.deleting)
    groups: list[ScalingGroup] = []
    cliques: list[tuple[PodClique, tuple[Pod, ...]]] = []
    for index, replica in enumerate(state.replicas):
        cliques += [
            _clique(alone_name(index, number), clique, index, -1, "")
            for number, clique in enumerate(replica.alone)
            if clique is not None
        ]
        for number, group in enumerate(replica.groups):
            if group is None:
                continue
            name = group_name(index, number)
            bare = group._replace(parts=())
            groups.append(_group(name, bare, index, state.shape[number]))
            cliques += [
                _clique(member_name(name, part, place), clique, index, part, name)
                for part, found in enumerate(group.parts)
                for place, clique in enumerate(found)
                if clique is not None
            ]
    cluster = index_cluster(
        sets=(root,),
        groups=groups,
        cliques=[clique for clique, _ in cliques],
        pods=[pod for _, pods in cliques for pod in pods],
    )
    return replace(cluster.snapshot_of(root, NOW), not_collected=state.absent)


@cache
def _root(
    alone: int, shape: tuple[int, ...], wanted: int, delay: int | None, override: int | None, deleting: bool
) -> PodCliqueSet:
    one = CliqueSpec(replicas=1, min_available=1)
    names = [f"a{number}" for number in range(alone)]
    names += [f"g{number}m{place}" for number, size in enumerate(shape) for place in range(size)]
    groups = tuple(
        ScalingGroupTemplate(
            name=f"g{number}",
            clique_names=tuple(f"g{number}m{place}" for place in range(size)),
            replicas=1,
            min_available=1,
            termination_delay=None if override is None else timedelta(seconds=override),
        )
        for number, size in enumerate(shape)
    )
    template = SetTemplate(
        cliques=tuple(CliqueTemplate(name=name, spec=one) for name in names),
        pod_clique_scaling_groups=groups,
        termination_delay=None if delay is None else timedelta(seconds=delay),
    )
    return PodCliqueSet(
        ref=Ref("grove.io", "PodCliqueSet", "ml", SET),
        uid=f"uid-{SET}",
        resource_version="1",
        owner_uid="",
        finalizers=("grove.io/podcliqueset.grove.io",),
        deleting=deleting,
        spec=SetSpec(replicas=wanted, template=template),
        status=PodCliqueSetStatus(),
    )


@cache
def _group(name: str, group: Group, index: int, size: int) -> ScalingGroup:
    conditions = (
        *_condition("MinAvailableBreached", group.breach),
        *_condition("GangTerminationInProgress", group.flag),
    )
    return ScalingGroup(
        ref=Ref("grove.io", "PodCliqueScalingGroup", "ml", name),
        uid=f"uid-{name}",
        resource_version="1",
        owner_uid=f"uid-{SET}",
        owner_kind="PodCliqueSet",
        owner_name=SET,
        deleting=group.deleting,
        replica_index=index,
        replicas=group.wanted,
        min_available=group.needed,
        clique_names=tuple(f"{name[-2:]}m{place}" for place in range(size)),
        created_at=NOW - timedelta(seconds=group.created),
        status=GroupStatus(updating=group.updating, conditions=conditions),
    )


@cache
def _clique(name: str, clique: Clique, index: int, part: int, group: str) -> tuple[PodClique, tuple[Pod, ...]]:
    owner = group or SET
    labels = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": SET}
    if group:
        labels |= {"app.kubernetes.io/component": "pcsg-podclique", "grove.io/podcliquescalinggroup": group}
    conditions = (*_condition("MinAvailableBreached", clique.breach), *_condition("PodCliqueScheduled", clique.placed))
    made = PodClique(
        ref=Ref("grove.io", "PodClique", "ml", name),
        uid=f"uid-{name}",
        resource_version="1",
        owner_uid=f"uid-{owner}",
        owner_kind="PodCliqueScalingGroup" if group else "PodCliqueSet",
        owner_name=owner,
        deleting=clique.deleting,
        replica_index=index,
        group_replica_index=part,
        replicas=len(clique.pods),
        min_available=clique.needed,
        template_hash="h1",
        created_at=NOW - timedelta(seconds=clique.created),
        labels=FrozenMap(labels),
        status=CliqueStatus(
            recorded=clique.recorded,
            was_available=clique.was,
            updating=clique.updating,
            old_spelling=clique.old_name,
            observed=1 if clique.observed else None,
            conditions=conditions,
        ),
    )
    return made, tuple(_pod(f"{name}-{number}", pod, made.uid) for number, pod in enumerate(clique.pods))


def _condition(type_: str, stored: Stored | None) -> tuple[Condition, ...]:
    if stored is None:
        return ()
    since = NOW - timedelta(seconds=stored.age)
    return (Condition(type_, ConditionStatus(stored.status), stored.reason, "as recorded", since),)


def _pod(name: str, pod: PodState, owner_uid: str) -> Pod:
    return Pod(
        namespace="ml",
        name=name,
        uid=f"uid-{name}",
        resource_version="1",
        owner_uid=owner_uid,
        template_hash="h1",
        gang="",
        node="node-1" if pod.scheduled else "",
        phase="Running" if pod.scheduled else "Pending",
        trouble="",
        deleting=False,
        scheduled=pod.scheduled,
        gated=False,
        ready=pod.ready,
        crashed=pod.crashed,
        preempted=pod.preempted,
    )
