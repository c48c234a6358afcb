"""Requeue times of the operator: a root is reconciled again when its inputs change, and with backoff after failures."""

from collections.abc import Callable
from typing import Final, NamedTuple

from grove_core.kernel.refs import Ref
from grove_shell.simulator.virtual_time import MINUTE, SECOND

FIRST_BACKOFF: Final = SECOND
_LONGEST_BACKOFF: Final = MINUTE


class RoundInputs(NamedTuple):
    """The inputs of a round besides time: the version of the cache, and the offset of the clock in milliseconds."""

    version: int
    clock_off: int


class Requeue:
    """The requeue times of one process, in milliseconds of virtual time; lost when it crashes."""

    def __init__(self, schedule_round: Callable[[int], None]) -> None:
        """Start empty; ``schedule_round`` is called with the time of the next round."""
        self._schedule_round = schedule_round
        self._settled: dict[Ref, tuple[RoundInputs, int | None]] = {}
        self._backoff: dict[Ref, tuple[int, int]] = {}  # backoff, and the time until which it lasts

    def clear(self) -> None:
        """Forget everything: the process crashed."""
        self._settled.clear()
        self._backoff.clear()

    def is_unchanged(self, root: Ref, inputs: RoundInputs, now: int) -> bool:
        """Return whether a round would repeat the last one, which had nothing to do (PL-008)."""
        before, wake_at = self._settled.get(root, (None, None))
        if before != inputs or (wake_at is not None and now >= wake_at):
            return False
        if wake_at is not None:
            self._schedule_round(wake_at)
        return True

    def after_round(self, root: Ref, inputs: RoundInputs, wake_at: int | None, *, is_idle: bool) -> None:
        """Schedule the round at ``wake_at``, if any; after an idle round only this or new inputs cause another one."""
        if wake_at is not None:
            self._schedule_round(wake_at)
        self._settled.pop(root, None)
        if is_idle:
            self._settled[root] = (inputs, wake_at)

    def after_writes(self, root: Ref, now: int, *, failed: bool, waits: bool) -> None:
        """Schedule a round after the backoff where a write failed, in this round or before."""
        if failed:
            backoff, _ = self._backoff.get(root, (FIRST_BACKOFF // 2, 0))
            backoff = min(backoff * 2, _LONGEST_BACKOFF)
            self._backoff[root] = (backoff, now + backoff)
        if failed or waits:
            self._schedule_round(self._backoff[root][1])
        else:
            self._backoff.pop(root, None)
