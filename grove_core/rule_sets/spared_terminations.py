"""Takes the terminations of spared replicas out of a result of gang termination, and leaves the rest (LB-007)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from itertools import chain
from typing import Final, NamedTuple, TypeVar

from grove_core.areas.gang_termination.breach_delays import earliest_breach_wake_time
from grove_core.areas.gang_termination.termination_result import TerminationResult
from grove_core.areas.gang_termination.verdicts import (
    DELEGATES,
    KEEPS,
    SUSPENDS,
    TERMINATES,
    WAITS,
    Keep,
    ReplicasToTerminate,
    SetReplicaFates,
    Terminate,
)
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import Finding, SubjectHealth
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.gang_terminations import TerminationBasis
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import DesiredChanges, ObjectToDelete, StatusToWrite, TerminationDeletion, Want
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot

F = TypeVar("F")
_KEEP: Final = Keep()
_STRONGEST_FIRST: Final = (TERMINATES, WAITS, KEEPS, DELEGATES, SUSPENDS, ConditionStatus.UNKNOWN.value)
"""The verdicts on what becomes of a replica."""


class SparedReplicas(NamedTuple):
    """The replicas that are not terminated.

    Attributes:
        reasons: replica -> why.
        ends: replica -> when time alone may end it; none of the others.
    """

    reasons: FrozenDict[Ref, Reason]
    ends: FrozenDict[Ref, datetime]


def fates_with_spared(fates: SetReplicaFates, root: Ref, spared: SparedReplicas) -> SetReplicaFates:
    """Return the fates of a set, where a spared replica that would be terminated is kept."""

    def kept(fate: F, replica: Ref) -> F | Keep:
        return _KEEP if isinstance(fate, Terminate) and replica in spared.reasons else fate

    return SetReplicaFates(
        tuple(one._replace(fate=kept(one.fate, root.at_replica(one.number))) for one in fates.replicas),
        tuple(
            one._replace(
                fates=FrozenDict(
                    (index, kept(fate, one.group.ref.at_replica(index))) for index, fate in one.fates.items()
                )
            )
            for one in fates.groups
        ),
    )


def result_without_spared_terminations(
    result: TerminationResult, snapshot: Snapshot, spared: SparedReplicas, fates: SetReplicaFates
) -> TerminationResult:
    """Return the result of gang termination for a set without the terminations of spared replicas.

    Args:
        result, fates: of the rule set that terminates them.
    """
    root = snapshot.root.ref
    due = frozenset(_due_replicas(result.terminating, root, fates) & spared.reasons.keys())
    findings = tuple(_findings(result.findings, spared.reasons, due))
    if not due:
        return result._replace(findings=findings)
    left = fates_with_spared(fates, root, spared)
    times = (result.wake_at, earliest_breach_wake_time(left), *(spared.ends.get(one) for one in due))
    parts = {(one.name, one.replica) for one in due if one.kind != root.kind}
    objects: dict[Ref, PodClique | ScalingGroup] = {one.ref: one for one in snapshot.cliques}
    objects |= {one.ref: one for one in snapshot.groups}
    kept = (_deletion_without_spared(one, due, objects) for one in result.deletions)
    return result._replace(
        statuses=_without_reports(result.statuses, due, root, objects),
        deletions=tuple(one for one in kept if one is not None),
        findings=findings,
        wake_at=min((at for at in times if at is not None), default=None),
        terminating=ReplicasToTerminate(
            frozenset(one for one in result.terminating.replicas if root.at_replica(one) not in due),
            frozenset(one for one in result.terminating.parts if one not in parts),
        ),
    )


def _due_replicas(terminating: ReplicasToTerminate, root: Ref, fates: SetReplicaFates) -> AbstractSet[Ref]:
    """Return the replicas whose deletions are in a result.

    A replica that counts as terminating because of deletions of an earlier round alone (GF-090) is none of them.
    """
    terminated = fates.replicas_to_terminate
    groups = {one.group.ref.name: one.group.ref for one in fates.groups}
    return {
        *(root.at_replica(index) for index in terminated.replicas & terminating.replicas),
        *(groups[name].at_replica(index) for name, index in terminated.parts & terminating.parts),
    }


def _deletion_without_spared(
    deletion: ObjectToDelete, due: AbstractSet[Ref], objects: Mapping[Ref, PodClique | ScalingGroup]
) -> ObjectToDelete | None:
    """Return the deletion of a PodClique for the gangs that are not spared; None where all of them are.

    Where the replica of the set is spared, it rests on the cause of its scaling group's replica instead, or on the
    group while that cause is being deleted (PL-015).

    Args:
        due: the spared replicas.
        objects: the PodCliques and scaling groups of the set.
    """
    termination = deletion.termination
    gangs = () if termination is None else termination.basis.gangs
    left = tuple(one for one in gangs if one.replica not in due)
    if left == gangs:
        return deletion
    if not left or termination is None:
        return None
    because = tuple(chain.from_iterable(one.because or () for one in left))
    if left[0] == gangs[0]:
        return replace(
            deletion, because=because, termination=replace(termination, basis=replace(termination.basis, gangs=left))
        )
    trigger = objects[left[0].trigger]
    cause = objects[left[0].replica.without_replica] if trigger.deleting else trigger
    basis = TerminationBasis(((cause.ref, cause.guard),), left)
    return replace(
        deletion, because=because, termination=TerminationDeletion(basis, is_cause=cause.ref == deletion.target)
    )


def _without_reports(
    statuses: DesiredChanges, due: AbstractSet[Ref], root: Ref, objects: Mapping[Ref, PodClique | ScalingGroup]
) -> DesiredChanges:
    """Return the statuses; those of scaling groups of a spared replica of the set without the report of its end."""

    def reduced(want: Want) -> Want | None:
        if not isinstance(want, StatusToWrite) or want.report is None:
            return want
        if root.at_replica(objects[want.target].replica_index) not in due:
            return want
        report = want.report
        return replace(want, fields=report.fields, because=report.because, report=None) if report.fields else None

    wants = (reduced(one) for one in statuses.wants)
    return DesiredChanges(tuple(one for one in wants if one is not None), statuses.withheld)


def _findings(findings: Iterable[Finding], reasons: Mapping[Ref, Reason], due: AbstractSet[Ref]) -> Iterator[Finding]:
    """Yield the findings; a spared replica is kept, or waits as before, and its scaling group as its replicas."""
    found = [_finding(one, reasons, due) for one in findings]
    parts: defaultdict[Ref, list[Finding]] = defaultdict(list)
    for one in found:
        if one.question == TERMINATION and one.subject.replica is not None:
            parts[one.subject.without_replica].append(one)
    groups = {one.without_replica for one in reasons}
    for one in found:
        is_group = one.question == TERMINATION and one.subject.replica is None and one.subject in groups
        yield _finding_on_group(one, parts[one.subject]) if is_group and one.verdict in {TERMINATES, WAITS} else one


def _finding(one: Finding, reasons: Mapping[Ref, Reason], due: AbstractSet[Ref]) -> Finding:
    if one.question != TERMINATION or one.subject not in reasons:
        return one
    why = reasons[one.subject]
    if one.subject in due:
        return one._replace(
            verdict=KEEPS, because=(why, *one.because), deadline=None, causes=(), health=SubjectHealth.LACKING
        )
    return one._replace(because=(*one.because, why)) if one.verdict == WAITS else one


def _finding_on_group(finding: Finding, parts: Iterable[Finding]) -> Finding:
    """Return the finding on a scaling group as a whole: the strongest verdict of its replicas, with their reasons."""
    found = [*parts]
    verdict = min((one.verdict for one in found), key=_STRONGEST_FIRST.index)
    like = [one for one in found if one.verdict == verdict]
    return finding._replace(
        verdict=verdict,
        because=tuple(dict.fromkeys(reason for one in like for reason in one.because)),
        deadline=min((one.deadline for one in like if one.deadline is not None), default=None),
        causes=tuple(dict.fromkeys(cause for one in like for cause in one.causes)),
    )
