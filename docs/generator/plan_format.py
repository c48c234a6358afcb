"""The page of the plan format, from its JSON Schema."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from docs.generator.markdown import code, prose, table

SCHEMA_NAME: Final = "plan-1.4.schema.json"
SCHEMA: Final = Path(__file__).parents[1] / "reference" / SCHEMA_NAME
Schema = Mapping[str, Any]


def schema() -> dict[str, Any]:
    """Return the schema."""
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


def plan_format_page() -> str:
    """Return the page: every object of the format with its fields."""
    whole = schema()
    return "\n".join(
        (
            "# Plan format\n",
            f"{prose(whole['description'])}\n",
            f"JSON Schema: [{SCHEMA_NAME}]({SCHEMA_NAME}). Tests hold real plans against it. Print one with",
            "`grove plan -o json`, or `--out FILE` for `grove apply`; `-o yaml` is the same document.\n",
            "## Versions\n",
            "`formatVersion` is `MAJOR.MINOR`. A minor version adds fields, anything else is a new major one. A reader",
            "passes over fields it does not know; the schema is of exactly this version and refuses them.\n",
            "## The document\n",
            _fields(whole),
            *(_section(name, part) for name, part in whole["$defs"].items()),
        )
    )


def _section(name: str, part: Schema) -> str:
    parts = [f"## {name}\n", f"{prose(part['description'])}\n"]
    if "properties" in part:
        parts.append(_fields(part))
    elif "enum" in part:
        parts.append("One of " + ", ".join(code(word) for word in part["enum"]) + ".\n")
    elif "oneOf" in part:
        parts.append("One of " + ", ".join(_type(one) for one in part["oneOf"]) + ".\n")
    return "\n".join(parts)


def _fields(part: Schema) -> str:
    return table(("field", "type", "always there", "meaning"), _rows(part))


def _rows(part: Schema) -> Iterator[tuple[str, str, str, str]]:
    for name, field in part["properties"].items():
        always = "yes" if name in part.get("required", ()) else "no"
        yield code(name), _type(field), always, prose(field.get("description", ""))


def _type(field: Schema) -> str:
    if "$ref" in field:
        name = str(field["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "oneOf" in field:
        return " or ".join(_type(one) for one in field["oneOf"])
    if "const" in field:
        return code(json.dumps(field["const"]).strip('"'))
    if "enum" in field:
        return ", ".join(code(str(word)) for word in field["enum"])
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    return str(field.get("type", "anything"))
