"""Chooses which steps of a plan are tried now: statuses are delayed, and creations that failed come last."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Make, Outcome, SetStatus, Stage, Step
from grove_core.resources.new_object import clique_of_new_pod
from grove_core.snapshot.snapshot import Snapshot

_PAUSE_WHILE_WRITING: Final = 5.0
_PAUSE_BETWEEN_MANY: Final = 1.0
_PAUSE_WHILE_STARTING: Final = 15.0
_FEW: Final = 10


class DueWrites(NamedTuple):
    """The steps that are tried now, and in how many seconds the others are; 0 without others."""

    steps: tuple[Step, ...]
    wait: float


@dataclass(slots=True)
class WriteThrottle:
    """The throttle of one set. Mutable.

    Attributes:
        failed_creations: objects whose last creation failed, and uids of PodCliques with such a pod, oldest failure
            first; others are created before them.
        statuses_at: when statuses were written last.
    """

    failed_creations: tuple[Ref | str, ...] = ()
    statuses_at: float = 0.0

    def due(self, steps: Iterable[Step], seen: Snapshot, now: float) -> DueWrites:
        """Return the steps to try now, in each stage those last that failed before (OP-015).

        Statuses wait while objects are written, because each would be outdated at once. More than ten statuses are
        written once a second at most, and once in fifteen seconds while pods start. Urgent ones do not wait (OP-024).

        Args:
            steps: of the plan.
            seen: the snapshot that the plan was made of.
            now: seconds, by the same clock in every call.
        """
        places = {key: place for place, key in enumerate(self.failed_creations, 1)}
        ordered = tuple(sorted(steps, key=partial(_sort_key, places)))
        objects = tuple(step for step in ordered if not _may_wait(step))
        statuses = len(ordered) - len(objects)
        wait = self.statuses_at + _pause(statuses, seen, writes=bool(objects)) - now
        if wait > 0:
            return DueWrites(objects, wait if statuses else 0.0)
        if statuses:
            self.statuses_at = now
        return DueWrites(ordered, 0.0)

    def record(self, answers: Iterable[Attempt]) -> None:
        """Note which creations failed: creations of a kind stop at the first failure (OP-015)."""
        tried, failed = set[Ref | str](), dict[Ref | str, None]()
        for answer in answers:
            if isinstance(answer.step.action, Make):
                target, clique = answer.step.target, clique_of_new_pod(answer.step)
                key: tuple[Ref | str, ...] = (target, clique) if clique else (target,)
                tried.update(key)
                failed.update(dict.fromkeys(key if answer.outcome is not Outcome.DONE else ()))
        self.failed_creations = (*(key for key in self.failed_creations if key not in tried), *failed)


def _sort_key(places: Mapping[Ref | str, int], step: Step) -> tuple[Stage, int, int]:
    """Return the sort key of a step; of those that failed the one comes first that failed the longest ago."""
    return step.stage, places.get(clique_of_new_pod(step), 0), places.get(step.target, 0)


def _pause(statuses: int, seen: Snapshot, *, writes: bool) -> float:
    """Return how many seconds after the last statuses these may be written."""
    if statuses > _FEW and any(not pod.ready and not pod.deleting for _, pod in seen.pods()):
        return _PAUSE_WHILE_STARTING
    if writes:
        return _PAUSE_WHILE_WRITING
    return _PAUSE_BETWEEN_MANY if statuses > _FEW else 0.0


def _may_wait(step: Step) -> bool:
    """Return whether a step is a status that may be delayed: nothing depends on it, and it reports no termination."""
    action = step.action
    is_later = isinstance(action, SetStatus) and not action.is_urgent and not action.end_of
    return is_later and step.stage is not Stage.FOUNDATION
