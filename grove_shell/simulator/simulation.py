"""One run: a world, its actors, what happens to them, until nothing more will happen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from grove_core.areas.gang_termination.design.ruleset import DESIGN
from grove_core.areas.gang_termination.ruling import RuleSet
from grove_core.areas.mnnvl.preflight import objection_to_start
from grove_core.document.document import RulesSource
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.refs import Ref
from grove_core.reconcile import reconcile
from grove_core.reconcile_topology import reconcile_topology
from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.snapshot.cluster import Cluster as Dump
from grove_core.snapshot.snapshot import EVERY_KIND
from grove_shell.in_memory.cluster import InMemoryCluster
from grove_shell.simulator.actors.domain_driver import Driver
from grove_shell.simulator.actors.kubelet import Kubelet
from grove_shell.simulator.actors.node_controller import NodeController
from grove_shell.simulator.actors.scheduler import Scheduler
from grove_shell.simulator.actors.topology_actions import Administrators
from grove_shell.simulator.actors.user_actions import Users
from grove_shell.simulator.checks.all_checks import Checks
from grove_shell.simulator.cluster.admission import Admission
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.cluster.nodes import Node, nodes_of
from grove_shell.simulator.cluster.simulated_cluster import Cluster
from grove_shell.simulator.event_handlers import FAULTS, actor_of, acts_by_name
from grove_shell.simulator.event_queue import Agenda
from grove_shell.simulator.expectations import Judge, Miss
from grove_shell.simulator.faults.domain_faults import FabricFaults
from grove_shell.simulator.faults.fault_injection import Mischief
from grove_shell.simulator.operator.late_admission import LateAround
from grove_shell.simulator.operator.observer import Follower
from grove_shell.simulator.operator.simulated_operator import Decide, Keep, Operator, Preflight
from grove_shell.simulator.recording.clique_states import Standing, standings_of
from grove_shell.simulator.recording.history import History, NoEffect, What
from grove_shell.simulator.recording.timeline_recorder import Storyteller
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.scenario import Scenario, Spec
from grove_shell.simulator.violation import Violated, Violation
from grove_shell.simulator.virtual_time import MINUTE, moment_of

CALM_AFTER: Final = 5 * MINUTE
"""Faults that are left over stop so long after the last event has ended."""
_LONGEST: Final = 30 * 24 * 60 * MINUTE
_MOST_MOMENTS: Final = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a scenario is run.

    Attributes:
        rules: by which the operator judges sets.
        decide, keep: its mind, about sets and about topologies; by the rules, where no other one is given.
        check: watch what may never happen.
        deaf: write no history.
        until: when to stop, in milliseconds; None for the scenario's own word.
        admission: who admits sets, PodCliques and PodGangs.
        preflight: whether an operator that begins may go on.
        followers: who else follows the operators.
        tick: called after each moment with it and with the first at which the run may end, both in milliseconds.
    """

    rules: RuleSet = DESIGN
    decide: Decide | None = None
    keep: Keep = reconcile_topology
    check: bool = False
    deaf: bool = False
    until: int | None = None
    admission: Admission = field(default_factory=Admission)
    preflight: Preflight = objection_to_start
    followers: tuple[Follower, ...] = ()
    tick: Callable[[int, int], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What became of it.

    Attributes:
        end: when nothing more happened, in milliseconds.
        log: every change of the cluster.
        violation: what may never happen, and did; the run ended there.
        misses: expectations that were not met.
        rested: whether it ended because nothing was left to happen.
        writes: tried by the operator.
        rounds: of the operator.
        standings: of the cliques, at the end.
        expected: how many expectations there were.
        rules: name of the rule set by which the operator judged.
        unpredicted: set -> what of it the rules do not predict, a sentence each (GF-130 to GF-134).
        rules_from: what chose the rule set; None where a program chose it.
    """

    scenario: Scenario
    end: int
    history: History
    log: list[Change]
    violation: Violation | None
    misses: tuple[Miss, ...]
    rested: bool
    writes: int
    rounds: int
    standings: tuple[Standing, ...]
    expected: int
    rules: str
    unpredicted: Mapping[Ref, tuple[str, ...]]
    rules_from: RulesSource | None = None

    @property
    def sound(self) -> bool:
        """Whether everything was as expected."""
        return self.violation is None and not self.misses


class Simulation:
    """A scenario, set up and ready to run."""

    def __init__(
        self,
        scenario: Scenario,
        options: Options | None = None,
        *,
        dump: Dump | None = None,
        manifests: Mapping[tuple[str, str], Mapping[str, Any]] | None = None,
    ) -> None:
        options = options or Options()
        spec = scenario.spec
        self.scenario, self.options = scenario, options
        self.until = options.until if options.until is not None else spec.until
        self.agenda = Agenda()
        self.history = History(deaf=options.deaf)
        world = _world_of(spec, dump)
        world.clock = lambda: moment_of(spec.start, self.agenda.now)
        self.cluster = Cluster(world, self.agenda, options.admission)
        self.cluster.admission_watch = spec.admission.watch
        self.cluster.late = LateAround(self.cluster, spec.admission.watch) if spec.admission.watch else None
        self.nodes = _nodes_of(spec, self.cluster)
        self.scheduler = Scheduler(self.cluster, self.nodes, spec.scheduler, self.history)
        self.kubelet = Kubelet(self.cluster, self.nodes, spec.kubelet, self.history)
        self.controller = NodeController(self.cluster, self.nodes, self.scheduler, self.kubelet, self.history)
        self.storyteller = Storyteller(self.cluster, self.history)
        aware = spec.scheduler.gang_aware
        self.checks = Checks(self.cluster, self.nodes, spec.start, gang_aware=aware) if options.check else None
        watching = (self.checks,) if self.checks is not None else ()
        followers = (self.storyteller, *watching, *options.followers)
        self.operator = Operator(
            self.cluster,
            spec.start,
            spec.operator,
            options.decide or partial(reconcile, rules=options.rules),
            keep=options.keep,
            preflight=options.preflight,
            followers=followers,
        )
        self.users = Users(self.cluster, self.kubelet, self.history, spec.start)
        self.users.admission, self.users.rules = options.admission, options.rules
        self.administrators = Administrators(self.cluster, self.history, options.admission)
        self.users.asked = self.checks.asked if self.checks is not None else None
        self.users.manifests.update(manifests or {})
        self.mischief = Mischief(self.cluster, self.operator, self.history)
        self.fabric = FabricFaults(self.cluster, self.operator, self.history)
        self.driver = Driver(self.cluster, spec.driver)
        self.judge = Judge(self.cluster, self.nodes, self.history, spec.expect)
        self._acts = acts_by_name(self.users, self.administrators, self.mischief, self.fabric, self.controller)
        self.cluster.listeners = [
            *([self.checks.hear] if self.checks is not None else []),
            self.storyteller.hear,
            self.scheduler.hear,
            self.kubelet.hear,
            self.driver.hear,
            self.operator.hear,
            self.judge.hear,
        ]

    def run(self) -> Run:
        """Let everything happen."""
        violation = None
        try:
            rested = self._play()
            if self.checks is not None and rested:
                self.checks.at_rest(self.operator)
        except Violated as found:
            violation, rested = found.violation, False
        except BrokenInvariant as broken:
            violation, rested = Violation("PL", self.agenda.now, (), f"a law is broken: {broken}"), False
        if violation is None:
            self.judge.before(None)
        return Run(
            scenario=self.scenario,
            end=self.agenda.now,
            history=self.history,
            log=self.cluster.log,
            violation=violation,
            misses=tuple(self.judge.misses),
            rested=rested,
            writes=self.operator.wire.tried,
            rounds=self.operator.rounds,
            standings=standings_of(self.cluster),
            expected=len(self.scenario.spec.expect),
            rules=self.options.rules.name,
            unpredicted=self.storyteller.not_predicted,
        )

    def _play(self) -> bool:
        """Go from moment to moment; returns whether nothing was left to happen."""
        for topology in self.scenario.spec.topologies:
            self.administrators.admit(topology)
        for manifest in self.scenario.spec.sets:
            self.users.begin_with(manifest)
        end = 0
        for event in self.scenario.spec.events:
            end = max(end, event.at + (getattr(event.deed, "span", 0) or 0))
            self.agenda.at(event.at, self._act_of(event))
        if any(event.what in FAULTS for event in self.scenario.spec.events):
            self.agenda.at(end + CALM_AFTER, self.mischief.calm)
            self.agenda.at(end + CALM_AFTER, self.fabric.calm)
        self.operator.wake(0)
        limit, tick = end + _LONGEST, self.options.tick
        goal = end if self.until is None else self.until
        self._tell()
        for _ in range(_MOST_MOMENTS):
            following = self.agenda.following
            if following is None:
                return True
            if self.until is not None and following > self.until:
                self.judge.before(self.until + 1)
                self.agenda.now = self.until
                self.judge.stopped()
                return False
            self.judge.before(following)
            if following > limit:
                break
            self.agenda.step()
            self._tell()
            if tick is not None:
                tick(following, goal)
        self._never_rests()
        return False

    def _tell(self) -> None:
        while self.cluster.tell():
            pass

    def _never_rests(self) -> None:
        if self.checks is not None:
            says = f"the world does not come to rest, after {self.operator.rounds} rounds of the operator"
            raise Violated(Violation("O1", self.agenda.now, (), says))

    def _act_of(self, event: Event) -> Callable[[], None]:
        act, deed = self._acts[event.what], event.deed

        def happen() -> None:
            try:
                act(deed)
            except NoEffect as nothing:
                self.history.idle += 1
                says = f"{event.written} had no effect: {nothing}"
                self.history.note(self.agenda.now, actor_of(event.what), What.NO_EFFECT, detail=says)
            if self.checks is not None:
                least, most = self.mischief.clocks
                self.checks.truth.clock_slack = most - least

        return happen


def _world_of(spec: Spec, dump: Dump | None) -> InMemoryCluster:
    """What there is at the start, and what the operator is told and offered."""
    roots = () if dump is None else tuple(dump.snapshot_of(root, spec.start) for root in dump.sets)
    world = InMemoryCluster(roots, lingering=True)
    for topology in dump.topologies.values() if dump is not None else ():
        world.add(topology)
    world.complete = EVERY_KIND | {TOPOLOGY_KIND}
    told = spec.operator
    world.configuration = Configuration(mnnvl=told.mnnvl.as_told, topology=told.topology_aware_scheduling.as_told)
    world.served = ServedApis(without_domains=spec.driver.installed > 0)
    return world


def _nodes_of(spec: Spec, cluster: Cluster) -> dict[str, Node]:
    """Those of the scenario, and those that pods of a dump are on, of which nothing else is known."""
    nodes = {node.name: node for pool in spec.nodes for node in nodes_of(pool)}
    for pod in cluster.pods():
        if pod.node and pod.node not in nodes:
            nodes[pod.node] = Node(pod.node, {}, {}, cordoned=True)
    return nodes
