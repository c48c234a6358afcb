"""Validates a manifest by its schema, as an API server does for ``kubectl apply`` (GT-103, WL-158, WL-159).

Stored objects are not validated: they may come from a newer operator with unknown fields. CEL rules are not evaluated,
since admission has them all.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from grove_core.areas.gang_termination.rules import GangTerminationDenial as Malformed
from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.admission import AdmissionVerdict, DenialReason, Deny
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import ProblemKind
from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.api_names import BINDING_KIND, GROVE, RENAMED_KINDS, SCHEDULER, TOPOLOGY_KIND
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.newer_release_fields import NEWEST_KNOWN, is_newer_release_field
from grove_shell.manifests.crd_definitions import Json, schema_of_kind

_LONGEST_ENUM: Final = 12
_WORDS: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "object": ((Mapping,), "an object"),
    "array": ((list, tuple), "a list"),
    "string": ((str,), "a string"),
    "boolean": ((bool,), "true or false"),
    "integer": ((int,), "an integer"),
    "number": ((int, float), "a number"),
}
_BITS: Final[Mapping[str, int]] = {"int32": 31, "int64": 63}


class SchemaViolation(NamedTuple):
    """A value that a schema does not allow: path, expectation, value."""

    path: str
    expected: str
    got: object
    kind: str
    """``type``, ``missing`` for a missing field, ``value``, or ``field`` for an unknown field."""


def verdict_with_schema_objections(
    manifest: Mapping[str, Any], decision: Decision[AdmissionVerdict], stored: Mapping[str, Any] | None = None
) -> Decision[AdmissionVerdict]:
    """Return a verdict of admission with the violations of the schema added, each path once.

    A set with a ``uid`` is stored and not validated again, except as an update of what is stored (IN-039). What is
    stored already is not reported: the API server accepts it unchanged.

    Args:
        manifest: as the user wrote it, with what only the operator that admits fills in.
        decision: of admission.
        stored: the manifest before the update; None for a new set.
    """
    if stored is None and mapping_or_empty(manifest, "metadata").get("uid"):
        return decision
    schema = schema_of_kind(GROVE, "PodCliqueSet")
    if schema is None:
        return decision
    known = {(flaw.path, str(flaw.got)) for flaw in (() if stored is None else schema_violations_in(schema, stored))}
    verdict = decision.verdict
    said = verdict.objections if isinstance(verdict, Deny) else ()
    places = {objection.path for objection in said}
    subject = decision.because[0].subject
    found = (flaw for flaw in schema_violations_in(schema, manifest) if (flaw.path, str(flaw.got)) not in known)
    more = [_objection(subject, flaw) for flaw in found if flaw.path not in places]
    if not more:
        return decision
    every = tuple(sorted((*said, *more), key=lambda one: (one.path, one.reason.rule.requirement, one.got)))
    return Decision(Deny(every, verdict.warnings), tuple(objection.reason for objection in every))


def schema_violations_in(schema: Json, value: object, path: str = "") -> Iterator[SchemaViolation]:
    """Yield every violation of a schema by a value, in the order of the schema. Total."""
    if schema.get("x-kubernetes-int-or-string"):
        yield from _int_or_string(schema, value, path)
        return
    types, word = _WORDS[schema["type"]]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield SchemaViolation(path, word, value, "type")
    elif isinstance(value, Mapping):
        yield from _of_object(schema, value, path)
    elif isinstance(value, list | tuple):
        yield from _of_list(schema, value, path)
    else:
        wanted = _text(schema, value) if isinstance(value, str) else _number(schema, value)
        if wanted:
            yield SchemaViolation(path, wanted, value, "value")


def _of_object(schema: Json, value: Mapping[str, Any], path: str) -> Iterator[SchemaViolation]:
    """Yield the violations of an object; null counts as absent."""
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    above = f"{path}." if path else ""
    yield from (
        SchemaViolation(f"{above}{name}", "a value", None, "missing")
        for name in schema.get("required", ())
        if value.get(name) is None
    )
    for name, item in value.items():
        if name in known:
            yield from schema_violations_in(known[name], item, f"{above}{name}") if item is not None else ()
        elif others is not None:
            yield from schema_violations_in(others, item, f"{path}[{name}]")
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield SchemaViolation(f"{above}{name}", _hint(str(name), known), item, "field")


def _of_list(schema: Json, value: list[Any] | tuple[Any, ...], path: str) -> Iterator[SchemaViolation]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not least <= len(value) <= most:
        wanted = f"a list of at least {least}" if len(value) < least else f"a list of at most {most}"
        yield SchemaViolation(path, wanted, value, "value")
    keys, seen = schema.get("x-kubernetes-list-map-keys"), set()
    for index, item in enumerate(value):
        place = f"{path}[{index}]"
        yield from schema_violations_in(schema["items"], item, place)
        key: object = str(item)
        if keys is not None:
            if not isinstance(item, Mapping):
                continue  # reported already
            properties = schema["items"]["properties"]
            key = tuple(str(item.get(name, properties[name].get("default"))) for name in keys)
        if (keys or schema.get("x-kubernetes-list-type") == "set") and key in seen:
            words = f"the only item with this {' and '.join(keys)}" if keys else "named once"
            yield SchemaViolation(
                f"{place}.{keys[0]}" if keys else place, words, item.get(keys[0]) if keys else item, "value"
            )
        seen.add(key)


def _int_or_string(schema: Json, value: object, path: str) -> Iterator[SchemaViolation]:
    pattern = schema.get("pattern")
    word = "a quantity such as 500m or 2Gi" if pattern else "an integer or a string"
    if isinstance(value, bool) or not isinstance(value, int | str):
        yield SchemaViolation(path, word, value, "type")
    elif pattern and isinstance(value, str) and not re.search(pattern, value):
        yield SchemaViolation(path, word, value, "value")


def _text(schema: Json, value: str) -> str:
    """Return what a string should be; empty if it is valid."""
    allowed, most = schema.get("enum"), schema.get("maxLength")
    if allowed is not None and value not in allowed:
        if len(allowed) == 1:
            return str(allowed[0])
        more = f" and {len(allowed) - _LONGEST_ENUM} more" if len(allowed) > _LONGEST_ENUM else ""
        return "one of " + ", ".join(one or '""' for one in allowed[:_LONGEST_ENUM]) + more
    if most is not None and len(value) > most:
        return f"at most {most} characters"
    if len(value) < schema.get("minLength", 0):
        return "a text that is not empty"
    return "an RFC 3339 time" if schema.get("format") == "date-time" and parse_time(value) is None else ""


def _number(schema: Json, value: Any) -> str:  # noqa: ANN401 - any number
    """Return what a number should be; empty if it is valid."""
    least, bits = schema.get("minimum"), _BITS.get(schema.get("format", ""))
    if least is not None and value < least:
        return f"at least {least}"
    return f"a number of {bits + 1} bits" if bits and not -(2**bits) <= value < 2**bits else ""


def _hint(name: str, known: Mapping[str, Any]) -> str:
    by_lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75)
    return f"did you mean {by_lower[near[0]]}?" if near else "there is none like it here"


def _objection(subject: Ref, flaw: SchemaViolation) -> DenialReason:
    got = short_json(flaw.got)
    if flaw.kind == "field" and is_newer_release_field(flaw.path):
        return DenialReason(flaw.path, got, WorkloadDenial.OF_A_NEWER_RELEASE.because(subject, newest=NEWEST_KNOWN))
    if flaw.kind == "field":
        unknown = WorkloadDenial.FIELD_UNKNOWN.because(subject, hint=flaw.expected)
        return DenialReason(flaw.path, got, unknown, ProblemKind.UNKNOWN_FIELD)
    if flaw.kind == "missing":
        missing = Malformed.MALFORMED.because(subject, expected=flaw.expected)
        return DenialReason(flaw.path, got, missing, ProblemKind.MISSING)
    rule = Malformed.MALFORMED if flaw.kind == "type" else WorkloadDenial.VALUE_NOT_ALLOWED
    return DenialReason(flaw.path, got, rule.because(subject, expected=flaw.expected))


_VERSIONS: Final[Mapping[str, str]] = {
    "PodCliqueSet": GROVE,
    "PodClique": GROVE,
    "PodCliqueScalingGroup": GROVE,
    "PodGang": SCHEDULER,
    TOPOLOGY_KIND: GROVE,
    BINDING_KIND: GROVE,
}
_GROUPS: Final = frozenset(version.partition("/")[0] for version in _VERSIONS.values())
_KINDS_ALIKE: Final = 0.8
_GROUPS_ALIKE: Final = 0.6


class Misspelling(NamedTuple):
    """A field of an object that is probably misspelled, or has an earlier name.

    Attributes:
        kind: the kind that was probably meant.
        path: ``kind`` or ``apiVersion``.
    """

    kind: str
    path: str
    expected: str
    got: str


def misspelled_kind_or_version_in(raw: Mapping[str, Any]) -> Misspelling | None:
    """Return the misspelling in the kind or version of an object; None if it is correct or not similar to Grove's.

    An object with a ``uid`` is never misspelled, except in a kind that was renamed. Other API groups may have kinds of
    the same name.
    """
    kind, version = raw.get("kind"), raw.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(version, str):
        return None
    group = version.rpartition("/")[0]
    if kind in RENAMED_KINDS and group in _GROUPS:
        now = RENAMED_KINDS[kind]
        return Misspelling(now, "kind", f"{now}, as the kind is called now", f'"{kind}"')
    if mapping_or_empty(raw, "metadata").get("uid"):
        return None
    if kind in _VERSIONS and version == _VERSIONS[kind]:
        return None
    if "." in group and not get_close_matches(group, _GROUPS, n=1, cutoff=_GROUPS_ALIKE):
        return None
    by_lower = {one.lower(): one for one in _VERSIONS}
    near = get_close_matches(kind.lower(), by_lower, n=1, cutoff=_KINDS_ALIKE)
    if kind in _VERSIONS:
        return Misspelling(kind, "apiVersion", _VERSIONS[kind], f'"{version}"')
    if near:
        return Misspelling(by_lower[near[0]], "kind", by_lower[near[0]], f'"{kind}"')
    if group in _GROUPS:
        return Misspelling(kind, "kind", f"one of {', '.join(sorted(_VERSIONS))}", f'"{kind}"')
    return None
