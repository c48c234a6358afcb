"""States of one PodCliqueSet as plain values, and the snapshot of each.

A state has what gang termination looks at and nothing else: it can be enumerated, and a specification can decide on it
without the code that it checks. All times are in seconds, and ages are counted back from the time of the snapshot.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
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

NOW: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
DELAY: Final = 60
DAY: Final = 86_400
SET: Final = "s"


class Stored(NamedTuple):
    """A stored condition: its status, its age, and its reason."""

    status: str
    age: int
    reason: str = "Recorded"


class PodState(NamedTuple):
    """What a PodClique's judgement reads of a pod."""

    ready: bool
    scheduled: bool
    crashed: bool = False
    preempted: bool = False


READY: Final = PodState(ready=True, scheduled=True)
NOT_READY: Final = PodState(ready=False, scheduled=True)
CRASHED: Final = PodState(ready=False, scheduled=True, crashed=True)
PENDING: Final = PodState(ready=False, scheduled=False)


class Clique(NamedTuple):
    """A PodClique.

    Attributes:
        needed: ``minAvailable``.
        was: ``wasAvailable``; None where the status has none.
        old_name: whether its update is stored under the older name of the field.
        created: its age.
        observed: whether its status has an ``observedGeneration``.
    """

    pods: tuple[PodState, ...] = (READY,)
    needed: int = 1
    recorded: bool = True
    was: bool | None = True
    updating: bool = False
    old_name: bool = False
    breach: Stored | None = None
    placed: Stored | None = Stored("True", DAY - 60)
    created: int = DAY
    observed: bool = True
    deleting: bool = False


class Group(NamedTuple):
    """A scaling group.

    Attributes:
        parts: its replicas by index, each with its PodCliques; None is a PodClique that does not exist.
        wanted: its ``replicas``.
        needed: its ``minAvailable``.
        flag: its condition ``GangTerminationInProgress``.
    """

    parts: tuple[tuple[Clique | None, ...], ...]
    wanted: int
    needed: int
    updating: bool = False
    breach: Stored | None = None
    flag: Stored | None = None
    created: int = DAY
    deleting: bool = False


class Replica(NamedTuple):
    """A replica of the set: its standalone PodCliques, and its scaling groups; None is one that does not exist."""

    alone: tuple[Clique | None, ...] = ()
    groups: tuple[Group | None, ...] = ()


class State(NamedTuple):
    """A PodCliqueSet and its parts.

    Attributes:
        shape: the number of PodCliques of each scaling group of the template.
        wanted: its ``replicas``.
        delay: its ``terminationDelay``; None without one.
        override: that of each of its scaling groups.
        absent: kinds that were not collected.
    """

    replicas: tuple[Replica, ...]
    shape: tuple[int, ...]
    wanted: int
    delay: int | None = DELAY
    override: int | None = None
    deleting: bool = False
    absent: frozenset[str] = frozenset()


def alone_name(index: int, number: int) -> str:
    return f"{SET}-{index}-a{number}"


def group_name(index: int, number: int) -> str:
    return f"{SET}-{index}-g{number}"


def member_name(group: str, part: int, number: int) -> str:
    """Return the name of a PodClique of a scaling group; the short names of two groups differ."""
    return f"{group}-{part}-{group[-2:]}m{number}"


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
