"""One clique as the existing operator sees it: with the status it gets at a look, or the stored one (GF-020 on)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.field.generations import Generation
from grove_core.areas.gang_termination.field.rules import Why
from grove_core.areas.gang_termination.status import Counts, count_pods
from grove_core.areas.gang_termination.verdicts import Breach
from grove_core.kernel.conditions import Condition, Truth, condition_of, transition_time
from grove_core.kernel.reasons import Fact, Reason
from grove_core.resources.keys import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique

GRACE: Final = timedelta(seconds=5)
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


class Sighting(NamedTuple):
    """A clique with the status that is decided on.

    Attributes:
        counts: of its pods; of one that is being deleted as they are stored.
        left: scheduled pods less those that crashed or run without being ready, which may be negative (GF-026).
        breach, placed: its conditions; None where it has none (GF-021).
        why: the rule behind ``breach``.
    """

    clique: PodClique
    counts: Counts
    left: int
    breach: Condition | None
    placed: Condition | None
    why: Why

    @property
    def breached(self) -> bool:
        """Whether its condition says so."""
        return self.breach is not None and self.breach.status is Truth.TRUE

    @property
    def is_scheduled(self) -> bool:
        """Whether its condition says so."""
        return self.placed is not None and self.placed.status is Truth.TRUE

    @property
    def reason(self) -> Reason:
        """Why it is (not) breached."""
        return self.reason_of(self.why)

    @property
    def has_enough_scheduled(self) -> bool:
        """Whether enough of its pods are scheduled."""
        return self.counts.scheduled >= self.clique.min_available

    @property
    def why_placed(self) -> Why:
        """The rule by which it is (not) scheduled, by its pods (GF-022, GF-023)."""
        return Why.SUFFICIENT_SCHEDULED_PODS if self.has_enough_scheduled else Why.INSUFFICIENT_SCHEDULED_PODS

    def reason_of(self, why: Why) -> Reason:
        """A rule applied to it."""
        return why.because(self.clique.ref, **{name: self.facts[name] for name in why.clause.facts})

    @property
    def facts(self) -> dict[str, Fact]:
        """The numbers that rules about it speak of."""
        left = max(self.left, 0)  # pods that crashed without being scheduled make it less than none (GF-026)
        return {"scheduled": self.counts.scheduled, "needed": self.clique.min_available, "left": left}

    def candidate(self, delay: timedelta, generation: Generation) -> Breach | None:
        """Its breach, if it may be acted on (GF-050)."""
        if self.breach is None or not self.breached or (generation.asks_for_history and not self.was_scheduled):
            return None
        return Breach(self.clique.ref, self.breach.last_transition_time, delay)

    @property
    def was_scheduled(self) -> bool:
        """Whether it ever was scheduled, as far as times tell (GF-040)."""
        if self.placed is None:
            return False
        return self.is_scheduled or is_history(self.placed, self.clique.created_at)


def is_history(condition: Condition, created_at: datetime | None) -> bool:
    """Whether a condition turned late enough to tell of a time before; also of an object whose age nobody knows."""
    return created_at is None or condition.last_transition_time - created_at > GRACE


def look_at(clique: PodClique, pods: Iterable[Pod], now: datetime, generation: Generation) -> Sighting:
    """What the operator makes of a clique and its pods when it looks (GF-020 to GF-029).

    Args:
        clique: one that is being deleted is not looked at any more (GF-029).
        pods: exactly those it controls (GF-010).
        now: the snapshot's clock.
        generation: whose rules.
    """
    if clique.deleting:
        return as_stored(clique)
    pods = tuple(pods)
    counts = count_pods(pods, clique.target_hash)
    left = counts.scheduled - sum(pod.crashed or pod.unready for pod in pods)
    if clique.status.observed is None:
        return as_stored(clique)._replace(counts=counts, left=left)
    why = _breach_of(clique, counts.scheduled, left, generation)
    truth = Truth.TRUE if why in _BREACHES else Truth.UNKNOWN if why is Why.UPDATE_IN_PROGRESS else Truth.FALSE
    seen = Sighting(clique, counts, left, None, None, why)
    placed = Truth.TRUE if seen.has_enough_scheduled else Truth.FALSE
    return seen._replace(
        breach=_condition(MIN_AVAILABLE_BREACHED, truth, why, seen, now),
        placed=_condition(CLIQUE_SCHEDULED, placed, seen.why_placed, seen, now),
    )


def as_stored(clique: PodClique) -> Sighting:
    """A clique as its stored status has it: until somebody looks again, that is what is decided on (GF-084)."""
    stored = clique.status
    counts = Counts(
        stored.replicas or 0, stored.ready or 0, stored.scheduled or 0, stored.gated or 0, stored.updated or 0
    )
    return Sighting(
        clique,
        counts,
        counts.scheduled,
        condition_of(stored.conditions, MIN_AVAILABLE_BREACHED),
        condition_of(stored.conditions, CLIQUE_SCHEDULED),
        Why.CLIQUE_BEING_DELETED if clique.deleting else Why.NOT_OBSERVED,
    )


_BREACHES: Final = frozenset({Why.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE, Why.INSUFFICIENT_READY_PODS})


def _breach_of(clique: PodClique, scheduled: int, left: int, generation: Generation) -> Why:
    """The first row that speaks (GF-024 to GF-027, GF-102, GF-107)."""
    needed, least = clique.min_available, generation.breached_below
    if generation.sees_update(clique.status):
        return Why.UPDATE_IN_PROGRESS
    if scheduled < needed:
        if least is None:
            return Why.SCHEDULING_SUPPRESSED
        return Why.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE if scheduled >= least else Why.NOTHING_SCHEDULED
    return Why.INSUFFICIENT_READY_PODS if left < needed else Why.SUFFICIENT_READY_PODS


def _condition(type_: str, truth: Truth, why: Why, seen: Sighting, now: datetime) -> Condition:
    """As it would be stored: it keeps its time while its status stays the same (GF-028)."""
    stored = condition_of(seen.clique.status.conditions, type_)
    return Condition(type_, truth, why.code, _MESSAGES[why].format(**seen.facts), transition_time(stored, truth, now))
