"""All checks of a run, in the order in which they are called."""

from typing import Final

from grove_core.kernel.admission import Deny
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.final_state_checks import DeletedSetLeftoversCheck, RequiredObjectsCheck
from grove_shell.simulator.checks.gang_termination import GangTerminationCheck
from grove_shell.simulator.checks.operator_write_check import OperatorWriteCheck
from grove_shell.simulator.checks.pods import PodCountCheck, PodDeletionCheck, SchedulingGateCheck
from grove_shell.simulator.checks.simulation_check import ActualClusterState, Manifest, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.topologies import RoundSnapshot, topologies_to_reconcile, topology_snapshot_in
from grove_shell.simulator.operator.informers import Informers
from grove_shell.simulator.operator.simulated_operator import SimulatedOperator
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

    def on_plan(self, actor: HistoryActor, seen: RoundSnapshot, plan: Plan) -> None:
        """Check a plan before it is executed."""
        if not plan.steps or not isinstance(seen, Snapshot):
            return
        self.state.plans.append((seen, self.state.now))
        for check in self.checks:
            check.on_plan(actor, seen, plan)

    def on_write(self, actor: HistoryActor, seen: RoundSnapshot, attempt: Attempt) -> None:
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
        informers = Informers(operator.cluster, 0)
        informers.view.configuration = operator.configuration
        clock = clock_time_at(operator.start, self.state.now)
        snapshots = (informers.view.observe(root, clock) for root in informers.view.roots())
        plans = [operator.decide(snapshot) for snapshot in snapshots if snapshot is not None]
        topology_snapshots = (
            topology_snapshot_in(informers.view, root.name, clock, ())
            for root in topologies_to_reconcile(informers.view)
        )
        plans += [operator.decide_topology(snapshot) for snapshot in topology_snapshots]
        for steps in (plan.steps for plan in plans):
            if steps:
                short = ", ".join(f"{type(step.action).__name__} {step.target.short}" for step in steps[:3])
                self.state.fail(
                    "O2", f"at rest another round would write: {short}", *(s.target.short for s in steps[:3])
                )
