"""States of one PodCliqueSet as plain values; nothing of the product is imported.

A state has what gang termination looks at and nothing else: it can be enumerated, and a specification can decide on it
without the code that it checks. All times are in seconds, and ages are counted back from the time of the snapshot.
"""

from typing import Final, NamedTuple

DELAY: Final = 60
DAY: Final = 86_400
SET: Final = "s"


class Stored(NamedTuple):
    """A stored condition: its status, its age, and its reason."""

    status: str
    age: int
    reason: str = "Recorded"


class PodState(NamedTuple):
    """What a PodClique's judgement reads of a pod."""

    ready: bool
    scheduled: bool
    crashed: bool = False
    preempted: bool = False


READY: Final = PodState(ready=True, scheduled=True)
NOT_READY: Final = PodState(ready=False, scheduled=True)
CRASHED: Final = PodState(ready=False, scheduled=True, crashed=True)
PENDING: Final = PodState(ready=False, scheduled=False)


class Clique(NamedTuple):
    """A PodClique.

    Attributes:
        needed: ``minAvailable``.
        was: ``wasAvailable``; None where the status has none.
        old_name: whether its update is stored under the older name of the field.
        created: its age.
        observed: whether its status has an ``observedGeneration``.
    """

    pods: tuple[PodState, ...] = (READY,)
    needed: int = 1
    recorded: bool = True
    was: bool | None = True
    updating: bool = False
    old_name: bool = False
    breach: Stored | None = None
    placed: Stored | None = Stored("True", DAY - 60)
    created: int = DAY
    observed: bool = True
    deleting: bool = False


class Group(NamedTuple):
    """A scaling group.

    Attributes:
        parts: its replicas by index, each with its PodCliques; None is a PodClique that does not exist.
        wanted: its ``replicas``.
        needed: its ``minAvailable``.
        flag: its condition ``GangTerminationInProgress``.
    """

    parts: tuple[tuple[Clique | None, ...], ...]
    wanted: int
    needed: int
    updating: bool = False
    breach: Stored | None = None
    flag: Stored | None = None
    created: int = DAY
    deleting: bool = False


class Replica(NamedTuple):
    """A replica of the set: its standalone PodCliques, and its scaling groups; None is one that does not exist."""

    alone: tuple[Clique | None, ...] = ()
    groups: tuple[Group | None, ...] = ()


class State(NamedTuple):
    """A PodCliqueSet and its parts.

    Attributes:
        shape: the number of PodCliques of each scaling group of the template.
        wanted: its ``replicas``.
        delay: its ``terminationDelay``; None without one.
        override: that of each of its scaling groups.
        absent: kinds that were not collected.
    """

    replicas: tuple[Replica, ...]
    shape: tuple[int, ...]
    wanted: int
    delay: int | None = DELAY
    override: int | None = None
    deleting: bool = False
    absent: frozenset[str] = frozenset()


def alone_name(index: int, number: int) -> str:
    return f"{SET}-{index}-a{number}"


def group_name(index: int, number: int) -> str:
    return f"{SET}-{index}-g{number}"


def member_name(group: str, part: int, number: int) -> str:
    """Return the name of a PodClique of a scaling group; the short names of two groups differ."""
    return f"{group}-{part}-{group[-2:]}m{number}"
