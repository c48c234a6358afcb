"""What all parts of one model run share: participants, costs, event queue, processor and counters."""

from dataclasses import dataclass, field

from grove_shell.converge.model.costs import Costs
from grove_shell.converge.model.participants import Participants
from grove_shell.converge.model.processor import Processor
from grove_shell.simulator.event_queue import EventQueue


@dataclass(slots=True)
class RunCounters:
    """Counters of one run, as in :class:`grove_shell.converge.runs.Run`."""

    writes: int = 0
    controller_writes: int = 0
    conflicts: int = 0
    throttled: int = 0
    timeouts: int = 0
    cas_failures: int = 0
    watch_events: int = 0
    watch_bytes: int = 0
    uploaded_bytes: int = 0
    repicks: int = 0


@dataclass(frozen=True, slots=True)
class ModelContext:
    """See the module; the event queue counts microseconds."""

    participants: Participants
    costs: Costs
    queue: EventQueue
    processor: Processor
    counters: RunCounters = field(default_factory=RunCounters)


def model_context_of(participants: Participants, costs: Costs) -> ModelContext:
    """Return the context of a run that has not started."""
    queue = EventQueue()
    return ModelContext(participants, costs, queue, Processor(queue, participants.point.server_cores))
