"""Objects of a list as JSON, from YAML in the form in which kubectl prints it (IN-001, IN-006).

A dump in YAML has one key or one list item on each line, few kinds of scalars, no anchors, no tags and no comments. A
text of this form is converted line by line, much faster than a YAML parser does it: most lines stand in many objects
and are parsed once. Any other text is left to the parser, which gives the same values, and every problem with its
place.
"""

import json
import re
import sys
from typing import Final, NamedTuple, TypeAlias

from grove_shell.reading.input_items import MAX_DEPTH
from grove_shell.reading.yaml_scalars import InvalidYamlScalar, plain_scalar_as_key, plain_scalar_to_json

_LINE: Final = re.compile(r"( *)((?:- )*)(?:([A-Za-z0-9_][\w./-]*):(?: (.*))?|(\S.*))", re.ASCII)
_PLAIN: Final = re.compile(r"(?:[A-Za-z0-9_./+(~]|-(?=[^ ]))(?:[^ :#]++|:(?=[^ ])|(?<=[^ ])#| (?=[^ #]))*+")
_QUOTED: Final = re.compile(r"'(?:[^']++|'')*'")
_JSON_TEXT: Final = re.compile(r'"(?:[^"\\]++|\\(?:["\\bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*"')
_JSON: Final = frozenset({"{}", "[]"})
_LITERAL_ENDS: Final = {"|": "\n", "|-": ""}
_BEGINS_ITEM: Final = re.compile("- [^ -]")
_FIELDS: Final = re.compile(r"\n(?=  [^ -])")
_INNER_FIELDS: Final = re.compile(r"\n(?=    [^ -])")
_BEGINS_OBJECT: Final = re.compile(r"    [^ -]")
_LONGEST_WORD: Final = len("false")
_MOST_LINES: Final = 20_000  # that are remembered
_MOST_FIELDS: Final = 4_000
_Field: TypeAlias = tuple[str, str]
"""A key, and the key and its value as JSON."""


class OtherYaml(Exception):
    """A text has another form than that of kubectl."""


class _Line(NamedTuple):
    """One line.

    Attributes:
        indent: number of blanks before everything else.
        dashes: how many list items begin.
        key: of an object; empty where the line is a scalar of a list.
        begin: the key as JSON, with a colon.
        value: the scalar as JSON; empty where it goes on in the next lines, or is an object or a list.
        text: what stands behind the key or the dashes.
        column: where the key or the scalar begins.
        scalar_column: lines that begin beyond it belong to the scalar.
    """

    indent: int
    dashes: int
    key: str
    begin: str
    value: str
    text: str
    column: int
    scalar_column: int


_ENDED: Final = _Line(sys.maxsize, 0, "", "", "", "", sys.maxsize, sys.maxsize)
"""No further line belongs to its scalar."""


