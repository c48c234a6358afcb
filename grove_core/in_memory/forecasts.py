"""Forecasts: plan a root, execute every step in memory, observe, and plan again, until nothing is left to do."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, TypeAlias

from grove_core.areas.gang_termination.forecast_leaving_pods import leaving_pods
from grove_core.areas.gang_termination.forecast_terminations import averted_termination_findings
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import Attempt, Step
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import (
    Cycle,
    Forecast,
    RepeatedRounds,
    one_round_forecast,
    plan_as_forecast_round,
    round_fingerprint,
    shortest_repeating_period,
)
from grove_core.plan.plan import Plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import SET_FINALIZER, TOPOLOGY_KIND
from grove_core.resources.node_loss import NodesByName
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import PlannedSetChange
from grove_core.resources.podcliqueset_spec import SetSpec
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.own_writes import standing_refusals_after_round
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot

_FEW: Final = 20
NO_NODES: Final[NodesByName] = MappingProxyType({})
Eviction: TypeAlias = tuple[datetime, Pod]
"""The time of an eviction, and the pod."""


def forecasts_of_snapshots(
    snapshots: Iterable[Snapshot],
    rules: RuleSet,
    *,
    limit: int | None,
    until: datetime | None,
    nodes: NodesByName = NO_NODES,
) -> Iterator[Forecast]:
    """Yield what happens to each root if every write succeeds and nothing else acts, in the order of the snapshots.

    Args:
        snapshots: one for each root.
        rules: the rule set.
        limit: the most rounds with steps; None for no limit.
        until: to which moment the clock is advanced; None to stop when nothing is left to do at the present one.
        nodes: those of the input; pods of a node that does not answer are evicted in time (GF-018).
    """
    for given in snapshots:
        snapshot = snapshot_with_set_as_stored(given, rules)
        plan = reconcile(snapshot, rules)
        evictions = _evictions_in_forecast(snapshot, rules, nodes, until)
        if plan.settled and _next_moment(plan, evictions, snapshot.now, until) is None:
            yield one_round_forecast(plan, snapshot.now)
        else:
            yield forecast_until_settled(
                InMemoryCluster((snapshot,)),
                snapshot,
                rules,
                limit=limit,
                until=until,
                evictions=evictions,
                first=plan,
            )


def steps_of_coming_rounds(snapshot: Snapshot, rules: RuleSet) -> Iterator[Step]:
    """Yield the steps of the first rounds of one root, without time that passes except short timers (WF-070)."""
    for forecast in forecasts_of_snapshots((snapshot,), rules, limit=_FEW, until=None):
        for coming in forecast.rounds:
            yield from coming.steps


def _evictions_in_forecast(
    snapshot: Snapshot, rules: RuleSet, nodes: NodesByName, until: datetime | None
) -> tuple[Eviction, ...]:
    """Return the evictions after the snapshot, and the ends of pods that leave, until the end of the forecast.

    The first one is the last. An eviction of a pod that is being deleted already is its end (GT-114).
    """
    if until is None:
        return ()
    found = rules.lost_nodes(snapshot, nodes).evictions if rules.lost_nodes is not None else ()
    coming = [one for one in found if snapshot.now < one[0] <= until]
    coming += ((one.at, one.pod) for one in leaving_pods(snapshot, nodes) if one.at is not None and one.at <= until)
    return tuple(sorted(coming, key=lambda one: (one[0], one[1].name), reverse=True))


def forecasts_of_topologies(
    cluster: IndexedCluster, now: datetime, attempts: tuple[Attempt, ...] = ()
) -> tuple[Forecast, ...]:
    """Return the forecasts of topologies with steps or withheld steps (TP-047); sets have forecasts of their own."""
    if not cluster.topologies and not cluster.configuration.topology.enabled:
        return ()
    from grove_core.areas.topology.cluster_topology_snapshot import topology_snapshots  # noqa: PLC0415 - few clusters have topologies (P11)
    from grove_core.reconcile_topology import forecast_topology  # noqa: PLC0415 - as above

    found = (forecast_topology(moment) for moment in topology_snapshots(cluster, now, attempts))
    return tuple(one for one in found if one.rounds[0].steps or one.rounds[0].withheld)


def snapshot_with_set_as_stored(snapshot: Snapshot, rules: RuleSet) -> Snapshot:
    """Return the snapshot with the set as the operator of these rules stores it (WL-198, GF-001).

    A new set is created, an edited one gets its defaults, any other one is returned as it is.
    """
    root = snapshot.root
    if not root.uid:
        return snapshot_of_newly_created_set(snapshot, rules)
    if root.edit is PlannedSetChange.NONE:
        return snapshot
    return replace(snapshot, root=replace(root, spec=with_default_termination_delay(root.spec, rules)))


def with_default_termination_delay(spec: SetSpec, rules: RuleSet) -> SetSpec:
    """Return the spec with the default terminationDelay of these rules if it has none (GF-001)."""
    if rules.default_delay is None or spec.template.termination_delay is not None:
        return spec
    template = spec.template.model_copy(update={"termination_delay": rules.default_delay})
    return spec.model_copy(update={"template": template})


def snapshot_of_newly_created_set(snapshot: Snapshot, rules: RuleSet = DESIGN) -> Snapshot:
    """Return the snapshot of a new set right after its creation: it has a uid and owns nothing.

    Objects that belong to no set are known as before. The spec has the default terminationDelay of the rules (GF-001).
    """
    uid = f"(uid of {snapshot.root.ref.short})"
    spec = with_default_termination_delay(snapshot.root.spec, rules)
    root = replace(snapshot.root, uid=uid, resource_version="1", generation=1, finalizers=(SET_FINALIZER,), spec=spec)
    complete = EVERY_KIND | (snapshot.complete & {TOPOLOGY_KIND})
    return replace(
        snapshot,
        root=root,
        complete=complete,
        not_collected=frozenset(),
        groups=(),
        cliques=(),
        gangs=(),
        others=(),
        domains=(),
        pods_of=FrozenDict(),
    )


def forecast_until_settled(
    cluster: InMemoryCluster,
    start: Snapshot,
    rules: RuleSet,
    *,
    limit: int | None,
    until: datetime | None,
    evictions: Iterable[Eviction] = (),
    first: Plan | None = None,
) -> Forecast:
    """Run rounds until nothing is left to do, no delay expires before ``until``, or the limit is reached.

    What repeats is run twice and returned as ``again`` of the forecast (PL-024).

    Args:
        cluster: holds the objects of ``start``; it is changed.
        start: the first snapshot, with its clock and earlier attempts.
        rules: the rule set.
        limit: the most rounds with steps; None for no limit.
        until: to which moment the clock is advanced; None to stop when nothing is left to do at the present one.
        evictions: of pods, by time, the first one last; an evicted pod is being deleted and does not end (GF-018). One
            that is being deleted already ends (GT-114).
        first: the plan of ``start``, where it is known already.

    Raises:
        BrokenInvariant: a round has the same steps as the one before, or as one of many before it at the same moment,
            so the rounds would never end (PL-002).
    """
    plan = reconcile(start, rules) if first is None else first
    forecast = one_round_forecast(plan, start.now)
    now, rounds = start.now, [plan_as_forecast_round(plan, 1, start.now)]
    refused: tuple[Attempt, ...] = ()
    tracker, coming = _RecurrenceTracker(start.now), [*evictions]
    while True:
        if now == start.now and not plan.steps:
            forecast = replace(forecast, averted=averted_termination_findings(forecast.findings, plan.findings))
        if plan.steps:
            attempts = execute_steps_sequentially(cluster.attempt_step, plan.steps)
        elif (moment := _next_moment(plan, coming, now, until)) is not None:
            now, attempts = moment, ()
            _evict_due_pods(cluster, coming, now)
            again = tracker.begin_lap(now, len(rounds), until) if until is not None else None
            if again is not None and not coming:
                return replace(forecast, rounds=tuple(rounds), complete=True, again=again)
        else:
            break
        refused = standing_refusals_after_round(refused, attempts)
        accepted = tuple(attempt for attempt in attempts if not attempt.is_withheld)
        seen = cluster.snapshot_of_set(start.root.ref, now, (*accepted, *refused))
        if seen is None:
            break
        before, plan = plan, reconcile(seen, rules)
        if plan.steps and (plan.steps == before.steps or tracker.is_endless(plan, now)):
            aims = ", ".join(f"{type(step.action).__name__} {step.target.short}" for step in plan.steps[:3])
            raise BrokenInvariant("PL-002", f"the same steps again and again: {aims}")
        tracker.record_plan(plan, now)
        if plan.steps or any(held not in rounds[-1].withheld for held in plan.withheld):
            if limit is not None and len(rounds) >= limit:
                return replace(forecast, rounds=tuple(rounds), complete=False)
            rounds.append(plan_as_forecast_round(plan, len(rounds) + 1, now))
    return replace(forecast, rounds=tuple(rounds), complete=True)


def _next_moment(plan: Plan, evictions: Sequence[Eviction], now: datetime, until: datetime | None) -> datetime | None:
    """Return the next time at which a delay ends or a pod is evicted; None where there is none until the end.

    A short timer of the operator is waited for whatever the end is (WF-070).
    """
    moments = [at for at, _ in evictions[-1:]]
    if plan.wake_at is not None and plan.wake_at > now:
        is_short = plan.wake_at == plan.requeue_at
        moments += [plan.wake_at] if is_short or (until is not None and plan.wake_at <= until) else []
    return min(moments, default=None)


def _evict_due_pods(cluster: InMemoryCluster, coming: list[Eviction], now: datetime) -> None:
    """Evict or end the pods whose time has come, and remove them from the list."""
    while coming and coming[-1][0] == now:
        pod = coming.pop()[1]
        if pod.deleting:
            cluster.delete_pod(pod)
        else:
            cluster.evict_pod(pod.ref)


class _RecurrenceTracker:
    """Detects that a forecast repeats itself (PL-024) or never settles (PL-002).

    It records the plans, and the laps between the moments to which the clock is advanced. Mutable.
    """

    def __init__(self, begun: datetime) -> None:
        """Start at the first moment of the forecast."""
        self._begun = begun
        self._laps: list[Cycle] = []
        self._lap_starts: list[tuple[datetime, int]] = []
        self._images: list[Hashable] = []
        self._moment = begun
        self._plans_at_moment = 0
        self._images_at_moment: set[Hashable] = set()

    def is_endless(self, plan: Plan, at: datetime) -> bool:
        """Return whether a plan equals an earlier one of the same moment, so that the rounds would never end (PL-002).

        Call it for each plan. Plans are compared from the 21st of one moment on; few forecasts have that many.
        """
        if at != self._moment:
            self._moment, self._plans_at_moment = at, 0
            self._images_at_moment.clear()
        self._plans_at_moment += 1
        if self._plans_at_moment <= _FEW:
            return False
        before = len(self._images_at_moment)
        self._images_at_moment.add(round_fingerprint(plan, at, self._begun))
        return len(self._images_at_moment) == before

    def record_plan(self, plan: Plan, at: datetime) -> None:
        """Record a plan of the present lap; plans before the first lap are not recorded."""
        if self._lap_starts:
            self._images.append(round_fingerprint(plan, at, self._begun))

    def begin_lap(self, now: datetime, rounds: int, until: datetime) -> RepeatedRounds | None:
        """Begin a lap; return what repeats until the end if the next laps equal the last ones.

        Args:
            now: when the lap begins.
            rounds: how many rounds are before it.
            until: the end of the forecast.
        """
        if self._lap_starts:
            self._laps.append((now - self._lap_starts[-1][0], tuple(self._images)))
            self._images.clear()
        self._lap_starts.append((now, rounds))
        count = shortest_repeating_period(self._laps)
        if not count:
            return None
        begun, before = self._lap_starts[-1 - count]
        return RepeatedRounds(before + 1, now - begun, until) if before < rounds else None
