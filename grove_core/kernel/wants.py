"""Wants: what areas require of objects, and the union of the wants of several areas."""

from collections.abc import Iterable
from enum import Enum, unique
from typing import TypeAlias, assert_never

from grove_core.kernel.conditions import REMOVED
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import EMPTY, FrozenMap, list_at
from grove_core.kernel.gang_terminations import GangTermination, TerminationBasis
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import TerminationStatusReport
from grove_core.kernel.structs import Struct, replace


class ObjectToCreate(Struct, frozen=True):
    """The object does not exist and should exist.

    Attributes:
        manifest: the whole object.
        is_foundation: whether other steps of the same round need it, so that it is created first.
    """

    target: Ref
    manifest: FrozenMap
    because: tuple[Reason, ...]
    is_foundation: bool = False


class ObjectToEnsure(Struct, frozen=True):
    """The object should exist, and may exist already; other steps of the same round need it (PL-016).

    Attributes:
        manifest: the whole object.
    """

    target: Ref
    manifest: FrozenMap
    because: tuple[Reason, ...]


class FieldsToApply(Struct, frozen=True):
    """The object should have these fields, which differ from the stored ones."""

    target: Ref
    guard: Guard
    fields: FrozenMap
    because: tuple[Reason, ...]


class StatusToWrite(Struct, frozen=True):
    """The status of the object should have these fields, which differ from the stored ones (PL-011).

    Attributes:
        is_foundation: whether it must be written before the creations of the same round.
        report: the report of a termination among the fields (PL-028).
        is_urgent: whether it reports that a breach starts, restarts or ends, or the first availability (PL-013).
        otherwise: the weaker want, which is carried out where the status is withheld (PL-013).
    """

    target: Ref
    guard: Guard
    fields: FrozenMap
    because: tuple[Reason, ...]
    is_foundation: bool = False
    report: TerminationStatusReport | None = None
    is_urgent: bool = False
    otherwise: FieldsToApply | None = None


class TerminationDeletion(Struct, frozen=True):
    """What makes a deletion a part of gang terminations, and its place among their deletions.

    Attributes:
        is_cause: whether the object is a cause itself, so that it is deleted last (GT-063).
    """

    basis: TerminationBasis
    is_cause: bool = False


class ObjectToDelete(Struct, frozen=True):
    """The object should not exist.

    Attributes:
        foreground: whether it should stay until everything it controls is gone.
        termination: the gang terminations that it is a part of; None for every other deletion.
        otherwise: the weaker want, which is carried out where the deletion is withheld (PL-013).
    """

    target: Ref
    guard: Guard
    because: tuple[Reason, ...]
    foreground: bool = False
    termination: TerminationDeletion | None = None
    otherwise: StatusToWrite | None = None


class FinalizerToDrop(Struct, frozen=True):
    """The object is being deleted and should no longer have this finalizer."""

    target: Ref
    guard: Guard
    finalizer: str
    because: tuple[Reason, ...]


@unique
class StepObstacle(Enum):
    """The kind of obstacle that withholds a step (PL-003)."""

    RULE = "rule"
    """A rule of an area does not allow it yet."""
    REFUSED = "refused"
    """The API server refused the same write before (PL-012)."""
    NOT_CONFIRMED = "notConfirmed"
    """The fresh read before a gang termination failed (PL-029)."""
    GATE = "gate"
    """Pods keep their scheduling gate until their gang can be placed."""
    UPDATE = "update"
    """A rolling update waits for ready pods."""
    GANGS_NOT_COLLECTED = "gangsNotCollected"
    """Pods keep their scheduling gate, because PodGangs are not in the input (WL-235)."""
    GROUPS_NOT_COLLECTED = "groupsNotCollected"
    """Pods are not created, because PodGroups are not in the input (SC-027)."""
    CLIQUES_NOT_COLLECTED = "cliquesNotCollected"
    """PodCliques are not in the input."""
    DOMAINS_NOT_COLLECTED = "domainsNotCollected"
    """ComputeDomains are not in the input."""
    SET_NOT_JUDGED = "setNotJudged"
    """The input lacks what is needed to judge the set at all."""


class Withheld(Struct, frozen=True):
    """A step that a reader may expect and that is not taken; the reasons say why.

    Attributes:
        terminates: the gangs that would be terminated by the step.
        obstacle: the kind of obstacle that withholds it.
    """

    target: Ref
    because: tuple[Reason, ...]
    terminates: tuple[GangTermination, ...] = ()
    obstacle: StepObstacle = StepObstacle.RULE


Want: TypeAlias = ObjectToCreate | ObjectToEnsure | FieldsToApply | StatusToWrite | ObjectToDelete | FinalizerToDrop


