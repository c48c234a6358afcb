"""All checks of a run, in the order in which they are called."""

from typing import Final

from grove_core.kernel.admission import Deny
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.simulator.checks.final_state_checks import DeletedSetLeftoversCheck, RequiredObjectsCheck
from grove_shell.simulator.checks.gang_termination import GangTerminationCheck
from grove_shell.simulator.checks.operator_write_check import OperatorWriteCheck
from grove_shell.simulator.checks.pods import PodCountCheck, PodDeletionCheck, SchedulingGateCheck
from grove_shell.simulator.checks.simulation_check import ActualClusterState, Manifest, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.operator.simulated_operator import SimulatedOperator
from grove_shell.simulator.operator.simulated_watches import SimulatedWatches
from grove_shell.simulator.recording.run_history import HistoryActor
from grove_shell.simulator.virtual_time import clock_time_at

PROMISES: Final[tuple[type[SimulationCheck], ...]] = (
    PodCountCheck,
    PodDeletionCheck,
    SchedulingGateCheck,
    OperatorWriteCheck,
    GangTerminationCheck,
    DeletedSetLeftoversCheck,
    RequiredObjectsCheck,
)
"""The checks of ``grove simulate --check``."""


class AllChecks:
    """Observes the operators and the changes of the cluster; raises PromiseViolated at the first broken promise."""

    def __init__(self, state: ActualClusterState, checks: tuple[type[SimulationCheck], ...]) -> None:
        self.state = state
        self.checks = tuple(check(state) for check in checks)

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Check the changes of one time step."""
        self.state.update(changes)
        for check in self.checks:
            check.on_changes(changes)

    def on_plan(self, actor: HistoryActor, seen: Observation, plan: Plan) -> None:
        """Check a plan before it is executed."""
        if not plan.steps or not isinstance(seen, Snapshot):
            return
        self.state.plans.append((seen, self.state.now))
        for check in self.checks:
            check.on_plan(actor, seen, plan)

    def on_write(self, actor: HistoryActor, seen: Observation, attempt: Attempt) -> None:
        """Check a step after it was executed or failed."""
        for check in self.checks:
            if isinstance(seen, Snapshot):
                check.on_write(actor, seen, attempt)
            else:
                check.on_topology_write(actor, seen, attempt)

    def on_start(self, actor: HistoryActor, configuration: Configuration, objection: Reason | None) -> None:
        """Check the start of an operator process."""
        for check in self.checks:
            check.on_start(actor, configuration, goes_on=objection is None)

    def on_set_write(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """Check a write of a set by a user."""
        for check in self.checks:
            check.on_set_write(new, old, stored)

    def on_crash(self, actor: HistoryActor, writes: int) -> None:
        """Ignore a crash: it is allowed."""

    def at_rest(self, operator: SimulatedOperator) -> None:
        """Check the promises at rest, when no event is left; another round must plan nothing (O2)."""
        for check in self.checks:
            check.at_rest()
        watches = SimulatedWatches(operator.cluster, 0)
        watches.start(operator.configuration)
        clock = clock_time_at(operator.start, self.state.now)
        snapshots = (watches.cache.observation(root_key, clock) for root_key in watches.cache.root_keys())
        for steps in (operator.plan(snapshot).steps for snapshot in snapshots if snapshot is not None):
            if steps:
                short = ", ".join(f"{type(step.action).__name__} {step.target.short}" for step in steps[:3])
                self.state.fail(
                    "O2", f"at rest another round would write: {short}", *(s.target.short for s in steps[:3])
                )
