"""Builds one JSON value from the events of one YAML node (IN-001, IN-006, IN-012).

Rules for this file: no recursion. A flaw is recorded and building continues, so that one pass finds every flaw of an
object. `YamlValueBuilder._collection` is the hot loop of every YAML load; rare cases are separate methods.
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

from grove_core.resources.json_field_reader import short_json
from grove_shell.reading.input_items import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, JsonValue
from grove_shell.reading.yaml_events import (
    BOMB,
    INCOMPLETE,
    PositionedTextReader,
    YamlAnchors,
    skip_yaml_events,
    yaml_event_offset,
    yaml_event_position,
    yaml_event_reader,
)
from grove_shell.reading.yaml_scalars import (
    MERGE,
    InvalidYamlScalar,
    YamlScalarCache,
    plain_scalar_as_key,
    tagged_scalar_to_json,
)

_Frame: TypeAlias = tuple[Any, bool, str, bool, str | None]
"""An outer collection: itself, whether it is a mapping, its current key, whether that key still needs its value, and
the anchor of the inner collection."""

_Spot: TypeAlias = tuple[str, list[_Frame], Any, bool, str]
"""Position of the builder: prefix, frames, and the current collection. It is converted to a path only for a flaw."""


class UnnamedObjectFault(NamedTuple):
    """A fault of an object whose name is not known yet."""

    path: str
    expected: str
    got: str
    line: int
    column: int


class YamlValueBuilder:
    """Builds the nodes of one YAML text.

    Attributes:
        get: returns the next event.
        flaws: found since the last call of `take_flaws`.
    """

    __slots__ = ("_anchors", "_merged", "_scalars", "flaws", "get")

    def __init__(self, stream: PositionedTextReader, *, pure: bool) -> None:
        self.get = yaml_event_reader(stream, pure=pure)
        self.flaws: list[UnnamedObjectFault] = []
        self._scalars = YamlScalarCache()
        self._anchors = YamlAnchors()
        self._merged: dict[int, tuple[dict[str, Any], set[str]]] = {}

    def forget_anchors(self) -> None:
        """Forget the anchors, which are local to their document."""
        self._anchors.forget_all_anchors()
        self._merged.clear()

    def take_flaws(self) -> list[UnnamedObjectFault]:
        """Return the flaws so far, and forget them."""
        flaws, self.flaws = self.flaws, []
        return flaws

    def record_flaw(self, event: Event, path: str, expected: str, got: str) -> None:
        """Record a flaw at the place of an event.

        Args:
            path: of the value, in its object.
            expected, got: what a value has to be there, and the value, in words.
        """
        self.flaws.append(UnnamedObjectFault(path, expected, got, *yaml_event_position(event)))

    def enter_collection(self, event: CollectionStartEvent) -> None:
        """Enter a collection that the caller iterates; aliases to it become flaws from here on (IN-012)."""
        if event.anchor is not None:
            self._anchors[event.anchor] = INCOMPLETE

    def build_node(self, event: NodeEvent, prefix: str) -> JsonValue:
        """Build the node that begins with ``event``; flaws are recorded with paths under ``prefix``.

        Raises:
            yaml.YAMLError: broken syntax.
            UnreadableText: from the stream, or the nesting is too deep to be skipped.
        """
        if not isinstance(event, CollectionStartEvent):
            return self._leaf(event, (prefix, [], None, True, ""))
        outer, self._merged = self._merged, {}  # merged keys are remembered only within their mapping
        self.enter_collection(event)
        value, end = self._collection(event, prefix)
        self._merged = outer
        if end is not None and end.end_mark.index - yaml_event_offset(event) > MAX_CHARACTERS:
            self.record_flaw(event, prefix, f"an object of at most {MAX_CHARACTERS:,} characters", "more")
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _collection(self, event: CollectionStartEvent, prefix: str) -> tuple[JsonValue, Any]:  # noqa: C901, PLR0912 - one loop, for speed; what is rare is called from it
        """Build a mapping or a sequence; return it and its last event, None for one that is too large (IN-012)."""
        get, scalars, anchors = self.get, self._scalars, self._anchors
        frames: list[_Frame] = []
        is_mapping = type(event) is MappingStartEvent
        current: Any = {} if is_mapping else []
        key, has_key, value = "", False, None
        deepest = MAX_DEPTH - (2 if prefix else 1)  # this collection counts as a level, and so does the one around it
        for _ in range(MAX_NODES):
            inner: Any = get()
            event_type = type(inner)
            if event_type is ScalarEvent and inner.tag is None and inner.anchor is None:
                try:
                    value = scalars[inner.value] if inner.implicit[0] else inner.value
                except InvalidYamlScalar:
                    value = self._leaf(
                        inner, (prefix, frames, current, is_mapping, key), is_key=is_mapping and not has_key
                    )
            elif (event_type is MappingStartEvent or event_type is SequenceStartEvent) and len(frames) < deepest:
                frames.append((current, is_mapping, key, has_key, inner.anchor))
                if inner.anchor is not None:
                    anchors[inner.anchor] = INCOMPLETE
                is_mapping, has_key = event_type is MappingStartEvent, False
                current = {} if is_mapping else []
                continue
            elif event_type is MappingEndEvent or event_type is SequenceEndEvent:
                if not frames:
                    return current, inner
                value = current
                current, is_mapping, key, has_key, anchor = frames.pop()
                if anchor is not None:
                    anchors[anchor] = value
            else:
                value = self._leaf(inner, (prefix, frames, current, is_mapping, key), is_key=is_mapping and not has_key)
            if not is_mapping:
                current.append(value)
            elif not has_key:
                if type(value) is not str or value is MERGE or value in current:
                    value = self.key_of_node(inner, value, current, (prefix, frames, current, is_mapping, ""))
                key, has_key = value, True
            else:
                has_key = False
                if key is not MERGE:
                    current[key] = value
                else:
                    self.merge_into_mapping(inner, value, current, (prefix, frames, current, is_mapping, key))
        self.record_flaw(event, prefix, f"at most {MAX_NODES:,} values in one object", "more")
        skip_yaml_events(get, len(frames) + 1)
        return None, None

    def next_root_key(self, event: NodeEvent, root: dict[str, Any]) -> str:
        """Return the next key of a mapping that the caller iterates."""
        simple = isinstance(event, ScalarEvent) and event.tag is None and event.anchor is None
        return self.key_of_node(event, None if simple else self.build_node(event, ""), root, ("", [], root, True, ""))

    def key_of_node(self, event: Event, value: JsonValue, mapping: dict[str, Any], spot: _Spot) -> str:
        """Return the key of a node: text, the merge key, or a placeholder after a flaw (IN-001, IN-006).

        Args:
            event: that the node begins with.
            value: of the node.
            mapping: that the key is for, with the keys before it.
            spot: the position of the node.
        """
        try:
            text = _key_text(event, value)
        except InvalidYamlScalar as refused:
            self.record_flaw(event, _path(spot), refused.expected, short_json(value))
            return f"?{len(mapping)}"
        if text in mapping:
            _, merged = self._merged.get(id(mapping), (None, set()))
            if text in merged:
                merged.remove(text)
            else:
                self.record_flaw(event, _path((*spot[:4], text)), "each key once", f'the key "{text}" again')
        return text

    def merge_into_mapping(self, event: Event, value: JsonValue, mapping: dict[str, Any], spot: _Spot) -> None:
        """Merge one mapping, or those of a sequence, into ``mapping`` (IN-001).

        Args:
            event: that the value begins with.
            value: of the merge key.
            spot: the position of the value.
        """
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            if value is not None or not self.flaws:  # otherwise the value itself is already a flaw
                self.record_flaw(event, _path(spot), "a mapping, or a sequence of mappings", short_json(value))
            return
        entries: dict[str, Any] = {}
        for source in reversed(sources):
            entries.update(source)
        # The mapping is kept beside its id, so that the id cannot be reused for another object.
        _, merged = self._merged.setdefault(id(mapping), (mapping, set()))
        merged.update(key for key in entries if key not in mapping)
        mapping.update(entries)

    def _leaf(self, event: NodeEvent, spot: _Spot, *, is_key: bool = False) -> JsonValue:
        """Build a scalar or an alias, or skip a collection that is nested too deeply (IN-012).

        What is wrong with a plain key is left to `key`.
        """
        if isinstance(event, CollectionStartEvent):
            self.record_flaw(event, _path(spot), f"at most {MAX_DEPTH} levels", "more")
            skip_yaml_events(self.get, 1)
            return None
        if not isinstance(event, ScalarEvent):
            return self._alias(event, spot)
        value: JsonValue = event.value
        try:
            if event.implicit[0]:
                value = self._scalars[value]
            elif event.tag is not None:
                value = tagged_scalar_to_json(str(event.tag), value)
        except InvalidYamlScalar as refused:
            value = None
            if not is_key or not event.implicit[0]:
                self.record_flaw(event, _path(spot), refused.expected, refused.got or short_json(event.value))
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _alias(self, event: NodeEvent, spot: _Spot) -> JsonValue:
        try:
            return self._anchors.resolve_alias(event)
        except InvalidYamlScalar as refused:
            if refused.expected != BOMB or not any(flaw.expected == BOMB for flaw in self.flaws[-1:]):
                self.record_flaw(event, _path(spot), refused.expected, refused.got)
            return None


def _key_text(event: Event, value: JsonValue) -> str:
    """Return the text of a key. Raises `InvalidYamlScalar` for null, collections, integers beyond signed 64 bits."""
    if isinstance(event, ScalarEvent) and event.implicit[0]:
        return MERGE if event.value == "<<" else plain_scalar_as_key(event.value)
    if isinstance(event, ScalarEvent) and event.tag is None:
        return str(event.value)
    if value is None or isinstance(value, dict | list):
        raise InvalidYamlScalar("a key that is text")
    return value if isinstance(value, str) else plain_scalar_as_key(str(value))


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
