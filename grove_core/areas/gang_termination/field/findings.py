"""Every verdict of the existing operator's rules as a list of findings, the "do nothing" ones included (PL-003)."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from grove_core.areas.gang_termination.deadline import deadline, timing_reason
from grove_core.areas.gang_termination.field.generations import Generation
from grove_core.areas.gang_termination.field.group import GroupSighting
from grove_core.areas.gang_termination.field.judge import FieldJudgement, ReplicaSighting
from grove_core.areas.gang_termination.field.rules import Why
from grove_core.areas.gang_termination.field.sightings import Sighting
from grove_core.areas.gang_termination.field.status import availability_of
from grove_core.areas.gang_termination.findings import AVAILABILITY, BREACH, SCHEDULED, TERMINATION
from grove_core.areas.gang_termination.verdicts import (
    Breach,
    Delegate,
    GroupFate,
    ReplicaFate,
    Suspend,
    Terminate,
    Wait,
)
from grove_core.kernel.conditions import Condition, Truth
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.times import format_time
from grove_core.snapshot.snapshot import Snapshot


def findings_of_field(
    snapshot: Snapshot, judgement: FieldJudgement, stored: FieldJudgement, generation: Generation
) -> Iterator[Finding]:
    """The set (availability), each clique (breach, scheduled), each group (breach, termination), each replica.

    Args:
        stored: the same set judged by its statuses as they are stored (GF-084).
    """
    root, now = snapshot.root.ref, snapshot.now
    if judgement.unknown:
        for question in (BREACH, TERMINATION):
            yield Finding(root, question, Truth.UNKNOWN.value, judgement.unknown)
        return
    availability = availability_of(snapshot.root, judgement)
    facts = dict(availability.facts)
    yield Finding(root, AVAILABILITY, f"{facts['available']}/{facts['replicas']}", (availability,))
    for seen in judgement.cliques:
        yield Finding(seen.clique.ref, BREACH, _word(seen.breach), _because_of_breach(seen, generation))
        placement = seen.reason_of(seen.why_placed)
        verdict = _word(seen.placed)
        yield Finding(seen.clique.ref, SCHEDULED, verdict, (placement,) if seen.placed else (seen.reason,))
    told = {(found.group.ref, index): fate for found in stored.groups for index, fate in found.fates.items()}
    for found in judgement.groups:
        yield from _of_group(found, told, generation, now)
    fates = {replica.number: replica.fate for replica in stored.replicas}
    for replica in judgement.replicas:
        subject = root.at_replica(replica.number)
        because = (
            *_because_of_replica(snapshot, replica, generation),
            *_differs(subject, replica.fate, fates.get(replica.number)),
        )
        yield Finding(subject, TERMINATION, type(replica.fate).__name__, because)


def _word(condition: Condition | None) -> str:
    """A condition's status; ``Absent`` where there is none (GF-021)."""
    return "Absent" if condition is None else condition.status.value


def _because_of_breach(seen: Sighting, generation: Generation) -> tuple[Reason, ...]:
    """Why a clique is (not) breached, and why its breach is not acted on."""
    guarded = seen.breached and generation.asks_for_history and not seen.was_scheduled
    return (
        (seen.reason, Why.NEVER_SCHEDULED.because(seen.clique.ref, name=seen.clique.ref.name))
        if guarded
        else (seen.reason,)
    )


def _of_group(
    found: GroupSighting, stored: Mapping[tuple[Ref, int], GroupFate], generation: Generation, now: datetime
) -> Iterator[Finding]:
    ref = found.group.ref
    breached = (one.reason for one in found.members if one.breached)
    yield Finding(ref, BREACH, _word(found.breach), (found.reason, *_guards(found, generation), *breached))
    own = tuple(
        dict.fromkeys(
            reason
            for index, fate in found.fates.items()
            if type(fate) is type(found.fate)
            for reason in _because_of_part(found, index, now)
        )
    )
    yield Finding(ref, TERMINATION, type(found.fate).__name__, own or (Why.GROUP_NOTHING_BREACHED.because(ref),))
    for index, fate in found.fates.items():
        because = (
            *_because_of_part(found, index, now),
            *_differs(ref.at_replica(index), fate, stored.get((ref, index))),
        )
        yield Finding(ref.at_replica(index), TERMINATION, type(fate).__name__, because)


def _guards(found: GroupSighting, generation: Generation) -> Iterator[Reason]:
    """Why the set does not act on a breach of the group (GF-041, GF-051)."""
    if not found.breached or not generation.asks_for_history:
        return
    if found.flag is not None and found.is_flagged:
        since = format_time(found.flag.last_transition_time)
        yield Why.ALREADY_TERMINATED.because(found.group.ref, name=found.group.ref.name, since=since)
    elif not found.was_healthy:
        yield Why.NEVER_HEALTHY.because(found.group.ref, name=found.group.ref.name)


def _because_of_part(found: GroupSighting, index: int, now: datetime) -> tuple[Reason, ...]:
    """Why a replica of a group is ended, waited for, or left alone."""
    ref = found.group.ref
    match found.fates[index]:
        case Suspend():
            return (Why.SUSPENDED_BY_UPDATE.because(ref),)
        case Delegate():
            counts = {"left": found.left, "replicas": found.group.replicas, "needed": found.group.min_available}
            return (Why.DELEGATED_TO_SET.because(ref, **counts),)
        case _:
            return _clocks(found.acting[index], (Why.GROUP_DELAY_EXPIRED, Why.GROUP_DELAY_RUNNING), now)


def _because_of_replica(snapshot: Snapshot, replica: ReplicaSighting, generation: Generation) -> tuple[Reason, ...]:
    """Why a replica of the set is ended, waited for or kept; of one that is kept, which breaches are not acted on."""
    subject = snapshot.root.ref.at_replica(replica.number)
    if isinstance(replica.fate, Terminate | Wait):
        return _clocks(replica.breaches, (Why.DELAY_EXPIRED, Why.DELAY_RUNNING), snapshot.now)
    if snapshot.root.deleting:
        return (Why.SET_BEING_DELETED.because(subject),)
    if replica.absent:
        return tuple(Why.STANDALONE_MISSING.because(subject, name=name) for name in replica.absent)
    guarded = [*(reason for found in replica.groups for reason in _guards(found, generation))]
    guarded += [reason for seen in replica.cliques for reason in _because_of_breach(seen, generation)[1:]]
    return (Why.NOTHING_BREACHED.because(subject), *guarded)


def _clocks(breaches: Iterable[Breach], words: tuple[Why, Why], now: datetime) -> tuple[Reason, ...]:
    """The clocks that have run out, else all that run."""
    all_ = tuple(breaches)
    due = [breach for breach in all_ if deadline(breach.since, breach.delay) <= now]
    return tuple(timing_reason(words[0] if due else words[1], *breach) for breach in due or all_)


def _differs(subject: Ref, fate: ReplicaFate | GroupFate, stored: ReplicaFate | GroupFate | None) -> Iterator[Reason]:
    """What the stored statuses alone would lead to, where that is another end (GF-084)."""
    ours, theirs = isinstance(fate, Terminate), isinstance(stored, Terminate)
    if ours != theirs:
        yield Why.STORED_STATUS_DIFFERS.because(subject, verdict=type(stored).__name__ if stored else "Keep")
