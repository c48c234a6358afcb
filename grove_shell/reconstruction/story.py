"""The story of a target: its deletions grouped by cause, what happened around them, and the holes of the record."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple, assert_never

from grove_core.document.plan_document import RuleSetSource
from grove_core.operator_recognition import RecognisedOperator
from grove_core.resources.api_names import GROUP_KIND, SET_KIND
from grove_shell.reading.kubernetes_events import ListedKubernetesEvent
from grove_shell.reconstruction.deletion_causes import DeletionCauseClass, RecordedDeletion
from grove_shell.reconstruction.happenings import Happening
from grove_shell.reconstruction.recorded_objects import ObjectKey, SetKey

_ROUND: Final = timedelta(seconds=10)
UNEXPLAINED: Final = frozenset({DeletionCauseClass.NOT_EXPLAINED, DeletionCauseClass.NOT_KNOWN})


class StoryTarget(NamedTuple):
    """What a story is about; all empty for every set of the record."""

    namespace: str | None = None
    kind: str = ""
    name: str = ""

    def concerns(self, key: ObjectKey, root: SetKey) -> bool:
        """Return whether an object is the target, or a part of it, or of its set where the target is a set."""
        if self.namespace not in {None, root.namespace}:
            return False
        if not self.name:
            return True
        if self.kind == SET_KIND:
            return root.name == self.name
        is_part = self.kind in {GROUP_KIND, "PodClique"} and key.name.startswith(f"{self.name}-")
        return (key.kind, key.name) == (self.kind, self.name) or (is_part and key.kind in {"PodClique", "Pod"})


@dataclass(slots=True)
class DeletionsOfOneCause:
    """Deletions of one cause, and of what went with their objects.

    Attributes:
        deletions: those that have the cause themselves, in the order of time.
        followers: those of objects whose owner is among them.
    """

    deletions: list[RecordedDeletion]
    followers: list[RecordedDeletion]

    @property
    def first(self) -> RecordedDeletion:
        """The earliest deletion."""
        return self.deletions[0]

    def names_of_kind(self, kind: str) -> tuple[str, ...]:
        """Return the names of the deleted objects of a kind, in the order of time."""
        found = (one.key.name for one in (*self.deletions, *self.followers) if one.key.kind == kind)
        return tuple(dict.fromkeys(found))


class RecordGap(NamedTuple):
    """Something that the record lacks, and what that leaves open (AF-005)."""

    what: str
    leaves_open: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What a record shows of a target.

    Attributes:
        first, last: the time that the record spans; None where it has none.
        groups: in the order of time.
        rules: name of the rule set that the causes were sought in; empty where none had to be.
        operators: the users that operate.
        recognition: the operator that the objects show.
        shows_deletions: whether the record has a request of an audit log, or two dumps that list the same kinds.
    """

    target: StoryTarget
    first: datetime | None
    last: datetime | None
    groups: tuple[DeletionsOfOneCause, ...]
    happenings: tuple[Happening, ...]
    events: tuple[ListedKubernetesEvent, ...]
    holes: tuple[RecordGap, ...]
    rules: str
    rules_from: RuleSetSource | None
    operators: tuple[str, ...]
    recognition: RecognisedOperator | None
    shows_deletions: bool

    @property
    def has_unknown(self) -> bool:
        """Whether a cause is not explained or not known, or what went."""
        return not self.shows_deletions or any(group.first.cause.kind in UNEXPLAINED for group in self.groups)


def grouped_deletions(deletions: Iterable[RecordedDeletion], target: StoryTarget) -> tuple[DeletionsOfOneCause, ...]:
    """Return the deletions of a target by their causes; those of an owner's parts go to the group of the owner."""
    groups: list[DeletionsOfOneCause] = []
    latest: dict[tuple[object, ...], DeletionsOfOneCause] = {}
    of: dict[int, DeletionsOfOneCause] = {}
    chosen = [one for one in deletions if target.concerns(one.key, one.root)]
    origins = {id(one.origin): one.origin for one in chosen}
    for one in sorted(origins.values(), key=lambda found: (found.at, found.key)):
        signature = _signature(one)
        group = latest.get(signature)
        if group is None or one.at - group.deletions[-1].at > _ROUND:
            group = latest[signature] = DeletionsOfOneCause([], [])
            groups.append(group)
        group.deletions.append(one)
        of[id(one)] = group
    for one in chosen:
        if one.origin is not one:
            of[id(one.origin)].followers.append(one)
    return tuple(groups)


def _signature(deletion: RecordedDeletion) -> tuple[object, ...]:
    """Return what deletions of one cause have in common."""
    cause, root = deletion.cause, deletion.root
    match cause.kind:
        case DeletionCauseClass.TERMINATION:
            ends = cause.reasons.terminates if cause.reasons is not None else ()
            return root, cause.kind, cause.expected, tuple((one.replica, one.deadline) for one in ends[:1])
        case DeletionCauseClass.RULES:
            why = cause.reasons.because[0].rule.code if cause.reasons is not None else ""
            return root, cause.kind, cause.expected, why, deletion.key.kind
        case (
            DeletionCauseClass.OWNER
            | DeletionCauseClass.WRITER
            | DeletionCauseClass.NOT_EXPLAINED
            | DeletionCauseClass.NOT_KNOWN
        ):
            return root, cause.kind, cause.expected, deletion.writer, deletion.role, deletion.key.kind, cause.owner
        case _:
            assert_never(cause.kind)


def happenings_of(happenings: Iterable[Happening], target: StoryTarget) -> tuple[Happening, ...]:
    """Return what happened to a target, and to its set as a whole."""
    return tuple(one for one in happenings if _is_near(one.key, one.root, target))


def events_about(
    events: Iterable[ListedKubernetesEvent], target: StoryTarget, roots: Sequence[SetKey]
) -> tuple[ListedKubernetesEvent, ...]:
    """Return the Events about a target, its parts, and its set; without a target those about parts of any set."""
    found = []
    for event in events:
        key = ObjectKey(event.kind, event.namespace, event.name)
        fitting = [root for root in roots if root.namespace == event.namespace and _is_named_by(event.name, root.name)]
        if fitting and _is_near(key, max(fitting, key=lambda root: len(root.name)), target):
            found.append(event)
    return tuple(sorted(found))


def _is_near(key: ObjectKey, root: SetKey, target: StoryTarget) -> bool:
    own = not target.name or target.name == root.name or target.name.startswith(f"{root.name}-")
    is_above = key.kind == SET_KIND or (key.kind != "Pod" and target.name.startswith(key.name))
    return target.concerns(key, root) or (own and is_above and target.namespace in {None, root.namespace})


def _is_named_by(name: str, root: str) -> bool:
    return name == root or name.startswith(f"{root}-")
