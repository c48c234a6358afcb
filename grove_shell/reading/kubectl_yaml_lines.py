"""Lines of YAML in the form in which kubectl prints it: one key or one list item on each, with a scalar or without."""

import json
import re
import sys
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_shell.reading.yaml_scalars import InvalidYamlScalar, plain_scalar_as_key, plain_scalar_to_json

_LINE: Final = re.compile(r"( *)((?:- )*)(?:([A-Za-z0-9_][\w./-]*):(?: (.*))?|(\S.*))", re.ASCII)
_PLAIN: Final = re.compile(r"(?:[A-Za-z0-9_./+(~]|-(?=[^ ]))(?:[^ :#]++|:(?=[^ ])|(?<=[^ ])#| (?=[^ #]))*+")
_QUOTED: Final = re.compile(r"'(?:[^']++|'')*'")
_JSON_TEXT: Final = re.compile(r'"(?:[^"\\]++|\\(?:["\\bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*"')
_JSON: Final = frozenset({"{}", "[]"})
LITERAL_ENDS: Final = MappingProxyType({"|": "\n", "|-": ""})
"""The end of a text that stands on lines of its own, by what begins it."""
_LONGEST_WORD: Final = len("false")


class NotKubectlYaml(Exception):
    """A text has another form than that of kubectl."""


class KubectlYamlLine(NamedTuple):
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


ENDED: Final = KubectlYamlLine(sys.maxsize, 0, "", "", "", "", sys.maxsize, sys.maxsize)
"""No further line belongs to its scalar."""


def parse_kubectl_yaml_line(line: str) -> KubectlYamlLine:
    """Return the parts of a line. Raises NotKubectlYaml."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise NotKubectlYaml
    indent, dashes, key, value, item = found.groups()
    text = item if key is None else value or ""
    begin = f'"{_key(key)}":' if key else ""
    scalar = scalar_in_line(text) if text else ""
    column = len(indent) + len(dashes)
    return KubectlYamlLine(
        len(indent), len(dashes) // 2, key or "", begin, scalar, text, column, column - (2 if key is None else 0)
    )


def _key(key: str) -> str:
    if len(key) > _LONGEST_WORD and key[0].isalpha():
        return key
    try:
        written = plain_scalar_as_key(key)
    except InvalidYamlScalar as no_key:
        raise NotKubectlYaml from no_key
    if written != key:  # two keys of different texts may be one
        raise NotKubectlYaml
    return key


def scalar_in_line(text: str) -> str:
    """Return a scalar as JSON; empty where it does not end in its line, or is none. Raises NotKubectlYaml."""
    first = text[:1]
    if text in _JSON or (first == '"' and _JSON_TEXT.fullmatch(text)):
        return text
    if first == "'":
        return as_json_text(text[1:-1].replace("''", "'")) if _QUOTED.fullmatch(text) else ""
    if not _PLAIN.fullmatch(text):
        return ""
    try:
        value = plain_scalar_to_json(text)
    except InvalidYamlScalar as no_value:
        raise NotKubectlYaml from no_value
    if isinstance(value, float):
        raise NotKubectlYaml
    return as_json_text(value) if isinstance(value, str) else json.dumps(value)


def as_json_text(text: str) -> str:
    """Return printable text as JSON."""
    return json.dumps(text, ensure_ascii=False) if '"' in text or "\\" in text or "\n" in text else f'"{text}"'
