"""Goes through a record once, in the order of time, and collects deletions with causes, happenings and holes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from grove_core.kernel.structs import replace
from grove_core.resources.api_names import GROUP_KIND, SET_KIND
from grove_core.resources.configuration import Configuration
from grove_core.resources.object_metadata import metadata_in
from grove_shell.reading.audited_write import AuditedWrite
from grove_shell.reconstruction.cause_search import CauseSearch
from grove_shell.reconstruction.deletion_causes import (
    DeletionCause,
    DeletionCauseClass,
    RecordedDeletion,
    cause_by_component,
    cause_without_deletion_of_owner,
    note_missing_requests,
)
from grove_shell.reconstruction.dumps import Dump
from grove_shell.reconstruction.happenings import Happening, HappeningFinder
from grove_shell.reconstruction.object_after_request import EVICTION
from grove_shell.reconstruction.recorded_objects import ObjectKey, RecordedChange, RecordedObjects, SetKey
from grove_shell.reconstruction.set_rebuilder import ChooseRules, SetRebuilder
from grove_shell.reconstruction.sets_in_question import StorySets
from grove_shell.reconstruction.writers import OperatorWriters, WriterRole, role_of_writer

EXPLAINED_KINDS: Final = frozenset({SET_KIND, GROUP_KIND, "PodClique", "Pod"})
_INSTANT: Final = timedelta(microseconds=1)
_NO_REQUEST: Final = (("request", "no request on record deletes it"),)


@dataclass(slots=True)
class RebuiltRecord:
    """What a record shows of the sets in question.

    Attributes:
        deletions, happenings: in the order of time.
        operators: the users that operate.
        writes_without_content: kind -> how many of its objects have writes without content.
        sets: the rebuilt sets, with the rule set and the operator that they show.
        objects: as the record shows them last.
        missing: set -> how many of its requests are not on record, of those that left a trace.
        unlisted: file of a dump -> sets and kinds of which objects were known before and that it does not list.
    """

    objects: RecordedObjects
    sets: SetRebuilder
    operators: OperatorWriters = field(default_factory=OperatorWriters)
    deletions: list[RecordedDeletion] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    writes_without_content: dict[str, int] = field(default_factory=dict)
    unlisted: dict[str, set[tuple[SetKey, str]]] = field(default_factory=dict)
    missing: Mapping[SetKey, int] = field(default_factory=dict)


def rebuild_from_record(
    writes: Iterable[AuditedWrite],
    dumps: Iterable[Dump],
    question: StorySets,
    configuration: Configuration,
    choose: ChooseRules,
) -> RebuiltRecord:
    """Return what a record shows.

    Args:
        writes: of audit logs, in the order of their responses.
        dumps: in the order of their times.
    """
    reading = _RecordReading(question, configuration, choose)
    left = list(dumps)
    for write in writes:
        while left and left[0].at <= write.answered:
            reading.take_dump(left.pop(0))
        reading.take_write(write)
    for dump in left:
        reading.take_dump(dump)
    return reading.finished()


class _RecordReading:
    """The state of reading one record."""

    def __init__(self, question: StorySets, configuration: Configuration, choose: ChooseRules) -> None:
        objects = RecordedObjects(question.root_of)
        self._record = RebuiltRecord(objects, SetRebuilder(objects, configuration, choose))
        self._objects = objects
        self._search = CauseSearch(objects, self._record.sets)
        self._happenings = HappeningFinder()
        self._by_key: dict[ObjectKey, RecordedDeletion] = {}
        self._by_uid: dict[str, RecordedDeletion] = {}
        self._open: dict[ObjectKey, RecordedDeletion] = {}
        self._dumped: datetime | None = None
        self._has_writes = False

    def take_write(self, write: AuditedWrite) -> None:
        """Apply a write."""
        self._has_writes = True
        if write.target.kind == "PodClique" and write.subresource == "status":
            self._record.operators.add(write.writer)
        for change in self._objects.apply(write):
            if change.key in self._objects.without_content and change.key.kind in EXPLAINED_KINDS:
                counts = self._record.writes_without_content
                counts[change.key.kind] = counts.get(change.key.kind, 0) + 1
            if change.deletes and change.key.kind in EXPLAINED_KINDS:
                self._add(self._deletion(change, write))
            if change.gone and (deletion := self._open.pop(change.key, None)) is not None:
                deletion.gone = write.answered
            self._record.happenings += self._happenings.of_change(change, write)

    def take_dump(self, dump: Dump) -> None:
        """Take the objects of a dump, and what is gone since what was known before."""
        found: dict[ObjectKey, str] = {}
        known = [(key, root) for root in self._objects.roots for key in self._objects.keys_of(root)]
        self._note_unlisted(known, dump)
        for item in dump.items:
            key = ObjectKey(str(item.get("kind")), *metadata_in(item).namespace_and_name)
            before = self._objects.newest(key)
            if before is not None and metadata_in(before).version_number >= metadata_in(item).version_number > 0:
                found[key] = metadata_in(before).uid
                continue
            if before is not None and metadata_in(before).uid != metadata_in(item).uid:
                continue  # put after the earlier object of that name is gone
            if self._objects.put(item, dump.at) is not None:
                found[key] = metadata_in(item).uid
                self._happenings.note(key, item)
        for kind, namespace in dump.complete:
            self._record.sets.listed.setdefault(namespace, set()).add(kind)
        # An undated dump is later than its newest time: the log shows what is gone until it was taken.
        can_lack = dump.is_dated or not self._has_writes
        vanished = [(key, root) for key, root in known if can_lack and self._has_vanished(key, found, dump)]
        for deletion in self._vanished(vanished, dump):
            self._add(deletion)
        for item in dump.items:
            key = ObjectKey(str(item.get("kind")), *metadata_in(item).namespace_and_name)
            if key not in found and self._objects.put(item, dump.at) is not None:
                self._happenings.note(key, item)
        self._dumped = dump.at

    def finished(self) -> RebuiltRecord:
        """Return the record, with the causes of writers that are not the operator."""
        operators = self._record.operators
        for deletion in self._record.deletions:
            writer = deletion.writer
            if writer is not None and deletion.role is None:
                deletion.role = WriterRole.OPERATOR if writer in operators else WriterRole.CLIENT
                if deletion.role is WriterRole.CLIENT:
                    deletion.cause = DeletionCause(kind=DeletionCauseClass.WRITER)
        self._record.missing = note_missing_requests(self._record.deletions, self._record.happenings)
        self._record.deletions.sort(key=lambda one: (one.at, one.key))
        self._record.happenings.sort(key=lambda one: one.at)
        return self._record

    def _add(self, deletion: RecordedDeletion) -> None:
        self._record.deletions.append(deletion)
        self._by_key[deletion.key] = deletion
        if deletion.uid:
            self._by_uid[deletion.uid] = deletion
        if deletion.gone is None:
            self._open[deletion.key] = deletion

    def _deletion(self, change: RecordedChange, write: AuditedWrite) -> RecordedDeletion:
        role = WriterRole.EVICTION if write.subresource == EVICTION else role_of_writer(write.writer)
        owner: RecordedDeletion | None = None
        if role is None:
            cause = self._search.cause_by_rules(change.key, change.uid, change.root, (write.received, write.answered))
        elif role is WriterRole.GARBAGE_COLLECTOR:
            cause, owner = self._owner_cause(change.before or change.after, change.key, change.root)
            cause = cause if owner is not None else cause_without_deletion_of_owner(cause.owner)
        else:
            cause = cause_by_component(role)
        return RecordedDeletion(
            key=change.key,
            root=change.root,
            uid=change.uid,
            at=write.received,
            writer=write.writer,
            role=role,
            cause=cause,
            owner=owner,
        )

    def _owner_cause(
        self, item: Mapping[str, Any] | None, key: ObjectKey, root: SetKey
    ) -> tuple[DeletionCause, RecordedDeletion | None]:
        """Return the cause of an object that goes with its owner, and the deletion of the owner.

        Where the record does not show the owner, it is the PodClique or set by whose name its own begins.
        """
        reference = metadata_in(item or {}).controller
        if reference.uid:
            owner = ObjectKey(reference.kind, key.namespace, reference.name)
            named = self._by_key.get(owner)  # a request without content has no uid
            found = self._by_uid.get(reference.uid) or (named if named is not None and not named.uid else None)
            return DeletionCause(kind=DeletionCauseClass.OWNER, owner=owner), found
        clique = ObjectKey("PodClique", key.namespace, key.name.rpartition("-")[0])
        above = [self._by_key.get(name) for name in (clique, ObjectKey(SET_KIND, *root))]
        deletion = next((one for one in above if one is not None), None)
        return DeletionCause(kind=DeletionCauseClass.OWNER, owner=None if deletion is None else deletion.key), deletion

    def _note_unlisted(self, known: Iterable[tuple[ObjectKey, SetKey]], dump: Dump) -> None:
        for key, root in known:
            is_known = key.kind in EXPLAINED_KINDS and self._objects.newest(key) is not None
            if is_known and not dump.lists(key.kind, key.namespace):
                self._record.unlisted.setdefault(dump.file, set()).add((root, key.kind))

    def _has_vanished(self, key: ObjectKey, found: Mapping[ObjectKey, str], dump: Dump) -> bool:
        return dump.lists(key.kind, key.namespace) and key not in found and self._objects.newest(key) is not None

    def _vanished(self, keys: list[tuple[ObjectKey, SetKey]], dump: Dump) -> Iterator[RecordedDeletion]:
        """Yield the deletions of objects that were gone when a dump was taken, owners first (AF-010)."""
        order = {kind: place for place, kind in enumerate((SET_KIND, GROUP_KIND, "PodClique", "Pod"))}
        for key, root in sorted(keys, key=lambda pair: (order.get(pair[0].kind, len(order)), pair[0])):
            item = self._objects.newest(key)
            self._objects.remove(key, dump.at)
            self._happenings.note(key, None)
            opened = self._open.pop(key, None)
            if opened is not None:
                opened.gone = dump.at
            elif item is not None and key.kind in EXPLAINED_KINDS:
                cause, owner = self._expected_cause(key, item, root, dump)
                deletion = RecordedDeletion(
                    key=key,
                    root=root,
                    uid=metadata_in(item).uid,
                    since=self._dumped,
                    at=dump.at,
                    gone=dump.at,
                    writer=None,
                    role=None,
                    cause=cause,
                    owner=owner,
                )
                yield deletion

    def _expected_cause(
        self, key: ObjectKey, item: Mapping[str, Any], root: SetKey, dump: Dump
    ) -> tuple[DeletionCause, RecordedDeletion | None]:
        cause, owner = self._owner_cause(item, key, root)
        if owner is not None:
            return replace(cause, expected=True), owner
        rebuilt = self._search.cause_by_rules(key, metadata_in(item).uid, root, (dump.at - _INSTANT, dump.at))
        if rebuilt.reasons is not None:
            return replace(rebuilt, expected=True), None
        return DeletionCause(
            kind=DeletionCauseClass.NOT_KNOWN, verdicts=rebuilt.verdicts, gaps=(*rebuilt.gaps, *_NO_REQUEST)
        ), None
