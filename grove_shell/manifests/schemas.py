"""Structural schemas: from models, from the PodSpec of Kubernetes, and by hand where there is no model.

Rule for this file: plain JSON; every call returns a new value, so that callers may modify it.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, WithJsonSchema

Json = dict[str, Any]

_SCALARS: Final[Mapping[type, str]] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def schema_of_model(model: type[BaseModel]) -> Json:
    """Return the schema of a model: its fields under their JSON names, required fields, and scalar defaults."""
    properties, required = {}, []
    for field in model.model_fields.values():
        name = field.alias or ""
        properties[name] = _of_type(field.annotation, field.metadata)
        if field.is_required():
            required.append(name)
        elif isinstance(field.default, str | bool | int) and field.default != "":
            properties[name]["default"] = field.default
    return schema_of_fields(properties, required)


def schema_of_fields(properties: Mapping[str, Json], required: Iterable[str] = ()) -> Json:
    """Return the schema of an object with these fields only."""
    wanted = sorted(required)
    schema: Json = {"type": "object", "properties": dict(properties)}
    return {**schema, "required": wanted} if wanted else schema


def string_schema(**more: Any) -> Json:  # noqa: ANN401 - any keyword of a schema
    """Return the schema of a string."""
    return {"type": "string", **more}


def integer_schema(bits: int = 32, **more: Any) -> Json:  # noqa: ANN401 - any keyword of a schema
    """Return the schema of an integer."""
    return {"type": "integer", "format": f"int{bits}", **more}


def timestamp_schema() -> Json:
    """Return the schema of an RFC 3339 time."""
    return string_schema(format="date-time")


def array_schema(items: Json, *keys: str) -> Json:
    """Return the schema of a list, merged by keys of its items, or replaced as a whole without keys."""
    kind = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)} if keys else {}
    return {"type": "array", "items": items, **(kind or {"x-kubernetes-list-type": "atomic"})}


def pod_spec_schema() -> Json:
    """Return the schema of the PodSpec of Kubernetes."""
    found: Json = _resolved({"$ref": "PodSpec"})
    return found


def object_meta_schema() -> Json:
    """Return the schema of ``metadata``."""
    owner = schema_of_fields(
        {
            **{name: string_schema() for name in ("apiVersion", "kind", "name", "uid")},
            **{name: {"type": "boolean"} for name in ("blockOwnerDeletion", "controller")},
        },
        ("apiVersion", "kind", "name", "uid"),
    )
    texts = {"type": "object", "additionalProperties": string_schema()}
    return schema_of_fields(
        {
            "annotations": texts,
            "creationTimestamp": timestamp_schema(),
            "deletionGracePeriodSeconds": integer_schema(64),
            "deletionTimestamp": timestamp_schema(),
            "finalizers": array_schema(string_schema()),
            "generateName": string_schema(),
            "generation": integer_schema(64),
            "labels": texts,
            "managedFields": array_schema({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
            "name": string_schema(),
            "namespace": string_schema(),
            "ownerReferences": array_schema(owner, "uid"),
            "resourceVersion": string_schema(),
            "selfLink": string_schema(),
            "uid": string_schema(),
        }
    )


def subschema(schema: Json, path: str) -> Json:
    """Return the part of a schema at a path such as ``template.cliques[].name``."""
    part = schema
    for step in path.split("."):
        name = step.removesuffix("[]")
        part = part["properties"][name]
        part = part["items"] if step != name else part
    return part


def _of_type(annotation: Any, metadata: Iterable[Any] = ()) -> Json:  # noqa: ANN401 - any type there is
    for note in metadata:
        if isinstance(note, WithJsonSchema):
            return dict(note.json_schema or {})
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, UnionType}:
        return _of_type(next(one for one in arguments if one is not NoneType))
    if origin is tuple:
        return array_schema(_of_type(arguments[0]))
    if origin is not None:
        return _of_type(arguments[0], arguments[1:])
    if issubclass(annotation, BaseModel):
        return schema_of_model(annotation)
    return {"type": _SCALARS[annotation]}


@cache
def _definitions() -> Mapping[str, Json]:
    found: dict[str, Json] = json.loads(files(__package__).joinpath("pod_spec.json").read_text(encoding="utf-8"))
    return found


def _resolved(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy with every reference resolved; a PodSpec is not recursive."""
    if isinstance(schema, list):
        return [_resolved(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    own = {key: _resolved(part) for key, part in schema.items() if key != "$ref"}
    return {**_resolved(_definitions()[schema["$ref"]]), **own} if "$ref" in schema else own


def schema_of_objects(about: str, parts: Mapping[str, Json], required: Iterable[str] = ()) -> Json:
    """Return the schema of a kind's objects: its own parts after the common ones."""
    head = {"apiVersion": string_schema(), "kind": string_schema(), "metadata": {"type": "object"}}
    return {"description": about, **schema_of_fields({**head, **parts}, required)}


def custom_resource_definition(
    api_version: str, kind: str, parts: Json, *, plural: str = "", scope: str = "Namespaced", short: str = ""
) -> Json:
    """Return the custom resource definition of a kind, with ``parts`` for its only version, the schema among them.

    ``short`` names a kind of Grove; the plural of the others is the kind with an s where none is given.
    """
    group, _, version = api_version.partition("/")
    plural = plural or f"{kind.lower()}s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    ours = {"shortNames": [short], "categories": ["grove"]} if short else {}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {**names, **ours},
            "versions": [{"name": version, "served": True, "storage": True, **parts}],
        },
    }
