"""Which statuses a plan leads to: conditions, their transition times, availability, counts."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

from grove_core.kernel.conditions import Condition, ConditionStatus, condition_of
from grove_core.kernel.steps import SetStatus
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import object_after_status_write
from grove_core.testing.invariants.invariant import History, Round, Violation, breachable_parts
from grove_core.testing.invariants.reference_verdicts import missing_kinds

_BREACHED: Final = "MinAvailableBreached"
_SCHEDULED: Final = "PodCliqueScheduled"
_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GT-011": "SufficientReadyPods",
        "GT-012": "NeverAvailable",
        "GT-013": "UpdateInProgress",
        "GT-014": "InsufficientReadyPods",
        "GT-015": "AvailabilityNotRecorded",
        "GT-041": "UpdateInProgress",
        "GT-042": "InsufficientAvailablePodCliqueScalingGroupReplicas",
        "GT-043": "SufficientAvailablePodCliqueScalingGroupReplicas",
    }
)
_PREEMPTED: Final = "PodsPreempted"


def _judged(found: Round) -> Iterator[tuple[PodClique | ScalingGroup, PodClique | ScalingGroup]]:
    """Yield each part whose status the plan may write, as it is and as the plan leads to.

    Parts with another step in the plan come later (PL-013), and those whose write has failed too (PL-012).
    """
    if missing_kinds(found.snapshot) or found.snapshot.root.deleting:
        return
    writes = {step.target: step.action for step in found.plan.steps}
    for one in breachable_parts(found.snapshot):
        action = writes.get(one.ref)
        if one.deleting or one.ref in found.failed or (action is not None and not isinstance(action, SetStatus)):
            continue
        yield one, (one if action is None else object_after_status_write(one, action.fields))


def _reported(condition: Condition | None) -> str:
    return "none" if condition is None else f"{condition.status.value} with reason {condition.reason}"


def violations_of_breach_condition(rule: str, history: History) -> Iterator[Violation]:
    """Yield the parts to which a rule applies and whose MinAvailableBreached has another status or reason."""
    found = history[-1]
    for one, after in _judged(found):
        if found.required.rule_ids[one.ref] != rule:
            continue
        condition, truth = condition_of(after.status.conditions, _BREACHED), found.required.breach[one.ref]
        reasons = {_REASONS[rule], _PREEMPTED} if rule in {"GT-011", "GT-014"} else {_REASONS[rule]}
        if condition is None or condition.status is not truth or condition.reason not in reasons:
            expected = f"{_BREACHED} {truth.value} with reason {_REASONS[rule]}"
            yield Violation(one.ref.short, expected, _reported(condition))


def violations_of_scheduled_rule(rule: str, history: History) -> Iterator[Violation]:
    """Yield the PodCliques to which a rule applies and whose PodCliqueScheduled has another status (GT-021, GT-022)."""
    found = history[-1]
    for one, after in _judged(found):
        if not isinstance(one, PodClique):
            continue
        scheduled = sum(pod.scheduled for pod in found.snapshot.pods_of.get(one.uid, ()))
        is_enough = scheduled >= one.min_available
        truth = ConditionStatus.TRUE if is_enough else ConditionStatus.FALSE
        condition = condition_of(after.status.conditions, _SCHEDULED)
        if is_enough is (rule == "GT-021") and (condition is None or condition.status is not truth):
            yield Violation(one.ref.short, f"{_SCHEDULED} {truth.value}", _reported(condition))


def violations_of_was_available(history: History) -> Iterator[Violation]:
    """Yield the PodCliques whose ``wasAvailable`` is not that of the specification, or has gone back (GT-016)."""
    found = history[-1]
    for one, after in _judged(found):
        if isinstance(one, PodClique) and isinstance(after, PodClique):
            wanted, got = found.required.available[one.ref], after.status.was_available
            if wanted is not got:
                yield Violation(one.ref.short, f"wasAvailable {_json(wanted)}", _json(got))
    for now, before in _of_both(history):
        was = before.status.was_available if isinstance(before, PodClique) else None
        if was and isinstance(now, PodClique) and not now.status.was_available:
            yield Violation(now.ref.short, "wasAvailable true for the same uid", _json(now.status.was_available))


def _json(value: object) -> str:
    return "absent" if value is None else str(value).lower()


def _of_both(history: History) -> Iterator[tuple[PodClique | ScalingGroup, PodClique | ScalingGroup]]:
    """Yield the parts of the last snapshot that the one before has, too, with what they were."""
    if len(history) > 1:
        before = {one.uid: one for one in breachable_parts(history[-2].snapshot)}
        for one in breachable_parts(history[-1].snapshot):
            if one.uid in before:
                yield one, before[one.uid]


def violations_of_transition_times(history: History) -> Iterator[Violation]:
    """Yield the conditions whose transition time changes without their status, or is not that of the round (GT-019)."""
    found = history[-1]
    changes = [(after, one, found) for one, after in _judged(found)]
    changes += [(after, one, history[-2]) for after, one in _of_both(history)]
    for after, one, at in changes:
        for name in (_BREACHED, _SCHEDULED):
            condition = condition_of(after.status.conditions, name)
            times = _allowed_times(condition, one, at) if condition else []
            if condition and condition.last_transition_time not in times:
                expected = f"transition time {times[0]:%H:%M:%S} of {name} {condition.status.value}"
                yield Violation(one.ref.short, expected, f"{condition.last_transition_time:%H:%M:%S}")


def _allowed_times(condition: Condition, before: PodClique | ScalingGroup, at: Round) -> list[datetime]:
    """Return the times of a condition: that of the stored one with its status, else that of the round.

    A change that could not be written in the round before keeps its time, and the next change counts from it (GT-067).
    """
    stored, unwritten = (
        condition_of(before.status.conditions, condition.type),
        at.unwritten_conditions(before, condition.type),
    )
    times = [one.last_transition_time for one in (stored, *unwritten) if one and one.status is condition.status]
    is_same = stored is not None and all(one.status is condition.status for one in (stored, *unwritten))
    return times if is_same else [*times, at.snapshot.now.replace(microsecond=0)]


def violations_of_pod_counts(history: History) -> Iterator[Violation]:
    """Yield the PodCliques whose counted pods are not those of the snapshot (GT-002)."""
    found = history[-1]
    for one, after in _judged(found):
        if not isinstance(one, PodClique) or not isinstance(after, PodClique):
            continue
        pods = found.snapshot.pods_of.get(one.uid, ())
        status = after.status
        counts: Mapping[str, tuple[int, int | None]] = {
            "readyReplicas": (sum(pod.ready for pod in pods), status.ready),
            "scheduledReplicas": (sum(pod.scheduled for pod in pods), status.scheduled),
            "scheduleGatedReplicas": (sum(pod.gated for pod in pods), status.gated),
            "replicas": (sum(not pod.deleting for pod in pods), status.replicas),
            "updatedReplicas": (sum(pod.template_hash == one.target_template_hash for pod in pods), status.updated),
        }
        for name, (wanted, got) in counts.items():
            if wanted != got:
                yield Violation(one.ref.short, f"{name} {wanted}", str(got))


def violations_of_deleting_clique_statuses(history: History) -> Iterator[Violation]:
    """Yield the PodCliques that are being deleted and get a status (GT-023)."""
    found = history[-1]
    for step in found.plan.steps:
        clique = found.cliques.get(step.target)
        if clique is not None and clique.deleting and isinstance(step.action, SetStatus):
            yield Violation(step.target.short, "no status, since it is being deleted", "one")


def violations_of_uncollected_kinds(history: History) -> Iterator[Violation]:
    """Yield the statuses that a plan writes although a kind was not collected (GT-024)."""
    found = history[-1]
    missing = missing_kinds(found.snapshot)
    for step in found.plan.steps if missing else ():
        if isinstance(step.action, SetStatus):
            yield Violation(step.target.short, f"no status without {', '.join(missing)}", "one")


def violations_of_wake_time(history: History) -> Iterator[Violation]:
    """Yield the plan that is looked at again at another time than when the first delay ends (GT-060)."""
    found = history[-1]
    if found.failed or missing_kinds(found.snapshot):
        return
    wanted, got = min(found.required.wakes, default=None), found.plan.wake_at
    if wanted != got:
        yield Violation("wakeAt", str(wanted), str(got))
