"""The custom resource definitions, as ``kubectl apply --server-side`` takes them.

``definitions.json`` holds them; descriptions, and the rules that an API server checks itself, are beside the fields. A
``$ref`` in it names one of its ``parts``, a definition of ``pod_spec.json``, or the schema of a model. What is beside a
``$ref`` is added to that, key by key, and null removes a key.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, WithJsonSchema

from grove_core.resources.crd_name_clashes import NamesInCrd, crd_names_from_definition
from grove_core.resources.podcliqueset_spec import CliqueSpec, SetSpec

Json = dict[str, Any]

_MODELS: Final = (SetSpec, CliqueSpec)
_SCALARS: Final[Mapping[type, str]] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def grove_crd_manifests() -> Iterator[Json]:
    """Yield the definitions of Grove's kinds; no part is shared, or YAML would name it and refer to it."""
    yield from map(_resolved, _read("definitions.json")["grove"])


def compute_domain_crd_manifests() -> Iterator[Json]:
    """Yield the definitions of ComputeDomains and their cliques; normally NVIDIA's driver brings them (DC-110)."""
    yield from map(_resolved, _read("definitions.json")["computeDomains"])


@cache
def grove_crd_names() -> tuple[NamesInCrd, ...]:
    """Return the names that the definitions of Grove's kinds ask for; no schema is made for it."""
    return tuple(
        names for one in _read("definitions.json")["grove"] if (names := crd_names_from_definition(one)) is not None
    )


@cache
def schema_of_kind(api_version: str, kind: str) -> Json | None:
    """Return the schema of the objects of a kind, with their metadata; None where the kind is not Grove's."""
    for one in _read("definitions.json")["grove"]:
        (version,) = one["spec"]["versions"]
        if (f"{one['spec']['group']}/{version['name']}", one["spec"]["names"]["kind"]) == (api_version, kind):
            schema: Json = _resolved(version["schema"]["openAPIV3Schema"])
            schema["properties"] |= {
                "apiVersion": {"type": "string", "enum": [api_version]},
                "kind": {"type": "string", "enum": [kind]},
                "metadata": _resolved({"$ref": "Metadata"}),
            }
            return {**schema, "required": ["apiVersion", "kind", "metadata", "spec"]}
    return None


@cache
def _read(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return found


@cache
def _parts() -> Mapping[str, Json]:
    models = {model.__name__: _schema_of_model(model) for model in _MODELS}
    return {**_read("pod_spec.json"), **_read("definitions.json")["parts"], **models}


def _resolved(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy with every reference resolved; none of them is recursive."""
    if isinstance(schema, list):
        return [_resolved(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _patched(_resolved(_parts()[schema["$ref"]]), schema)
    return {key: _resolved(part) for key, part in schema.items()}


def _patched(base: Json, patch: Json) -> Json:
    """Return a resolved schema with the keys beside a reference; null removes a key, and a reference replaces it."""
    found = dict(base)
    for key, part in patch.items():
        if part is None:
            del found[key]
        elif isinstance(part, dict) and "$ref" not in part and key in found:
            found[key] = _patched(found[key], part)
        elif key != "$ref":
            found[key] = _resolved(part)
    return found


def _schema_of_model(model: type[BaseModel]) -> Json:
    """Return the schema of a model: its fields under their JSON names, required fields, and scalar defaults."""
    properties, required = {}, []
    for field in model.model_fields.values():
        name = field.alias or ""
        properties[name] = _of_type(field.annotation, field.metadata)
        if field.is_required():
            required.append(name)
        elif isinstance(field.default, str | bool | int) and field.default != "":
            properties[name]["default"] = field.default
    schema: Json = {"type": "object", "properties": properties}
    return {**schema, "required": sorted(required)} if required else schema


def _of_type(annotation: Any, metadata: Iterable[Any] = ()) -> Json:  # noqa: ANN401 - any type there is
    for note in metadata:
        if isinstance(note, WithJsonSchema):
            return dict(note.json_schema or {})
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, UnionType}:
        return _of_type(next(one for one in arguments if one is not NoneType))
    if origin is tuple:
        return {"type": "array", "items": _of_type(arguments[0]), "x-kubernetes-list-type": "atomic"}
    if origin is not None:
        return _of_type(arguments[0], arguments[1:])
    return _schema_of_model(annotation) if issubclass(annotation, BaseModel) else {"type": _SCALARS[annotation]}