class DesiredChanges(Struct, frozen=True):
    """Wants, at most one for each target, and withheld steps."""

    wants: tuple[Want, ...] = ()
    withheld: tuple[Withheld, ...] = ()

    @staticmethod
    def from_wants_and_withheld(items: Iterable[Want | Withheld]) -> "DesiredChanges":
        """Return the wants and the withheld steps among some items, each in their order."""
        found = tuple(items)
        return DesiredChanges(
            tuple(item for item in found if not isinstance(item, Withheld)),
            tuple(item for item in found if isinstance(item, Withheld)),
        )

    @staticmethod
    def union_of_areas(parts: Iterable["DesiredChanges"]) -> "DesiredChanges":
        """Return the wants of several areas as one value. Raises BrokenInvariant (PL-013) where two contradict."""
        wants: dict[Ref, Want] = {}
        withheld: list[Withheld] = []
        for part in parts:
            withheld.extend(part.withheld)
            for want in part.wants:
                other = wants.get(want.target)
                wants[want.target] = want if other is None else _merged(other, want)
        return DesiredChanges(tuple(wants.values()), tuple(withheld))


def _merged(one: Want, other: Want) -> Want:
    """Return what is wanted of an object of which two areas want something; ``one`` is of the earlier area (PL-013).

    The stronger want stands. The weaker one is decided again in a later round, or is carried out where the stronger
    one is withheld and could not be written later.
    """
    if (
        isinstance(one, StatusToWrite)
        and isinstance(other, StatusToWrite)
        and (joined := _joined_status(one, other)) is not None
    ):
        return joined
    match sorted((one, other), key=_rank):
        case ObjectToDelete() as first, ObjectToDelete() as second:  # the reasons of the earlier area stand
            return replace(first, otherwise=first.otherwise or second.otherwise)
        case ObjectToDelete() as deletion, StatusToWrite(is_urgent=True) as status:
            return replace(deletion, otherwise=deletion.otherwise or replace(status, otherwise=None))
        case (ObjectToDelete() | FinalizerToDrop()) as first, StatusToWrite() | FieldsToApply():
            return first
        case StatusToWrite(otherwise=None) as status, FieldsToApply() as change:
            return replace(status, otherwise=change)
        case FieldsToApply() as first, StatusToWrite():
            return first
        case _:
            raise BrokenInvariant("PL-013", f"two wants for {one.target}: {one} and {other}")


def _rank(want: Want) -> int:
    """Return the rank of a want among those for one object, the strongest first (PL-013).

    A status comes before other changes only if it could not be written later, or reports a termination.
    """
    match want:
        case ObjectToDelete():
            return 0
        case FinalizerToDrop():
            return 1
        case StatusToWrite():
            return 2 if want.is_urgent or want.report else 4
        case FieldsToApply():
            return 3
        case ObjectToCreate() | ObjectToEnsure():
            return 5
        case _:
            assert_never(want)


def _joined_status(one: StatusToWrite, other: StatusToWrite) -> StatusToWrite | None:
    """Return two changes of one status as one; None where both set one field, or a condition of one type."""
    fields = _joined(one.fields, other.fields)
    if fields is None:
        return None
    report = None
    if one.report or other.report:
        first, second = (want.report or TerminationStatusReport((), want.fields, want.because) for want in (one, other))
        left = _joined(first.fields, second.fields) or EMPTY
        report = TerminationStatusReport((*first.causes, *second.causes), left, (*first.because, *second.because))
    return StatusToWrite(
        one.target,
        one.guard,
        fields,
        (*one.because, *other.because),
        is_foundation=one.is_foundation or other.is_foundation,
        report=report,
        is_urgent=one.is_urgent or other.is_urgent,
        otherwise=one.otherwise or other.otherwise,
    )


def _joined(first: FrozenMap, second: FrozenMap) -> FrozenMap | None:
    """Join two changes of one status; None where both set one field, or conditions of one type."""
    if (first.keys() & second.keys()) - {"conditions", REMOVED}:
        return None
    conditions = (*_conditions_in(first), *_conditions_in(second))
    if len({condition["type"] for condition in conditions}) < len(conditions):
        return None
    lists = {"conditions": conditions, REMOVED: (*list_at(first, REMOVED), *list_at(second, REMOVED))}
    return FrozenMap({**first, **second, **{key: items for key, items in lists.items() if items}})


def _conditions_in(fields: FrozenMap) -> tuple[FrozenMap, ...]:
    return tuple(item for item in list_at(fields, "conditions") if isinstance(item, FrozenMap))
