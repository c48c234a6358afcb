"""When an operator of a run looks at a root again: not before something is new, and later after each failure."""

from collections.abc import Callable
from typing import Final, NamedTuple

from grove_core.kernel.refs import Ref
from grove_shell.simulator.virtual_time import MINUTE, SECOND

FIRST_BACKOFF: Final = SECOND
_LONGEST_BACKOFF: Final = MINUTE


class RoundInputs(NamedTuple):
    """What a look depends on besides time: the version of the caches, and how far the clock is ahead."""

    version: int
    clock_off: int


class Requeue:
    """What one process knows of its roots; gone when it ends. Moments and spans are milliseconds of the run."""

    def __init__(self, wake: Callable[[int], None]) -> None:
        """Begin with nothing; ``wake`` is asked for a look at a moment."""
        self._wake = wake
        self._settled: dict[Ref, tuple[RoundInputs, int | None]] = {}
        self._backoff: dict[Ref, tuple[int, int]] = {}  # how long to wait after a failure, and until when now

    def clear(self) -> None:
        """The process ends."""
        self._settled.clear()
        self._backoff.clear()

    def is_unchanged(self, root: Ref, heard: RoundInputs, now: int) -> bool:
        """Whether nothing arrived since a look that had nothing to do, and time alone changes nothing yet (PL-008)."""
        before, wake_at = self._settled.get(root, (None, None))
        if before != heard or (wake_at is not None and now >= wake_at):
            return False
        if wake_at is not None:
            self._wake(wake_at)
        return True

    def after_round(self, root: Ref, heard: RoundInputs, wake_at: int | None, *, is_idle: bool) -> None:
        """Look again when time alone may change something; where nothing was to do, nothing else is a reason to."""
        if wake_at is not None:
            self._wake(wake_at)
        self._settled.pop(root, None)
        if is_idle:
            self._settled[root] = (heard, wake_at)

    def after_writes(self, root: Ref, now: int, *, failed: bool, waits: bool) -> None:
        """Look again when what failed, now or before, may be tried again."""
        if failed:
            patience, _ = self._backoff.get(root, (FIRST_BACKOFF // 2, 0))
            patience = min(patience * 2, _LONGEST_BACKOFF)
            self._backoff[root] = (patience, now + patience)
        if failed or waits:
            self._wake(self._backoff[root][1])
        else:
            self._backoff.pop(root, None)
