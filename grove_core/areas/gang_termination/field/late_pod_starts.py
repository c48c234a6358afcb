"""Parts of a set that waited longer than their delay, and are terminated when their pods start at last (GF-124)."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.verdicts import (
    GoOperatorCliqueJudgement,
    GoOperatorGroupJudgement,
    GoOperatorJudgement,
)
from grove_core.areas.gang_termination.verdicts import Delegate, MinAvailableBreach, Suspend, Terminate
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import LATE_START
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time, short_duration_text
from grove_core.resources.naming_rules import name_list_text
from grove_core.snapshot.snapshot import Snapshot


def late_pod_start_findings(
    snapshot: Snapshot, judgement: GoOperatorJudgement, stored: GoOperatorJudgement, delay: timedelta
) -> Iterator[Finding]:
    """Yield a finding on each replica of the set or of a group that a late start of its PodCliques would terminate.

    Args:
        stored: the judgement by stored statuses; the breach of a PodClique keeps its time until one is not breached.
    """
    if snapshot.root.deleting:
        return
    breaches = (_breach_of_waiting_clique(seen, delay, snapshot.now) for seen in stored.cliques)
    waiting = {one.ref: one for one in breaches if one is not None}
    if not waiting:
        return
    covered: set[int] = set()
    for replica in judgement.replicas:
        ref = snapshot.root.ref.at_replica(replica.number)
        late = [waiting[one.clique.ref] for one in replica.cliques if one.clique.ref in waiting]
        if late and not replica.absent and not isinstance(replica.fate, Terminate):
            names = [one.ref.name for one in snapshot.cliques if one.replica_index == replica.number]
            covered.add(replica.number)
            yield _finding(ref, late, names, delay)
    for group in judgement.groups:
        if group.group.replica_index not in covered:
            yield from _group_findings(group, waiting, delay)


def _group_findings(
    group: GoOperatorGroupJudgement, waiting: dict[Ref, MinAvailableBreach], delay: timedelta
) -> Iterator[Finding]:
    """Yield a finding on each replica of a group that the group would terminate: it can spare one more (GF-061)."""
    if isinstance(group.fate, Delegate | Suspend) or group.unbreached_replica_count - 1 < group.group.min_available:
        return
    indices = {one.clique.group_replica_index for one in group.members if one.clique.ref in waiting}
    for index in sorted(indices - group.acting.keys()):
        members = [one.clique.ref for one in group.members if one.clique.group_replica_index == index]
        late = [waiting[ref] for ref in members if ref in waiting]
        ref = group.group.ref.at_replica(index)
        yield _finding(ref, late, (one.name for one in members), delay)


def _breach_of_waiting_clique(
    seen: GoOperatorCliqueJudgement, delay: timedelta, now: datetime
) -> MinAvailableBreach | None:
    """Return the breach of a PodClique that was never scheduled, if it has lasted for the delay; else None."""
    if not seen.was_never_scheduled or seen.breach is None or seen.is_being_deleted:
        return None
    found = MinAvailableBreach(seen.clique.ref, seen.breach.last_transition_time, delay)
    return found if now - found.since >= delay else None


def _finding(subject: Ref, late: Iterable[MinAvailableBreach], names: Iterable[str], delay: timedelta) -> Finding:
    found = tuple(late)
    because = GoOperatorReason.LATE_START.because(
        subject,
        late=name_list_text(one.ref.name for one in found),
        since=format_time(min(one.since for one in found)),
        delay=short_duration_text(delay),
        names=name_list_text(names),
    )
    return Finding(subject, LATE_START, "Risk", (because,))
