"""``--observe``: compares what another operator does with what the plan says (OP-035).

A prediction is about one PodClique: that its gang is terminated, and when that is due. It is made in the first round
that sees the delay running or expired, and withdrawn where the PodClique recovers or is deleted for another reason. A
deletion between two rounds is compared with the plan that would have been made at that moment.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, unique
from typing import Any, Final, TypeAlias

from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, SetStatus, is_gang_termination_deletion
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.reconcile import reconcile
from grove_core.resources.podclique import PodClique
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener
from grove_shell.cache.root_keys import RootKey
from grove_shell.operator.other_operator_deletions import (
    PredictedRound,
    kept_because,
    podcliques_deleted_between,
    replaced_soon,
    snapshots_seen_by_other_operator,
)

_OVERDUE_AFTER: Final = timedelta(minutes=1)
_MOST_DELAYS: Final = 16
"""The most delays of a set that are predicted at once; further ones are predicted when those have expired."""
_EARLY_BY: Final = timedelta(seconds=1)
"""Times in conditions are whole seconds."""
_STALE_BY: Final = timedelta(seconds=1)
"""How old the cache of the other operator may be: it may terminate a gang that has just recovered."""
_FEWEST_KEPT: Final = 3
"""Snapshots that are kept however old: of a replica of a group one PodClique is seen deleted before the other."""
Report: TypeAlias = Callable[..., None]


@unique
class PredictionOutcome(Enum):
    """The outcomes of predictions and terminations, counted in PodCliques (OP-035)."""

    PREDICTED = "predicted"
    TAKEN_BACK = "takenBack"
    AS_PREDICTED = "asPredicted"
    OTHERWISE = "otherwise"
    NOT_PREDICTED = "notPredicted"


@dataclass(slots=True)
class _SetHistory:
    """What is known of one set.

    Attributes:
        last: the last round; None before the first.
        lately: snapshots before the last round, the newest last.
        due: uid of a PodClique that should be deleted -> since when.
        reported: uids of those that were logged as overdue.
        missed: uids of those that were counted as ``otherwise``.
    """

    last: PredictedRound | None = None
    lately: deque[Snapshot] = field(default_factory=deque)
    due: Mapping[str, datetime] = field(default_factory=dict)
    reported: frozenset[str] = frozenset()
    missed: frozenset[str] = frozenset()


class DeletionPredictionChecker(ReconcileRoundListener):
    """Compares each round with the one before: unplanned deletions of PodCliques, and planned ones that are overdue.

    Attributes:
        totals: how often each outcome occurred.
    """

    def __init__(
        self,
        report: Report,
        rules: RuleSet,
        on_outcome: Callable[[PredictionOutcome], None] = lambda _outcome: None,
        on_termination: Callable[[RootKey, datetime], None] = lambda _root_key, _time: None,
    ) -> None:
        """Start without a round.

        Args:
            report: writes a log line, given a level, a message and fields.
            rules: the rules of the other operator.
            on_outcome: called with each outcome.
            on_termination: called with the set and the time of a round that saw a predicted termination (AL-004).
        """
        self._report = report
        self._rules = rules
        self._on_outcome = on_outcome
        self._on_termination = on_termination
        self._histories: dict[RootKey, _SetHistory] = {}
        self.totals: Counter[PredictionOutcome] = Counter()

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        """Compare the round of a set with the one before; of a topology nothing is terminated."""
        if not isinstance(planned_round.observation, Snapshot):
            return
        history = self._histories.setdefault(planned_round.root_key, _SetHistory())
        before = history.last
        earlier = before.predicted if before is not None else {}
        predicted = self._predictions(planned_round, planned_round.observation, earlier)
        now = PredictedRound(planned_round, planned_round.observation, predicted, self._rules)
        for _ in now.predicted.keys() - earlier.keys():
            self._count(PredictionOutcome.PREDICTED)
        predicted_deletions = set[str]()
        if before is not None:
            deleted = podcliques_deleted_between(before, now)
            predicted_deletions = {one.uid for one in deleted if self._is_predicted(history, before, now, one)}
        if predicted_deletions:
            self._on_termination(planned_round.root_key, now.snapshot.now)
        self._withdraw(history, earlier.keys() - now.predicted.keys() - predicted_deletions)
        self._report_overdue(history, planned_round, planned_round.observation)
        if before is not None:
            history.lately.append(before.snapshot)
            while now.snapshot.now - history.lately[0].now > _STALE_BY and len(history.lately) > _FEWEST_KEPT:
                history.lately.popleft()
        history.last = now

    def _report_overdue(self, history: _SetHistory, planned_round: PlannedReconcileRound, seen: Snapshot) -> None:
        """Log PodCliques that still exist a minute after a plan first deleted them, for whatever reason."""
        deletes = {step.target: step for step in planned_round.plan.steps if isinstance(step.action, Delete)}
        due = {clique.uid: history.due.get(clique.uid, seen.now) for clique in seen.cliques if clique.ref in deletes}
        history.due, history.reported = due, history.reported & due.keys()
        history.missed &= history.reported
        for clique in seen.cliques:
            if clique.uid in due.keys() - history.reported and seen.now - due[clique.uid] >= _OVERDUE_AFTER:
                history.reported |= {clique.uid}
                step = deletes[clique.ref]
                if is_gang_termination_deletion(step):
                    history.missed |= {clique.uid}
                    self._count(PredictionOutcome.OTHERWISE)
                self._log("the cluster keeps what the plan deletes", planned_round, clique, step.because)

    def _withdraw(self, history: _SetHistory, uids: AbstractSet[str]) -> None:
        """Count predictions as withdrawn, except those that were counted as ``otherwise``."""
        for _ in uids - history.missed:
            self._count(PredictionOutcome.TAKEN_BACK)

    def on_root_deleted(self, root_key: RootKey) -> None:
        """Withdraw the predictions about a deleted set, and forget it."""
        history = self._histories.pop(root_key, None)
        if history is not None and history.last is not None:
            self._withdraw(history, history.last.predicted.keys())

    def log_outcome_totals(self) -> None:
        """Log how often each outcome occurred."""
        self._report("info", "score", **{outcome.value: self.totals[outcome] for outcome in PredictionOutcome})

    def _predictions(
        self, planned_round: PlannedReconcileRound, seen: Snapshot, earlier: Mapping[str, datetime]
    ) -> Mapping[str, datetime]:
        """Return uid -> due time of the PodCliques whose gangs are terminated now or when their delays expire."""
        found: dict[str, datetime] = {}
        uids = {clique.ref: clique.uid for clique in seen.cliques}
        plan, moment = planned_round.plan, seen.now
        # A breach that no status records yet begins now, not when its delay expires.
        recorded = tuple(
            Attempt(step, AttemptOutcome.DONE) for step in plan.steps if isinstance(step.action, SetStatus)
        )
        for _ in range(_MOST_DELAYS):
            for step in filter(is_gang_termination_deletion, plan.steps):
                uid = uids.get(step.target, "")
                found.setdefault(uid, min(moment, earlier.get(uid, moment)))
            if plan.wake_at is None or plan.wake_at <= moment:
                break
            moment = plan.wake_at
            plan = reconcile(replace(seen, now=moment, attempts=recorded), self._rules)
        return found

    def _is_predicted(
        self, history: _SetHistory, before: PredictedRound, now: PredictedRound, clique: PodClique
    ) -> bool:
        """Count the deletion of a PodClique; return whether it is a termination that was predicted."""
        seen, due = now.snapshot, before.predicted.get(clique.uid)
        if clique.uid in history.missed:
            return False  # too late, and counted already
        if due is None or due > seen.now + _EARLY_BY:
            lately = (then for then in history.lately if seen.now - then.now <= _STALE_BY)
            moments = (*snapshots_seen_by_other_operator(before.snapshot, seen, clique, history.lately), *lately)
            plans = (before.round.plan, *(reconcile(moment, self._rules) for moment in moments))
            every = (step for plan in plans for step in plan.steps if isinstance(step.action, Delete))
            steps = [step for step in every if step.target == clique.ref]
            if not steps and (
                clique.ref in before.replaced_soon
                or any(clique.ref in replaced_soon(seen, self._rules) for seen in moments)
            ):
                return False  # the other operator was some rounds ahead
            if not steps:
                self._count(PredictionOutcome.NOT_PREDICTED)
                because = kept_because(before, clique)
                self._log("the cluster deleted what the plan keeps", before.round, clique, because)
                return False
            if not any(map(is_gang_termination_deletion, steps)):
                return False  # scaled in, or replaced
            if due is None:
                self._count(PredictionOutcome.PREDICTED)
            due = seen.now
        self._count(PredictionOutcome.AS_PREDICTED)
        late = max(seen.now - due, timedelta()).total_seconds()
        fields = {"set": "/".join(now.round.root_key), "target": clique.ref.short, "due": format_time(due)}
        self._report("info", "deleted as predicted", **fields, seenAfter=late)
        return True

    def _count(self, outcome: PredictionOutcome) -> None:
        self.totals[outcome] += 1
        self._on_outcome(outcome)

    def _log(
        self, message: str, planned_round: PlannedReconcileRound, clique: PodClique, because: tuple[Reason, ...]
    ) -> None:
        fields: dict[str, Any] = {
            "set": "/".join(planned_round.root_key),
            "plan": planned_round.plan_name,
            "target": clique.ref.short,
            "because": [{"rule": reason.rule.code, "sentence": reason.sentence} for reason in because],
        }
        self._report("warning", message, **fields)
