"""Reduces the PodSpec of Kubernetes to what a custom resource definition needs of it.

``python -m tests.manifests.reduce_pod_spec FOLDER`` prints ``grove_shell/manifests/pod_spec.json``; the folder is that
of the Go module ``k8s.io/kubernetes``, which this finds:

    GOFLAGS=-mod=mod go mod download -json k8s.io/kubernetes@v1.35.4

Rule for this file: types, required fields, enums and kinds of lists are kept, prose is not. The published OpenAPI has
no enums; those come from the definitions that the API server is compiled with.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

_OPENAPI: Final = "api/openapi-spec/v3/api__v1_openapi.json"
_COMPILED: Final = "pkg/generated/openapi/zz_generated.openapi.go"
_FUNCTION: Final = re.compile(r"func schema_k8sio_api_core_v1_(\w+)\(")
_PROPERTY: Final = re.compile(r'\t{5}"(\w+)": \{')
_ENUM: Final = re.compile(r"Enum:\s+\[\]interface\{\}\{(.*)\},")
_KEPT: Final = ("type", "format", "required", "x-kubernetes-list-type", "x-kubernetes-list-map-keys")
_SPECIAL: Final[Mapping[str, Json]] = {
    "Quantity": {
        "x-kubernetes-int-or-string": True,
        "pattern": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$",
    },
    "IntOrString": {"x-kubernetes-int-or-string": True},
}
_METADATA: Final = ("annotations", "finalizers", "labels", "name", "namespace")


def main(folder: Path) -> None:
    """Print the definitions of everything that a PodSpec refers to, itself included, a line for each."""
    published = json.loads((folder / _OPENAPI).read_text(encoding="utf-8"))["components"]["schemas"]
    enums = dict(_enums_in((folder / _COMPILED).read_text(encoding="utf-8")))
    by_short = {name.rpartition(".")[2]: name for name in published if ".core.v1." in name or ".apimachinery." in name}
    found: dict[str, Json] = {}
    todo = ["PodSpec"]
    while todo:
        short = todo.pop()
        if short not in found:
            found[short] = _SPECIAL.get(short) or _reduced(published[by_short[short]], short, enums)
            todo.extend(_references(found[short]))
    _give_key_defaults(found, {short: published[name] for short, name in by_short.items()})
    lines = ",\n".join(f'"{name}": {_line(found[name])}' for name in sorted(found))
    sys.stdout.write(f"{{\n{lines}\n}}\n")


def _reduced(schema: Json, short: str, enums: Mapping[tuple[str, str], list[str]]) -> Json:
    kept: Json = {key: schema[key] for key in _KEPT if key in schema}
    for part in (schema, *schema.get("allOf", ())):
        if "$ref" in part:
            kept["$ref"] = part["$ref"].rpartition(".")[2]
    if "properties" in schema:
        names = _METADATA if short == "ObjectMeta" else sorted(schema["properties"])
        kept["properties"] = {name: _reduced(schema["properties"][name], "", enums) for name in names}
        for name, field in kept["properties"].items():
            if (short, name) in enums:
                field.get("items", field)["enum"] = enums[short, name]
        kept["type"] = "object"
    for key in ("items", "additionalProperties"):
        if key in schema:
            kept[key] = _reduced(schema[key], "", enums)
    if schema.get("x-kubernetes-map-type") == "atomic":
        kept["x-kubernetes-map-type"] = "atomic"
    return kept


def _give_key_defaults(definitions: Mapping[str, Json], published: Mapping[str, Json]) -> None:
    """Keys of a list have to be there: those that are not required get the default that Kubernetes gives them."""
    for schema in definitions.values():
        for field in schema.get("properties", {}).values():
            item = definitions[field["items"]["$ref"]] if "$ref" in field.get("items", {}) else {}
            for key in field.get("x-kubernetes-list-map-keys", ()):
                if key not in item.get("required", ()):
                    item["properties"][key]["default"] = published[field["items"]["$ref"]]["properties"][key]["default"]


def _enums_in(source: str) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """(type, field) -> the values that are allowed."""
    kind = field = ""
    for line in source.splitlines():
        if match := _FUNCTION.match(line):
            kind, field = match[1], ""
        elif line.startswith("func "):
            kind = ""
        elif match := _PROPERTY.match(line):
            field = match[1]
        elif kind and (match := _ENUM.search(line)):
            yield (kind, field), json.loads(f"[{match[1]}]")


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"]
        for part in schema.values():
            yield from _references(part)


def _line(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
