"""What an operator remembers: the answers to its own writes, until its caches show what became of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Outcome
from grove_core.plan.plan import Plan
from grove_core.plan.unfinished import still_wanted, unfinished_after
from grove_core.snapshot.expectations import unseen
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.cluster.topologies import RoundSnapshot
from grove_shell.simulator.operator.informers import Informers


@dataclass(frozen=True, slots=True)
class _Remembered:
    at: int
    attempt: Attempt


class PendingWrites:
    """Per root, accepted writes that the caches may not show yet, what failed last, and what is unfinished (OP-103)."""

    def __init__(self) -> None:
        self._by_root: dict[Ref, tuple[_Remembered, ...]] = {}
        self._unfinished: dict[Ref, tuple[Attempt, ...]] = {}

    def of(self, root: Ref, listed: Snapshot, informers: Informers) -> tuple[Attempt, ...]:
        """What was answered and is not listed yet; what failed in the last round, and what is unfinished.

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
        return (*(found.attempt for found in left), *self._unfinished.get(root, ()))

    def of_topology(self, root: Ref, informers: Informers) -> tuple[Attempt, ...] | None:
        """What of the last round failed; None while what it did is not listed yet: that is waited for."""
        remembered = self._by_root.get(root, ())
        if any(one.attempt.outcome is Outcome.DONE and not _has_arrived(one, informers) for one in remembered):
            return None
        self._by_root[root] = tuple(one for one in remembered if one.attempt.outcome is not Outcome.DONE)
        return tuple(one.attempt for one in self._by_root[root])

    def has_failed(self, root: Ref) -> bool:
        """Whether something failed in the last round of a root; what is unfinished for longer is no reason to look."""
        return any(one.attempt.outcome is not Outcome.DONE for one in self._by_root.get(root, ()))

    def take(self, root: Ref, at: int, plan: Plan, seen: RoundSnapshot, answers: tuple[Attempt, ...]) -> None:
        """Remember the answers of a round to its plan; failures of the round before are forgotten.

        Those of an end or a breach are told until that is tried again, or nobody wants it (GF-091, GT-067).
        """
        before = self._by_root.get(root, ())
        if isinstance(seen, Snapshot):
            known = still_wanted(self._unfinished.get(root, ()), plan, seen)
            self._unfinished[root] = unfinished_after(known, answers)
        kept = (one for one in before if one.attempt.outcome is Outcome.DONE)
        self._by_root[root] = (*kept, *(_Remembered(at, answer) for answer in answers))

    def keep_only(self, roots: Iterable[Ref]) -> None:
        """Forget whatever belongs to roots that are gone."""
        there = set(roots)
        self._by_root = {root: found for root, found in self._by_root.items() if root in there}
        self._unfinished = {root: found for root, found in self._unfinished.items() if root in there}

    def clear(self) -> None:
        """Forget everything."""
        self._by_root.clear()
        self._unfinished.clear()


def _has_arrived(found: _Remembered, informers: Informers) -> bool:
    return informers.has_caught_up(found.attempt.step.target.kind, found.at)
