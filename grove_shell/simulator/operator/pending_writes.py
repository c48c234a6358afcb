"""The operator's own writes that its cache does not show yet, and those that failed."""

from collections.abc import Iterable
from dataclasses import dataclass

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Outcome
from grove_core.plan.failed_writes import failed_writes_after, still_wanted
from grove_core.plan.plan import Plan
from grove_core.snapshot.own_writes import not_yet_listed
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.cluster.topologies import RoundSnapshot
from grove_shell.simulator.operator.informers import Informers


@dataclass(frozen=True, slots=True)
class _PendingWrite:
    at: int
    attempt: Attempt


class PendingWrites:
    """Per root: accepted writes that the cache may not show yet, writes that failed last, unfinished steps (OP-103)."""

    def __init__(self) -> None:
        self._by_root: dict[Ref, tuple[_PendingWrite, ...]] = {}
        self._unfinished: dict[Ref, tuple[Attempt, ...]] = {}

    def of_set(self, root: Ref, listed: Snapshot, informers: Informers) -> tuple[Attempt, ...]:
        """Return the writes that are not listed yet, those that failed in the last round, and the unfinished steps.

        A write also counts as listed when the cache of its kind is newer than the write: an object that was deleted
        before it was listed never appears.
        """
        remembered = self._by_root.get(root, ())
        hidden = set(map(id, not_yet_listed(tuple(found.attempt for found in remembered), listed)))
        left = tuple(
            found
            for found in remembered
            if found.attempt.outcome is not Outcome.DONE
            or (id(found.attempt) in hidden and not _has_arrived(found, informers))
        )
        self._by_root[root] = left
        return (*(found.attempt for found in left), *self._unfinished.get(root, ()))

    def of_topology(self, root: Ref, informers: Informers) -> tuple[Attempt, ...] | None:
        """Return the writes that failed in the last round; None while an accepted write is not listed yet."""
        remembered = self._by_root.get(root, ())
        if any(one.attempt.outcome is Outcome.DONE and not _has_arrived(one, informers) for one in remembered):
            return None
        self._by_root[root] = tuple(one for one in remembered if one.attempt.outcome is not Outcome.DONE)
        return tuple(one.attempt for one in self._by_root[root])

    def has_failed(self, root: Ref) -> bool:
        """Return whether a write failed in the last round of a root; older unfinished steps do not count."""
        return any(one.attempt.outcome is not Outcome.DONE for one in self._by_root.get(root, ()))

    def remember(self, root: Ref, at: int, plan: Plan, snapshot: RoundSnapshot, attempts: tuple[Attempt, ...]) -> None:
        """Keep the attempts of a round, and drop the failures of the round before.

        Failed steps of a termination or a breach stay until they are tried again or no longer planned (GF-091, GT-067).
        """
        before = self._by_root.get(root, ())
        if isinstance(snapshot, Snapshot):
            known = still_wanted(self._unfinished.get(root, ()), plan, snapshot)
            self._unfinished[root] = failed_writes_after(known, attempts)
        kept = (one for one in before if one.attempt.outcome is Outcome.DONE)
        self._by_root[root] = (*kept, *(_PendingWrite(at, attempt) for attempt in attempts))

    def drop_all_but(self, roots: Iterable[Ref]) -> None:
        """Forget the writes of all other roots."""
        there = set(roots)
        self._by_root = {root: found for root, found in self._by_root.items() if root in there}
        self._unfinished = {root: found for root, found in self._unfinished.items() if root in there}

    def clear(self) -> None:
        """Forget everything: the process crashed."""
        self._by_root.clear()
        self._unfinished.clear()


def _has_arrived(found: _PendingWrite, informers: Informers) -> bool:
    return informers.has_caught_up(found.attempt.step.target.kind, found.at)
