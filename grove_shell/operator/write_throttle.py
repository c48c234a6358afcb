"""Which steps of a plan are tried now: statuses may wait a moment, and who failed lets others go first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Make, Outcome, SetStatus, Stage, Step
from grove_core.resources.owner_reference import clique_of_new_pod
from grove_core.snapshot.snapshot import Snapshot

_LONGEST_SILENCE: Final = 5.0
_STATUS_PAUSE: Final = 1.0
_ARRIVAL_PAUSE: Final = 15.0
_FEW: Final = 10


class DueWrites(NamedTuple):
    """What is tried now, and how many seconds what is left may wait; 0 where nothing is."""

    steps: tuple[Step, ...]
    wait: float


@dataclass(slots=True)
class WriteThrottle:
    """The pace of one set.

    Attributes:
        unlucky: what was not created when it was tried last, and uids of PodCliques of which a pod was not, the longest
            ago first; others are tried before.
        told_at: of the clock that is handed in; when statuses were written last.
    """

    unlucky: tuple[Ref | str, ...] = ()
    told_at: float = 0.0

    def due(self, steps: Iterable[Step], seen: Snapshot, now: float) -> DueWrites:
        """The steps to try at a moment, each stage with what failed before at its end (OP-017).

        While objects are written statuses wait a moment, for each would be outdated at once; and many of them are not
        written more often than every second, nor than every fifteen while pods come. What must not be missed does not
        wait (OP-024).

        Args:
            steps: of the plan.
            seen: what it was made of.
            now: of the same clock as before.
        """
        places = {whom: place for place, whom in enumerate(self.unlucky, 1)}
        ordered = tuple(sorted(steps, key=partial(_turn_of, places)))
        objects = tuple(step for step in ordered if not _may_wait(step))
        statuses = len(ordered) - len(objects)
        wait = self.told_at + _pause(statuses, seen, writes=bool(objects)) - now
        if wait > 0:
            return DueWrites(objects, wait if statuses else 0.0)
        if statuses:
            self.told_at = now
        return DueWrites(ordered, 0.0)

    def take(self, answers: Iterable[Attempt]) -> None:
        """Remember which creations were not accepted: creations stop at the first of them, others would never come."""
        tried, failed = set[Ref | str](), dict[Ref | str, None]()
        for answer in answers:
            if isinstance(answer.step.action, Make):
                target, clique = answer.step.target, clique_of_new_pod(answer.step)
                whom: tuple[Ref | str, ...] = (target, clique) if clique else (target,)
                tried.update(whom)
                failed.update(dict.fromkeys(whom if answer.outcome is not Outcome.DONE else ()))
        self.unlucky = (*(whom for whom in self.unlucky if whom not in tried), *failed)


def _turn_of(places: Mapping[Ref | str, int], step: Step) -> tuple[Stage, int, int]:
    """Who failed the longest ago is the first of those who failed, for creations stop at the next one that does."""
    return step.stage, places.get(clique_of_new_pod(step), 0), places.get(step.target, 0)


def _pause(statuses: int, seen: Snapshot, *, writes: bool) -> float:
    """How many seconds after the last statuses so many are written."""
    if statuses > _FEW and any(not pod.ready and not pod.deleting for _, pod in seen.pods()):
        return _ARRIVAL_PAUSE
    if writes:
        return _LONGEST_SILENCE
    return _STATUS_PAUSE if statuses > _FEW else 0.0


def _may_wait(step: Step) -> bool:
    """Whether it is a status that can be written later as well: nothing rests on it, and it tells of no end."""
    action = step.action
    is_later = isinstance(action, SetStatus) and not action.is_urgent and not action.end_of
    return is_later and step.stage is not Stage.FOUNDATION
