"""Counts the replicas of a scaling group by its members, and by those that a termination deleted (GF-091)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from grove_core.areas.gang_termination.field.clique_judgement import JudgedClique
from grove_core.kernel.refs import Ref
from grove_core.resources.naming_rules import member_clique_name
from grove_core.resources.scaling_group import ScalingGroup


class CountedGroupReplica(NamedTuple):
    """One replica of a scaling group that counts as whole.

    Attributes:
        number: its index.
        members: those that exist.
        is_taken: whether a termination that is not complete has deleted members of it.
        is_lost: whether a deleted member was a cause of that termination, so that the replica was breached.
    """

    number: int
    members: Sequence[JudgedClique]
    is_taken: bool = False
    is_lost: bool = False

    @property
    def is_scheduled(self) -> bool:
        """Whether enough pods of every member are scheduled."""
        return all(one.is_scheduled for one in self.members)

    @property
    def is_available(self) -> bool:
        """Whether every member has enough ready pods, and none was deleted by a termination."""
        return not self.is_taken and all(one.counts.ready >= one.clique.min_available for one in self.members)

    @property
    def is_breached(self) -> bool:
        """Whether a member is breached, or was when it was deleted."""
        return self.is_lost or any(one.breached for one in self.members)


def regular_members_by_replica(
    group: ScalingGroup, members: Iterable[JudgedClique]
) -> Mapping[int, list[JudgedClique]]:
    """Return the members by replica index, without surplus replicas and foreign names (GF-031)."""
    found: defaultdict[int, list[JudgedClique]] = defaultdict(list)
    shorts = frozenset(group.clique_names)
    for one in members:
        index, name = one.clique.group_replica_index, one.clique.ref.name
        before = member_clique_name(group.ref.name, index, "")
        if 0 <= index < group.replicas and name.startswith(before) and name.removeprefix(before) in shorts:
            found[index].append(one)
    return found


def counted_group_replicas(
    group: ScalingGroup, proper: Mapping[int, Sequence[JudgedClique]]
) -> Iterator[CountedGroupReplica]:
    """Yield the replicas of which every member exists and is not being deleted (GF-031)."""
    for index, found in proper.items():
        if sum(not one.is_leaving for one in found) == len(group.clique_names):
            yield CountedGroupReplica(index, found)


def group_replicas_before_termination(
    group: ScalingGroup, proper: Mapping[int, Sequence[JudgedClique]], causes: AbstractSet[Ref]
) -> Iterator[CountedGroupReplica]:
    """Yield all replicas while a termination is not complete; deleted members count as they were before (GF-091).

    Args:
        causes: of the termination of the replica of the set. If the group itself is a cause, it stays breached while no
            breached member of it that is named as a cause recovers, because what was missing before is not known. If
            all of these members are gone, the group is not breached any more.
    """
    names = {
        index: {member_clique_name(group.ref.name, index, short) for short in group.clique_names}
        for index in range(group.replicas)
    }
    named = {ref.name for ref in causes} & {name for found in names.values() for name in found}
    stay = {one.clique.ref.name: one for found in proper.values() for one in found if not one.is_leaving}
    ill = [stay[name] for name in named if name in stay]
    stands = group.ref in causes and (not named or (bool(ill) and all(one.breached for one in ill)))
    for index, wanted in names.items():
        there = [one for one in proper.get(index, ()) if not one.is_leaving]
        missing = wanted - stay.keys()
        is_lost = bool(missing) and (stands or (bool(ill) and not missing.isdisjoint(named)))
        yield CountedGroupReplica(index, there, bool(missing), is_lost)
