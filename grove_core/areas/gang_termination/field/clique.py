"""One clique as the Go operator sees it: with the status it gets at a look, or the stored one (GF-020 on)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.field.generations import Generation
from grove_core.areas.gang_termination.field.rules import Why
from grove_core.areas.gang_termination.statuses import Counts, count_pods
from grove_core.areas.gang_termination.verdicts import Breach
from grove_core.kernel.conditions import Condition, Truth, condition_of, is_true, transition_time
from grove_core.kernel.reasons import Fact, Reason
from grove_core.resources.api_names import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.statuses import breach_condition_of

_GRACE: Final = timedelta(seconds=5)
"""A condition that turned within so much of its object's creation is no history (GF-040, GF-041)."""

UPDATING: Final = "Update is in progress"
_MESSAGES: Final = MappingProxyType(
    {
        Why.UPDATE_IN_PROGRESS: UPDATING,
        Why.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE: "Scheduled replicas ({scheduled}) below MinAvailable ({needed})",
        Why.SCHEDULING_SUPPRESSED: "Insufficient scheduled pods. expected at least: {needed}, found: {scheduled}",
        Why.NOTHING_SCHEDULED: (
            "Insufficient scheduled pods, breach suppressed. expected at least: {needed}, found: {scheduled}"
        ),
        Why.INSUFFICIENT_READY_PODS: (
            "Insufficient ready or starting pods. expected at least: {needed}, found: {left}"
        ),
        Why.SUFFICIENT_READY_PODS: (
            "Either sufficient ready or starting pods found. expected at least: {needed}, found: {left}"
        ),
        Why.SUFFICIENT_SCHEDULED_PODS: (
            "Sufficient scheduled pods found. expected at least: {needed}, found: {scheduled}"
        ),
        Why.INSUFFICIENT_SCHEDULED_PODS: "Insufficient scheduled pods. expected at least: {needed}, found: {scheduled}",
    }
)
"""What that operator writes into conditions, so that a plan shows no update where it would write none (GF-028)."""


class JudgedClique(NamedTuple):
    """A clique with the status that is decided on.

    Attributes:
        counts: of its pods; of one that is being deleted as they are stored.
        left: scheduled pods less those that crashed or run without being ready, which may be negative (GF-026).
        breach, placed: its conditions; None where it has none (GF-021).
        guard: why its breach is not acted on (GF-040, GF-050); None where it may be, and where it has none.
        why, why_placed: the rules behind ``breach`` and ``placed``; where nobody looked both say so.
    """

    clique: PodClique
    counts: Counts
    left: int
    breach: Condition | None
    placed: Condition | None
    why: Why
    why_placed: Why
    guard: Why | None = None

    @property
    def breached(self) -> bool:
        """Whether its condition says so."""
        return is_true(self.breach)

    @property
    def is_leaving(self) -> bool:
        """Whether it is being deleted."""
        return self.clique.deleting

    @property
    def is_scheduled(self) -> bool:
        """Whether its condition says so."""
        return is_true(self.placed)

    @property
    def reason(self) -> Reason:
        """Why it is (not) breached."""
        return self.reason_of(self.why)

    @property
    def has_enough_scheduled(self) -> bool:
        """Whether enough of its pods are scheduled."""
        return self.counts.scheduled >= self.clique.min_available

    @property
    def because(self) -> tuple[Reason, ...]:
        """Why its conditions are as they are; once where one rule stands behind both."""
        return tuple(dict.fromkeys((self.reason, self.reason_of(self.why_placed))))

    def reason_of(self, why: Why) -> Reason:
        """A rule applied to it."""
        return why.because(self.clique.ref, **{name: self.facts[name] for name in why.clause.facts})

    @property
    def facts(self) -> dict[str, Fact]:
        """The numbers that rules about it speak of."""
        left = max(self.left, 0)  # pods that crashed without being scheduled make it less than none (GF-026)
        return {"scheduled": self.counts.scheduled, "needed": self.clique.min_available, "left": left}

    def candidate(self, delay: timedelta) -> Breach | None:
        """Its breach, if it may be acted on (GF-050)."""
        if self.breach is None or not self.breached or self.guard is not None:
            return None
        return Breach(self.clique.ref, self.breach.last_transition_time, delay)

    @property
    def because_of_guard(self) -> tuple[Reason, ...]:
        """Why its breach is not acted on; nothing where it may be."""
        ref = self.clique.ref
        return () if self.guard is None else (self.guard.because(ref, name=ref.name),)


