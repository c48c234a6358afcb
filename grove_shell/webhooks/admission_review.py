"""Parses and writes ``AdmissionReview`` objects, version ``admission.k8s.io/v1``."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grove_core.kernel.admission import FieldRemark
from grove_core.kernel.errors import ObjectProblem
from grove_core.resources.api_names import GROVE, SET_KIND
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.object_metadata import metadata_in, with_default_namespace
from grove_shell.reading.input_items import MAX_DEPTH

Json = dict[str, Any]

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"
CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"
OPERATIONS: Final = (CREATE, UPDATE, DELETE, "CONNECT")
_GROUP: Final = GROVE.partition("/")[0]
_INVALID: Final = 422
_FORBIDDEN: Final = 403
_CONFLICT: Final = 409
_UNAVAILABLE: Final = 503


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRequest:
    """The request of an AdmissionReview, about one object.

    Attributes:
        uid: of the request; the response repeats it.
        new: the object as it would be stored; empty for a deletion.
        old: the stored object; None if there is none.
        group, kind: of the object.
        dry_run: whether nothing may be stored or created.
    """

    uid: str
    operation: str
    new: Mapping[str, Any]
    old: Mapping[str, Any] | None
    group: str = _GROUP
    kind: str = SET_KIND
    dry_run: bool = False


def parse_admission_review(
    body: bytes, group: str = _GROUP, kind: str = SET_KIND
) -> tuple[AdmissionRequest | None, tuple[ObjectProblem, ...]]:
    """Parse a review of an object of a kind; return None and every problem if it is not one (WH-008)."""
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError) as fault:
        return None, (_problem("", f"JSON ({fault})", body[:80].decode("utf-8", "replace")),)
    if not isinstance(raw, dict):
        return None, (_problem("", "an AdmissionReview", raw),)
    problems = (*_problems(raw, group, kind), *_too_deep(body, raw.get("request")))
    if problems:
        return None, problems
    asked = raw["request"]
    namespace = asked["namespace"] if isinstance(asked.get("namespace"), str) else ""
    return (
        AdmissionRequest(
            uid=asked["uid"],
            operation=asked["operation"],
            new=with_default_namespace(asked.get("object") or {}, namespace),
            old=with_default_namespace(asked["oldObject"], namespace) if asked.get("oldObject") else None,
            group=group,
            kind=kind,
            dry_run=asked.get("dryRun") is True,
        ),
        (),
    )


def allow_admission(request: AdmissionRequest, warnings: Sequence[str] = (), patch: Sequence[Json] = ()) -> Json:
    """Return the response that allows the request, with a JSON patch (RFC 6902) if there is one."""
    response: Json = {"uid": request.uid, "allowed": True}
    if patch:
        text = json.dumps(list(patch), separators=(",", ":"))
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(text.encode()).decode()}
    return _review(response, warnings)


def deny_admission(request: AdmissionRequest, objections: Sequence[FieldRemark], warnings: Sequence[str] = ()) -> Json:
    """Return the response that denies the request for every objection (WH-002); kubectl prints each cause."""
    problems = f"{len(objections)} problem{'s' if len(objections) > 1 else ''}"
    status = {
        "code": _INVALID,
        "reason": "Invalid",
        "message": f"{problems}: " + "; ".join(f"{one.path}: {_sentence(one)}" for one in objections),
        "details": {
            "group": request.group,
            "kind": request.kind,
            "name": metadata_in(request.new).name,
            "causes": [
                {"reason": one.reason.rule.code, "field": one.path, "message": _sentence(one)} for one in objections
            ],
        },
    }
    return _review({"uid": request.uid, "allowed": False, "status": status}, warnings)


def temporary_denial_response(request: AdmissionRequest, message: str, *, retriable: bool) -> Json:
    """Return the response that denies the request for now; ``retriable``: whether a retry may succeed."""
    code, reason = (_UNAVAILABLE, "ServiceUnavailable") if retriable else (_CONFLICT, "Conflict")
    status = {"code": code, "reason": reason, "message": message}
    return _review({"uid": request.uid, "allowed": False, "status": status}, ())


def deny_admission_by_limit(request: AdmissionRequest, message: str, warnings: Sequence[str]) -> Json:
    """Return the response that denies a valid request because of a limit."""
    status = {"code": _FORBIDDEN, "reason": "Forbidden", "message": message}
    return _review({"uid": request.uid, "allowed": False, "status": status}, warnings)


def admission_warning_text(remark: FieldRemark) -> str:
    """Return a warning of admission on one line."""
    return f"{remark.path}: {_sentence(remark)}"


def _sentence(remark: FieldRemark) -> str:
    return f"{remark.reason.sentence}, got {remark.got} ({remark.reason.rule.requirement})"


def _review(response: Json, warnings: Sequence[str]) -> Json:
    more = {"warnings": list(warnings)} if warnings else {}
    return {"apiVersion": API_VERSION, "kind": KIND, "response": {**response, **more}}


def _problems(raw: Mapping[str, Any], group: str, wanted: str) -> Iterator[ObjectProblem]:
    for path, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if raw.get(path) != expected:
            yield _problem(path, expected, raw.get(path))
    asked = raw.get("request")
    if not isinstance(asked, Mapping):
        yield _problem("request", "an object", asked)
        return
    if not isinstance(asked.get("uid"), str) or not asked["uid"]:
        yield _problem("request.uid", "a text that is not empty", asked.get("uid"))
    operation, new, old = asked.get("operation"), asked.get("object"), asked.get("oldObject")
    if operation not in OPERATIONS:
        yield _problem("request.operation", f"one of {', '.join(OPERATIONS)}", operation)
    kind = asked.get("kind")
    if not isinstance(kind, Mapping) or (kind.get("group"), kind.get("kind")) != (group, wanted):
        yield _problem("request.kind", f"{wanted} of {group}", kind)
    if not isinstance(new, Mapping | None) or (operation in (CREATE, UPDATE) and new is None):
        yield _problem("request.object", "an object", new)
    if not isinstance(old, Mapping | None) or (operation == UPDATE and not old):
        yield _problem("request.oldObject", "an object", old)


def _too_deep(body: bytes, asked: object) -> Iterator[ObjectProblem]:
    """Yield a problem for each object that is nested too deeply (IN-012)."""
    if not isinstance(asked, Mapping) or body.count(b"{") + body.count(b"[") <= MAX_DEPTH:
        return
    for field in ("object", "oldObject"):
        level = [asked.get(field)]
        for _ in range(MAX_DEPTH):
            level = [item for each in level for item in _inside(each)]
        if any(isinstance(each, dict | list) for each in level):
            yield ObjectProblem(path=f"request.{field}", expected=f"at most {MAX_DEPTH} levels", got="more")


def _inside(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _problem(path: str, expected: str, got: object) -> ObjectProblem:
    return ObjectProblem(path=path, expected=expected, got=short_json(got))
