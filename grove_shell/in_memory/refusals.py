"""The errors of an API server in memory."""

from typing import Final

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.steps import Apply, Attempt, Delete, DropFinalizer, Outcome, SetStatus, Step
from grove_core.resources.fields import Fields
from grove_core.resources.pod import Pod
from grove_shell.in_memory.object_store import StoredObject

FOUND: Final = "it was there already"
FOREGROUND: Final = "foregroundDeletion"
_NO_NEW_FINALIZERS: Final = "no new finalizers can be added if the object is being deleted"


def refusal_of(
    step: Step, item: StoredObject | Pod, action: Apply | SetStatus | Delete | DropFinalizer
) -> Attempt | None:
    """Return the failed attempt of a write that is not allowed on this object; None where it is."""
    if isinstance(item, Pod) and isinstance(action, Apply):  # in any version (specs/decisions/0010)
        words = "the uid of an object cannot be changed"
        return None if item.uid == action.guard.uid else Attempt(step, Outcome.REFUSED, words)
    if item.guard != action.guard:
        return Attempt(step, Outcome.CONFLICT, "the object has been modified")
    waits = not isinstance(item, Pod) and item.finalizers == (FOREGROUND,)
    if waits and isinstance(action, Delete) and not action.foreground:
        return Attempt(
            step, Outcome.CONFLICT, "a server drops that finalizer first, so the object has another version then"
        )
    if not isinstance(item, Pod) and isinstance(action, Apply) and item.deleting and _adds_to(item, action.fields):
        return Attempt(step, Outcome.REFUSED, _NO_NEW_FINALIZERS)
    return None


def as_found(step: Step, there: StoredObject | Pod, wanted: StoredObject | Pod) -> Attempt:
    """Return the outcome of a creation whose name is taken, by an earlier try or by another owner."""
    if there.owner_uid != wanted.owner_uid:
        return Attempt(step, Outcome.REFUSED, f"{step.target.short} already exists; it belongs to another owner")
    if there.deleting:
        return Attempt(step, Outcome.CONFLICT, "the one before is being deleted")
    return Attempt(step, Outcome.DONE, FOUND)


def _adds_to(item: StoredObject, fields: FrozenMap) -> bool:
    wanted = Fields(fields, "", []).part("metadata").texts("finalizers")
    return not set(wanted) <= set(item.finalizers)
