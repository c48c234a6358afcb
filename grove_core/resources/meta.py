"""What every object carries: identity, version, owner, finalizers; and the conditions of a status."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Final, TypedDict

from grove_core.kernel.conditions import Condition, Truth
from grove_core.kernel.refs import Guard, Ref
from grove_core.resources.fields import Fields
from grove_core.resources.names import index_from

_TYPE: Final = attrgetter("type")
_TRUTHS: Final = frozenset(truth.value for truth in Truth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What every object is made of besides its own fields: the metadata we decide on.

    Attributes:
        owner_uid, owner_kind, owner_name: of the controller owner; empty where there is none.
        deleting: whether a deletion was accepted (``deletionTimestamp`` is set).
    """

    ref: Ref
    uid: str
    resource_version: str
    owner_uid: str
    owner_kind: str
    owner_name: str
    finalizers: tuple[str, ...]
    deleting: bool

    @property
    def guard(self) -> Guard:
        """What a write that was decided on this state must find unchanged."""
        return Guard(self.uid, self.resource_version)


class Identity(TypedDict):
    """The fields of a :class:`Resource`, to make one of a kind with."""

    ref: Ref
    uid: str
    resource_version: str
    owner_uid: str
    owner_kind: str
    owner_name: str
    finalizers: tuple[str, ...]
    deleting: bool


def read_identity(top: Fields, api_version: str, kind: str) -> Identity:
    """Read ``metadata``. A namespace that is not written is ``default``, as for kubectl."""
    meta = top.part("metadata")
    owner = Fields(None, "", top.problems)
    for reference in meta.parts("ownerReferences"):
        if reference.flag("controller"):
            if owner.raw:
                reference.note("controller", "at most one controller owner", f"a second one, {reference.text('name')}")
            owner = reference
    return Identity(
        ref=Ref(api_version, kind, meta.text("namespace") or "default", meta.text("name", required=True)),
        uid=meta.text("uid"),
        resource_version=meta.text("resourceVersion"),
        owner_uid=owner.text("uid", required=bool(owner.raw)),
        owner_kind=owner.text("kind"),
        owner_name=owner.text("name"),
        finalizers=meta.texts("finalizers"),
        deleting=meta.time("deletionTimestamp") is not None,
    )


def read_labels(top: Fields) -> Fields:
    """``metadata.labels``, to be looked up with :func:`read_label` and :func:`read_index`."""
    return top.part("metadata").part("labels")


def read_label(labels: Fields, *keys: str) -> str:
    """The value of the first of these label keys that is set; empty where none is (decision D3)."""
    return next((text for key in keys if (text := labels.text(key))), "")


def read_index(labels: Fields, keys: tuple[str, ...], fallback: int | None) -> int:
    """A replica index from the first label of these keys, else the fallback; -1 and a problem where there is none."""
    text = read_label(labels, *keys)
    if not text and fallback is not None:
        return fallback
    index = index_from(text)
    if index is None:
        labels.note(f"[{keys[0]}]", "a replica index (0, 1, 2, ...)", text or None)
        return -1
    return index


def read_conditions(status: Fields) -> tuple[Condition, ...]:
    """Read ``conditions``, sorted by type; those with a problem are noted and left out. Two of one type are one."""
    found: dict[str, Condition] = {}
    for part in status.parts("conditions"):
        before = len(part.problems)
        type_ = part.text("type", required=True)
        truth = part.text("status", required=True)
        moment = part.time("lastTransitionTime", required=True)
        if truth and truth not in _TRUTHS:
            part.note("status", "True, False or Unknown as a string", truth)
        if type_ in found:
            part.note("type", "one condition of each type", type_)
        if len(part.problems) == before and moment is not None:
            found[type_] = Condition(type_, Truth(truth), part.text("reason"), part.text("message"), moment)
    return tuple(sorted(found.values(), key=_TYPE))


def read_update(status: Fields) -> tuple[bool, Fields]:
    """Whether an update runs, and its progress (GT-018); ``updateProgress`` wins over its older name."""
    key = "updateProgress" if "updateProgress" in status else "rollingUpdateProgress"
    progress = status.part(key)
    return key in status and progress.time("updateEndedAt") is None, progress
