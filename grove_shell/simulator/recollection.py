"""What an operator remembers: the answers to its own writes, until its caches show what became of them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Outcome
from grove_core.snapshot.expectations import unseen
from grove_core.snapshot.overtaken import is_kept_in_mind
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.informers import Informers


@dataclass(frozen=True, slots=True)
class _Remembered:
    at: int
    attempt: Attempt


class Recollection:
    """Per root, accepted writes that the caches may not show yet, and the failed ones of the last round."""

    def __init__(self) -> None:
        self._by_root: dict[Ref, tuple[_Remembered, ...]] = {}

    def of(self, root: Ref, listed: Snapshot, informers: Informers) -> tuple[Attempt, ...]:
        """What was answered and is not listed yet; of the last round also what failed.

        A write counts as listed when its kind has caught up beyond it, too: an object that was gone again before it
        was ever listed would be waited for endlessly.
        """
        remembered = self._by_root.get(root, ())
        hidden = set(map(id, unseen(tuple(found.attempt for found in remembered), listed)))
        left = tuple(
            found
            for found in remembered
            if found.attempt.outcome is not Outcome.DONE
            or (id(found.attempt) in hidden and not _has_arrived(found, informers))
        )
        self._by_root[root] = left
        return tuple(found.attempt for found in left)

    def of_topology(self, root: Ref, informers: Informers) -> tuple[Attempt, ...] | None:
        """What of the last round failed; None while what it did is not listed yet: that is waited for."""
        remembered = self._by_root.get(root, ())
        if any(one.attempt.outcome is Outcome.DONE and not _has_arrived(one, informers) for one in remembered):
            return None
        self._by_root[root] = tuple(one for one in remembered if one.attempt.outcome is not Outcome.DONE)
        return tuple(one.attempt for one in self._by_root[root])

    def take(self, root: Ref, at: int, answers: Iterable[Attempt]) -> None:
        """Remember the answers of a round; failures of the round before are forgotten.

        Of an end or a breach they are told once more, when that is tried again (GF-091, GT-067).
        """
        kept = filter(None, map(_kept, self._by_root.get(root, ())))
        self._by_root[root] = (*kept, *(_Remembered(at, answer) for answer in answers))

    def keep_only(self, roots: Iterable[Ref]) -> None:
        """Forget whatever belongs to roots that are gone."""
        there = set(roots)
        self._by_root = {root: found for root, found in self._by_root.items() if root in there}

    def clear(self) -> None:
        """Forget everything."""
        self._by_root.clear()


def _kept(found: _Remembered) -> _Remembered | None:
    """What is left of an answer when the next ones come."""
    attempt = found.attempt
    if attempt.outcome is Outcome.REFUSED and is_kept_in_mind(attempt.step):
        return replace(found, attempt=replace(attempt, outcome=Outcome.CONFLICT))
    return found if attempt.outcome is Outcome.DONE else None


def _has_arrived(found: _Remembered, informers: Informers) -> bool:
    return informers.has_seen(found.attempt.step.target.kind, found.at)