class KubectlYamlConverter:
    """Converts items of a list, one after the other; it remembers lines and fields that it converted."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._fields: dict[str, _Field] = {}

    def json_of_item(self, text: str) -> str:
        """Return one item of a list, from its dash to the line break before the next one, as JSON.

        Raises:
            OtherYaml: it is not in the form of kubectl, or has a problem.
        """
        if not _BEGINS_ITEM.match(text) or not text.replace("\n", "").isprintable():
            raise OtherYaml
        if len(self._lines) >= _MOST_LINES:
            self._lines.clear()
        if len(self._fields) >= _MOST_FIELDS:
            self._fields.clear()
        fields = [self._outer_field(one) for one in _FIELDS.split(f" {text[1:]}")]
        if any(key == "items" for key, _ in fields):
            raise OtherYaml  # a list in a list is left to the parser
        return _object(fields)

    def _outer_field(self, text: str) -> _Field:
        """Convert a field of the object."""
        first, _, inner = text.partition("\n")
        line = self._line(first)
        if line.text or not _BEGINS_OBJECT.match(inner):
            return self._field(text)
        known = self._fields
        fields = [known.get(one) or known.setdefault(one, self._field(one)) for one in _INNER_FIELDS.split(inner)]
        return line.key, f"{line.begin}{_object(fields)}"

    def _field(self, text: str) -> _Field:
        texts = text.split("\n")
        lines = [self._line(one) for one in texts]
        if not lines[0].key or lines[0].dashes:
            raise OtherYaml
        if len(lines) == 1 and lines[0].value:
            return lines[0].key, f"{lines[0].begin}{lines[0].value}"
        return lines[0].key, _Conversion(texts, lines).json_text()[1:-1]

    def _line(self, text: str) -> _Line:
        return self._lines.get(text) or self._lines.setdefault(text, _parsed(text))


def _object(fields: list[_Field]) -> str:
    if len(dict(fields)) < len(fields):
        raise OtherYaml
    return f"{{{','.join([written for _, written in fields])}}}"


def _parsed(line: str) -> _Line:
    found = _LINE.fullmatch(line)
    if found is None:
        raise OtherYaml
    indent, dashes, key, value, item = found.groups()
    text = item if key is None else value or ""
    begin = f'"{_key(key)}":' if key else ""
    scalar = _scalar_in_line(text) if text else ""
    column = len(indent) + len(dashes)
    return _Line(
        len(indent), len(dashes) // 2, key or "", begin, scalar, text, column, column - (2 if key is None else 0)
    )


def _key(key: str) -> str:
    if len(key) > _LONGEST_WORD and key[0].isalpha():
        return key
    try:
        written = plain_scalar_as_key(key)
    except InvalidYamlScalar as no_key:
        raise OtherYaml from no_key
    if written != key:  # two keys of different texts may be one
        raise OtherYaml
    return key


def _scalar_in_line(text: str) -> str:
    """Return a scalar as JSON; empty where it does not end in its line, or is none."""
    first = text[:1]
    if text in _JSON or (first == '"' and _JSON_TEXT.fullmatch(text)):
        return text
    if first == "'":
        return _json_text(text[1:-1].replace("''", "'")) if _QUOTED.fullmatch(text) else ""
    if not _PLAIN.fullmatch(text):
        return ""
    try:
        value = plain_scalar_to_json(text)
    except InvalidYamlScalar as no_value:
        raise OtherYaml from no_value
    if isinstance(value, float):
        raise OtherYaml
    return _json_text(value) if isinstance(value, str) else json.dumps(value)


def _json_text(text: str) -> str:
    """Return printable text as JSON."""
    return json.dumps(text, ensure_ascii=False) if '"' in text or "\\" in text or "\n" in text else f'"{text}"'


class _Conversion:
    """The conversion of one field, as an object that has only this field."""

    def __init__(self, texts: list[str], lines: list[_Line]) -> None:
        self._texts = texts
        self._lines = lines
        self._at = 0
        self._parts: list[str] = []
        self._open: list[tuple[int, set[str] | None]] = []  # the column of each object and list, and an object's keys
        self._awaits = True  # the value of the last key or dash
        self._last = _ENDED  # the line of the last scalar, unless it had several lines

    def json_text(self) -> str:
        """Return the object as JSON."""
        lines, parts, opened = self._lines, self._parts, self._open
        while self._at < len(lines):
            indent, dashes, key, begin, value, *_ = line = lines[self._at]
            if not dashes and value and not self._awaits and opened[-1][0] == indent:
                keys = opened[-1][1]
                if keys is not None and key and key not in keys:  # most lines
                    keys.add(key)
                    parts += (",", begin, value)
                    self._at += 1
                    self._last = line
                    continue
            self._add(line)
        if self._awaits:
            raise OtherYaml
        self._close_before(-1, is_item=False)
        return "".join(parts)

    def _add(self, line: _Line) -> None:
        """Add one line, and the lines that its scalar goes on in."""
        if not self._awaits and line.indent > self._last.scalar_column:
            self._parts[-1] = self._folded(self._last)
            self._last = _ENDED
            return
        if not self._awaits:
            self._close_before(line.indent, is_item=line.dashes > 0)
        for dash in range(line.dashes):
            self._begin_item(line.indent + 2 * dash)
        if line.key:
            self._begin_key(line)
        elif not line.dashes:
            raise OtherYaml
        self._at += 1
        if line.text:
            self._parts.append(line.value or self._scalar_of_lines(line))
            self._awaits, self._last = False, line if line.value else _ENDED

    def _begin_item(self, column: int) -> None:
        if self._awaits:
            self._begin(column, None)
        elif self._open[-1] == (column, None):
            self._parts.append(",")
        else:
            raise OtherYaml
        self._awaits = True

    def _begin_key(self, line: _Line) -> None:
        if self._awaits:
            self._begin(line.column, {line.key})
        else:
            column, keys = self._open[-1]
            if column != line.column or keys is None or line.key in keys:
                raise OtherYaml
            keys.add(line.key)
            self._parts.append(",")
        self._parts.append(line.begin)
        self._awaits = True

    def _begin(self, column: int, keys: set[str] | None) -> None:
        above, keys_above = self._open[-1] if self._open else (-1, None)
        is_list_of_key = column == above and keys is None and keys_above is not None
        if (column <= above and not is_list_of_key) or len(self._open) > MAX_DEPTH:
            raise OtherYaml
        self._open.append((column, keys))
        self._parts.append("[" if keys is None else "{")

    def _close_before(self, column: int, *, is_item: bool) -> None:
        """Close what ends before a line that begins at a column."""
        while self._open:
            above, keys = self._open[-1]
            if above < column or (above == column and (is_item or keys is not None)):
                return
            self._open.pop()
            self._parts.append("]" if keys is None else "}")
        if column >= 0:
            raise OtherYaml

    def _scalar_of_lines(self, line: _Line) -> str:
        """Return a scalar that does not end in its line."""
        if line.text not in _LITERAL_ENDS:
            if not line.text.startswith("'"):
                raise OtherYaml
            return self._folded(line)
        found = self._further_lines(line)
        width = len(found[0]) - len(found[0].lstrip(" ")) if found else 0
        if not found or any(one[:width].strip(" ") for one in found):
            raise OtherYaml
        return _json_text("\n".join(one[width:] for one in found) + _LITERAL_ENDS[line.text])

    def _folded(self, line: _Line) -> str:
        """Return a scalar of several lines: a line break and the blanks around it are one blank."""
        found = _scalar_in_line(" ".join([line.text, *(one.lstrip(" ") for one in self._further_lines(line))]))
        if not found:
            raise OtherYaml
        return found

    def _further_lines(self, line: _Line) -> list[str]:
        """Read the lines that a scalar goes on in."""
        first = self._at
        while self._at < len(self._lines) and self._lines[self._at].indent > line.scalar_column:
            self._at += 1
        return self._texts[first : self._at]
