"""A small cluster with everything that goes wrong, driven by a tape; watches what the operator may never do.

Faults (numbers of the fault catalogue): operator restarts before and after writes (F1), caches that lag by kind (F2),
events lost and merged (F3, a lagging cache that skips states), conflicts with foreign writers (F4), writes that
succeed but are reported lost (F5), refused writes (F7), a clock that jumps (F9).

The environment plays the parts the core does not have yet: it recreates cliques that are gone, and it is the kubelet.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.conditions import ConditionStatus, condition_of
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import truncated_to_seconds
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import (
    CLIQUE_FINALIZER,
    GROUP_FINALIZER,
    GROVE,
    MIN_AVAILABLE_BREACHED,
    SET_FINALIZER,
)
from grove_core.resources.metadata_readers import MetadataArguments, Resource
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet, PodCliqueSetStatus
from grove_core.resources.podcliqueset_spec import (
    CliqueSpec,
    CliqueTemplate,
    ScalingGroupTemplate,
    SetSpec,
    SetTemplate,
)
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.cluster_builder import START

DELAY: Final = timedelta(minutes=1)
ROOT: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
GROUP: Final = Ref(GROVE, "PodCliqueScalingGroup", "ml", "llm-0-pool")
CLIQUES: Final = ("llm-0-router", "llm-0-pool-0-worker", "llm-0-pool-1-worker", "llm-0-pool-2-worker")
PODS: Final = 2


class Violated(AssertionError):
    """The operator did what it may never do, or did not do what it must."""


@dataclass
class Operator:
    """What one incarnation of the operator remembers: nothing but the answers to its last writes."""

    rules: RuleSet
    attempts: tuple[Attempt, ...] = ()


class Simulation:
    """One cluster; every public method is one thing that happens."""

    def __init__(self, rules: RuleSet = DESIGN) -> None:
        self.now = START
        self.skew = timedelta()
        self.worst_skew = timedelta()
        self.recently_gone: set[str] = set()
        self.serial = 0
        self.operator = Operator(rules)
        template = SetTemplate(
            cliques=(
                CliqueTemplate(name="router", spec=CliqueSpec(replicas=PODS, min_available=1)),
                CliqueTemplate(name="worker", spec=CliqueSpec(replicas=PODS, min_available=PODS)),
            ),
            pod_clique_scaling_groups=(
                ScalingGroupTemplate(name="pool", clique_names=("worker",), replicas=3, min_available=2),
            ),
            termination_delay=DELAY,
        )
        root = PodCliqueSet(
            **self.identity(ROOT, SET_FINALIZER, None),
            spec=SetSpec(replicas=1, template=template),
            status=PodCliqueSetStatus(),
        )
        group = ScalingGroup(
            **self.identity(GROUP, GROUP_FINALIZER, root),
            replica_index=0,
            replicas=3,
            min_available=2,
            clique_names=("worker",),
            status=GroupStatus(),
        )
        self.memory = InMemoryCluster((index_cluster(sets=(root,), groups=(group,)).snapshot_of(root, START),))
        self.recreate()
        self.cache = self.fresh()
        self.was_available: set[str] = set()
        self.breached_since: dict[str, datetime] = {}
        self.terminations = 0

    # what the environment does

    def recreate(self) -> None:
        """The workload area's part: missing cliques come back, with pods that are not ready yet."""
        for name in CLIQUES:
            ref = Ref(GROVE, "PodClique", "ml", name)
            if ref not in self.memory.items:
                clique = self.clique(ref)
                self.memory.add_object(clique)
                self.memory.pods[clique.uid] = [self.pod(clique) for _ in range(PODS)]

    def set_ready(self, name: str, pod: int, *, ready: bool) -> None:
        """A pod of a clique fails or comes (back) up."""
        item = self.memory.items.get(Ref(GROVE, "PodClique", "ml", name))
        pods = self.memory.pods.get(item.uid, []) if item else []
        if pod < len(pods):
            pods[pod] = replace(pods[pod], ready=ready)

    def set_updating(self, name: str, *, updating: bool) -> None:
        """A rollout of a clique or of the group begins or ends."""
        kind = "PodCliqueScalingGroup" if name == GROUP.name else "PodClique"
        item = self.memory.items.get(Ref(GROVE, kind, "ml", name))
        if isinstance(item, PodClique):
            self.memory.put_object(replace(item, status=replace(item.status, updating=updating)))
        if isinstance(item, ScalingGroup):
            self.memory.put_object(replace(item, status=replace(item.status, updating=updating)))

    def touch(self, name: str) -> None:
        """Another client writes to a clique: its version moves (F4)."""
        item = self.memory.items.get(Ref(GROVE, "PodClique", "ml", name))
        if item is not None:
            self.memory.put_object(item)

    def pass_time(self, span: timedelta) -> None:
        self.now += span

    def jump(self, skew: timedelta) -> None:
        """The operator's clock is off from now on (F9)."""
        self.skew = skew
        self.worst_skew = max(self.worst_skew, abs(skew))

    # what the operator does

    def restart(self) -> None:
        """All that was remembered is gone (F1)."""
        rules = self.operator.rules
        self.operator = Operator(rules)

    def catch_up(self, kinds: int) -> None:
        """Some kinds of the cache catch up, others keep lagging (F2, F3)."""
        fresh = self.fresh()
        self.cache = replace(
            self.cache,
            root=fresh.root if kinds & 1 else self.cache.root,
            groups=fresh.groups if kinds & 2 else self.cache.groups,
            cliques=fresh.cliques if kinds & 4 else self.cache.cliques,
            pods_of=fresh.pods_of if kinds & 8 else self.cache.pods_of,
        )

    def look(self, *, crash_after: int | None = None, outcome: AttemptOutcome | None = None, lie: bool = False) -> int:
        """One round of the operator on its cache; returns the number of steps it tried.

        Args:
            crash_after: restart after that many writes.
            outcome: how the world answers instead of doing it (F7, or an outage).
            lie: the writes happen, but are reported as lost (F5).
        """
        snapshot = replace(self.cache, now=self.now + self.skew, attempts=self.operator.attempts)
        plan = reconcile(snapshot, self.operator.rules)
        if problems := broken_laws_in_plan(plan, snapshot) if not snapshot.attempts else ():
            raise Violated(problems)
        wire = Wire(self, crash_after=crash_after, outcome=outcome, lie=lie)
        try:
            self.operator.attempts = execute_steps_sequentially(wire.attempt, plan.steps)
        except Crash:
            self.restart()
        return len(plan.steps)

    def write(self, step: Step) -> Attempt:
        """Try a step for real, under watch."""
        before = self.memory.items.get(step.target)
        answer = self.memory.attempt_step(step)
        if isinstance(step.action, Delete) and answer.outcome is AttemptOutcome.DONE and before is not None:
            self.terminations += 1
            self.watch_deletion(before)
        self.observe_statuses()
        return answer

    # what is watched

    def observe_statuses(self) -> None:
        """Since when each stored breach has been there without a pause, by the watcher's own clock."""
        for item in self.memory.items.values():
            if isinstance(item, PodClique | ScalingGroup):
                condition = condition_of(item.status.conditions, MIN_AVAILABLE_BREACHED)
                if condition is not None and condition.status is ConditionStatus.TRUE and not item.status.updating:
                    self.breached_since.setdefault(item.uid, truncated_to_seconds(self.now))
                else:
                    self.breached_since.pop(item.uid, None)

    def watch_deletion(self, gone: Resource) -> None:
        """(GT5) Some constituent must have been breached, by what is stored, for a whole delay."""
        slack = timedelta(seconds=1) + self.worst_skew + abs(self.skew)  # written by one clock, read by another
        others = (item.uid for item in self.memory.items.values())
        uids = {gone.uid, *others, *self.recently_gone}
        oldest = min((self.breached_since[uid] for uid in uids if uid in self.breached_since), default=None)
        if oldest is None or self.now - oldest < DELAY - slack:
            raise Violated(f"{gone.ref.name} was terminated early: breached since {oldest}, now {self.now}")
        self.recently_gone.add(gone.uid)

    def note_availability(self) -> None:
        """The cliques seen available by an operator with an exact view."""
        for clique in self.fresh().cliques:
            if not clique.status.updating and self.ready(clique) >= clique.min_available:
                self.was_available.add(clique.uid)

    def settle(self) -> None:
        """Faults stop, all caches are up to date, time goes on: what must end, ends (GT6, O1)."""
        self.skew = timedelta()
        for _ in range(16):
            self.quiet_rounds()
            self.pass_time(DELAY / 3)
        self.quiet_rounds()
        for clique in self.fresh().cliques:
            group_updates = any(group.status.updating for group in self.fresh().groups)
            excused = clique.status.updating or (clique.is_in_scaling_group and group_updates)
            lost = clique.uid in self.was_available and self.ready(clique) < clique.min_available
            if lost and not excused:
                raise Violated(f"{clique.ref.name} lost its pods and was never terminated")

    def quiet_rounds(self) -> None:
        """Rounds without faults until nothing is left to do (PL-002)."""
        for _ in range(12):
            self.recreate()
            self.catch_up(15)
            self.note_availability()
            if self.look() == 0 and not self.operator.attempts:
                return
        raise Violated("no rest")

    # small print

    def ready(self, clique: PodClique) -> int:
        return sum(pod.ready for pod in self.memory.pods.get(clique.uid, ()))

    def fresh(self) -> Snapshot:
        snapshot = self.memory.snapshot_of_set(ROOT, self.now)
        assert snapshot is not None
        return replace(
            snapshot, pods_of=frozen_dict_of_tuples({uid: tuple(pods) for uid, pods in self.memory.pods.items()})
        )

    def next(self) -> int:
        self.serial += 1
        return self.serial

    def identity(self, ref: Ref, finalizer: str, owner: Resource | None) -> MetadataArguments:
        return MetadataArguments(
            ref=ref,
            uid=f"uid-{self.next()}",
            resource_version=str(self.next()),
            owner_uid=owner.uid if owner else "",
            owner_kind=owner.ref.kind if owner else "",
            owner_name=owner.ref.name if owner else "",
            finalizers=(finalizer,),
            deleting=False,
        )

    def clique(self, ref: Ref) -> PodClique:
        member = ref.name.startswith(GROUP.name)
        return PodClique(
            **self.identity(ref, CLIQUE_FINALIZER, self.memory.items[GROUP if member else ROOT]),
            replica_index=0,
            group_replica_index=int(ref.name.split("-")[3]) if member else -1,
            replicas=PODS,
            min_available=PODS if member else 1,
            template_hash="h1",
            status=CliqueStatus(),
        )

    def pod(self, clique: PodClique) -> Pod:
        number = self.next()
        return Pod(
            namespace="ml",
            name=f"{clique.ref.name}-{number}",
            uid=f"uid-{number}",
            resource_version=str(number),
            owner_uid=clique.uid,
            template_hash="h1",
            gang="",
            node="node-1",
            phase="Running",
            trouble="",
            deleting=False,
            scheduled=True,
            gated=False,
            ready=False,
        )


class Crash(Exception):
    """The operator process ends here."""


@dataclass
class Wire:
    """The way to the API server, with whatever goes wrong on it in one round."""

    simulation: Simulation
    crash_after: int | None
    outcome: AttemptOutcome | None
    lie: bool
    tried: int = 0

    def attempt(self, step: Step) -> Attempt:
        """Try one write."""
        if self.tried == self.crash_after:
            raise Crash
        self.tried += 1
        if self.outcome is not None:
            return Attempt(step, self.outcome, "by the simulation")
        answer = self.simulation.write(step)
        return Attempt(step, AttemptOutcome.UNREACHABLE, "timeout") if self.lie else answer
