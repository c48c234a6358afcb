"""What happened to a set besides deletions: edits, creations, pods that became ready or failed, breaches."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import Enum, unique
from typing import Any, Final, NamedTuple

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import mapping_or_empty
from grove_core.resources.api_names import GROUP_KIND, MIN_AVAILABLE_BREACHED, SET_KIND
from grove_core.resources.edited_manifest_fields import ManifestChange, manifest_changes
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.pod import Pod, pod_from_json
from grove_shell.reading.audited_write import AuditedWrite
from grove_shell.reconstruction.recorded_objects import ObjectKey, RecordedChange, SetKey
from grove_shell.redaction import REDACTED

_EDITED: Final = frozenset({SET_KIND, GROUP_KIND, "PodClique"})
_EXPECTED: Final = frozenset({"", "SchedulingGated", "PodInitializing", "ContainerCreating"})
_MOST_PATHS: Final = 4
_LONGEST_VALUE: Final = 60


@unique
class HappeningKind(Enum):
    """What kind of thing happened."""

    CREATED = "created"
    EDITED = "edited"
    READY = "ready"
    TROUBLE = "trouble"
    BREACH = "breach"


class Happening(NamedTuple):
    """Something that happened.

    Attributes:
        key: the object that it happened to.
        text: what happened, as a clause.
        writer: the user of the request; empty where it does not matter.
        is_notable: whether it may explain a deletion: no recovery, and no creation.
    """

    at: datetime
    key: ObjectKey
    root: SetKey
    kind: HappeningKind
    text: str
    writer: str = ""
    is_notable: bool = True


class HappeningFinder:
    """Finds what happened in the changes of a record."""

    def __init__(self) -> None:
        self._ready: defaultdict[ObjectKey, set[str]] = defaultdict(set)
        self._pods: defaultdict[ObjectKey, set[str]] = defaultdict(set)

    def of_change(self, change: RecordedChange, write: AuditedWrite) -> Iterator[Happening]:
        """Yield what happened with one change."""
        at, key, root = write.answered, change.key, change.root
        if key.kind == "Pod":
            yield from self._of_pod(change, at)
            return
        if key.kind in {SET_KIND, "PodClique"} and write.verb == "create" and not write.subresource:
            yield Happening(at, key, root, HappeningKind.CREATED, "created", write.writer.user, False)  # noqa: FBT003 - as the field says
        elif key.kind in _EDITED and change.before is not None and change.after is not None:
            if paths := _edited_paths(change.before, change.after):
                is_shown = _may_have_edited(write, change.before, change.after)
                text = f"edited: {paths}{'' if is_shown else '; that request is not on record'}"
                yield Happening(at, key, root, HappeningKind.EDITED, text, write.writer.user if is_shown else "")
            yield from _of_breach(change, at)

    def note(self, key: ObjectKey, item: Mapping[str, Any] | None) -> Pod | None:
        """Take a pod into the counts of its PodClique; return it, None where it is gone or cannot be read."""
        pod = _pod_in(item)
        clique = _clique_of(key, item)
        if clique is not None:
            for names, is_in in ((self._pods, pod is not None), (self._ready, pod is not None and pod.ready)):
                (names[clique].add if is_in else names[clique].discard)(key.name)
        return pod

    def _of_pod(self, change: RecordedChange, at: datetime) -> Iterator[Happening]:
        key, root = change.key, change.root
        clique = _clique_of(key, change.after or change.before)
        before = _pod_in(change.before)
        ready = set(self._ready[clique]) if clique is not None else set()
        after = self.note(key, None if change.gone else change.after)
        if change.gone and clique is not None:
            self._pods[clique].discard(key.name)
            self._ready[clique].discard(key.name)
        if after is not None and not after.deleting:
            trouble = after.trouble
            if trouble not in _EXPECTED and trouble != (before.trouble if before is not None else ""):
                yield Happening(at, key, root, HappeningKind.TROUBLE, trouble)
        if clique is not None and self._ready[clique] != ready:
            text = f"{len(self._ready[clique])} of {len(self._pods[clique])} pods ready"
            yield Happening(
                at, clique, root, HappeningKind.READY, text, is_notable=len(self._ready[clique]) < len(ready)
            )


def _pod_in(item: Mapping[str, Any] | None) -> Pod | None:
    if item is None:
        return None
    try:
        return pod_from_json(item, {})
    except MalformedObject:
        return None


def _clique_of(key: ObjectKey, item: Mapping[str, Any] | None) -> ObjectKey | None:
    owner = metadata_in(item or {}).controller
    return ObjectKey("PodClique", key.namespace, owner.name) if owner.kind == "PodClique" else None


def _may_have_edited(write: AuditedWrite, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether a write can have made an edit: no write of a status, nor one several edits later (AF-017)."""
    if write.subresource == "status":
        return False
    old, new = (mapping_or_empty(one, "metadata").get("generation") for one in (before, after))
    return not isinstance(old, int) or not isinstance(new, int) or new <= old + 1


def _edited_paths(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the changed fields of a spec, with their values where they are short; empty where none changed."""
    specs = [item.get("spec") for item in (before, after)]
    if specs[0] == specs[1] or not all(isinstance(spec, Mapping) for spec in specs):
        return ""
    found = manifest_changes({"spec": specs[0]}, {"spec": specs[1]})
    if found and all(str(one.before).startswith(REDACTED) for one in found):
        return ""  # a dump has hashes in place of these values, and the log has the values
    changes = [_edit(one) for one in found if not str(one.before).startswith(REDACTED)] or ["spec"]
    more = f" and {len(changes) - _MOST_PATHS} more" if len(changes) > _MOST_PATHS else ""
    return f"{', '.join(changes[:_MOST_PATHS])}{more}"


def _edit(change: ManifestChange) -> str:
    values = (change.before, change.after)
    if not all(isinstance(value, str | int | None) and len(str(value)) <= _LONGEST_VALUE for value in values):
        return change.path
    old, new = ("absent" if value is None else str(value) for value in values)
    return f"{change.path} {old} -> {new}"


def _of_breach(change: RecordedChange, at: datetime) -> Iterator[Happening]:
    before, after = (_breach_in(item) for item in (change.before, change.after))
    if before is not None or after is not None:
        old, new = (str((one or {}).get("status") or "absent") for one in (before, after))
        if old != new:
            because = f" ({after['reason']})" if after is not None and after.get("reason") else ""
            text = f"{MIN_AVAILABLE_BREACHED} {old} -> {new}{because}"
            is_notable = "True" in {old, new}
            yield Happening(at, change.key, change.root, HappeningKind.BREACH, text, is_notable=is_notable)


def _breach_in(item: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    status = (item or {}).get("status")
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    for one in conditions if isinstance(conditions, list) else ():
        if isinstance(one, Mapping) and one.get("type") == MIN_AVAILABLE_BREACHED:
            return one
    return None
