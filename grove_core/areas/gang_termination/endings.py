"""From what ends to the cliques that go with it, each with the reasons of every level that ends it; and back again."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Delete, Step
from grove_core.kernel.wants import Absent
from grove_core.resources.keys import GROVE
from grove_core.resources.podclique import PodClique

_OF_SET: Final = "GangTerminated"  # by whatever rules: a code means the same in all of them
_OF_GROUP: Final = "GroupReplicaTerminated"


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


def absents_of(
    cliques: Iterable[PodClique],
    whole: Mapping[int, End],
    parts: Mapping[tuple[str, int], tuple[str, End]],
    words: tuple[Rule, Rule],
) -> Iterator[Absent]:
    """Every clique that goes with what ends. Linear.

    Args:
        cliques: those that are not being deleted yet.
        whole: index of a replica of the set -> its end.
        parts: uid of a scaling group and index of its replica -> the group's short name, and the end.
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
            group, part = parts[clique.owner_uid, own_index]
            endings.append(part)
            facts = {"group": group, "cause": part.cause.short}
            because += [of_group.because(clique.ref, replica=own_index, **facts), part.because]
        if endings:
            first = endings[0]
            yield Absent(clique.ref, clique.guard, tuple(because), first.rests_on, is_cause=clique.uid in first.last)


def ended_by(root: Ref, steps: Iterable[Step]) -> Mapping[Ref, list[Step]]:
    """The replica that ends, of the set or of a scaling group -> the deletions of its cliques, by their reasons."""
    found: defaultdict[Ref, list[Step]] = defaultdict(list)
    for step in steps:
        for reason in step.because if isinstance(step.action, Delete) else ():
            facts = dict(reason.facts)
            if reason.rule.code == _OF_SET:
                found[root.at_replica(int(facts["replica"]))].append(step)
            elif reason.rule.code == _OF_GROUP:
                kind, _, name = str(facts["group"]).partition("/")
                found[Ref(GROVE, kind, step.target.namespace, name, int(facts["replica"]))].append(step)
    return found
