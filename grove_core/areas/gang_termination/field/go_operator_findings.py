"""The verdicts by the rules of the Go operator as findings, also where nothing is to be done (PL-003)."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, assert_never

from grove_core.areas.gang_termination.breach_delays import breach_delay_reasons
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.verdicts import (
    GoOperatorCliqueJudgement,
    GoOperatorGroupJudgement,
    GoOperatorJudgement,
    GoOperatorReplicaJudgement,
    is_status_of_running_update,
)
from grove_core.areas.gang_termination.field.wanted_statuses import available_replicas_of_set
from grove_core.areas.gang_termination.termination_findings import termination_finding
from grove_core.areas.gang_termination.verdicts import (
    KEEPS,
    Delegate,
    GroupFate,
    Keep,
    ReplicaFate,
    Suspend,
    Terminate,
    Wait,
    finding_verdict_of_fate,
)
from grove_core.kernel.admission import AdmissionWarning
from grove_core.kernel.conditions import Condition
from grove_core.kernel.decisions import ExistingAndWantedCounts, Finding, SubjectHealth
from grove_core.kernel.questions import AVAILABILITY, BREACH, RISK, SCHEDULED
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time, short_duration_text
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.pod import UNSCHEDULABLE
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_manifest import TEMPLATE
from grove_core.resources.podcliqueset_spec import SetSpec
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import update_start_time_in_status
from grove_core.resources.topology_usage import has_ineffective_constraints
from grove_core.snapshot.snapshot import Snapshot


def go_operator_termination_findings(
    snapshot: Snapshot, judgement: GoOperatorJudgement, stored: GoOperatorJudgement
) -> Iterator[Finding]:
    """Yield the findings on a set.

    They are about the set (availability), each clique (breach, scheduled), each scaling group (breach, termination),
    and each replica of the set (termination).

    Args:
        stored: the judgement of the same set by its stored statuses (GF-084).
    """
    root, now = snapshot.root.ref, snapshot.now
    availability = available_replicas_of_set(snapshot.root, judgement)
    because = availability.as_reason(GoOperatorReason.AVAILABLE_REPLICAS, root)
    share = ExistingAndWantedCounts(availability.available, availability.replicas)
    yield Finding(root, AVAILABILITY, availability.as_finding_verdict, because, share=share)
    for seen in judgement.cliques:
        yield from _of_clique(seen, root)
    stored_fates = {found.group.ref: found.fates for found in stored.groups}
    for found in judgement.groups:
        yield from _of_group(found, stored_fates[found.group.ref], now)
    fates = {replica.number: replica.fate for replica in stored.replicas}
    for replica in judgement.replicas:
        subject = root.at_replica(replica.number)
        differs = tuple(_differs(subject, replica.fate, fates.get(replica.number)))
        because = (*_because_of_replica(snapshot, replica), *differs)
        finding = termination_finding(subject, replica.fate, because, replica.breaches, now)
        is_kept = isinstance(replica.fate, Keep) and not snapshot.root.deleting
        yield finding._replace(health=SubjectHealth.LACKING) if differs or (replica.absent and is_kept) else finding


def _of_clique(seen: GoOperatorCliqueJudgement, root: Ref) -> Iterator[Finding]:
    within = seen.clique.enclosing_replicas(root)
    because = (seen.breach_reason, *seen.reasons_against_termination)
    yield Finding(seen.clique.ref, BREACH, _word(seen.breach), because, health=seen.health, within=within)
    because = (seen.reason_for_rule(seen.why_placed),)
    yield Finding(seen.clique.ref, SCHEDULED, _word(seen.placed), because, health=seen.placement_health, within=within)


def _word(condition: Condition | None) -> str:
    """Return the status of a condition; ``Absent`` where there is none (GF-021)."""
    return "Absent" if condition is None else condition.status.value


def _of_group(found: GoOperatorGroupJudgement, stored: Mapping[int, GroupFate], now: datetime) -> Iterator[Finding]:
    ref = found.group.ref
    breached = [one for one in found.members if one.is_breached]
    because = (found.breach_reason, *found.reasons_against_termination, *(one.breach_reason for one in breached))
    yield Finding(ref, BREACH, _word(found.breach), because, causes=tuple(one.clique.ref for one in breached))
    own = tuple(
        dict.fromkeys(
            reason
            for index, fate in found.fates.items()
            if type(fate) is type(found.fate)
            for reason in _because_of_part(found, index, fate, now)
        )
    )
    because, acting = (
        own or (GoOperatorReason.GROUP_NOTHING_BREACHED.because(ref),),
        [*chain.from_iterable(found.acting.values())],
    )
    yield termination_finding(ref, found.fate, because, acting, now)
    due_by_stored = (index for index, fate in stored.items() if isinstance(fate, Terminate))
    for index in sorted({*found.fates, *due_by_stored}):
        subject, fate = ref.at_replica(index), found.fates.get(index, Keep())
        differs = tuple(_differs(subject, fate, stored.get(index)))
        because = (*_because_of_part(found, index, fate, now), *differs)
        part = termination_finding(subject, fate, because, found.acting.get(index, ()), now)
        yield part._replace(health=SubjectHealth.LACKING) if differs else part


def _because_of_part(found: GoOperatorGroupJudgement, index: int, fate: GroupFate, now: datetime) -> tuple[Reason, ...]:
    """Return why a replica of a group is terminated, waited for, or kept."""
    ref = found.group.ref
    match fate:
        case Keep():
            return (GoOperatorReason.GROUP_NOTHING_BREACHED.because(ref),)
        case Suspend():
            return (GoOperatorReason.SUSPENDED_BY_UPDATE.because(ref),)
        case Delegate():
            counts = {
                "left": found.unbreached_replica_count,
                "replicas": found.group.replicas,
                "needed": found.group.min_available,
            }
            return (GoOperatorReason.DELEGATED_TO_SET.because(ref, **counts),)
        case Wait() | Terminate():
            return breach_delay_reasons(
                found.acting[index],
                now,
                ended=GoOperatorReason.GROUP_DELAY_EXPIRED,
                running=GoOperatorReason.GROUP_DELAY_RUNNING,
            )
        case _:
            assert_never(fate)


def _because_of_replica(snapshot: Snapshot, replica: GoOperatorReplicaJudgement) -> tuple[Reason, ...]:
    """Return why a replica of the set is terminated, waited for or kept; if kept, why breaches are not acted on."""
    subject = snapshot.root.ref.at_replica(replica.number)
    match replica.fate:
        case Terminate() | Wait():
            return breach_delay_reasons(
                replica.breaches,
                snapshot.now,
                ended=GoOperatorReason.DELAY_EXPIRED,
                running=GoOperatorReason.DELAY_RUNNING,
            )
        case Keep() if snapshot.root.deleting:
            return (GoOperatorReason.SET_BEING_DELETED.because(subject),)
        case Keep() if replica.absent:
            return tuple(GoOperatorReason.STANDALONE_MISSING.because(subject, name=name) for name in replica.absent)
        case Keep():
            constituents: list[GoOperatorCliqueJudgement | GoOperatorGroupJudgement] = [
                *replica.groups,
                *replica.cliques,
            ]
            guarded = (reason for one in constituents for reason in one.reasons_against_termination)
            return (GoOperatorReason.NOTHING_BREACHED.because(subject), *guarded)
        case _:
            assert_never(replica.fate)


def _differs(subject: Ref, fate: ReplicaFate | GroupFate, stored: ReplicaFate | GroupFate | None) -> Iterator[Reason]:
    """Yield the reason that stored statuses lead elsewhere, if only one of the two fates is to terminate (GF-084)."""
    ours, theirs = isinstance(fate, Terminate), isinstance(stored, Terminate)
    if ours != theirs:
        yield GoOperatorReason.STORED_STATUS_DIFFERS.because(
            subject, verdict=finding_verdict_of_fate(stored) if stored else KEEPS
        )


_REBOOT: Final = timedelta(minutes=10)
"""The time from the loss of a node with eight GPUs until its pods are ready again; longer with large models."""


def go_operator_manifest_warnings(subject: Ref, spec: SetSpec, default: timedelta) -> tuple[AdmissionWarning, ...]:
    """Return the warnings about a manifest (GF-120).

    Args:
        default: the delay of a set without one (GF-001).
    """
    delay = spec.template.delay or default
    if delay >= _REBOOT:
        return ()
    return (
        AdmissionWarning(
            f"{TEMPLATE}.terminationDelay", short_json(short_duration_text(delay)), _too_short(subject, delay)
        ),
    )


def warnings_about_running_set(root: PodCliqueSet, delay: timedelta | None) -> Iterator[Finding]:
    """Yield the warnings about a running set as one finding; about its delay only where that is given."""
    because: list[Reason] = []
    if delay is not None and delay < _REBOOT:
        because.append(_too_short(root.ref, delay))
    if has_ineffective_constraints(root.spec.template):
        because.append(GoOperatorReason.CONSTRAINT_IN_VAIN.because(root.ref))
    if because:
        yield Finding(root.ref, RISK, "Warn", tuple(because))


def clique_and_group_findings(
    snapshot: Snapshot, judgement: GoOperatorJudgement, delay: timedelta
) -> Iterator[Finding]:
    """Yield the warnings about the cliques and scaling groups of a running set."""
    now = snapshot.now
    updated: list[PodClique | ScalingGroup] = [seen.clique for seen in judgement.cliques]
    updated += [found.group for found in judgement.groups]
    for item in updated:
        started = (
            update_start_time_in_status(item.status.progress) if is_status_of_running_update(item.status) else None
        )
        if started is not None and now - started > delay:
            facts = {"since": format_time(started), "delay": short_duration_text(delay)}
            yield Finding(
                item.ref, RISK, "Warn", (GoOperatorReason.UPDATE_SUSPENDS_FOR_LONG.because(item.ref, **facts),)
            )
    for found in judgement.groups:
        if found.actionable_breach(delay) and _lacks_room(snapshot, found):
            because = GoOperatorReason.ENDS_AGAIN_WITHOUT_ROOM.because(
                found.group.ref, delay=short_duration_text(delay)
            )
            yield Finding(found.group.ref, RISK, "Warn", (because,))


def _too_short(subject: Ref, delay: timedelta) -> Reason:
    facts = {"delay": short_duration_text(delay), "reboot": short_duration_text(_REBOOT)}
    return GoOperatorReason.DELAY_SHORTER_THAN_A_REBOOT.because(subject, **facts)


def _lacks_room(snapshot: Snapshot, found: GoOperatorGroupJudgement) -> bool:
    """Return whether the group is breached because pods of it cannot be scheduled."""
    lacking = (one for one in found.members if one.is_breached and not one.has_enough_scheduled_pods)
    pods = (pod for one in lacking for pod in snapshot.pods_of.get(one.clique.uid, ()))
    return any(pod.trouble == UNSCHEDULABLE for pod in pods)
