"""JSON Schemas of Grove's kinds for editors: those of the CRDs, without what only an API server knows (CL-119)."""

from typing import Any, Final

from grove_core.resources.api_names import GROVE
from grove_shell.manifests.crd_definitions import schema_of_kind

Json = dict[str, Any]

DRAFT: Final = "http://json-schema.org/draft-07/schema#"
_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_OF_SERVERS: Final = "x-kubernetes-"
_OF_TEXT: Final = ("pattern", "minLength", "maxLength")


def editor_schema(kind: str) -> Json:
    """Return the schema of a kind such as ``PodCliqueSet``, as JSON Schema of draft 7.

    Fields that the API server would drop are refused, as by ``grove validate``.
    """
    schema = schema_of_kind(GROVE, kind)
    assert schema is not None  # noqa: S101 - the command knows the kinds
    return {"$schema": DRAFT, "title": f"{kind} of {GROVE}", **_converted(schema)}


def _converted(schema: Json) -> Json:
    found = {key: part for key, part in schema.items() if not key.startswith(_OF_SERVERS)}
    if schema.get(_INT_OR_STRING):
        text = {key: found.pop(key) for key in _OF_TEXT if key in found}
        found.pop("type", None)
        return {**found, "anyOf": [{"type": "integer"}, {"type": "string", **text}]}
    if schema["type"] == "object":
        found.setdefault("additionalProperties", bool(schema.get(_OPEN)))
        required = schema.get("required", ())
        known = schema.get("properties", {}).items()
        found["properties"] = {
            name: _converted(part) if name in required else _or_null(_converted(part)) for name, part in known
        }
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            found[key] = _converted(schema[key])
    return found


def _or_null(schema: Json) -> Json:
    """Return a schema that accepts null too, which counts as a field that is not there."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **values}
