"""How stored groups of the Workload API differ from those that a set should have (SC-022 to SC-025).

All fields but ``minCount`` of a PodGroup are immutable. A server fills in priorities, so these count only where wanted.
``disruptionMode`` stays that of the creation: it follows numbers of pods, for which no gang is made anew.
"""

from typing import Final

from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.kernel.frozen import FrozenMap, Json, is_same_json, list_at, object_under_key
from grove_core.kernel.wants import FieldsToApply, ObjectToCreate
from grove_core.resources.api_names import POD_GROUP_KIND
from grove_core.resources.owned_object import OwnedObject

_POLICY: Final = "schedulingPolicy"
_PRIORITY: Final = "priorityClassName"
CONSTRAINTS: Final = "schedulingConstraints"
_KEPT: Final = (CONSTRAINTS, _PRIORITY, "parentCompositePodGroupName")
_TEMPLATE_LISTS: Final = ("compositePodGroupTemplates", "podGroupTemplates")


def immutable_fields_that_differ(found: OwnedObject, want: ObjectToCreate, *, with_topology: bool) -> tuple[str, ...]:
    """Return the names of the fields of a group that are not as wanted and cannot be changed.

    Args:
        with_topology: whether topology constraints count.
    """
    wanted = object_under_key(want.manifest, "spec")
    is_kept = _has_gang_policy(found) if found.ref.kind == POD_GROUP_KIND else not _differs(wanted, found.spec, _POLICY)
    kept = (key for key in _KEPT if key != CONSTRAINTS or with_topology)
    return (*(() if is_kept else (_POLICY,)), *(key for key in kept if _differs(wanted, found.spec, key)))


def podgroup_min_count_change(found: OwnedObject, want: ObjectToCreate) -> FieldsToApply | None:
    """Return the change of a PodGroup whose ``minCount`` is not as wanted; None where there is none (SC-022)."""
    if found.ref.kind != POD_GROUP_KIND or not _has_gang_policy(found):
        return None
    wanted = object_under_key(object_under_key(want.manifest, "spec"), _POLICY)
    if not _differs(wanted, object_under_key(found.spec, _POLICY), "gang"):
        return None
    because = SchedulingReason.MINIMUM_CHANGED.because(
        found.ref, needed=str(object_under_key(wanted, "gang")["minCount"])
    )
    return FieldsToApply(found.ref, found.guard, FrozenMap({"spec": FrozenMap({_POLICY: wanted})}), (because,))


def has_workload_templates(found: OwnedObject, want: ObjectToCreate) -> bool:
    """Return whether a stored Workload has the wanted templates."""
    return _has_same_templates(object_under_key(want.manifest, "spec"), found.spec)


def _has_same_templates(wanted: FrozenMap, stored: FrozenMap) -> bool:
    for key in _TEMPLATE_LISTS:
        ours, theirs = list_at(wanted, key), list_at(stored, key)
        if len(ours) != len(theirs) or not all(map(_is_same_template, ours, theirs)):
            return False
    return True


def _is_same_template(wanted: Json, stored: Json) -> bool:
    if not isinstance(wanted, FrozenMap) or not isinstance(stored, FrozenMap):
        return False
    differs = any(_differs(wanted, stored, key) for key in ("name", _POLICY, *_KEPT))
    return not differs and _has_same_templates(wanted, stored)


def _has_gang_policy(found: OwnedObject) -> bool:
    return bool(object_under_key(object_under_key(found.spec, _POLICY), "gang"))


def _differs(wanted: FrozenMap, stored: FrozenMap, key: str) -> bool:
    if key == _PRIORITY and not wanted.get(key):
        return False
    return not is_same_json(wanted.get(key), stored.get(key))
