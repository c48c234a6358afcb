"""The metrics of a process and of the operator, under the names of controller-runtime where it has one (OP-041)."""

from collections import Counter as Count
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.verdicts import WAITS
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.questions import BREACH, TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step, StepStage
from grove_core.kernel.wants import StepObstacle
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import GROUP_KIND
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener
from grove_shell.cache.root_keys import RootKey, is_topology_cache_key
from grove_shell.operator.prediction_check import PredictionOutcome

_SETS: Final = "podcliqueset"
_TOPOLOGIES: Final = "clustertopology"
_BREACHED: Final = ("PodClique", GROUP_KIND)
_LEVELS: Final = ("PodCliqueSet", GROUP_KIND)
_DELAY_EXPIRED: Final = (
    TerminationReason.DELAY_EXPIRED.code
)  # the only rule that terminates a gang, under every rule set
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class ApiRequestMetrics:
    """The metrics of one process: its requests to the API server; subclasses add theirs."""

    def __init__(self) -> None:
        """Start without a request."""
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it
        self.registry = CollectorRegistry()
        self._requests = self._count(
            "rest_client_requests_total", "Requests by status of the response.", "code", "method"
        )
        self._request_seconds = self._time(
            "rest_client_request_duration_seconds",
            "Seconds until a request was answered, watches apart.",
            "verb",
            _BUCKETS,
        )

    def _count(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(name, words, labels, registry=self.registry)

    def _gauge(self, name: str, words: str, *labels: str) -> Gauge:
        return Gauge(name, words, labels, registry=self.registry)

    def _time(self, name: str, words: str, label: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(name, words, [label], buckets=buckets, registry=self.registry)

    def count_request(self, method: str, status: int, seconds: float | None) -> None:
        """Count a request to the API server (AL-009).

        Args:
            method: of HTTP.
            status: of the response, 0 without one.
            seconds: until the response was read, or until there was an error; None for a watch.
        """
        self._requests.labels(str(status) if status else "<error>", method).inc()
        if seconds is not None:
            self._request_seconds.labels(method).observe(seconds)

    def as_prometheus_text(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class OperatorMetrics(ApiRequestMetrics, ReconcileRoundListener):
    """The metrics of one operator process."""

    def __init__(self) -> None:
        """Start with all at zero."""
        super().__init__()
        self._rounds = self._count("controller_runtime_reconcile_total", "Rounds by result.", "controller", "result")
        self._errors = self._count("controller_runtime_reconcile_errors_total", "Rounds that failed.", "controller")
        time = "controller_runtime_reconcile_time_seconds"
        self._planning_time = self._time(time, "Seconds to make a plan.", "controller", _BUCKETS)
        self._depth = self._gauge("workqueue_depth", "Sets and topologies that wait for a round.", "name")
        self._leads = self._gauge("leader_election_master_status", "Whether this process is the leader.", "name")
        self.set_leading(False)
        self._writes = self._count("grove_writes_total", "Steps by outcome.", "kind", "action", "outcome")
        self._terminations = self._count(
            "grove_gang_terminations_total", "Terminated gangs by level and rule.", "level", "rule"
        )
        for level in _LEVELS:
            self._terminations.labels(level, _DELAY_EXPIRED)  # the first one is an increase of 0 to 1 (AL-004)
        self._causes: dict[tuple[RootKey, Ref], frozenset[str]] = {}  # gang -> causes of its last counted termination
        self._predictions = self._count(
            "grove_predictions_total", "Predicted terminations of PodCliques by outcome (--observe).", "outcome"
        )
        for outcome in PredictionOutcome:
            self._predictions.labels(outcome.value)  # as above (AL-006)
        self._breached = self._gauge("grove_breached", "Breached objects.", "namespace", "set", "kind")
        self._waiting = self._gauge(
            "grove_termination_deadline_timestamp_seconds",
            "When the next gang is due; 0 for none.",
            "namespace",
            "set",
        )
        self._ended = self._gauge(
            "grove_gang_termination_timestamp_seconds",
            "When a gang was last terminated, by this process or as it predicted (--observe); 0 for never.",
            "namespace",
            "set",
        )
        self._refused = self._gauge(
            "grove_refused_writes",
            "Writes that the API server refused when they were last tried, and that the plan still has.",
            "namespace",
            "set",
        )
        self._refused_targets: dict[RootKey, frozenset[Ref]] = {}

    def count_prediction_outcome(self, outcome: PredictionOutcome) -> None:
        """Count an outcome of a prediction."""
        self._predictions.labels(outcome.value).inc()

    def set_last_termination(self, root_key: RootKey, moment: datetime) -> None:
        """Set when a gang of a set was last terminated, by this process or by the operator that it observes."""
        self._ended.labels(*root_key).set(moment.timestamp())

    def read_queue_depth_from(self, depth: Callable[[], int]) -> None:
        """Read the length of the work queue from a function."""
        self._depth.labels(_SETS).set_function(depth)

    def set_leading(self, leads: bool) -> None:  # noqa: FBT001 - its name says what it is
        """Set whether this process is the leader."""
        self._leads.labels("grove-operator").set(leads)

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        """Count a round, and set the gauges of its set."""
        root_key, plan = planned_round.root_key, planned_round.plan
        self._rounds.labels(_controller(root_key), "success").inc()
        self._planning_time.labels(_controller(root_key)).observe(planned_round.planning_seconds)
        if is_topology_cache_key(root_key):
            return
        breached = Count(
            finding.subject.kind
            for finding in plan.findings
            if finding.question == BREACH and finding.verdict == ConditionStatus.TRUE.value
        )
        for kind in _BREACHED:
            self._breached.labels(*root_key, kind).set(breached[kind])
        self._waiting.labels(*root_key).set(min(_deadlines(plan), default=0))
        self._ended.labels(*root_key)
        self._refused.labels(*root_key)
        if not plan.steps:
            self._set_refused_targets(root_key, _withheld_after_refusal(plan))

    def on_steps_executed(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> None:
        """Count the steps of a round by outcome, and the terminations."""
        self._count_writes(attempts)
        if is_topology_cache_key(planned_round.root_key):
            return
        self._count_refused(planned_round, attempts)
        for attempt in attempts:
            if attempt.outcome is AttemptOutcome.DONE and attempt.step.stage is StepStage.CAUSE:
                self._count_termination(planned_round, attempt.step)

    def on_finalizers_dropped(self, root_key: RootKey, attempts: tuple[Attempt, ...]) -> None:
        """Count a round that dropped the finalizers of a deleted set."""
        self._rounds.labels(_controller(root_key), "success").inc()
        self._count_writes(attempts)

    def _count_refused(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> None:
        """Count what the server refused; a write that was not tried, or has no response, stays refused (AL-005)."""
        root_key, plan = planned_round.root_key, planned_round.plan
        settled = {attempt.step.target for attempt in attempts if attempt.outcome is AttemptOutcome.DONE}
        refused = {attempt.step.target for attempt in attempts if attempt.outcome is AttemptOutcome.REFUSED}
        before = self._refused_targets.get(root_key, frozenset())
        still = before.intersection(step.target for step in plan.steps) - settled
        self._set_refused_targets(root_key, refused | still | _withheld_after_refusal(plan))

    def _set_refused_targets(self, root_key: RootKey, targets: Iterable[Ref]) -> None:
        self._refused_targets[root_key] = frozenset(targets)
        self._refused.labels(*root_key).set(len(self._refused_targets[root_key]))

    def _count_termination(self, planned_round: PlannedReconcileRound, step: Step) -> None:
        """Count a termination once, also where its causes are deleted in several rounds."""
        if not isinstance(step.action, Delete):
            return
        root_key = planned_round.root_key
        causes = frozenset(guard.uid for _, guard in step.action.rests_on)
        for one in step.action.terminates:
            gang = (root_key, one.replica)
            if not causes & self._causes.get(gang, frozenset()):
                self._terminations.labels(one.replica.kind, _DELAY_EXPIRED).inc()
                self.set_last_termination(root_key, planned_round.observation.now)
                self._causes[gang] = causes

    def _count_writes(self, attempts: Iterable[Attempt]) -> None:
        for attempt in attempts:
            action = type(attempt.step.action).__name__
            self._writes.labels(attempt.step.target.kind, action, attempt.outcome.value).inc()

    def on_round_failed(self, root_key: RootKey, words: str) -> None:
        """Count a round that failed."""
        del words
        self._rounds.labels(_controller(root_key), "error").inc()
        self._errors.labels(_controller(root_key)).inc()

    def on_root_deleted(self, root_key: RootKey) -> None:
        """Remove the gauges of a deleted set; those of an unknown one are removed already (OP-041)."""
        if is_topology_cache_key(root_key):
            return
        for gang in [gang for gang in self._causes if gang[0] == root_key]:
            del self._causes[gang]
        self._refused_targets.pop(root_key, None)
        with_kind = ((self._breached, (*root_key, kind)) for kind in _BREACHED)
        for gauge, labels in (*with_kind, *((each, root_key) for each in (self._waiting, self._ended, self._refused))):
            with suppress(KeyError):  # older versions of the library raise it
                gauge.remove(*labels)


def _deadlines(plan: Plan) -> Iterator[float]:
    """Yield the times at which gangs are due, in seconds since 1970."""
    for finding in plan.findings:
        if finding.question == TERMINATION and finding.verdict == WAITS and finding.deadline is not None:
            yield finding.deadline.timestamp()


def _withheld_after_refusal(plan: Plan) -> frozenset[Ref]:
    """Return the objects of the writes that a plan withholds because the server refused them (PL-012)."""
    return frozenset(held.target for held in plan.withheld if held.obstacle is StepObstacle.REFUSED)


def _controller(root_key: RootKey) -> str:
    """Return the value of the label ``controller`` for a root."""
    return _TOPOLOGIES if is_topology_cache_key(root_key) else _SETS
