"""Writes the type, limits and default of a field of a custom resource definition as Markdown."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from docs.generator.markdown import code

_DURATION: Final = "duration("
_LIMITS: Final = (
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {}"),
    ("maxItems", "at most {}"),
)
Schema = Mapping[str, Any]


def field_type(schema: Schema) -> str:
    """Return the type of a field with its limits; of a field with few values, these values."""
    if "enum" in schema:
        return ", ".join(code(str(one)) for one in schema["enum"])
    return "; ".join((_bare_type(schema), *_limits(schema)))


def _bare_type(schema: Schema) -> str:
    kind = str(schema.get("type", "any value"))
    if any(_DURATION in one["rule"] for one in schema.get("x-kubernetes-validations", ())):
        return "duration such as `4h`"
    if kind == "array":
        inner = str(schema["items"].get("type", "any value"))
        return f"list of {inner}s" if inner in {"object", "string", "integer"} else f"list of {inner}"
    if "additionalProperties" in schema:
        return "map of strings"
    return "time" if schema.get("format") == "date-time" else kind


def _limits(schema: Schema) -> Iterator[str]:
    for key, words in _LIMITS:
        if key in schema:
            yield words.format(schema[key])
    if "pattern" in schema:
        yield f"as {code(schema['pattern'])}"


def default_of(schema: Schema) -> str:
    """Return the default of a field; empty where it has none."""
    if "default" not in schema or isinstance(schema["default"], Mapping):
        return ""
    default = schema["default"]
    return code(default if isinstance(default, str) else json.dumps(default))
