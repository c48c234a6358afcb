"""Marks of Helm within objects: an object with marks is dumped as YAML, then its marks become actions.

A value ``<<EXPR>>`` becomes ``{{ EXPR }}``. A key whose value is ``<<?EXPR>>`` is there with that value as JSON where
it is not empty; with ``<<!EXPR>>`` the value is JSON already. Items of a list, or keys without a value, such as
``<<if CONDITION>>`` and ``<<end>>`` stand before and after what depends on a condition.
"""

import re
from itertools import count
from typing import Any, Final

from grove_shell.views.renderers import format_yaml_document

Json = dict[str, Any]
_BLOCK: Final = re.compile(r"^ *(?:- )?'?<<(if .*?|end)(?:#\d+)?>>'?(?:: null)?$", re.MULTILINE)
_OPTIONAL: Final = re.compile(r"^( *)([A-Za-z]+): '?<<([?!])([^<>]+)>>'?$", re.MULTILINE)
_VALUE: Final = re.compile(r"'?<<([^<>]+)>>'?")
_WRAPPED: Final = re.compile(r"<<[^<>]*\n[^<>]*>>")
_END: Final = "<<end>>"
_OF_OTHERS: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
"""Actions of another template language: what Prometheus fills in when an alert fires is no value of Helm."""


def marked_items(condition: str, items: list[Any]) -> list[Any]:
    """Return items of a list that are there where a condition holds; an empty condition always does."""
    return [f"<<if {condition}>>", *items, _END] if condition else items


def marked_keys(condition: str, found: Json, numbers: "count[int]") -> Json:
    """Return keys that are there where a condition holds; ``numbers`` keeps the marks of one object apart."""
    number = next(numbers)
    return {f"<<if {condition}#{number}>>": None, **found, f"<<end#{number}>>": None}


def text_of(marked: Any) -> str:
    """Return the template of an object with marks."""
    text = _OF_OTHERS.sub(lambda match: f"{{{{`{match[0]}`}}}}", format_yaml_document(marked))
    text = _WRAPPED.sub(lambda match: " ".join(match[0].split()), text)
    text = _BLOCK.sub(lambda match: f"{{{{- {match[1]} }}}}", text)
    text = _OPTIONAL.sub(_optional, text)
    return _VALUE.sub(lambda match: f"{{{{ {match[1]} }}}}", text)


def _optional(match: re.Match[str]) -> str:
    indent, key, form, expression = match.groups()
    shown = "toJson ." if form == "?" else "."
    return f"{{{{- with {expression} }}}}\n{indent}{key}: {{{{ {shown} }}}}\n{{{{- end }}}}"
