"""Breaches that were over, or began anew, where that could not be written: they count as if it had been (GT-067)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias, TypeVar

from grove_core.kernel.conditions import Condition, condition_of, is_true
from grove_core.kernel.frozen import thaw
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Outcome, SetStatus, Step
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.fields import Fields
from grove_core.resources.meta import read_conditions
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot

BreachSubject = TypeVar("BreachSubject", PodClique, ScalingGroup)
_Who: TypeAlias = tuple[Ref, str]
_KINDS: Final = frozenset({"PodClique", GROUP_KIND})


def reports_breach(step: Step) -> bool:
    """Whether it is the status of a PodClique or a scaling group, and says something of its breach."""
    return reported_breach(step) is not None


def reports_recovery(step: Step) -> bool:
    """Whether such a status says that there is none, or that nobody knows of one."""
    found = reported_breach(step)
    return found is not None and not is_true(found)


def reports_another_breach(step: Step, before: Step) -> bool:
    """Whether a status says of a breach what an earlier one of the object did not say (PL-012)."""
    found, earlier = reported_breach(step), reported_breach(before)
    return found is not None and (earlier is None or earlier.status is not found.status)


def with_superseded_breaches(snapshot: Snapshot) -> Snapshot:
    """The same snapshot; a stored breach is overtaken by what could not be written of it since. Linear in attempts."""
    over, anew = dict[_Who, Condition](), dict[_Who, Condition]()
    for attempt in snapshot.attempts:
        action, found = attempt.step.action, reported_breach(attempt.step)
        if attempt.outcome is Outcome.DONE or found is None or not isinstance(action, SetStatus):
            continue
        who = (attempt.step.target, action.guard.uid)
        if is_true(found):
            _take_later(anew, who, found)
            continue
        _take_later(over, who, found)
        if who in anew and anew[who].last_transition_time <= found.last_transition_time:
            del anew[who]
    if not over:
        return snapshot
    return replace(
        snapshot,
        groups=tuple(_overtaken(one, over, anew) for one in snapshot.groups),
        cliques=tuple(_overtaken(one, over, anew) for one in snapshot.cliques),
    )


def reported_breach(step: Step) -> Condition | None:
    """What the status of a PodClique or a scaling group says of its breach; None where it says nothing of it."""
    action = step.action
    if not isinstance(action, SetStatus) or step.target.kind not in _KINDS or "conditions" not in action.fields:
        return None
    told = read_conditions(Fields({"conditions": thaw(action.fields["conditions"])}, "", []))
    return condition_of(told, MIN_AVAILABLE_BREACHED)


def _take_later(found: dict[_Who, Condition], who: _Who, told: Condition) -> None:
    """Of two the one that was told of the later moment, or later of the same: moments are whole seconds."""
    if who not in found or found[who].last_transition_time <= told.last_transition_time:
        found[who] = told


def _overtaken(one: BreachSubject, over: Mapping[_Who, Condition], anew: Mapping[_Who, Condition]) -> BreachSubject:
    """One with what is known of its breach.

    One that began is a new one only after it was over: who decided on an older look might have told of the stored one.
    """
    stored, ended = condition_of(one.status.conditions, MIN_AVAILABLE_BREACHED), over.get((one.ref, one.uid))
    if ended is None or not is_true(stored) or ended.last_transition_time < stored.last_transition_time:
        return one
    began = anew.get((one.ref, one.uid))
    is_over = began is None or began.last_transition_time < ended.last_transition_time
    return replace(one, status=replace(one.status, superseding_breach=ended if is_over else began))
