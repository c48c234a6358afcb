"""What a server made of a sequence, step by step; and the first difference of two servers."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from grove_core.kernel.refs import Guard
from tests.recorded_api_server.moves import Move
from tests.recorded_api_server.slots import NO_OWNER, Json
from tests.recorded_api_server.views import GONE, Object, view_of

SKIPPED: Final = "nothing to do"
Sight = Mapping[str, Object]


@dataclass(frozen=True, slots=True)
class Frame:
    """After one request, when all that follows from it has happened.

    Attributes:
        outcome: how it was answered; nothing for what is not asked as a step.
        changed: slot -> what is there now, where that is new; null for nothing.
        written: slots whose object is the same and has another version.
    """

    outcome: str
    changed: Mapping[str, Json | None]
    written: tuple[str, ...]

    @property
    def as_json(self) -> Json:
        """As it is recorded."""
        return {"outcome": self.outcome, "changed": dict(self.changed), "written": list(self.written)}


@dataclass(slots=True)
class Transcript:
    """A sequence as one server played it.

    Attributes:
        reported: incarnation -> what a watcher received about it, in order; ``gone`` is the last word.
    """

    frames: list[Frame] = field(default_factory=list)
    reported: dict[str, list[Json | str]] = field(default_factory=dict)

    @property
    def as_json(self) -> Json:
        """As it is recorded."""
        return {"frames": [frame.as_json for frame in self.frames], "told": self.reported}


def transcript_of(raw: Mapping[str, Any]) -> Transcript:
    """A recorded one."""
    frames = [Frame(one["outcome"], one["changed"], tuple(one["written"])) for one in raw["frames"]]
    return Transcript(frames, dict(raw["told"]))


class Eyes:
    """What was seen on a server so far; incarnations get names by the order in which they are seen."""

    def __init__(self) -> None:
        self.guards: dict[str, list[Guard]] = {}
        self._names: dict[str, str] = {}
        self._views: dict[str, Json] = {}
        self._uids: dict[str, str] = {}

    def named(self, uid: str) -> str:
        """The name of an incarnation."""
        return self._names.get(uid, "nobody" if uid else "")

    def uid_of(self, slot: str) -> str:
        """Of the incarnation that was seen last, be it gone or not."""
        return self.guards[slot][-1].uid if slot in self.guards else NO_OWNER

    def guard_of(self, slot: str, *, stale: bool) -> Guard:
        """By which an object was judged: as it was last seen, or as it was before."""
        seen = self.guards.get(slot, [])
        place = 2 if stale else 1
        return seen[-place] if len(seen) >= place else Guard(NO_OWNER, "1")

    def preview(self, outcome: str, sight: Sight) -> Frame:
        """The frame that this sight would make."""
        names = {**self._names, **{item.uid: self._name(slot, item.uid) for slot, item in sight.items()}}
        views = {
            slot: view_of(item, lambda uid: names.get(uid, "nobody" if uid else "")) for slot, item in sight.items()
        }
        changed: dict[str, Json | None] = {
            slot: {"is": names[sight[slot].uid], **view}
            for slot, view in views.items()
            if self._views.get(slot) != view or self._uids.get(slot) != sight[slot].uid
        }
        changed |= {slot: None for slot in self._views if slot not in views}
        written = [
            slot
            for slot, item in sight.items()
            if self._uids.get(slot) == item.uid and self.guards[slot][-1] != item.guard
        ]
        return Frame(outcome, dict(sorted(changed.items())), tuple(sorted(written)))

    def take(self, outcome: str, sight: Sight) -> Frame:
        """Look, and remember."""
        frame = self.preview(outcome, sight)
        for slot, item in sight.items():
            self._names.setdefault(item.uid, self._name(slot, item.uid))
            seen = self.guards.setdefault(slot, [])
            if not seen or seen[-1] != item.guard:
                seen.append(item.guard)
        self._uids = {slot: item.uid for slot, item in sight.items()}
        self._views = {slot: view_of(item, self.named) for slot, item in sight.items()}
        return frame

    def reported(self, events: Iterable[tuple[Object, bool]]) -> dict[str, list[Json | str]]:
        """What was reported of every incarnation that was seen: objects as they were, and whether they went."""
        found: dict[str, list[Json | str]] = {}
        for item, went in events:
            if item.uid in self._names:
                said = found.setdefault(self._names[item.uid], [])
                view: Json | str = GONE if went else view_of(item, self.named)
                if not said or said[-1] != view:
                    said.append(view)
        return dict(sorted(found.items()))

    def _name(self, slot: str, uid: str) -> str:
        known = self._names.get(uid)
        return known or f"{slot} {len({guard.uid for guard in self.guards.get(slot, ())}) + 1}"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two servers differ.

    Attributes:
        at: how many moves had been made.
        model, server: what each says of it.
    """

    at: int
    model: str
    server: str

    def reported(self, moves: Sequence[Move]) -> str:
        """For a person: the whole sequence, and what came of the last move."""
        steps = [f"  {number}. {move}" for number, move in enumerate(moves[: self.at], 1)]
        return "\n".join([*steps, f"in memory:     {self.model}", f"on the server: {self.server}"])


def difference(model: Transcript, server: Transcript) -> Difference | None:
    """The first thing in which the model is not as the server was; None where it is honest."""
    for number, (mine, real) in enumerate(zip(model.frames, server.frames, strict=False), 1):
        for ours, theirs in _differing(mine, real):
            return Difference(number, ours, theirs)
    for name in sorted({*model.reported, *server.reported}):
        both = model.reported.get(name, []), server.reported.get(name, [])
        if not follows(*both):
            reported = (f"a watcher receives {name}: {_short(words)}" for words in both)
            return Difference(len(model.frames), *reported)
    return None


def follows(model: Sequence[Json | str], server: Sequence[Json | str]) -> bool:
    """Whether the model reports nothing that the server did not, in no other order, and ends as it did (SM-080)."""
    rest = iter(server)
    return all(word in rest for word in model) and model[-1:] == server[-1:]


def _differing(mine: Frame, real: Frame) -> Iterator[tuple[str, str]]:
    if mine.outcome != real.outcome:
        yield f"it is {mine.outcome}", f"it is {real.outcome}"
    for slot in sorted({*mine.changed, *real.changed}):
        ours, theirs = (frame.changed.get(slot, "as before") for frame in (mine, real))
        if ours != theirs:
            yield _of(slot, ours, theirs), _of(slot, theirs, ours)
    if mine.written != real.written:
        yield f"written: {', '.join(mine.written) or 'nothing'}", f"written: {', '.join(real.written) or 'nothing'}"


def _of(slot: str, one: Any, other: Any) -> str:
    """What is there; of two objects only the fields in which they differ."""
    if one is None:
        return f"{slot} is gone"
    if isinstance(one, dict) and isinstance(other, dict):
        one = {key: value for key, value in one.items() if other.get(key) != value}
    return f"{slot} is {_short(one)}"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
