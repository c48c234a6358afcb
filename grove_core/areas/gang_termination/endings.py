"""From what ends to the cliques that go with it, each with the reasons of every level that ends it; and back again."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from grove_core.areas.gang_termination.clocks import timing_reason
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import Breach
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Delete, Step
from grove_core.kernel.wants import Absent
from grove_core.resources.keys import GROVE
from grove_core.resources.meta import Resource
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup

_OF_SET: Final = Why.GANG_TERMINATED.code  # by whatever rules: a code means the same in all of them
_OF_GROUP: Final = Why.GROUP_REPLICA_TERMINATED.code
_NAMED: Final = 8  # breached cliques of a scaling group that a deletion rests on: enough to notice, few enough to carry


@dataclass(frozen=True, slots=True)
class End:
    """The end of one replica, of the set or of a scaling group, and what it rests on.

    Attributes:
        cause: the due constituent whose delay ended first; one is enough, and it stays the same as time goes on.
        because: its reason.
        rests_on: the cause, and where it is a scaling group some of its breached cliques (PL-015).
        last: uids of the cliques that go last, because the cause would be gone with them (GT-063).
    """

    cause: Ref
    because: Reason
    rests_on: tuple[tuple[Ref, Guard], ...]
    last: AbstractSet[str]


def end_by(
    why: Rule,
    cause: Breach,
    owner: Resource,
    cliques: Mapping[Ref, PodClique],
    groups: Mapping[Ref, tuple[ScalingGroup, Sequence[PodClique]]],
) -> End:
    """The end of a replica for a cause.

    A clique that is on its way out is gone before its companions, so these rest on the owner of what ends.

    Args:
        why: the rule that says that the delay of the cause ended.
        cause: a clique, or a scaling group of a replica of the set.
        owner: whose replica ends: the set, or a scaling group.
        cliques, groups: among which the cause is; a group with those of its breached cliques that are not leaving.
    """
    reason = timing_reason(why, cause)
    if cause.ref in groups:
        group, breached = groups[cause.ref]
        named = tuple((clique.ref, clique.guard) for clique in breached[:_NAMED])
        return End(cause.ref, reason, ((cause.ref, group.guard), *named), {clique.uid for clique in breached})
    clique = cliques[cause.ref]
    if clique.deleting:
        return End(cause.ref, reason, ((owner.ref, owner.guard),), frozenset())
    return End(cause.ref, reason, ((cause.ref, clique.guard),), {clique.uid})


def absents_of(
    cliques: Iterable[PodClique],
    whole: Mapping[int, End],
    parts: Mapping[tuple[str, int], End],
    words: tuple[Rule, Rule],
) -> Iterator[Absent]:
    """Every clique that goes with what ends. Linear.

    Args:
        cliques: those that are not being deleted yet.
        whole: index of a replica of the set -> its end.
        parts: uid of a scaling group and index of its replica -> its end.
        words: the rules that say that a clique goes with a replica of the set, and with one of its group.
    """
    of_set, of_group = words
    for clique in cliques if whole or parts else ():
        index, own_index = clique.replica_index, clique.group_replica_index
        endings: list[End] = []
        because: list[Reason] = []
        if index in whole:
            endings.append(whole[index])
            cause = whole[index].cause.short
            because += [of_set.because(clique.ref, replica=index, cause=cause), whole[index].because]
        if (clique.owner_uid, own_index) in parts:
            part = parts[clique.owner_uid, own_index]
            endings.append(part)
            facts = {"group": f"{clique.owner_kind}/{clique.owner_name}", "cause": part.cause.short}
            because += [of_group.because(clique.ref, replica=own_index, **facts), part.because]
        if endings:
            first = endings[0]
            yield Absent(clique.ref, clique.guard, tuple(because), first.rests_on, is_cause=clique.uid in first.last)


def ended_by(root: Ref, steps: Iterable[Step]) -> Mapping[Ref, list[Step]]:
    """The replica that ends, of the set or of a scaling group -> the deletions of its cliques, by their reasons."""
    found: defaultdict[Ref, list[Step]] = defaultdict(list)
    for step in steps:
        for subject in ends_named_in(root, step.because) if isinstance(step.action, Delete) else ():
            found[subject].append(step)
    return found


def ends_named_in(root: Ref, because: Iterable[Reason]) -> Iterator[Ref]:
    """The replicas that end, of the set or of a scaling group, by the reasons for a deletion, done or held back."""
    for reason in because:
        facts = dict(reason.facts)
        if reason.rule.code == _OF_SET:
            yield root.at_replica(int(facts["replica"]))
        elif reason.rule.code == _OF_GROUP:
            kind, _, name = str(facts["group"]).partition("/")
            yield Ref(GROVE, kind, reason.subject.namespace, name, int(facts["replica"]))
