"""Terminations that are not complete, by the responses to their writes (GF-091, GF-092), and what counts meanwhile."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.field.verdicts import GoOperatorCliqueJudgement
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import FAILURES, Delete, SetStatus
from grove_core.resources.api_names import TERMINATION_IN_PROGRESS
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.naming_rules import member_clique_name
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.unwritten_breach_changes import condition_written_by_step


class UnwrittenTerminationFlag(NamedTuple):
    """A termination without a flag, because the flag could not be written or the operator never came to write it.

    Attributes:
        at: when the write was tried, or when the delay ended; the terminated breach is not younger than that.
        end_of: the causes of the termination.
    """

    at: datetime
    end_of: tuple[Ref, ...]


class IncompleteTerminations(NamedTuple):
    """What could not be written of terminations.

    Attributes:
        incomplete: replica of the set of which a PodClique could not be deleted -> the causes of its termination.
        unwritten_flags: scaling group whose flag was not written -> the termination that the flag would record.
    """

    incomplete: FrozenDict[int, frozenset[Ref]] = FrozenDict()
    unwritten_flags: FrozenDict[Ref, UnwrittenTerminationFlag] = FrozenDict()


_NOTHING: Final = IncompleteTerminations()


def failed_terminations_in(snapshot: Snapshot) -> IncompleteTerminations:
    """Return the terminations that are not complete, and the flags that are missing.

    The fact is that a deletion failed: GT-066 recognises a partial termination by the cluster alone, the check before
    each deletion of a round by what that round has deleted. An object with another uid than before counts as gone.
    """
    failed = [one.step for one in snapshot.attempts if one.outcome in FAILURES]  # not those that were not tried
    if not failed:
        return _NOTHING
    existing = {one.ref: one for one in (snapshot.root, *snapshot.groups, *snapshot.cliques)}
    incomplete: defaultdict[int, set[Ref]] = defaultdict(set)
    complete: dict[int, UnwrittenTerminationFlag] = {}
    flags: dict[Ref, UnwrittenTerminationFlag] = {}
    for step in failed:
        action, flag = step.action, condition_written_by_step(step, TERMINATION_IN_PROGRESS)
        if isinstance(action, SetStatus) and action.report and flag and _exists(step.target, action.guard, existing):
            flags[step.target] = UnwrittenTerminationFlag(flag.last_transition_time, action.report.causes)
        if not isinstance(action, Delete) or not action.rests_on:
            continue
        causes = tuple(ref for ref, _ in action.rests_on)
        is_incomplete = _is_incomplete(step.target, action, existing)
        for one in action.terminates:
            index = one.replica.replica
            if index is None or one.replica != snapshot.root.ref.at_replica(index):
                continue  # a replica of a scaling group: no flag reports its end
            if is_incomplete:
                incomplete[index].update(causes)
            else:
                complete[index] = UnwrittenTerminationFlag(one.deadline, causes)
    never_flagged = {
        group.ref: complete[group.replica_index]
        for group in snapshot.groups
        if group.replica_index in complete.keys() - incomplete.keys()
    }
    causes_of = FrozenDict((index, frozenset(causes)) for index, causes in incomplete.items())
    return IncompleteTerminations(causes_of, FrozenDict(never_flagged | flags))


def _is_incomplete(target: Ref, action: Delete, existing: Mapping[Ref, Resource]) -> bool:
    """Return whether something of a termination is left to delete for its first cause, which has to exist.

    That is the PodClique that could not be deleted, or one that is a cause, unless it is being deleted.
    """
    return _exists(*action.rests_on[0], existing) and any(
        _exists(ref, guard, existing) and isinstance(existing[ref], PodClique) and not existing[ref].deleting
        for ref, guard in ((target, action.guard), *action.rests_on)
    )


def _exists(ref: Ref, guard: Guard, existing: Mapping[Ref, Resource]) -> bool:
    return ref in existing and existing[ref].uid == guard.uid


class CompleteGroupReplica(NamedTuple):
    """One replica of a scaling group that counts as whole.

    Attributes:
        number: its index.
        members: those that exist.
        has_deleted_members: whether a termination that is not complete has deleted members of it.
        was_breached: whether a deleted member was a cause of that termination.
    """

    number: int
    members: tuple[GoOperatorCliqueJudgement, ...]
    has_deleted_members: bool = False
    was_breached: bool = False

    @property
    def is_scheduled(self) -> bool:
        """Whether enough pods of every member are scheduled."""
        return all(one.is_scheduled for one in self.members)

    @property
    def is_available(self) -> bool:
        """Whether every member has enough ready pods, and none was deleted by a termination."""
        return not self.has_deleted_members and all(
            one.counts.ready >= one.clique.min_available for one in self.members
        )

    @property
    def is_breached(self) -> bool:
        """Whether a member is breached, or was when it was deleted."""
        return self.was_breached or any(one.is_breached for one in self.members)


def expected_members_by_replica(
    group: ScalingGroup, members: Iterable[GoOperatorCliqueJudgement]
) -> Mapping[int, list[GoOperatorCliqueJudgement]]:
    """Return the members by replica index, without surplus replicas and foreign names (GF-031)."""
    found: defaultdict[int, list[GoOperatorCliqueJudgement]] = defaultdict(list)
    shorts = frozenset(group.clique_names)
    for one in members:
        index, name = one.clique.group_replica_index, one.clique.ref.name
        before = member_clique_name(group.ref.name, index, "")
        if 0 <= index < group.replicas and name.startswith(before) and name.removeprefix(before) in shorts:
            found[index].append(one)
    return found


def complete_group_replicas(
    group: ScalingGroup, regular: Mapping[int, Sequence[GoOperatorCliqueJudgement]], causes: AbstractSet[Ref] | None
) -> Iterator[CompleteGroupReplica]:
    """Yield the replicas of which every member exists and is not being deleted (GF-031).

    While a termination is not complete these are all replicas; deleted members count as they were before (GF-091).

    Args:
        regular: the members that count, by replica index.
        causes: of the incomplete termination of the replica of the set; None if there is none. If the group itself is a
            cause, it stays breached while no breached member of it that is named as a cause recovers, because what was
            missing before is not known. If all of these members are gone, the group is not breached any more.
    """
    if causes is None:
        for index, found in regular.items():
            if sum(not one.is_being_deleted for one in found) == len(group.clique_names):
                yield CompleteGroupReplica(index, tuple(found))
        return
    names = {
        index: {member_clique_name(group.ref.name, index, short) for short in group.clique_names}
        for index in range(group.replicas)
    }
    remaining = {one.clique.ref.name: one for found in regular.values() for one in found if not one.is_being_deleted}
    named_causes = {ref.name for ref in causes} & {name for found in names.values() for name in found}
    remaining_causes = [remaining[name] for name in named_causes if name in remaining]
    is_still_breached = group.ref in causes and (
        not named_causes or (bool(remaining_causes) and all(one.is_breached for one in remaining_causes))
    )
    for index, expected in names.items():
        members = tuple(one for one in regular.get(index, ()) if not one.is_being_deleted)
        missing = expected - remaining.keys()
        was_breached = bool(missing) and (
            is_still_breached or (bool(remaining_causes) and not missing.isdisjoint(named_causes))
        )
        yield CompleteGroupReplica(index, members, bool(missing), was_breached)
