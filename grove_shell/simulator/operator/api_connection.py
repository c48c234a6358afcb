"""The way from an operator to the server, and what goes wrong on it."""

from dataclasses import dataclass, field
from typing import Final

from grove_core.kernel.steps import Attempt, Outcome, Step
from grove_core.resources.pod import Pod
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.scenario.field_types import kind_of

_OUTCOMES: Final = {
    403: (Outcome.REFUSED, "403 Forbidden: exceeded quota"),
    422: (Outcome.REFUSED, "422 Unprocessable Entity"),
    429: (Outcome.UNREACHABLE, "429 Too Many Requests"),
    503: (Outcome.UNREACHABLE, "503 Service Unavailable"),
}


class OperatorCrash(Exception):
    """The operator process ends here."""


@dataclass(slots=True)
class WriteFault:
    """Something that happens to the next writes of a kind.

    Attributes:
        kind: None for all of them.
        left: to how many of them it still happens.
        code: of a refusal; 0 for something else.
    """

    kind: str | None
    left: int
    code: int = 0

    def meets(self, step: Step) -> bool:
        """Whether it happens to this write; it is counted if so."""
        if not self.left or self.kind not in {None, kind_of(step.target.kind)}:
            return False
        self.left -= 1
        return True


@dataclass(slots=True)
class ApiConnection:
    """Where an operator tries its steps.

    Attributes:
        usual: how long a write takes from being sent to being answered; it is done half-way.
        tried: writes so far, done or not.
        crash_at: number of the write at which the operator ends; None for no crash.
        committed: whether that write reaches the server.
        refusals, touches, losses: what happens to the next writes.
        slow: how much longer writes take for now.
    """

    cluster: SimulatedCluster
    latency: int = 0
    attempts: int = 0
    crash_at: int | None = None
    committed: bool = False
    refusals: list[WriteFault] = field(default_factory=list)
    touches: list[WriteFault] = field(default_factory=list)
    losses: list[WriteFault] = field(default_factory=list)
    extra_latency: int = 0

    @property
    def delay(self) -> int:
        """How long a write takes now."""
        return self.latency + self.extra_latency

    def attempt(self, step: Step) -> Attempt:
        """Try one write. Raises Crash."""
        self.attempts += 1
        crashes = self.crash_at is not None and self.attempts >= self.crash_at
        if crashes and not self.committed:
            raise OperatorCrash
        for trouble in self.refusals:
            if trouble.meets(step):
                return Attempt(step, *_OUTCOMES[trouble.code])
        for trouble in self.touches:
            if trouble.meets(step):
                self._touch(step)
        answer = self.cluster.attempt(step)
        if crashes:
            raise OperatorCrash
        for trouble in self.losses:
            if trouble.meets(step):
                return Attempt(step, Outcome.UNREACHABLE, "timeout: the connection was reset")
        return answer

    def stop_faults(self) -> None:
        """Nothing goes wrong any more."""
        self.crash_at = None
        self.refusals.clear()
        self.touches.clear()
        self.losses.clear()
        self.extra_latency = 0

    def _touch(self, step: Step) -> None:
        """Somebody else writes to the object first, and changes nothing that matters."""
        item: object = self.cluster.server.pod(step.target) if step.target.kind == "Pod" else None
        if isinstance(item, Pod):
            self.cluster.put_pod(item)
        elif step.target in self.cluster.server.items:
            self.cluster.put(self.cluster.server.items[step.target])