def was_established(condition: Condition, created_at: datetime | None) -> bool:
    """Whether a condition turned late enough to tell of a time before; also of an object whose age nobody knows."""
    return created_at is None or condition.last_transition_time - created_at > _GRACE


def judge_clique(clique: PodClique, pods: Iterable[Pod], now: datetime, generation: Generation) -> JudgedClique:
    """What the operator makes of a clique and its pods when it looks (GF-020 to GF-029).

    Args:
        clique: one that is being deleted is not looked at any more (GF-029).
        pods: exactly those it controls (GF-010).
        now: the snapshot's clock.
        generation: whose rules.
    """
    return _guarded(_seen(clique, pods, now, generation), generation)


def _seen(clique: PodClique, pods: Iterable[Pod], now: datetime, generation: Generation) -> JudgedClique:
    if clique.deleting:
        return _stored(clique)
    pods = tuple(pods)
    counts = count_pods(pods, clique.target_hash)
    left = counts.scheduled - sum(pod.crashed or pod.unready for pod in pods)
    if clique.status.observed is None:
        return _stored(clique)._replace(counts=counts, left=left)
    truth, why = _breach_of(clique, counts.scheduled, left, generation)
    placed, why_placed = _placement_of(clique, counts.scheduled)
    seen = JudgedClique(clique, counts, left, None, None, why, why_placed)
    return seen._replace(
        breach=_condition(MIN_AVAILABLE_BREACHED, truth, why, seen, now),
        placed=_condition(CLIQUE_SCHEDULED, placed, why_placed, seen, now),
    )


def stored_clique(clique: PodClique, generation: Generation) -> JudgedClique:
    """A clique as its stored status has it: until somebody looks again, that is what is decided on (GF-084)."""
    return _guarded(_stored(clique), generation)


def _guarded(seen: JudgedClique, generation: Generation) -> JudgedClique:
    """With the guard of its breach: one that never was scheduled, as far as times tell, starts (GF-040)."""
    if not seen.breached or not generation.asks_for_history:
        return seen
    placed = seen.placed
    was_scheduled = placed is not None and (seen.is_scheduled or was_established(placed, seen.clique.created_at))
    return seen if was_scheduled else seen._replace(guard=Why.NEVER_SCHEDULED)


def _stored(clique: PodClique) -> JudgedClique:
    stored = clique.status
    counts = Counts(
        stored.replicas or 0, stored.ready or 0, stored.scheduled or 0, stored.gated or 0, stored.updated or 0
    )
    why = Why.CLIQUE_BEING_DELETED if clique.deleting else Why.NOT_OBSERVED
    breach = breach_condition_of(stored)
    placed = condition_of(stored.conditions, CLIQUE_SCHEDULED)
    return JudgedClique(clique, counts, counts.scheduled, breach, placed, why, why)


def _breach_of(clique: PodClique, scheduled: int, left: int, generation: Generation) -> tuple[Truth, Why]:
    """The first row that speaks (GF-024 to GF-027, GF-102, GF-107)."""
    needed, least = clique.min_available, generation.breached_below
    if generation.sees_update(clique.status):
        return Truth.UNKNOWN, Why.UPDATE_IN_PROGRESS
    if scheduled < needed:
        if least is None:
            return Truth.FALSE, Why.SCHEDULING_SUPPRESSED
        if scheduled < least:
            return Truth.FALSE, Why.NOTHING_SCHEDULED
        return Truth.TRUE, Why.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE
    if left < needed:
        return Truth.TRUE, Why.INSUFFICIENT_READY_PODS
    return Truth.FALSE, Why.SUFFICIENT_READY_PODS


def _placement_of(clique: PodClique, scheduled: int) -> tuple[Truth, Why]:
    """Whether it is scheduled, by its pods (GF-022, GF-023)."""
    if scheduled >= clique.min_available:
        return Truth.TRUE, Why.SUFFICIENT_SCHEDULED_PODS
    return Truth.FALSE, Why.INSUFFICIENT_SCHEDULED_PODS


def _condition(type_: str, truth: Truth, why: Why, seen: JudgedClique, now: datetime) -> Condition:
    """As it would be stored: it keeps its time while its status stays the same (GF-028)."""
    status = seen.clique.status
    stored = breach_condition_of(status) if type_ == MIN_AVAILABLE_BREACHED else condition_of(status.conditions, type_)
    return Condition(type_, truth, why.code, _MESSAGES[why].format(**seen.facts), transition_time(stored, truth, now))
