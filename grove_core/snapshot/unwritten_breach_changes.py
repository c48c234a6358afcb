"""Ends and restarts of breaches that could not be written: they count as if they had been written (GT-067)."""

from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar

from grove_core.kernel.conditions import Condition, condition_of, is_condition_true
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome, SetStatus, Step
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import GROUP_KIND, MIN_AVAILABLE_BREACHED
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import read_conditions
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import breach_condition_of
from grove_core.snapshot.snapshot import Snapshot

BreachSubject = TypeVar("BreachSubject", PodClique, ScalingGroup)
_Key: TypeAlias = tuple[Ref, str]
_KINDS: Final = frozenset({"PodClique", GROUP_KIND})


def writes_breach_end(step: Step) -> bool:
    """Whether a step writes MinAvailableBreached of a PodClique or a scaling group as False or Unknown."""
    found = condition_written_by_step(step, MIN_AVAILABLE_BREACHED)
    return found is not None and not is_condition_true(found)


def step_changes_breach_status(step: Step, before: Step) -> bool:
    """Whether a step writes that condition with another status than an earlier step for the object (PL-012)."""
    found, earlier = (
        condition_written_by_step(step, MIN_AVAILABLE_BREACHED),
        condition_written_by_step(before, MIN_AVAILABLE_BREACHED),
    )
    return found is not None and (earlier is None or earlier.status is not found.status)


def with_unwritten_breach_changes(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with the breach changes that could not be written in the conditions of their objects.

    Linear in the attempts, and in the PodCliques and scaling groups where a breach is over.
    """
    over, anew = dict[_Key, Condition](), dict[_Key, Condition]()
    for attempt in snapshot.attempts:
        action, found = attempt.step.action, condition_written_by_step(attempt.step, MIN_AVAILABLE_BREACHED)
        if attempt.outcome is AttemptOutcome.DONE or found is None or not isinstance(action, SetStatus):
            continue
        key = (attempt.step.target, action.guard.uid)
        if is_condition_true(found):
            _take_later(anew, key, found)
            continue
        _take_later(over, key, found)
        if key in anew and anew[key].last_transition_time <= found.last_transition_time:
            del anew[key]
    if not over:
        return snapshot
    return replace(
        snapshot,
        groups=tuple(_with_unwritten_change(one, over, anew) for one in snapshot.groups),
        cliques=tuple(_with_unwritten_change(one, over, anew) for one in snapshot.cliques),
    )


def condition_written_by_step(step: Step, type_: str) -> Condition | None:
    """Return the condition of a type that a step writes to a PodClique or a scaling group, if it writes one."""
    action = step.action
    if not isinstance(action, SetStatus) or step.target.kind not in _KINDS or "conditions" not in action.fields:
        return None
    conditions = read_conditions(JsonFieldReader({"conditions": thaw_json(action.fields["conditions"])}, "", []))
    return condition_of(conditions, type_)


def _take_later(found: dict[_Key, Condition], key: _Key, condition: Condition) -> None:
    """Keep the condition with the later transition time; of equal ones the last, since times are whole seconds."""
    if key not in found or found[key].last_transition_time <= condition.last_transition_time:
        found[key] = condition


def _with_unwritten_change(
    one: BreachSubject, over: Mapping[_Key, Condition], anew: Mapping[_Key, Condition]
) -> BreachSubject:
    """The object with the breach condition that could not be written, where it is stored as breached.

    A reported start counts as a new breach only after a reported end: without one, a decision on an older snapshot may
    have reported the stored breach again.
    """
    stored, ended = breach_condition_of(one.status), over.get((one.ref, one.uid))
    if ended is None or not is_condition_true(stored) or ended.last_transition_time < stored.last_transition_time:
        return one
    began, before = anew.get((one.ref, one.uid)), one.status.conditions
    latest = ended if began is None or began.last_transition_time < ended.last_transition_time else began
    conditions = tuple(latest if each is stored else each for each in before)
    return replace(one, status=replace(one.status, conditions=conditions, stored_conditions=before))
