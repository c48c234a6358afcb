"""One YAML node becomes one JSON value: the builder between PyYAML's events and `yaml_items` (IN-001 to IN-013).

Rules for this file: nothing recurses; a flaw is noted and building goes on, so that one pass finds every flaw of an
object and the events stay in step. `NodeBuilder.node` is the hot loop of every YAML load.
What is rare lives outside it.
"""

from typing import Any, NamedTuple, TypeAlias

from yaml.events import (
    CollectionStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from grove_core.resources.fields import shown
from grove_shell.reading.items import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, JsonValue
from grove_shell.reading.scalars import MERGE, InvalidScalar, ScalarCache, key_of, tagged_value
from grove_shell.reading.utf8_stream import Utf8Stream
from grove_shell.reading.yaml_anchors import BOMB, INCOMPLETE, Anchors
from grove_shell.reading.yaml_events import events_of, index_of, place_of, skip

_Frame: TypeAlias = tuple[Any, bool, str, bool, str | None]
"""A collection around the one being filled: it, whether it is a mapping, its key, whether that waits for its value;
and the anchor of the inner one."""

_Spot: TypeAlias = tuple[str, list[_Frame], Any, bool, str]
"""Where the builder stands: prefix, frames, and the collection being filled. It becomes a path only for a flaw."""


class Flaw(NamedTuple):
    """A fault whose object has no name yet."""

    path: str
    expected: str
    got: str
    line: int
    column: int


class NodeBuilder:
    """The nodes of one YAML text, and all that is remembered between them.

    Attributes:
        get: the next event.
        flaws: of everything built since `taken` was called last.
    """

    __slots__ = ("_anchors", "_merged", "_scalars", "flaws", "get")

    def __init__(self, stream: Utf8Stream, *, pure: bool) -> None:
        self.get = events_of(stream, pure=pure)
        self.flaws: list[Flaw] = []
        self._scalars = ScalarCache()
        self._anchors = Anchors()
        self._merged: dict[int, tuple[dict[str, Any], set[str]]] = {}

    def next_document(self) -> None:
        """Forget the anchors: they end with their document."""
        self._anchors.restart()
        self._merged.clear()

    def taken(self) -> list[Flaw]:
        """The flaws so far, which are the caller's now."""
        flaws, self.flaws = self.flaws, []
        return flaws

    def flaw(self, event: Event, path: str, expected: str, got: str) -> None:
        """Note a flaw at the place of an event."""
        self.flaws.append(Flaw(path, expected, got, *place_of(event)))

    def begin(self, event: CollectionStartEvent) -> None:
        """Enter a collection that the caller walks: aliases to it are refused from here on (IN-011)."""
        if event.anchor is not None:
            self._anchors[event.anchor] = INCOMPLETE

    def node(  # noqa: C901, PLR0912, PLR0915 - one loop, for speed; what is rare is called from it
        self, event: NodeEvent, prefix: str
    ) -> JsonValue:
        """Build the node that begins with ``event``, to its end; flaws are noted with paths under ``prefix``.

        Raises:
            yaml.YAMLError: broken syntax.
            Unreadable: from the stream, or a nesting too deep to be skipped.
        """
        if not isinstance(event, CollectionStartEvent):
            return self._leaf(event, prefix)
        get, scalars, anchors = self.get, self._scalars, self._anchors
        frames: list[_Frame] = []
        is_map = type(event) is MappingStartEvent
        cur: Any = {} if is_map else []
        key, has, v = "", False, None
        deepest = MAX_DEPTH - (2 if prefix else 1)  # this collection is a level itself, and so is one around it
        outer, self._merged = self._merged, {}  # what is remembered of merges ends with its mapping
        self.begin(event)
        for _ in range(MAX_NODES):
            e: Any = get()
            t = type(e)
            if t is ScalarEvent:
                if e.implicit[0]:
                    try:
                        v = scalars[e.value]
                    except InvalidScalar as refused:
                        value_of = (prefix, frames, cur, is_map, key)
                        v = self._refuse(e, value_of, refused) if has or not is_map else None
                elif e.tag is None:
                    v = e.value
                else:
                    v = self._tagged(e, (prefix, frames, cur, is_map, key))
                if e.anchor is not None:
                    anchors[e.anchor] = v
            elif t is MappingStartEvent or t is SequenceStartEvent:
                if len(frames) < deepest:
                    frames.append((cur, is_map, key, has, e.anchor))
                    is_map, has = t is MappingStartEvent, False
                    cur = {} if is_map else []
                    if e.anchor is not None:
                        anchors[e.anchor] = INCOMPLETE
                    continue
                self.flaw(e, _path((prefix, frames, cur, is_map, key)), f"at most {MAX_DEPTH} levels", "more")
                skip(get, 1)
                v = None
            elif t is MappingEndEvent or t is SequenceEndEvent:
                v = cur
                if not frames:
                    break
                cur, is_map, key, has, anchor = frames.pop()
                if anchor is not None:
                    anchors[anchor] = v
            else:
                v = self._alias(e, (prefix, frames, cur, is_map, key))
            if not is_map:
                cur.append(v)
            elif not has:
                if type(v) is not str or v is MERGE or v in cur:
                    v = self.key(e, v, cur, (prefix, frames, cur, is_map, ""))
                key, has = v, True
            else:
                has = False
                if key is not MERGE:
                    cur[key] = v
                else:
                    self.merge(e, v, cur, (prefix, frames, cur, is_map, key))
        else:
            self.flaw(event, prefix, f"at most {MAX_NODES:,} values in one object", "more")
            skip(get, len(frames) + 1)
            v = None
        self._merged = outer
        if v is not None and e.end_mark.index - index_of(event) > MAX_CHARACTERS:
            self.flaw(event, prefix, f"an object of at most {MAX_CHARACTERS:,} characters", "more")
        if event.anchor is not None:
            anchors[event.anchor] = v
        return v

    def root_key(self, event: NodeEvent, root: dict[str, Any]) -> str:
        """The next key of a mapping that the caller walks."""
        simple = isinstance(event, ScalarEvent) and event.tag is None and event.anchor is None
        return self.key(event, None if simple else self.node(event, ""), root, ("", [], root, True, ""))

    def key(self, event: Event, value: JsonValue, mapping: dict[str, Any], spot: _Spot) -> str:
        """The key that a node is: text, the merge key, or after a flaw a stand-in (IN-004, IN-006, IN-010)."""
        try:
            text = _key_text(event, value)
        except InvalidScalar as refused:
            self.flaw(event, _path(spot), refused.expected, shown(value))
            return f"?{len(mapping)}"
        if text in mapping:
            _, merged = self._merged.get(id(mapping), (None, set()))
            if text in merged:
                merged.remove(text)
            else:
                self.flaw(event, _path((*spot[:4], text)), "each key once", f'the key "{text}" again')
        return text

    def merge(self, event: Event, value: JsonValue, mapping: dict[str, Any], spot: _Spot) -> None:
        """Put one mapping, or those of a sequence, into ``mapping`` as if they were written here (IN-010)."""
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            if value is not None or not self.flaws:  # else the value itself has been refused just now
                self.flaw(event, _path(spot), "a mapping, or a sequence of mappings", shown(value))
            return
        entries: dict[str, Any] = {}
        for source in reversed(sources):
            entries.update(source)
        # The mapping is kept beside its id, so that no other object can be given that id meanwhile.
        _, merged = self._merged.setdefault(id(mapping), (mapping, set()))
        merged.update(key for key in entries if key not in mapping)
        mapping.update(entries)

    def _leaf(self, event: NodeEvent, prefix: str) -> JsonValue:
        """A node that is no collection and stands in none of ours."""
        spot: _Spot = (prefix, [], None, True, "")
        if not isinstance(event, ScalarEvent):
            return self._alias(event, spot)
        value: JsonValue = event.value
        if event.implicit[0]:
            try:
                value = self._scalars[value]
            except InvalidScalar as refused:
                value = self._refuse(event, spot, refused)
        elif event.tag is not None:
            value = self._tagged(event, spot)
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _tagged(self, event: ScalarEvent, spot: _Spot) -> JsonValue:
        try:
            return tagged_value(str(event.tag), event.value)
        except InvalidScalar as refused:
            return self._refuse(event, spot, refused)

    def _refuse(self, event: ScalarEvent, spot: _Spot, refused: InvalidScalar) -> JsonValue:
        self.flaw(event, _path(spot), refused.expected, refused.got or shown(event.value))
        return None

    def _alias(self, event: NodeEvent, spot: _Spot) -> JsonValue:
        try:
            return self._anchors.resolve(event)
        except InvalidScalar as refused:
            if refused.expected != BOMB or not any(flaw.expected == BOMB for flaw in self.flaws[-1:]):
                self.flaw(event, _path(spot), refused.expected, refused.got)
            return None


def _key_text(event: Event, value: JsonValue) -> str:
    """The text of a key. Raises `InvalidScalar` for null, collections, and integers beyond 64 bits with sign."""
    if isinstance(event, ScalarEvent) and event.implicit[0]:
        return MERGE if event.value == "<<" else key_of(event.value)
    if isinstance(event, ScalarEvent) and event.tag is None:
        return str(event.value)
    if value is None or isinstance(value, dict | list):
        raise InvalidScalar("a key that is text")
    return value if isinstance(value, str) else key_of(str(value))


def _path(spot: _Spot) -> str:
    prefix, frames, cur, is_map, key = spot
    text = prefix
    collections: list[tuple[Any, bool, str]] = [frame[:3] for frame in frames]
    for collection, of_map, name in (*collections, (cur, is_map, key)):
        if not of_map:
            text += f"[{len(collection)}]"
        elif name:
            text += f".{name}" if text else name
    return text
