"""Judges a set by the design: each clique, each scaling group, then each replica of the set.

A constituent of a replica is a standalone clique or a scaling group. The cliques of a scaling group are judged with it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, assert_never

from grove_core.areas.gang_termination.breach_delays import breach_delay_reasons, replica_fate_of_breaches
from grove_core.areas.gang_termination.design.clique_judgement import judge_clique_breach
from grove_core.areas.gang_termination.design.scaling_group_judgement import judge_scaling_group_breach
from grove_core.areas.gang_termination.design.verdicts import (
    CliqueJudgement,
    GroupJudgement,
    SetTerminationJudgement,
    build,
)
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.verdicts import Keep, MinAvailableBreach, ReplicaJudgement, Terminate, Wait
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.reasons import Reason
from grove_core.resources.naming_rules import scaling_group_name, standalone_clique_name
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import is_marked_breached
from grove_core.snapshot.expected_replicas import is_set_too_large
from grove_core.snapshot.snapshot import Snapshot

_KEEP: Final = Keep()


def judge_set_replicas(
    root: PodCliqueSet,
    indices: Iterable[int],
    lacking: Iterable[CliqueJudgement],
    groups: Iterable[GroupJudgement],
    now: datetime,
    guard: TerminationReason | None,
) -> tuple[ReplicaJudgement, ...]:
    """Return the judgements of replicas of the set (GT-030 to GT-038).

    Args:
        indices: of the replicas to judge, all below ``spec.replicas``.
        lacking: the cliques with too few ready pods that are not being deleted.
        guard: why nothing of the set may be terminated; None if it may.
    """
    breached_cliques = [judged for judged in lacking if judged.breach is ConditionStatus.TRUE]
    breached_groups = [judged for judged in groups if judged.breach is ConditionStatus.TRUE]
    if not breached_cliques and not breached_groups:
        return tuple([build(ReplicaJudgement, (index, _KEEP, ())) for index in indices])
    alone = {judged.clique.ref.name: judged for judged in breached_cliques if not judged.clique.is_in_scaling_group}
    grouped = {judged.group.ref.name: judged for judged in breached_groups}
    return tuple([_judge_replica(root, index, alone, grouped, now, guard) for index in indices])


def _judge_replica(
    root: PodCliqueSet,
    index: int,
    cliques: Mapping[str, CliqueJudgement],
    groups: Mapping[str, GroupJudgement],
    now: datetime,
    guard: TerminationReason | None,
) -> ReplicaJudgement:
    """Judge one replica by those breached constituents of the set, by name, that the template names."""
    set_name, delay = root.ref.name, root.shape.delay
    breaches: list[MinAvailableBreach] = []
    for short in root.shape.standalone:
        clique = cliques.get(standalone_clique_name(set_name, index, short))
        if clique is not None and delay is not None:
            breaches.append(MinAvailableBreach(clique.clique.ref, clique.since, delay))
    for short in root.shape.groups:
        group = groups.get(scaling_group_name(set_name, index, short))
        if group is not None and group.delay is not None:
            breaches.append(MinAvailableBreach(group.group.ref, group.since, group.delay))
    fate = replica_fate_of_breaches(breaches, now) if breaches and guard is None else _KEEP
    return ReplicaJudgement(index, fate, tuple(breaches))


def replica_fate_reasons(
    root: PodCliqueSet, judged: ReplicaJudgement, missing: Iterable[str], now: datetime, guard: TerminationReason | None
) -> tuple[Reason, ...]:
    """Return why a replica is terminated, waited for or kept, and after that what is missing of it (GT-038).

    Args:
        root: the set.
        missing: ``Kind/name`` of each PodClique and scaling group that the replica lacks.
        now: of the snapshot.
        guard: why nothing of the set may be terminated; None if it may.
    """
    subject = root.ref.at_replica(judged.number)
    also = (TerminationReason.CONSTITUENT_MISSING.because(subject, name=name) for name in missing)
    match judged.fate:
        case Keep():
            return ((guard or _no_clock(root)).because(subject), *also)
        case Terminate() | Wait():
            expired, running = TerminationReason.DELAY_EXPIRED, TerminationReason.DELAY_RUNNING
            return (*breach_delay_reasons(judged.breaches, now, ended=expired, running=running), *also)
        case _:
            assert_never(judged.fate)


def _no_clock(root: PodCliqueSet) -> TerminationReason:
    """Return why no delay runs for a replica that may be terminated."""
    return TerminationReason.TERMINATION_DISABLED if root.shape.delay is None else TerminationReason.NOTHING_BREACHED


def judge_gang_termination_by_design(snapshot: Snapshot) -> SetTerminationJudgement:
    """Return the judgement of a set by the Gang Termination Design Doc. Linear in its pods, cliques and groups."""
    judgement = judge_breached_cliques_by_design(snapshot)
    lacking = {judged.clique.uid: judged for judged in judgement.cliques}
    cliques = tuple(
        lacking.get(clique.uid) or judge_clique_breach(clique, snapshot.pods_of.get(clique.uid, ()), snapshot.now)
        for clique in snapshot.cliques
        if not clique.deleting
    )
    return judgement._replace(cliques=cliques)


def judge_breached_cliques_by_design(snapshot: Snapshot) -> SetTerminationJudgement:
    """Return the same judgement with only those cliques that have too few ready pods.

    No termination depends on the other cliques; they matter for statuses and findings.
    """
    root, now = snapshot.root, snapshot.now
    pods_of, guard = snapshot.pods_of, reason_against_any_termination(snapshot)
    leaving: list[PodClique] = []
    lacking: dict[str, CliqueJudgement] = {}  # by uid, those with too few ready pods: no other clique can be breached
    members: defaultdict[str, list[CliqueJudgement]] = defaultdict(list)
    for clique in snapshot.cliques:
        if clique.deleting:
            leaving.append(clique)
            continue
        pods = pods_of.get(clique.uid, ())
        if _has_too_few_ready_pods(clique, pods):
            judged = lacking[clique.uid] = judge_clique_breach(clique, pods, now)
            members[clique.owner_uid].append(judged)
    gone = {clique.uid for clique in leaving}
    standing = tuple(clique for clique in snapshot.cliques if clique.uid not in gone) if gone else snapshot.cliques
    left = _cliques_left_by_replica(standing, snapshot.groups)
    groups = tuple(
        [
            judge_scaling_group_breach(root, group, members.get(group.uid, ()), now, guard, left[group.replica_index])
            for group in snapshot.groups
            if not group.deleting
        ]
    )
    indices = {clique.replica_index for clique in standing}
    indices.update([judged.group.replica_index for judged in groups])
    replicas = root.spec.replicas
    wanted = [index for index in sorted(indices) if 0 <= index < replicas]
    return SetTerminationJudgement(
        cliques=tuple(lacking.values()),
        leaving=tuple(leaving),
        groups=groups,
        replicas=judge_set_replicas(root, wanted, lacking.values(), groups, now, guard),
        guard=guard,
    )


def _has_too_few_ready_pods(clique: PodClique, pods: Sequence[Pod]) -> bool:
    spare = len(pods) - clique.min_available
    for pod in pods:  # a loop, since every decision comes here
        if not pod.ready:
            spare -= 1
    return spare < 0


def _cliques_left_by_replica(standing: Iterable[PodClique], groups: Iterable[ScalingGroup]) -> Counter[int]:
    """Return the number of PodCliques of each replica of the set; empty where no group may be partly terminated."""
    is_needed = any(is_marked_breached(group.status) for group in groups)
    return Counter(clique.replica_index for clique in standing) if is_needed else Counter()


def reason_against_any_termination(snapshot: Snapshot) -> TerminationReason | None:
    """Return why nothing of a set may be terminated; None if it may (GT-037, GT-064)."""
    if snapshot.root.deleting:
        return TerminationReason.SET_BEING_DELETED
    return TerminationReason.SET_TOO_LARGE if is_set_too_large(snapshot) else None
