"""Compares stored with wanted statuses, and applies status writes, for all kinds."""

from collections.abc import Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypeVar

from grove_core.kernel.conditions import REMOVED, Condition, condition_of, is_condition_true
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, thaw_json
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.api_names import (
    CONDITIONS,
    MIN_AVAILABLE_BREACHED,
    UPDATE_POD_HASH,
    UPDATE_PROGRESS,
    UPDATE_SET_HASH,
    UPDATE_STARTED,
)
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import read_conditions, read_update_progress
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet, PodCliqueSetStatus
from grove_core.resources.podgang import GangStatus, PodGang
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup

StoredStatus: TypeAlias = CliqueStatus | GroupStatus | PodCliqueSetStatus | GangStatus
HasStatus = TypeVar("HasStatus", bound=PodClique | ScalingGroup | PodCliqueSet | PodGang)

_EMPTY: Final = ("", EMPTY)
_TYPE: Final = attrgetter("type")


def breach_condition_of(status: StoredStatus) -> Condition | None:
    """Return the condition MinAvailableBreached; in a plan with the changes that could not be written (GT-067)."""
    return condition_of(status.conditions, MIN_AVAILABLE_BREACHED)


def is_marked_breached(status: StoredStatus) -> bool:
    """Return whether that condition is True."""
    return is_condition_true(breach_condition_of(status))


def update_start_time_in_status(progress: FrozenMap) -> datetime | None:
    """Return ``updateStartedAt``; None where it is absent or invalid."""
    text = progress.get(UPDATE_STARTED)
    return parse_time(text) if isinstance(text, str) else None


def set_hash_of_update(progress: FrozenMap) -> str | None:
    """Return the generation hash of the set that an update leads to; None where there is none."""
    found = progress.get(UPDATE_SET_HASH)
    return found if isinstance(found, str) else None


def pod_hash_of_update(progress: FrozenMap) -> str | None:
    """Return the template hash of the pods that an update leads to; None where there is none."""
    found = progress.get(UPDATE_POD_HASH)
    return found if isinstance(found, str) else None


def changed_status_fields(
    stored: StoredStatus, wanted: Mapping[str, Json], conditions: tuple[Condition, ...]
) -> FrozenMap:
    """Return the fields and whole conditions that differ from a stored status; empty where none does (PL-011).

    ``wanted`` is by name in JSON, and an unknown name is a KeyError. Stored conditions of other types stay.
    """
    names = stored.FIELDS
    changed: dict[str, Json] = {key: value for key, value in wanted.items() if getattr(stored, names[key]) != value}
    differing = tuple(condition.as_json for condition in conditions if condition not in stored.conditions)
    if differing:
        changed["conditions"] = differing
    return FrozenMap(changed) if changed else EMPTY


def object_after_status_write(resource: HasStatus, fields: FrozenMap) -> HasStatus:
    """Return the resource after a status write: fields are replaced, conditions merged or removed."""
    stored: StoredStatus = resource.status
    changes: dict[str, Any] = {stored.FIELDS[key]: fields[key] for key in fields if key in stored.FIELDS}
    if "conditions" in fields:
        given = {"conditions": thaw_json(fields["conditions"])}
        written = {condition.type: condition for condition in read_conditions(JsonFieldReader(given, "", []))}
        kept = tuple(written.pop(condition.type, condition) for condition in stored.conditions)
        changes["conditions"] = tuple(sorted((*kept, *written.values()), key=_TYPE))
    if REMOVED in fields:
        left = changes.get("conditions", stored.conditions)
        changes["conditions"] = tuple(one for one in left if one.type not in fields[REMOVED])  # type: ignore[operator]  # a list of texts
    if UPDATE_PROGRESS in fields and UPDATE_PROGRESS in stored.FIELDS:
        updating, progress = read_update_progress(JsonFieldReader({UPDATE_PROGRESS: fields[UPDATE_PROGRESS]}, "", []))
        changes["updating"] = updating
        if isinstance(stored, CliqueStatus | GroupStatus):
            changes["old_spelling"] = False
        if isinstance(stored, CliqueStatus):
            changes["update_hash"] = progress.text(UPDATE_POD_HASH)
    if isinstance(stored, CliqueStatus):
        changes["recorded"] = True
    return replace(resource, status=replace(stored, **changes))  # type: ignore[arg-type]  # each kind is given back its own kind of status


def status_as_json(resource: PodClique | ScalingGroup | PodCliqueSet | PodGang) -> FrozenMap:
    """Return the whole status as Grove, its only writer, applies it; conditions of other writers are left out."""
    stored: StoredStatus = resource.status
    values = {key: getattr(stored, name) for key, name in stored.FIELDS.items()}
    conditions = tuple(one.as_json for one in stored.conditions if one.type in CONDITIONS)
    filled: dict[str, Json] = {key: value for key, value in values.items() if value is not None and value not in _EMPTY}
    return FrozenMap({**filled, "conditions": conditions} if conditions else filled)
