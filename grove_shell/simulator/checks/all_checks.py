"""All checks of a run, in the order in which they are called."""

from typing import Final

from grove_core.kernel.admission import Deny
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.simulator.checks.final_state_checks import DeletedSetLeftoversCheck, RequiredObjectsExistCheck
from grove_shell.simulator.checks.gang_termination_check import GangTerminationCheck
from grove_shell.simulator.checks.operator_write_check import OperatorWriteCheck
from grove_shell.simulator.checks.pod_checks import GateRemovalCheck, PodCreationCheck, PodDeletionCheck
from grove_shell.simulator.checks.simulation_check import ActualClusterState, Manifest, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.operator.simulated_operator import SimulatedOperator
from grove_shell.simulator.operator.simulated_watches import SimulatedListsAndWatches
from grove_shell.simulator.recording.simulation_history import SimulationActor
from grove_shell.simulator.virtual_time import datetime_of_virtual_time

PROMISES: Final[tuple[type[SimulationCheck], ...]] = (
    PodCreationCheck,
    PodDeletionCheck,
    GateRemovalCheck,
    OperatorWriteCheck,
    GangTerminationCheck,
    DeletedSetLeftoversCheck,
    RequiredObjectsExistCheck,
)
"""The checks of ``grove simulate --check``."""


class AllSimulationChecks:
    """Observes the operators and the changes of the cluster; raises PromiseViolated at the first broken promise."""

    def __init__(self, state: ActualClusterState, checks: tuple[type[SimulationCheck], ...]) -> None:
        self.state = state
        self.checks = tuple(check(state) for check in checks)

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Check the changes of one time step."""
        self.state.apply_changes(changes)
        for check in self.checks:
            check.on_changes(changes)

    def on_operator_plan(self, actor: SimulationActor, seen: Observation, plan: Plan) -> None:
        """Check a plan before it is executed."""
        if not plan.steps or not isinstance(seen, Snapshot):
            return
        self.state.plans.append((seen, self.state.now))
        for check in self.checks:
            check.on_operator_plan(actor, seen, plan)

    def on_operator_write(self, actor: SimulationActor, seen: Observation, attempt: Attempt) -> None:
        """Check a step after it was executed or failed."""
        for check in self.checks:
            if isinstance(seen, Snapshot):
                check.on_operator_write(actor, seen, attempt)
            else:
                check.on_operator_topology_write(actor, seen, attempt)

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, objection: Reason | None) -> None:
        """Check the start of an operator process."""
        for check in self.checks:
            check.on_operator_start(actor, configuration, goes_on=objection is None)

    def on_user_set_write(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """Check a write of a set by a user."""
        for check in self.checks:
            check.on_user_set_write(new, old, stored)

    def on_operator_crash(self, actor: SimulationActor, writes: int) -> None:
        """Ignore a crash: it is allowed."""

    def check_at_rest(self, operator: SimulatedOperator) -> None:
        """Check the promises at rest, when no event is left; another round must plan nothing (O2)."""
        for check in self.checks:
            check.check_at_rest()
        watches = SimulatedListsAndWatches(operator.cluster, 0)
        watches.list_into_empty_cache(operator.configuration)
        clock = datetime_of_virtual_time(operator.start, self.state.now)
        snapshots = (watches.cache.snapshot_of_root(root_key, clock) for root_key in watches.cache.root_keys())
        for steps in (operator.plan_for_root(snapshot).steps for snapshot in snapshots if snapshot is not None):
            if steps:
                short = ", ".join(f"{type(step.action).__name__} {step.target.short}" for step in steps[:3])
                self.state.report_broken_promise(
                    "O2", f"at rest another round would write: {short}", *(s.target.short for s in steps[:3])
                )
