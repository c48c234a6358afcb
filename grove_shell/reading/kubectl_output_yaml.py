"""Objects of a list as JSON, from YAML in the form in which kubectl prints it (IN-001, IN-006).

A dump in YAML has one key or one list item on each line, few kinds of scalars, no anchors, no tags and no comments. A
text of this form is converted line by line, much faster than a YAML parser does it: most lines stand in many objects
and are parsed once. Any other text is left to the parser, which gives the same values, and every problem with its
place.
"""

import re
from typing import Final, TypeAlias

from grove_shell.reading.input_items import MAX_DEPTH
from grove_shell.reading.kubectl_yaml_lines import (
    ENDED,
    LITERAL_ENDS,
    KubectlYamlLine,
    NotKubectlYaml,
    as_json_text,
    parse_kubectl_yaml_line,
    scalar_in_line,
)

_BEGINS_ITEM: Final = re.compile("- [^ -]")
_FIELDS: Final = re.compile(r"\n(?=  [^ -])")
_INNER_FIELDS: Final = re.compile(r"\n(?=    [^ -])")
_BEGINS_OBJECT: Final = re.compile(r"    [^ -]")
_MOST_LINES: Final = 20_000  # that are remembered
_MOST_FIELDS: Final = 4_000
_Field: TypeAlias = tuple[str, str]
"""A key, and the key and its value as JSON."""


class KubectlYamlConverter:
    """Converts items of a list, one after the other; it remembers lines and fields that it converted."""

    def __init__(self) -> None:
        self._lines: dict[str, KubectlYamlLine] = {}
        self._fields: dict[str, _Field] = {}

    def json_of_item(self, text: str) -> str:
        """Return one item of a list, from its dash to the line break before the next one, as JSON.

        Raises:
            NotKubectlYaml: it is not in the form of kubectl, or has a problem.
        """
        if not _BEGINS_ITEM.match(text) or not text.replace("\n", "").isprintable():
            raise NotKubectlYaml
        if len(self._lines) >= _MOST_LINES:
            self._lines.clear()
        if len(self._fields) >= _MOST_FIELDS:
            self._fields.clear()
        fields = [self._outer_field(one) for one in _FIELDS.split(f" {text[1:]}")]
        if any(key == "items" for key, _ in fields):
            raise NotKubectlYaml  # a list in a list is left to the parser
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
            raise NotKubectlYaml
        if len(lines) == 1 and lines[0].value:
            return lines[0].key, f"{lines[0].begin}{lines[0].value}"
        return lines[0].key, _Conversion(texts, lines).json_text()[1:-1]

    def _line(self, text: str) -> KubectlYamlLine:
        return self._lines.get(text) or self._lines.setdefault(text, parse_kubectl_yaml_line(text))


def _object(fields: list[_Field]) -> str:
    if len(dict(fields)) < len(fields):
        raise NotKubectlYaml
    return f"{{{','.join([written for _, written in fields])}}}"


class _Conversion:
    """The conversion of one field, as an object that has only this field."""

    def __init__(self, texts: list[str], lines: list[KubectlYamlLine]) -> None:
        self._texts = texts
        self._lines = lines
        self._at = 0
        self._parts: list[str] = []
        self._open: list[tuple[int, set[str] | None]] = []  # the column of each object and list, and an object's keys
        self._awaits = True  # the value of the last key or dash
        self._last = ENDED  # the line of the last scalar, unless it had several lines

    def json_text(self) -> str:
        """Return the object as JSON. Raises NotKubectlYaml if it ends within a field."""
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
            raise NotKubectlYaml
        self._close_before(-1, is_item=False)
        return "".join(parts)

    def _add(self, line: KubectlYamlLine) -> None:
        """Add one line, and the lines that its scalar goes on in."""
        if not self._awaits and line.indent > self._last.scalar_column:
            self._parts[-1] = self._folded(self._last)
            self._last = ENDED
            return
        if not self._awaits:
            self._close_before(line.indent, is_item=line.dashes > 0)
        for dash in range(line.dashes):
            self._begin_item(line.indent + 2 * dash)
        if line.key:
            self._begin_key(line)
        elif not line.dashes:
            raise NotKubectlYaml
        self._at += 1
        if line.text:
            self._parts.append(line.value or self._scalar_of_lines(line))
            self._awaits, self._last = False, line if line.value else ENDED

    def _begin_item(self, column: int) -> None:
        if self._awaits:
            self._begin(column, None)
        elif self._open[-1] == (column, None):
            self._parts.append(",")
        else:
            raise NotKubectlYaml
        self._awaits = True

    def _begin_key(self, line: KubectlYamlLine) -> None:
        if self._awaits:
            self._begin(line.column, {line.key})
        else:
            column, keys = self._open[-1]
            if column != line.column or keys is None or line.key in keys:
                raise NotKubectlYaml
            keys.add(line.key)
            self._parts.append(",")
        self._parts.append(line.begin)
        self._awaits = True

    def _begin(self, column: int, keys: set[str] | None) -> None:
        above, keys_above = self._open[-1] if self._open else (-1, None)
        is_list_of_key = column == above and keys is None and keys_above is not None
        if (column <= above and not is_list_of_key) or len(self._open) > MAX_DEPTH:
            raise NotKubectlYaml
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
            raise NotKubectlYaml

    def _scalar_of_lines(self, line: KubectlYamlLine) -> str:
        """Return a scalar that does not end in its line."""
        if line.text not in LITERAL_ENDS:
            if not line.text.startswith("'"):
                raise NotKubectlYaml
            return self._folded(line)
        found = self._further_lines(line)
        width = len(found[0]) - len(found[0].lstrip(" ")) if found else 0
        if not found or any(one[:width].strip(" ") for one in found):
            raise NotKubectlYaml
        return as_json_text("\n".join(one[width:] for one in found) + LITERAL_ENDS[line.text])

    def _folded(self, line: KubectlYamlLine) -> str:
        """Return a scalar of several lines: a line break and the blanks around it are one blank."""
        found = scalar_in_line(" ".join([line.text, *(one.lstrip(" ") for one in self._further_lines(line))]))
        if not found:
            raise NotKubectlYaml
        return found

    def _further_lines(self, line: KubectlYamlLine) -> list[str]:
        """Read the lines that a scalar goes on in."""
        first = self._at
        while self._at < len(self._lines) and self._lines[self._at].indent > line.scalar_column:
            self._at += 1
        return self._texts[first : self._at]
