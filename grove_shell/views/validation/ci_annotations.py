"""The verdicts of ``grove validate`` for code review: annotations of GitHub Actions, and SARIF (CL-086)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, unique
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from grove_core.kernel.admission import Deny, FieldRemark
from grove_core.version import VERSION
from grove_shell.reading.field_positions import FieldPositions
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import Place, item_display_name
from grove_shell.views.validation.validation_page import JudgedManifest

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_BAD_INPUT: Final = ("BadInput", "IN-030")
_NOTHING: Final = ("NothingChecked", "CL-056")


@unique
class AnnotationLevel(Enum):
    """How bad a finding is; the values are words of both formats."""

    ERROR = "error"
    WARNING = "warning"


class ValidationAnnotation(NamedTuple):
    """A finding about a place in a file.

    Attributes:
        file: empty where it is about no file.
        code, requirement: reason code and rule number.
    """

    level: AnnotationLevel
    file: str
    place: Place | None
    code: str
    requirement: str
    text: str


def ci_annotations_of_validation(
    judged: Sequence[JudgedManifest], faults: Iterable[InputFault], positions: FieldPositions
) -> Iterator[ValidationAnnotation]:
    """Yield the problems of the input, then the remarks on each manifest; an error if there is neither."""
    count = 0
    for fault in faults:
        count += 1
        place = (fault.line, fault.column or 1) if fault.line is not None else None
        text = str(fault).partition(": ")[2]
        yield ValidationAnnotation(AnnotationLevel.ERROR, fault.file, place, *_BAD_INPUT, text)
    for item, decision in judged:
        verdict = decision.verdict
        remarks: list[tuple[AnnotationLevel, FieldRemark]] = []
        remarks += [(AnnotationLevel.ERROR, one) for one in (verdict.objections if isinstance(verdict, Deny) else ())]
        remarks += [(AnnotationLevel.WARNING, one) for one in verdict.warnings]
        for level, remark in remarks:
            rule = remark.reason.rule
            place = positions.position_of(item, remark.path)
            text = f"{item_display_name(item)}: {remark}"
            yield ValidationAnnotation(level, item.file, place, rule.code, rule.requirement, text)
    if not judged and not count:
        yield ValidationAnnotation(
            AnnotationLevel.ERROR, "", None, *_NOTHING, "nothing was checked: no PodCliqueSet in the input"
        )


_DATA: Final[Mapping[str, str]] = MappingProxyType({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final[Mapping[str, str]] = MappingProxyType({**_DATA, ":": "%3A", ",": "%2C"})


def github_annotations_text(found: Iterable[ValidationAnnotation]) -> str:
    """Return a workflow command of GitHub Actions for each annotation, one a line."""
    return "".join(f"{_command(one)}\n" for one in found)


def _command(one: ValidationAnnotation) -> str:
    line, column = one.place or (0, 0)
    properties = {
        "file": Path(one.file).as_posix() if one.file else "",
        "line": line,
        "col": column,
        "title": f"{one.code} {one.requirement}",
    }
    shown = ",".join(f"{key}={_escaped(str(value), _PROPERTY)}" for key, value in properties.items() if value)
    return f"::{one.level.value} {shown}::{_escaped(one.text, _DATA)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)


def sarif_document(found: Iterable[ValidationAnnotation], given: str) -> dict[str, Any]:
    """Return the annotations as a SARIF 2.1.0 log with one run.

    Args:
        found: the annotations.
        given: the file or folder that was checked, as the place of what is about no file: GitHub refuses a log with a
            result that has no place.
    """
    every = [one if one.file else one._replace(file=given) for one in found]
    rules = {one.requirement: one.code for one in every}
    driver = {
        "name": "grove",
        "version": VERSION,
        "rules": [{"id": requirement, "name": code} for requirement, code in sorted(rules.items())],
    }
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(one) for one in every]}],
    }


def _result(one: ValidationAnnotation) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(one.file)}}
    if one.place is not None:
        physical["region"] = {"startLine": one.place[0], "startColumn": one.place[1]}
    return {
        "ruleId": one.requirement,
        "level": one.level.value,
        "message": {"text": one.text},
        "locations": [{"physicalLocation": physical}],
    }


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
