"""The deletions of terminated replicas, each with the reasons of every level that terminates the clique."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.breach_delays import breach_delay_end, breach_delay_reason, earliest_due_breach
from grove_core.areas.gang_termination.verdicts import GroupReplicaFates, MinAvailableBreach, SetReplicaFates, Terminate
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.gang_terminations import GangTermination, GangTerminationReasons, TerminationBasis
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Step, gangs_terminated_by
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import ObjectToDelete, TerminationDeletion
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet

_NAMED: Final = 8  # the most breached cliques of a scaling group that a deletion names as its cause


class RulesByLevel(NamedTuple):
    """The rules of a reason, by what a replica is part of.

    Attributes:
        of_set: for a replica of the set.
        of_group: for a replica of a scaling group.
    """

    of_set: Rule
    of_group: Rule


class ReplicaTermination(Struct, frozen=True):
    """The termination of one replica, of the set or of a scaling group, and its cause.

    Attributes:
        cause: the due constituent whose delay ended first; it stays the same as time passes.
        because: the reason about the delay of the cause.
        deadline: when that delay ended.
        rests_on: the cause, and where it is a scaling group some of its breached cliques (PL-015).
        last: uids of the cliques that are deleted last, because they are the cause (GT-063).
    """

    cause: Ref
    because: Reason
    deadline: datetime
    rests_on: tuple[tuple[Ref, Guard], ...]
    last: frozenset[str]


class TerminationsOfSet(NamedTuple):
    """The terminations of one set.

    Attributes:
        of_set: index of a replica of the set -> its termination.
        of_groups: uid of a scaling group and index of its replica -> its termination.
    """

    of_set: FrozenDict[int, ReplicaTermination]
    of_groups: FrozenDict[tuple[str, int], ReplicaTermination]


def gang_terminations_among_fates(
    fates: SetReplicaFates, root: PodCliqueSet, cliques: Mapping[Ref, PodClique], rules: RulesByLevel
) -> TerminationsOfSet:
    """Return the terminations among the fates of a set.

    Args:
        cliques: all that may be a cause.
        rules: of the reason about the delay.
    """
    groups = {one.group.ref: one for one in fates.groups}
    return TerminationsOfSet(
        FrozenDict(
            (one.number, replica_termination(rules.of_set, one.breaches, root, cliques, groups))
            for one in fates.replicas
            if isinstance(one.fate, Terminate)
        ),
        FrozenDict(
            ((one.group.uid, index), replica_termination(rules.of_group, one.acting[index], one.group, cliques, {}))
            for one in fates.groups
            for index, fate in one.fates.items()
            if isinstance(fate, Terminate)
        ),
    )


def replica_termination(
    why: Rule,
    breaches: Sequence[MinAvailableBreach],
    owner: Resource,
    cliques: Mapping[Ref, PodClique],
    groups: Mapping[Ref, GroupReplicaFates],
) -> ReplicaTermination:
    """Return the termination of a replica; its cause is the breach whose delay ended first.

    If the cause is a clique that is being deleted, it is gone before the other cliques of the replica; their deletions
    then rest on the owner of the replica instead.

    Args:
        breaches: of cliques of the replica; of a replica of the set also of scaling groups.
        owner: the set or the scaling group that has the replica.
        cliques, groups: those among which the causes are.
    """
    cause = earliest_due_breach(breaches)
    reason, over = breach_delay_reason(why, cause), breach_delay_end(cause.since, cause.delay)
    if cause.ref in groups:
        group, breached, *_ = groups[cause.ref]
        named = tuple((clique.ref, clique.guard) for clique in breached[:_NAMED])
        last = frozenset(clique.uid for clique in breached)
        return ReplicaTermination(cause.ref, reason, over, ((cause.ref, group.guard), *named), last)
    clique = cliques[cause.ref]
    if clique.deleting:
        return ReplicaTermination(cause.ref, reason, over, ((owner.ref, owner.guard),), frozenset())
    return ReplicaTermination(cause.ref, reason, over, ((cause.ref, clique.guard),), frozenset({clique.uid}))


def terminated_clique_deletions(
    root: Ref,
    cliques: Iterable[PodClique],
    found: TerminationsOfSet,
    rules: RulesByLevel,
) -> Iterator[ObjectToDelete]:
    """Yield the wanted deletion of every clique of a terminated replica. Linear.

    Args:
        cliques: those that are not being deleted yet.
        rules: of the reason that a clique is deleted with its replica.
    """
    for clique in cliques if any(found) else ():
        index, own_index = clique.replica_index, clique.group_replica_index
        terminations: list[tuple[ReplicaTermination, Ref, Reason]] = []
        if index in found.of_set:
            end = found.of_set[index]
            why = rules.of_set.because(clique.ref, replica=index, cause=end.cause.short)
            terminations.append((end, root.at_replica(index), why))
        if (clique.owner_uid, own_index) in found.of_groups:
            end = found.of_groups[clique.owner_uid, own_index]
            group, _ = clique.enclosing_replicas(root)
            why = rules.of_group.because(
                clique.ref, replica=own_index, group=group.without_replica.short, cause=end.cause.short
            )
            terminations.append((end, group, why))
        if terminations:
            first = terminations[0][0]
            gangs = tuple(
                GangTermination(replica, end.cause, end.deadline, GangTerminationReasons(why, end.because))
                for end, replica, why in terminations
            )
            yield ObjectToDelete(
                clique.ref,
                clique.guard,
                tuple(chain.from_iterable(one.because or () for one in gangs)),
                termination=TerminationDeletion(
                    TerminationBasis(first.rests_on, gangs), is_cause=clique.uid in first.last
                ),
            )


def termination_deletions_by_replica(steps: Iterable[Step]) -> Mapping[Ref, list[Step]]:
    """Return the deletions of gang terminations by the replica, of the set or of a scaling group. Linear."""
    found: defaultdict[Ref, list[Step]] = defaultdict(list)
    for step in steps:
        for one in gangs_terminated_by(step):
            found[one.replica].append(step)
    return found


def trigger_and_delay(replica: Ref, steps: Sequence[Step]) -> tuple[Ref, Reason]:
    """Return the trigger of the termination of a replica, and the reason that names the delay.

    Args:
        steps: the deletions of that termination.
    """
    first = steps[0]
    gang = next(one for one in gangs_terminated_by(first) if one.replica == replica)
    return gang.trigger, gang.delay or first.because[0]
