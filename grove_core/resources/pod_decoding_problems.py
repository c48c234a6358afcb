"""Every problem of a pod that does not decode (IN-030): each field of :mod:`decoded_pod` is checked by its type."""

from types import NoneType
from typing import get_args

import msgspec

from grove_core.kernel.errors import ObjectProblem
from grove_core.resources.api_names import CORE
from grove_core.resources.decoded_pod import DecodedPod, UnreadableFields
from grove_core.resources.encoded_object import EncodedObject
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import read_metadata
from grove_core.resources.pod_status import HOLDS


def problems_of_malformed_pod(raw: object, fault: Exception) -> tuple[ObjectProblem, ...]:
    """Return the problem of each field of a pod that has one, at least one; ``fault`` is what decoding it raised."""
    problems: list[ObjectProblem] = []
    top = _reader_of(raw, problems)
    read_metadata(top, CORE, "Pod", None)
    _check_fields(top, DecodedPod)
    for condition in top.inner_object("status").inner_objects("conditions"):
        value = condition.raw.get("status")
        if condition.raw.get("type") in ("Ready", "PodScheduled") and not (isinstance(value, str) and value in HOLDS):
            condition.add_problem("status", 'one of the strings "True", "False", "Unknown"', value)
    if not problems:
        problems.append(ObjectProblem(path="", expected="a pod", got=f"what cannot be decoded: {fault}"))
    first: dict[str, ObjectProblem] = {}
    for problem in problems:
        first.setdefault(problem.path, problem)
    return tuple(first.values())


def _reader_of(raw: object, problems: list[ObjectProblem]) -> JsonFieldReader:
    """Return a reader; of JSON text without a value, such as a number that is too large, one that finds nothing."""
    try:
        return JsonFieldReader(dict(raw) if isinstance(raw, EncodedObject) else raw, "", problems)
    except UnreadableFields:
        return JsonFieldReader({}, "", [])


def _check_fields(reader: JsonFieldReader, struct: type[msgspec.Struct]) -> None:
    """Check every field of an object by the type that it has in a structure."""
    for field in msgspec.structs.fields(struct):
        key, required = field.encode_name, field.required
        kind = next((one for one in get_args(field.type) if one is not NoneType), field.type)
        of_items = get_args(kind)
        if kind is str:
            reader.text(key, required=required)
        elif kind is bool:
            reader.boolean(key)
        elif kind is int:
            reader.integer(key)
        elif of_items:
            for part in reader.inner_objects(key):
                _check_fields(part, of_items[0])
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            _check_fields(reader.inner_object(key), kind)
