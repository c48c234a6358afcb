"""Synthetic clusters: sets of 80 pods, as facts and as the texts that kubectl prints.

Each PodCliqueSet has 2 replicas of a frontend clique (4 pods) and of a scaling group ``inst`` with 4 replicas of a
leader (1 pod) and a worker clique (8 pods). 5 % of the pods are not ready, some of these because they are still gated.
Statuses are what the operator would have written, so a cluster is at rest; a few delays run, none has ended.

Rule for this file: the same number of pods gives the same cluster, to the byte.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

Raw: TypeAlias = dict[str, Any]

PODS_PER_SET: Final = 80
NOW: Final = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
NAMESPACE: Final = "inference"
CREATED: Final = "2026-11-21T07:00:00Z"
STARTED: Final = "2026-11-21T07:01:30Z"
SET_REPLICAS: Final = 2
GROUP_REPLICAS: Final = 4
GROUP_NEEDS: Final = 3
_GATED: Final = 0.015
_NOT_READY: Final = 0.05
NODES: Final = tuple(f"gpu-node-{number:04}" for number in range(1000))
HASHES: Final = {"frontend": "5d8c7f9b6455f8d7f9", "leader": "96c54f44478498b5bb", "worker": "7b9f6d5c4bd46f8c55"}
GROUPED: Final = ("leader", "worker")
# clique -> (pods, minAvailable)
CLIQUES_OF: Final[Mapping[str, tuple[int, int]]] = {"frontend": (4, 3), "leader": (1, 1), "worker": (8, 6)}


class State(Enum):
    """How a pod fares; the value is what a fact says of its trouble."""

    READY = ""
    CRASHING = "CrashLoopBackOff"
    GATED = "SchedulingGated"


@dataclass(frozen=True, slots=True)
class Clique:
    """One PodClique to be made."""

    role: str
    set_name: str
    set_uid: str
    replica: int
    group: str
    group_uid: str
    group_replica: int
    name: str
    uid: str
    serial: int
    states: tuple[State, ...]

    @property
    def ready(self) -> int:
        """Ready pods."""
        return self.states.count(State.READY)

    @property
    def scheduled(self) -> int:
        """Placed pods."""
        return len(self.states) - self.states.count(State.GATED)

    @property
    def needed(self) -> int:
        """Its ``minAvailable``."""
        return CLIQUES_OF[self.role][1]

    @property
    def breached(self) -> bool:
        """Whether it has too few ready pods."""
        return self.ready < self.needed

    @property
    def gang(self) -> str:
        """The PodGang of its pods: the replica's own one, or one of a group replica beyond the minimum."""
        base = f"{self.set_name}-{self.replica}"
        extra = self.group_replica - GROUP_NEEDS
        return base if extra < 0 else f"{base}-inst-{extra}"


class PodWords(NamedTuple):
    """What distinguishes a pod from others of its clique."""

    name: str
    uid: str
    version: str
    node: str
    address: str
    number: int
    state: State


def cliques_of_set(number: int) -> Iterator[Clique]:
    """The cliques of the set of that number."""
    rng = Random(number)
    name, set_uid, serial = f"llm-{number:05}", uid_of(1, number), number * 18
    for replica in range(SET_REPLICAS):
        group, group_uid = f"{name}-{replica}-inst", uid_of(2, number * SET_REPLICAS + replica)
        members = [("frontend", -1), *((role, index) for index in range(GROUP_REPLICAS) for role in GROUPED)]
        for role, index in members:
            yield Clique(
                role=role,
                set_name=name,
                set_uid=set_uid,
                replica=replica,
                group=group if index >= 0 else "",
                group_uid=group_uid if index >= 0 else "",
                group_replica=index,
                name=f"{group}-{index}-{role}" if index >= 0 else f"{name}-{replica}-{role}",
                uid=uid_of(3, serial),
                serial=serial,
                states=tuple(_state(rng.random()) for _ in range(CLIQUES_OF[role][0])),
            )
            serial += 1


def _state(chance: float) -> State:
    return State.GATED if chance < _GATED else State.CRASHING if chance < _NOT_READY else State.READY


def uid_of(kind: int, serial: int) -> str:
    """A uid that looks like one; the kind keeps kinds apart."""
    return f"{serial * 2654435761 % 2**32:08x}-{kind:04x}-4b7c-ad00-{serial:012x}"


def sets_for(pods: int) -> range:
    """The numbers of as many sets as that many pods need."""
    return range(-(-pods // PODS_PER_SET))


def cliques_for(pods: int) -> Iterator[Clique]:
    """The cliques of as many sets as that many pods need."""
    for number in sets_for(pods):
        yield from cliques_of_set(number)


def pods_of(clique: Clique) -> Iterator[PodWords]:
    """The pods of a clique."""
    for number, state in enumerate(clique.states):
        serial = clique.serial * 8 + number
        yield PodWords(
            name=f"{clique.name}-{serial % 60466176:05x}",
            uid=uid_of(4, serial),
            version=str(100000 + serial),
            node="" if state is State.GATED else NODES[serial * 7 % len(NODES)],
            address=f"10.{serial >> 16 & 255}.{serial >> 8 & 255}.{serial & 255}",
            number=number,
            state=state,
        )
