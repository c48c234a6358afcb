"""Judging the replicas of a set: is any constituent breached for longer than its delay?

A constituent is a standalone clique or a scaling group. Cliques inside groups are the groups' matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from grove_core.areas.gang_termination.deadline import deadline, timing_reason
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import (
    CliqueJudgement,
    GroupJudgement,
    Keep,
    ReplicaFate,
    ReplicaJudgement,
    Terminate,
    Wait,
)
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.names import scaling_group_name, standalone_clique_name
from grove_core.resources.podcliqueset import PodCliqueSet


@dataclass(frozen=True, slots=True)
class Breach:
    """A breached constituent and the delay that counts for it (GT-030)."""

    ref: Ref
    since: datetime
    delay: timedelta

    @property
    def until(self) -> datetime:
        """GT-032."""
        return deadline(self.since, self.delay)


def effective_delay(root: PodCliqueSet, replica_index: int, group_name: str) -> timedelta | None:
    """The delay that counts for a scaling group (GT-030); None if gang termination is off (GT-031)."""
    template = root.spec.template
    for group in template.pod_clique_scaling_groups:
        if scaling_group_name(root.meta.ref.name, replica_index, group.name) == group_name:
            return group.delay or template.delay if template.delay else None
    return template.delay


def judge_replica(
    root: PodCliqueSet,
    index: int,
    cliques: Mapping[str, CliqueJudgement],
    groups: Mapping[str, GroupJudgement],
    now: datetime,
) -> ReplicaJudgement:
    """Judge one replica of the set (GT-030 to GT-039, GT-045).

    Args:
        root: the set.
        index: of the replica, below ``spec.replicas``.
        cliques, groups: name -> judgement, for those that exist and are not being deleted.
        now: the snapshot's clock.
    """
    name, delay, subject = root.meta.ref.name, root.spec.template.delay, root.ref.at_replica(index)
    breaches: list[Breach] = []
    missing: list[Reason] = []
    available = True
    for template in root.spec.standalone_cliques:
        expected = standalone_clique_name(name, index, template.name)
        judged = cliques.get(expected)
        if judged is None:
            missing.append(Why.CONSTITUENT_MISSING.because(subject, name=f"PodClique/{expected}"))
            continue
        available &= judged.counts.ready >= judged.clique.min_available
        if judged.breach is Truth.TRUE and delay is not None:
            breaches.append(Breach(judged.clique.ref, judged.since, delay))
    for config in root.spec.template.pod_clique_scaling_groups:
        expected = scaling_group_name(name, index, config.name)
        group = groups.get(expected)
        if group is None:
            missing.append(Why.CONSTITUENT_MISSING.because(subject, name=f"PodCliqueScalingGroup/{expected}"))
            continue
        available &= group.available >= group.group.min_available
        if group.breach is Truth.TRUE and delay is not None:
            breaches.append(Breach(group.group.ref, group.since, config.delay or delay))
    fate = _fate_of(root, subject, breaches, now)
    return ReplicaJudgement(index, available and not missing, Decision(fate.verdict, (*fate.because, *missing)))


def _fate_of(root: PodCliqueSet, subject: Ref, breaches: list[Breach], now: datetime) -> Decision[ReplicaFate]:
    """The first guard that keeps the replica, else what its clocks say."""
    if root.meta.deleting:
        return Decision(Keep(), (Why.SET_BEING_DELETED.because(subject),))
    if root.spec.template.delay is None:
        return Decision(Keep(), (Why.TERMINATION_DISABLED.because(subject),))
    if not breaches:
        return Decision(Keep(), (Why.NOTHING_BREACHED.because(subject),))
    due = [breach for breach in breaches if breach.until <= now]
    why = Why.DELAY_EXPIRED if due else Why.DELAY_RUNNING
    because = tuple(timing_reason(why, breach.ref, breach.since, breach.delay) for breach in due or breaches)
    return Decision(Terminate() if due else Wait(min(breach.until for breach in breaches)), because)
