"""Judging the replicas of a set: is any constituent breached for longer than its delay?

A constituent is a standalone clique or a scaling group. Cliques inside groups are the groups' matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from grove_core.areas.gang_termination.deadline import deadline, timing_reason
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import (
    Breach,
    CliqueJudgement,
    GroupJudgement,
    Keep,
    ReplicaFate,
    ReplicaJudgement,
    Terminate,
    Wait,
)
from grove_core.kernel.conditions import Truth
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.names import scaling_group_name, standalone_clique_name
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup

_KEEP: Final = Keep()


@dataclass(frozen=True, slots=True)
class Shape:
    """What the replicas of a set are made of, taken from its template once.

    Attributes:
        delay: of the set; None if gang termination is off (GT-031).
        standalone: short names of the standalone cliques.
        groups: short name of a scaling group -> its effective delay (GT-030).
    """

    name: str
    deleting: bool
    delay: timedelta | None
    standalone: tuple[str, ...]
    groups: Mapping[str, timedelta | None]

    def delay_of(self, group: ScalingGroup) -> timedelta | None:
        """The delay that counts for a scaling group of the set; the set's where the template does not know it."""
        return self.groups.get(group.meta.ref.name[len(self.name) + len(str(group.replica_index)) + 2 :], self.delay)


def shape_of(root: PodCliqueSet) -> Shape:
    """The shape of a set."""
    template = root.spec.template
    delay = template.delay
    groups = template.pod_clique_scaling_groups
    return Shape(
        name=root.meta.ref.name,
        deleting=root.meta.deleting,
        delay=delay,
        standalone=tuple(clique.name for clique in root.spec.standalone_cliques),
        groups={group.name: (group.delay or delay) if delay is not None else None for group in groups},
    )


def judge_replica(
    shape: Shape,
    index: int,
    cliques: Mapping[str, CliqueJudgement | None],
    groups: Mapping[str, GroupJudgement],
    now: datetime,
) -> ReplicaJudgement:
    """Judge one replica of the set (GT-030 to GT-039).

    Args:
        shape: of the set.
        index: of the replica, below ``spec.replicas``.
        cliques: name -> judgement of the standalone cliques that exist and are not being deleted; None for those with
            enough ready pods.
        groups: name -> judgement of the scaling groups that exist and are not being deleted.
        now: the snapshot's clock.
    """
    breaches: list[Breach] = []
    missing: list[str] = []
    for short in shape.standalone:
        name = standalone_clique_name(shape.name, index, short)
        judged = cliques.get(name)
        if judged is None:
            if name not in cliques:
                missing.append(f"PodClique/{name}")
        elif judged.breach is Truth.TRUE and shape.delay is not None:
            breaches.append(Breach(judged.clique.ref, judged.since, shape.delay))
    for short in shape.groups:
        name = scaling_group_name(shape.name, index, short)
        group = groups.get(name)
        if group is None:
            missing.append(f"PodCliqueScalingGroup/{name}")
        elif group.breach is Truth.TRUE and group.delay is not None:
            breaches.append(Breach(group.group.ref, group.since, group.delay))
    fate: ReplicaFate = _KEEP
    if breaches and not shape.deleting:
        first = min(deadline(breach.since, breach.delay) for breach in breaches)
        fate = Terminate() if first <= now else Wait(first)
    return ReplicaJudgement(index, fate, breaches, missing)


def cause_of(judged: ReplicaJudgement) -> Breach:
    """The breach whose delay ends first; by name among equals. Where the replica ends, it is due (GT-063)."""
    return min(judged.breaches, key=lambda breach: (deadline(breach.since, breach.delay), breach.ref.sort_key))


def because_of_fate(root: PodCliqueSet, judged: ReplicaJudgement, now: datetime) -> tuple[Reason, ...]:
    """Why a replica is ended, waited for or kept; after that, what is missing of it (GT-038)."""
    subject = root.ref.at_replica(judged.index)
    missing = (Why.CONSTITUENT_MISSING.because(subject, name=name) for name in judged.missing)
    return (*_clocks(judged, now), *missing) if judged.fate != _KEEP else (_guard(root, subject), *missing)


def _guard(root: PodCliqueSet, subject: Ref) -> Reason:
    """The first guard that keeps a replica."""
    if root.meta.deleting:
        return Why.SET_BEING_DELETED.because(subject)
    if root.spec.template.delay is None:
        return Why.TERMINATION_DISABLED.because(subject)
    return Why.NOTHING_BREACHED.because(subject)


def _clocks(judged: ReplicaJudgement, now: datetime) -> tuple[Reason, ...]:
    """The clocks that have run out, else all that run."""
    due = [breach for breach in judged.breaches if deadline(breach.since, breach.delay) <= now]
    why = Why.DELAY_EXPIRED if due else Why.DELAY_RUNNING
    return tuple(timing_reason(why, *breach) for breach in due or judged.breaches)
