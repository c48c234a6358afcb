"""What an API server in memory does not do, and what it says instead."""

from typing import Final

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.steps import Apply, Attempt, Delete, DropFinalizer, Outcome, SetStatus, Step
from grove_core.resources.fields import Fields
from grove_core.resources.pod import Pod
from grove_shell.in_memory.stored import StoredObject

FOUND: Final = "it was there already"
FOREGROUND: Final = "foregroundDeletion"
_NO_NEW_FINALIZERS: Final = "no new finalizers can be added if the object is being deleted"


def refusal_of(
    step: Step, item: StoredObject | Pod, action: Apply | SetStatus | Delete | DropFinalizer
) -> Attempt | None:
    """Why a write to this object is not done; None where it may be."""
    if isinstance(item, Pod) and isinstance(action, Apply):  # whatever else changed (specs/decisions/0010)
        words = "the uid of an object cannot be changed"
        return None if item.uid == action.guard.uid else Attempt(step, Outcome.REFUSED, words)
    if item.guard != action.guard:
        return Attempt(step, Outcome.CONFLICT, "the object has been modified")
    waits = not isinstance(item, Pod) and item.finalizers == (FOREGROUND,)
    if waits and isinstance(action, Delete) and not action.foreground:
        return Attempt(step, Outcome.CONFLICT, "a server takes that finalizer first, and finds another version then")
    if not isinstance(item, Pod) and isinstance(action, Apply) and item.deleting and _adds_to(item, action.fields):
        return Attempt(step, Outcome.REFUSED, _NO_NEW_FINALIZERS)
    return None


def as_found(step: Step, there: StoredObject | Pod, wanted: StoredObject | Pod) -> Attempt:
    """A creation where somebody was before: we ourselves, whose answer was lost; or another, whose object stays."""
    if there.owner_uid != wanted.owner_uid:
        return Attempt(step, Outcome.REFUSED, f"{step.target.short} already exists; it belongs to somebody else")
    if there.deleting:
        return Attempt(step, Outcome.CONFLICT, "the one before is being deleted")
    return Attempt(step, Outcome.DONE, FOUND)


def _adds_to(item: StoredObject, fields: FrozenMap) -> bool:
    wanted = Fields(fields, "", []).part("metadata").texts("finalizers")
    return not set(wanted) <= set(item.finalizers)
