"""The scopes of the Go operator's rules: every state of a few small clusters."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Final

from tests.exhaustive import design_scopes
from tests.exhaustive.design_scopes import AFTER, AT, BEFORE, multisets
from tests.exhaustive.states import (
    CRASHED,
    DAY,
    DELAY,
    NOT_READY,
    PENDING,
    READY,
    Clique,
    Group,
    PodState,
    Replica,
    State,
    Stored,
)

DOWN: Final = (CRASHED,)
EARLY: Final = Stored("False", DAY - 5)
LATE: Final = Stored("False", DAY - 6)
"""Conditions that changed within five seconds of the creation of their object, and after them."""


def breached(age: int) -> Clique:
    """Return a PodClique of a crashed pod that has been breached for so many seconds."""
    return Clique(DOWN, breach=Stored("True", age))


HEALTHY: Final = Clique()
NEVER: Final = Clique((PENDING,), breach=Stored("True", AFTER), placed=EARLY)
LETTERS: Final[design_scopes.Cliques] = {
    "healthy": HEALTHY,
    "never scheduled": NEVER,
    "breached before the delay": breached(BEFORE),
    "breached at the delay": breached(AT),
    "breached after the delay": breached(AFTER),
    "breached from now on": Clique(DOWN, breach=Stored("False", AFTER)),
    "starting": Clique((NOT_READY,)),
    "lost its node": Clique((PENDING,), breach=Stored("True", AFTER), placed=LATE),
    "recovered": Clique(breach=Stored("True", AFTER)),
    "being updated": Clique(DOWN, updating=True, breach=Stored("True", AFTER)),
    "not observed": Clique(DOWN, observed=False, breach=Stored("True", AFTER)),
    "being deleted": Clique(DOWN, breach=Stored("True", AFTER), deleting=True),
    "missing": None,
}
MAIN: Final = tuple(LETTERS.values())[:5]
STORED: Final = (None, Stored("False", AFTER), *(Stored("True", age) for age in (BEFORE, AT, AFTER)))
FLAGS: Final = (None, Stored("True", AFTER), Stored("False", AFTER))


def cliques() -> Iterator[State]:
    """One standalone PodClique: pods, minimum, update, stored conditions, times."""
    kinds = (READY, NOT_READY, CRASHED, PENDING, PodState(ready=False, scheduled=False, crashed=True))
    pods = [of for size in range(3) for of in combinations_with_replacement(kinds, size)]
    placements = (None, Stored("True", DAY), EARLY, LATE)
    updates = ((False, False), (True, False), (True, True))
    for held, needed, update, before, placed in product(pods, (1, 2), updates, STORED, placements):
        updating, old_name = update
        one = Clique(held, needed, updating=updating, old_name=old_name, breach=before, placed=placed)
        yield State((Replica((one,)),), (), 1)
    for before, placed, held in product(STORED, placements, (DOWN, (READY,), (PENDING,))):
        one = Clique(held, breach=before, placed=placed)
        yield State((Replica((one._replace(observed=False),)),), (), 1)
        yield State((Replica((one._replace(deleting=True),)),), (), 1)


def group_of(group: Group) -> State:
    """Return a set of one scaling group."""
    return State((Replica((), (group,)),), (len(group.parts[0]),), 1)


def groups_at_one_age(most_replicas: int = 4, most_cliques: int = 3) -> Iterator[State]:
    """Scaling groups with one age of all breaches: before, at or after the delay."""
    for replicas, size in product(range(1, most_replicas + 1), range(1, most_cliques + 1)):
        for age in (BEFORE, AT, AFTER):
            for parts in multisets((HEALTHY, NEVER, breached(age)), size, replicas):
                for needed in range(1, 5):
                    yield group_of(Group(parts, replicas, needed, breach=Stored("True", age)))


def groups_at_all_ages(most_replicas: int, most_cliques: int, stored: tuple[Stored | None, ...]) -> Iterator[State]:
    """Scaling groups in which every PodClique has an age of its own."""
    for replicas, size in product(range(1, most_replicas + 1), range(1, most_cliques + 1)):
        for parts in multisets(MAIN, size, replicas):
            for needed, before in product(range(1, replicas + 1), stored):
                yield group_of(Group(parts, replicas, needed, breach=before))


def groups_in_any_state(most_replicas: int, most_cliques: int) -> Iterator[State]:
    """Scaling groups with PodCliques in all states, also with a surplus replica or while they are updated."""
    for replicas, size in product(range(1, most_replicas + 1), range(1, most_cliques + 1)):
        for parts in multisets(tuple(LETTERS.values()), size, replicas):
            for needed in {1, replicas}:
                yield group_of(Group(parts, replicas, needed, breach=Stored("True", AFTER)))
            yield group_of(Group(parts, replicas, 1, updating=True))
            yield group_of(Group(parts, max(replicas - 1, 1), 1))


def orders() -> Iterator[State]:
    """Scaling groups of two replicas of two PodCliques, in every order."""
    for letters in product(MAIN, repeat=4):
        yield group_of(Group((letters[:2], letters[2:]), 2, 1))


def sets() -> Iterator[State]:
    """Sets of a standalone PodClique and a scaling group in all states, and what holds for the whole set."""
    parts, times = ((HEALTHY,), (breached(AFTER),)), (DAY, AFTER + 5, AFTER + 6)
    groups: list[Group | None] = [None]
    for before, flag, made, going in product(STORED, FLAGS, times, (False, True)):
        groups.append(Group(parts, 2, 2, breach=before, flag=flag, created=made, deleting=going))
    for before, flag in product(STORED, FLAGS):
        groups.append(Group(parts, 2, 1, breach=before, flag=flag))
    for of, needed, before in product(multisets(MAIN, 1, 2), (1, 2), (None, Stored("True", AT))):
        groups.append(Group(of, 2, needed, breach=before))
    for alone, group in product(LETTERS.values(), groups):
        state = State((Replica((alone,), (group,)),), (1,), 1)
        yield state
        yield state._replace(deleting=True)
    for alone, group in product(LETTERS.values(), groups[:3]):
        state = State((Replica((alone,), (group,)),), (1,), 1)
        yield state._replace(delay=None)
        yield state._replace(override=DELAY // 2)
        yield state._replace(wanted=0)


def wider_sets() -> Iterator[State]:
    """Sets of two standalone PodCliques, of two scaling groups, or of two replicas."""
    return design_scopes.wider_sets(LETTERS, MAIN)
