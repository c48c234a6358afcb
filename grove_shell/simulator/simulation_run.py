"""How a scenario is run, and the result of a run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from grove_core.document.plan_document import RuleSetSource
from grove_core.kernel.refs import Ref
from grove_core.preflight import preflight_objections
from grove_core.reconcile_topology import reconcile_topology
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_shell.simulator.checks.simulation_check import SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_admission import SimulatedAdmissionDecisions
from grove_shell.simulator.operator.simulated_operator import Decide, DecideTopology, Preflight
from grove_shell.simulator.operator.simulated_operator_process import SimulatedOperatorObserver
from grove_shell.simulator.promise_violation import PromiseViolation
from grove_shell.simulator.recording.pod_clique_states import PodCliqueState
from grove_shell.simulator.recording.simulation_history import SimulationHistory
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario_expectations import UnmetExpectation


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """How a scenario is run.

    Attributes:
        rules: rule set of the operator.
        decide: makes the plan of a set; None for ``reconcile`` with these rules.
        decide_topology: makes the plan of a topology.
        checks: what is checked during the run; ``PROMISES`` for the promises, nothing by default.
        counts_only: keep no history entries, only counts.
        until: when to stop, in milliseconds; None for ``until`` of the scenario.
        admission: the admission decisions.
        preflight: returns why an operator process must exit at its start; None where it may go on.
        observers: get the actions of the operators.
        tick: called after each time step with its time and the earliest possible end, both in milliseconds.
    """

    rules: RuleSet = DESIGN
    decide: Decide | None = None
    decide_topology: DecideTopology = reconcile_topology
    checks: tuple[type[SimulationCheck], ...] = ()
    counts_only: bool = False
    until: int | None = None
    admission: SimulatedAdmissionDecisions = field(default_factory=SimulatedAdmissionDecisions)
    preflight: Preflight = preflight_objections
    observers: tuple[SimulatedOperatorObserver, ...] = ()
    tick: Callable[[int, int], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """The result of a run.

    Attributes:
        end: time of the last event, in milliseconds.
        changes: all changes of the cluster.
        violation: the broken promise that ended the run, if any.
        unmet: expectations that were not met.
        rested: whether the run ended because no event was left.
        writes: number of writes of the operator, successful or not.
        rounds: number of rounds of the operator.
        clique_states: the PodCliques at the end.
        expected: number of expectations.
        rules: name of the rule set of the operator.
        unpredicted: set -> what the rules do not predict of it, as sentences (GF-134).
        unready_at_start: number of pods that stay not ready as in the dump, or until ``kubelet.recovers`` (SM-106).
        rules_from: what chose the rule set; None where a program chose it.
    """

    scenario: Scenario
    end: int
    history: SimulationHistory
    changes: list[ObjectChange]
    violation: PromiseViolation | None
    unmet: tuple[UnmetExpectation, ...]
    rested: bool
    writes: int
    rounds: int
    clique_states: tuple[PodCliqueState, ...]
    expected: int
    rules: str
    unpredicted: Mapping[Ref, tuple[str, ...]]
    unready_at_start: int = 0
    rules_from: RuleSetSource | None = None

    @property
    def succeeded(self) -> bool:
        """Whether no promise was broken and all expectations were met."""
        return self.violation is None and not self.unmet
