"""What is done, in words that mean the same on every server; and sequences of it, each a function of its seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, unique
from random import Random
from typing import Final

from tests.recorded_api_server.slots import SLOTS

LENGTH: Final = 18


@unique
class What(Enum):
    """A step of the operator, or a write of another client."""

    CREATE = "the operator creates"
    APPLY = "the operator writes fields of"
    STATUS = "the operator writes the status of"
    DELETE = "the operator deletes"
    RELEASE = "the operator drops a finalizer of"
    WISH = "a user applies"
    SCALE = "a user scales"
    TOUCH = "somebody writes a word on"
    HOLD = "somebody holds"
    REMOVE = "a user deletes"
    PLACE = "the scheduler places"
    RUN = "the kubelet runs"
    FAIL = "the kubelet reports the end of"
    STOP = "the kubelet lets go of"


@dataclass(frozen=True, slots=True)
class Move:
    """One request.

    Attributes:
        how: which of the ways there are, see ``_WAYS``.
        stale: the operator looked before the last change of the object.
    """

    what: What
    slot: str
    how: str = ""
    stale: bool = False

    def __str__(self) -> str:
        slot = SLOTS[self.slot]
        more = ", ".join(filter(None, (self.how, "as it was judged before" if self.stale else "")))
        return f"{self.what.value} {slot.kind} {slot.name}{f' ({more})' if more else ''}"


_GROVE: Final = ("set", "group", "clique", "member")
_WITH_STATUS: Final = (*_GROVE, "gang")
_PODS: Final = ("gated", "pod")
_REST: Final = ("service", "scaler", "account", "secret", "role", "binding")
_MADE: Final = (*_GROVE[1:], "gang", *_PODS, *_REST)
_DELETED: Final = (*_GROVE[1:], "gang", *_PODS, "service", "scaler")

_SLOTS: Final[Mapping[What, tuple[str, ...]]] = {
    What.CREATE: _MADE,
    What.APPLY: ("clique", "member", "group", "gang", "gated", "service", "scaler"),
    What.STATUS: _WITH_STATUS,
    What.DELETE: _DELETED,
    What.RELEASE: _GROVE,
    What.WISH: ("set",),
    What.SCALE: ("group", "clique", "member"),
    What.TOUCH: (*_WITH_STATUS, *_PODS, "service", "scaler"),
    What.HOLD: (*_WITH_STATUS, "service", "scaler"),
    What.REMOVE: ("set", *_MADE),
    What.PLACE: _PODS,
    What.RUN: _PODS,
    What.FAIL: _PODS,
    What.STOP: _PODS,
}
_WAYS: Final[Mapping[What, tuple[str, ...]]] = {
    What.CREATE: ("held", "held", "", "", "for another owner", "malformed"),
    What.APPLY: ("one", "two", "spec", "null"),
    What.STATUS: ("one", "two", "more"),
    What.DELETE: ("", "", "foreground", "foreground", "resting", "resting on what changed"),
    What.RELEASE: ("own", "own", "foreign"),
    What.WISH: ("1", "2"),
    What.SCALE: ("1", "3"),
}
_STEPS: Final = frozenset({What.CREATE, What.APPLY, What.STATUS, What.DELETE, What.RELEASE})
_AIMED: Final = _STEPS - {What.CREATE}
_OFTEN: Final[Mapping[What, int]] = {
    What.CREATE: 10,
    What.APPLY: 7,
    What.STATUS: 7,
    What.DELETE: 9,
    What.RELEASE: 6,
    What.WISH: 2,
    What.SCALE: 2,
    What.TOUCH: 2,
    What.HOLD: 3,
    What.REMOVE: 5,
    What.PLACE: 4,
    What.RUN: 2,
    What.FAIL: 4,
    What.STOP: 4,
}
_FIRST: Final = (
    Move(What.WISH, "set", "1"),
    Move(What.CREATE, "group", "held"),
    Move(What.CREATE, "member", "held"),
    Move(What.CREATE, "clique", "held"),
    Move(What.CREATE, "gated"),
    Move(What.CREATE, "pod"),
    Move(What.PLACE, "pod"),
)


def drawn(seed: int) -> tuple[Move, ...]:
    """A sequence: most of a small set is made first, then anything happens to a few of its objects."""
    dice = Random(f"honesty {seed}")
    begun = [move for move in _FIRST if dice.random() < 0.8]
    few = {"set", "pod", *dice.sample(sorted(SLOTS), 4)}
    return (*begun, *(_any(dice, few) for _ in range(LENGTH - len(begun))))


def _any(dice: Random, few: set[str]) -> Move:
    while True:
        what = dice.choices(list(_OFTEN), list(_OFTEN.values()))[0]
        slots = [slot for slot in _SLOTS[what] if slot in few or dice.random() < 0.15]
        if slots:
            slot, how = dice.choice(slots), dice.choice(_WAYS.get(what, ("",)))
            stale = what in _AIMED and dice.random() < 0.15
            return Move(what, slot, how if _means_something(what, slot, how) else "", stale=stale)


def _means_something(what: What, slot: str, how: str) -> bool:
    """Whether this way is another one than the plain one for this kind."""
    if what is What.CREATE and how in {"held", "malformed"}:
        return slot in _GROVE
    return slot not in _PODS or (what is not What.APPLY and how != "foreground")  # no plan waits for parts of a pod
