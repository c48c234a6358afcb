"""The scopes of the design: every state of a few small clusters.

PodCliques of a replica of a scaling group, and replicas of a scaling group, are equal but for their names. So each
multiset of them is taken once; ``test_order_does_not_matter`` compares all orders of a smaller scope.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Final, TypeAlias

from tests.exhaustive.states import DELAY, NOT_READY, Clique, Group, PodState, Replica, State, Stored

BEFORE, AT, AFTER = DELAY - 1, DELAY, DELAY + 1
DOWN: Final = (NOT_READY,)
Cliques: TypeAlias = Mapping[str, Clique | None]
"""Name of a state -> a PodClique in it; None for one that is missing."""


def breached(age: int) -> Clique:
    """Return a PodClique that has been breached for so many seconds."""
    return Clique(DOWN, breach=Stored("True", age))


HEALTHY: Final = Clique()
STARTING: Final = Clique(DOWN, was=False)
LETTERS: Final[Cliques] = {
    "healthy": HEALTHY,
    "never available": STARTING,
    "breached before the delay": breached(BEFORE),
    "breached at the delay": breached(AT),
    "breached after the delay": breached(AFTER),
    "breached from now on": Clique(DOWN, breach=Stored("False", AFTER)),
    "recovered": Clique(breach=Stored("True", AFTER)),
    "not recorded": Clique(DOWN, was=None, breach=Stored("True", AFTER)),
    "being updated": Clique(DOWN, updating=True, breach=Stored("True", AFTER)),
    "being deleted": Clique(DOWN, breach=Stored("True", AFTER), deleting=True),
    "missing": None,
}
"""Every way in which a PodClique may matter to a termination."""
MAIN: Final = tuple(LETTERS.values())[:5]
STORED_AGES: Final = (None, Stored("False", AFTER), *(Stored("True", age) for age in (BEFORE, AT, AFTER)))


def cliques() -> Iterator[State]:
    """One standalone PodClique: pods, minimum, record of availability, update, stored condition (the breach table)."""
    kinds = [PodState(ready=ready, scheduled=True, preempted=gone) for ready, gone in product((True, False), repeat=2)]
    pods = [
        (*of, *[PodState(ready=False, scheduled=False)] * idle)
        for size in range(4)
        for of in combinations_with_replacement(kinds, size)
        for idle in ((0, 1) if size < 2 else (0,))
    ]
    records = ((False, None), (True, None), (True, False), (True, True))
    stored = (*STORED_AGES, Stored("Unknown", AFTER), Stored("True", AFTER, "PodsPreempted"))
    for held, needed, (recorded, was), updating, before in product(pods, (0, 1, 2, 3), records, (False, True), stored):
        one = Clique(held, needed, recorded=recorded, was=was, updating=updating, breach=before)
        yield State((Replica((one,)),), (), 1)


def group_of(
    parts: tuple[tuple[Clique | None, ...], ...], needed: int, stored: Stored | None, *, updating: bool = False
) -> State:
    """Return a set of one scaling group."""
    group = Group(parts, len(parts), needed, breach=stored, updating=updating)
    return State((Replica((), (group,)),), (len(parts[0]),), 1)


def multisets(
    letters: tuple[Clique | None, ...], size: int, replicas: int
) -> Iterator[tuple[tuple[Clique | None, ...], ...]]:
    """Yield the replicas of a scaling group, up to the order of replicas and of their PodCliques."""
    return combinations_with_replacement(list(combinations_with_replacement(letters, size)), replicas)


def groups_at_one_age(most_replicas: int = 4, most_cliques: int = 3) -> Iterator[State]:
    """Scaling groups with one age of all breaches: before, at or after the delay."""
    for replicas, size in product(range(1, most_replicas + 1), range(1, most_cliques + 1)):
        for age in (BEFORE, AT, AFTER):
            for parts in multisets((HEALTHY, STARTING, breached(age)), size, replicas):
                for needed in range(1, 5):
                    yield group_of(parts, needed, Stored("True", age))


def groups_at_all_ages(most_replicas: int, most_cliques: int, stored: tuple[Stored | None, ...]) -> Iterator[State]:
    """Scaling groups in which every PodClique has an age of its own."""
    for replicas, size in product(range(1, most_replicas + 1), range(1, most_cliques + 1)):
        for parts in multisets(MAIN, size, replicas):
            for needed, before in product(range(1, replicas + 1), stored):
                yield group_of(parts, needed, before)


def groups_in_any_state(most_replicas: int, most_cliques: int) -> Iterator[State]:
    """Scaling groups with PodCliques in all states, also with a surplus replica or while they are updated."""
    for replicas, size in product(range(1, most_replicas + 1), range(1, most_cliques + 1)):
        for parts in multisets(tuple(LETTERS.values()), size, replicas):
            for needed, before in product((1, replicas), (None, Stored("True", AFTER))):
                yield group_of(parts, needed, before)
            yield group_of(parts, 1, None, updating=True)
            surplus = group_of(parts, 1, None)
            if replicas > 1:
                group = surplus.replicas[0].groups[0]
                assert group is not None
                fewer = group._replace(wanted=replicas - 1)
                yield surplus._replace(replicas=(Replica((), (fewer,)),))


def orders() -> Iterator[State]:
    """Scaling groups of two replicas of two PodCliques, in every order."""
    for letters in product(MAIN, repeat=4):
        yield group_of((letters[:2], letters[2:]), 1, None)


def modes(state: State) -> Iterator[State]:
    """Yield a state under everything about the set that changes a decision."""
    yield state
    yield state._replace(deleting=True)
    yield state._replace(delay=None)
    yield state._replace(delay=None, override=AT)
    yield state._replace(override=AT // 2)
    yield state._replace(override=AT * 2)
    yield state._replace(wanted=0)


def sets() -> Iterator[State]:
    """Sets of a standalone PodClique and a scaling group in all states, and what holds for the whole set."""
    groups: list[Group | None] = [None]
    for parts in multisets(MAIN, 1, 2):
        groups += [Group(parts, 2, needed, breach=before) for needed in (1, 2) for before in (None, Stored("True", AT))]
    for parts in multisets((HEALTHY, breached(AFTER), None), 1, 2):
        groups += [Group(parts, 2, 1, updating=True), Group(parts, 2, 1, deleting=True)]
    for alone, group in product(LETTERS.values(), groups):
        yield from modes(State((Replica((alone,), (group,)),), (1,), 1))


def wider_sets(letters: Cliques = LETTERS, main: Sequence[Clique | None] = MAIN) -> Iterator[State]:
    """Sets of two standalone PodCliques, of two scaling groups, or of two replicas; of the PodCliques of some rules."""
    for pair in product(letters.values(), repeat=2):
        yield State((Replica(pair),), (), 1)
    ones: list[Group | None] = [None, *(Group(((one,),), 1, 1, breach=Stored("True", AFTER)) for one in main)]
    for two in product(ones, repeat=2):
        yield State((Replica((HEALTHY,), two),), (1, 1), 1)
    replicas = [Replica((alone,), (group,)) for alone, group in product(main, ones)]
    for both in product(replicas, repeat=2):
        yield State(both, (1,), 2)


def kinds_not_collected() -> Iterator[State]:
    """Sets of which some kinds were not collected."""
    kinds = ("Pod", "PodClique", "PodCliqueScalingGroup")
    for chosen in product((False, True), repeat=3):
        absent = frozenset(kind for kind, is_absent in zip(kinds, chosen, strict=True) if is_absent)
        for letter in MAIN:
            yield State((Replica((letter,)),), (), 1, absent=absent)
            yield State((Replica((letter,), (Group(((letter,),), 1, 1),)),), (1,), 1, absent=absent)
