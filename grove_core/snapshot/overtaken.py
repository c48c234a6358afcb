"""Breaches that were over, or began anew, where that could not be written: they count as if it had been (GT-067)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeVar

from grove_core.kernel.conditions import Condition, condition_of, is_true
from grove_core.kernel.frozen import thaw
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Outcome, SetStatus, Step, is_of_end
from grove_core.resources.fields import Fields
from grove_core.resources.keys import MIN_AVAILABLE_BREACHED
from grove_core.resources.meta import read_conditions
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot

Breakable = TypeVar("Breakable", PodClique, ScalingGroup)
_KINDS: Final = frozenset({"PodClique", GROUP_KIND})


def is_kept_in_mind(step: Step) -> bool:
    """Whether later looks have to know that it failed, until it is tried again: of an end, or of a breach (OP-103)."""
    return is_of_end(step) or _breach_told_by(step) is not None


def tells_another_breach(step: Step, before: Step) -> bool:
    """Whether a status says of a breach what an earlier one of the object did not say (PL-012)."""
    found, earlier = _breach_told_by(step), _breach_told_by(before)
    return found is not None and (earlier is None or earlier.status is not found.status)


def with_overtaken(snapshot: Snapshot) -> Snapshot:
    """The same snapshot; a stored breach is overtaken by what could not be written of it since. Linear in attempts."""
    later: dict[tuple[Ref, str], Condition] = {}
    for attempt in snapshot.attempts:
        action = attempt.step.action
        if attempt.outcome is Outcome.DONE or not isinstance(action, SetStatus):
            continue
        found, key = _breach_told_by(attempt.step), (attempt.step.target, action.guard.uid)
        if found is not None and (key not in later or later[key].last_transition_time <= found.last_transition_time):
            later[key] = found
    if not later:
        return snapshot
    return replace(
        snapshot,
        groups=tuple(_overtaken(one, later) for one in snapshot.groups),
        cliques=tuple(_overtaken(one, later) for one in snapshot.cliques),
    )


def _breach_told_by(step: Step) -> Condition | None:
    """What the status of a PodClique or a scaling group says of its breach; None where it says nothing of it."""
    action = step.action
    if not isinstance(action, SetStatus) or step.target.kind not in _KINDS or "conditions" not in action.fields:
        return None
    told = read_conditions(Fields({"conditions": thaw(action.fields["conditions"])}, "", []))
    return condition_of(told, MIN_AVAILABLE_BREACHED)


def _overtaken(one: Breakable, later: Mapping[tuple[Ref, str], Condition]) -> Breakable:
    stored, found = condition_of(one.status.conditions, MIN_AVAILABLE_BREACHED), later.get((one.ref, one.uid))
    if found is None or not is_true(stored) or found.last_transition_time <= stored.last_transition_time:
        return one
    return replace(one, status=replace(one.status, overtaken=found))
