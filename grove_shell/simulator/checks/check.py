"""The base class of all checks."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.kernel.admission import Deny
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.actual_state import ActualState
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.recording.history import Actor

Manifest: TypeAlias = Mapping[str, Any]


class Check:
    """Checks one promise, or a few about the same objects; subclasses override the callbacks that they need."""

    def __init__(self, state: ActualState) -> None:
        self.state = state

    def on_changes(self, changes: list[Change]) -> None:
        """Called with the changes of one time step."""

    def on_plan(self, actor: Actor, snapshot: Snapshot, plan: Plan) -> None:
        """Called with a plan before it is executed."""

    def on_write(self, actor: Actor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Called with a step of a set's plan after it was executed or failed."""

    def on_topology_write(self, actor: Actor, snapshot: TopologySnapshot, attempt: Attempt) -> None:
        """Called with a step of a topology's plan after it was executed or failed."""

    def on_start(self, actor: Actor, configuration: Configuration, *, goes_on: bool) -> None:
        """Called when an operator process starts; ``goes_on`` is False where its preflight ended it."""

    def on_set_write(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """Called with a user's write of a set, and with what is stored of it or the denial."""

    def at_rest(self) -> None:
        """Called when no event is left."""
