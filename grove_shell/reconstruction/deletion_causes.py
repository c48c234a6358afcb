"""Deletions of a record with their causes (AF-006 to AF-010)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, unique
from typing import Final

from grove_core.deletion_reasons import DeletionReasons
from grove_core.kernel.decisions import Finding
from grove_core.kernel.structs import replace
from grove_shell.reading.audited_write import Writer
from grove_shell.reconstruction.happenings import Happening, HappeningKind
from grove_shell.reconstruction.recorded_objects import ObjectKey, SetKey
from grove_shell.reconstruction.writers import WriterRole

_ENDED: Final = "the request that deleted it; the record has only its end, by the kubelet of its node"
_MISSING: Final = "requests that edited or deleted objects of the set, which the log lacks"


@unique
class DeletionCauseClass(Enum):
    """What kind of cause a deletion has."""

    TERMINATION = "termination"
    """The operator terminated its gang, by the rules."""
    RULES = "rules"
    """The operator deleted it for another reason, by the rules."""
    OWNER = "owner"
    """Its owner was deleted."""
    WRITER = "writer"
    """Something that is not the operator deleted it."""
    NOT_EXPLAINED = "notExplained"
    """The operator deleted it, and the rules do not say why."""
    NOT_KNOWN = "notKnown"
    """The record does not show why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionCause:
    """Why an object was deleted.

    Attributes:
        reasons: of the plan that deletes it; of a cause by the rules.
        decided_on: when the state of that plan was.
        rules: name of the rule set.
        owner: of the deleted owner; its deletion may be known.
        verdicts: what the plan says of the object instead; where it is not explained.
        gaps: kind -> why the record does not show all objects of it; where it is not explained or not known.
        expected: whether the plan was made of a dump from before, and not of the state at the deletion (AF-010).
    """

    kind: DeletionCauseClass
    reasons: DeletionReasons | None = None
    decided_on: datetime | None = None
    rules: str = ""
    owner: ObjectKey | None = None
    verdicts: tuple[Finding, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()
    expected: bool = False


def cause_by_component(role: WriterRole) -> DeletionCause:
    """Return the cause of a deletion by a component of Kubernetes that is not the garbage collector.

    It is the component itself; but a kubelet only ends what something else deleted before (AF-016).
    """
    if role is not WriterRole.KUBELET:
        return DeletionCause(kind=DeletionCauseClass.WRITER)
    return DeletionCause(kind=DeletionCauseClass.NOT_KNOWN, gaps=(("request", _ENDED),))


def cause_without_deletion_of_owner(owner: ObjectKey | None) -> DeletionCause:
    """Return the cause of an object that the garbage collector deleted, where the deletion of its owner is not known.

    Args:
        owner: None where the record does not show it either (AF-016).
    """
    which = f"{owner.kind} {owner.name}" if owner is not None else "which the record does not show"
    return DeletionCause(
        kind=DeletionCauseClass.NOT_KNOWN, owner=owner, gaps=(("request", f"the deletion of its owner, {which}"),)
    )


@dataclass(slots=True, kw_only=True)
class RecordedDeletion:
    """A deletion.

    Attributes:
        uid: of the object; empty where it is not known.
        since: of an object that was gone between two dumps, when the first of them was taken; else None.
        at: when the request was received, or when the dump was taken that lacks it.
        gone: when the object did not exist any more; None where the record does not show it.
        writer: of the request; None where no request is on record.
        owner: the deletion of its owner; None where it has none or that is not on record.
    """

    key: ObjectKey
    root: SetKey
    uid: str
    at: datetime
    writer: Writer | None
    role: WriterRole | None
    cause: DeletionCause
    since: datetime | None = None
    gone: datetime | None = None
    owner: "RecordedDeletion | None" = None

    @property
    def origin(self) -> "RecordedDeletion":
        """The deletion that this one follows from, at the end of the chain of owners."""
        found = self
        while found.owner is not None:
            found = found.owner
        return found


def note_missing_requests(
    deletions: Iterable[RecordedDeletion], happenings: Iterable[Happening]
) -> Mapping[SetKey, int]:
    """Return how many deletions and edits of each set are known only by what followed from them (AF-016, AF-017).

    What the rules do not explain of such a set becomes not known: its states before it may have been others.
    """
    every, ends = list(deletions), {WriterRole.KUBELET, WriterRole.GARBAGE_COLLECTOR}
    gone = (one for one in every if one.role in ends and one.cause.kind is DeletionCauseClass.NOT_KNOWN)
    deleted = {(one.root, one.cause.owner or one.key) for one in gone}
    edited = (one.root for one in happenings if one.kind is HappeningKind.EDITED and not one.writer)
    missing = Counter((*(root for root, _ in deleted), *edited))
    for one in every:
        if one.root in missing and one.cause.kind is DeletionCauseClass.NOT_EXPLAINED:
            gaps = (*one.cause.gaps, ("request", _MISSING))
            one.cause = replace(one.cause, kind=DeletionCauseClass.NOT_KNOWN, gaps=gaps)
    return missing
