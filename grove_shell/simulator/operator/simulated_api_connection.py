"""The connection of the simulated operator to the API server, with its delays and injected faults."""

from dataclasses import dataclass, field
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Step
from grove_core.resources.pod import Pod
from grove_shell.simulator.cluster.object_change_detector import Object
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.scenario.scenario_field_types import kind_name_in_faults

_OUTCOMES: Final = {
    403: (AttemptOutcome.REFUSED, "403 Forbidden: exceeded quota"),
    422: (AttemptOutcome.REFUSED, "422 Unprocessable Entity"),
    429: (AttemptOutcome.UNREACHABLE, "429 Too Many Requests"),
    503: (AttemptOutcome.UNREACHABLE, "503 Service Unavailable"),
}


class SimulatedOperatorCrash(Exception):
    """Raised where the operator process crashes at a write."""


@dataclass(slots=True)
class InjectedWriteFault:
    """A fault of the next writes.

    Attributes:
        kind: kind of object whose writes it hits; None for all.
        left: number of writes that it still hits.
        code: status code of a refusal; 0 for another fault.
    """

    kind: str | None
    left: int
    code: int = 0

    def hits_write(self, step: Step) -> bool:
        """Return whether the fault hits a write, and count the write if so."""
        if not self.left or self.kind not in {None, kind_name_in_faults(step.target.kind)}:
            return False
        self.left -= 1
        return True


@dataclass(slots=True)
class SimulatedApiConnection:
    """Executes the writes of an operator.

    Attributes:
        latency: milliseconds from sending a write to its response; the write takes effect half-way.
        attempts: number of writes so far, successful or not.
        crash_at: number of the write at which the operator crashes; None for no crash.
        committed: whether that write takes effect.
        refusals, touches, losses: faults of the next writes: refused, preceded by a foreign write, response lost.
        extra_latency: additional milliseconds of each write for now.
    """

    cluster: SimulatedCluster
    latency: int = 0
    attempts: int = 0
    crash_at: int | None = None
    committed: bool = False
    refusals: list[InjectedWriteFault] = field(default_factory=list)
    touches: list[InjectedWriteFault] = field(default_factory=list)
    losses: list[InjectedWriteFault] = field(default_factory=list)
    extra_latency: int = 0

    @property
    def write_delay(self) -> int:
        """How long a write takes now, in milliseconds."""
        return self.latency + self.extra_latency

    def attempt_step(self, step: Step) -> Attempt:
        """Execute one write.

        Raises:
            SimulatedOperatorCrash: The operator crashes at this write.
        """
        self.attempts += 1
        crashes = self.crash_at is not None and self.attempts >= self.crash_at
        if crashes and not self.committed:
            raise SimulatedOperatorCrash
        for fault in self.refusals:
            if fault.hits_write(step):
                return Attempt(step, *_OUTCOMES[fault.code])
        for fault in self.touches:
            if fault.hits_write(step):
                self._touch(step)
        attempt = self.cluster.attempt_step(step)
        if crashes:
            raise SimulatedOperatorCrash
        for fault in self.losses:
            if fault.hits_write(step):
                return Attempt(step, AttemptOutcome.UNREACHABLE, "timeout: the connection was reset")
        return attempt

    def find_object(self, ref: Ref) -> Object | None:
        """Return the stored object; None without one."""
        return self.cluster.server.get_pod(ref) if ref.kind == "Pod" else self.cluster.server.items.get(ref)

    def stop_faults(self) -> None:
        """Remove all faults."""
        self.crash_at = None
        self.refusals.clear()
        self.touches.clear()
        self.losses.clear()
        self.extra_latency = 0

    def _touch(self, step: Step) -> None:
        """Write the object as another client: only its resourceVersion changes."""
        item = self.find_object(step.target)
        if isinstance(item, Pod):
            self.cluster.put_pod(item)
        elif item is not None:
            self.cluster.put_object(item)
