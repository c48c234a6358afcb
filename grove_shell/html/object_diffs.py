"""What a step changes in its object, as lines of a difference, where the values before it are known (HP-007)."""

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple, TypeAlias, assert_never

from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Create, Delete, DropFinalizer, Ensure, SetStatus, Step
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import status_as_json
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.styled_text_page import json_text

Json = dict[str, Any]
_PLAIN: Final = re.compile(r"(?!(?i:true|false|null|yes|no|on|off|[0-9.+-]+)$)[\w(/.$][\w ./()=,@+$-]*", re.ASCII)
_NUMBER: Final = re.compile(r"(?<=-index: ).*|(?<=\buid: ).*")
STATUS: Final = "status"
_CONDITIONS: Final = "conditions"
_CONTEXT: Final = 3  # unchanged lines around a change


class DiffLine(NamedTuple):
    """One line: ``+`` for a new one, ``-`` for one that goes, a blank for one that stays, ``~`` for lines left out."""

    sign: str
    text: str


Difference: TypeAlias = tuple[DiffLine, ...]


def without_own_names(difference: Difference, set_name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines with the same text for names that begin with that of the set, index labels and uids.

    Two differences with the same lines change their objects in the same way.
    """
    names = re.compile(rf"\b{re.escape(set_name)}(?:-[\w.-]+)?\b")
    for sign, text in difference:
        yield sign, _NUMBER.sub("", names.sub("-", text))


class ObjectValuesByRound:
    """The values of the objects of one set, from round to round: those of the input, then those that steps write."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self._objects: Mapping[Ref, Resource] = {} if snapshot is None else snapshot.objects_without_pods_by_ref()
        self._written: dict[Ref, Json] = {}

    def difference_of(self, step: Step) -> Difference:
        """Return what a step changes, and keep it as the value before the next step; empty for a deletion."""
        match step.action:
            case Create(manifest) | Ensure(manifest):
                made = thaw_json(manifest)
                self._written[step.target] = made
                return tuple(DiffLine("+", line) for line in _lines_of(made))
            case Apply(fields):
                return self._changed(step.target, thaw_json(fields))
            case SetStatus(fields):
                return self._changed(step.target, {STATUS: thaw_json(fields)})
            case DropFinalizer(finalizer):
                return (DiffLine("-", f"finalizer: {finalizer}"),)
            case Delete():
                self._written.pop(step.target, None)
                return ()
            case _:
                assert_never(step.action)

    def _changed(self, target: Ref, fields: Json) -> Difference:
        stored = self._written.get(target)
        if stored is None:
            stored = _stored_fields(self._objects.get(target))
        before = _within_fields(stored, fields)
        after = _merged(before, fields)
        self._written[target] = _merged(stored, fields)
        return tuple(_difference(_lines_of(before), _lines_of(after)))


def _stored_fields(item: Resource | None) -> Json:
    """Return the fields of a stored object that steps write, as far as it was read."""
    found: Json = {}
    for name in ("labels", "annotations"):
        if texts := getattr(item, name, None):
            found.setdefault("metadata", {})[name] = thaw_json(texts)
    if isinstance(item, PodClique):
        found["spec"] = {
            "replicas": item.replicas,
            "minAvailable": item.min_available,
            "podSpec": thaw_json(item.pod_spec),
        }
    elif isinstance(item, ScalingGroup):
        found["spec"] = {"replicas": item.replicas, "minAvailable": item.min_available}
    elif isinstance(item, PodGang):
        found["spec"] = {"podgroups": [_pod_group(item.ref.namespace, *group) for group in _groups_of(item)]}
    elif isinstance(item, OwnedObject):
        found["spec"] = thaw_json(item.spec)
    if isinstance(item, PodClique | ScalingGroup | PodCliqueSet | PodGang):
        found[STATUS] = thaw_json(status_as_json(item))
    return found


def _groups_of(gang: PodGang) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    yield from ((group.name, group.min_replicas, group.pods) for group in gang.groups)


def _pod_group(namespace: str, name: str, least: int, pods: tuple[str, ...]) -> Json:
    references = [{"namespace": namespace, "name": pod} for pod in pods]
    return {"name": name, "podReferences": references, "minReplicas": least}


def _within_fields(stored: Json, fields: Json) -> Json:
    """Return the part of a stored value that has the keys of a write; of conditions those of the same types."""
    found: Json = {}
    for key, value in fields.items():
        if key not in stored:
            continue
        old = stored[key]
        if isinstance(value, dict) and isinstance(old, dict):
            found[key] = _within_fields(old, value)
        elif key == _CONDITIONS and isinstance(old, list):
            types = {one.get("type") for one in value}
            found[key] = [one for one in old if one.get("type") in types]
        else:
            found[key] = old
    return found


def _merged(stored: Json, fields: Json) -> Json:
    """Return a stored value after a write: objects are merged, conditions by type; other values are replaced."""
    found = dict(stored)
    for key, value in fields.items():
        old = found.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            found[key] = _merged(old, value)
        elif key == _CONDITIONS and isinstance(old, list):
            written = {one.get("type"): one for one in value}
            kept = [written.pop(one.get("type"), one) for one in old]
            found[key] = [*kept, *written.values()]
        else:
            found[key] = value
    return found


def _lines_of(value: Any, indent: str = "") -> list[str]:  # noqa: ANN401 - any JSON
    """Return a value as lines in the style of YAML; much faster than a library, and read by people alone."""
    found: list[str] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if inner and isinstance(inner, dict | list):
                found.append(f"{indent}{key}:")
                found += _lines_of(inner, indent + ("  " if isinstance(inner, dict) else ""))
            else:
                found.append(f"{indent}{key}: {_scalar(inner)}")
    elif isinstance(value, list):
        for inner in value:
            if inner and isinstance(inner, dict | list):
                first, *rest = _lines_of(inner, indent + "  ")
                found += [f"{indent}- {first.lstrip()}", *rest]
            else:
                found.append(f"{indent}- {_scalar(inner)}")
    return found


def _scalar(value: Any) -> str:  # noqa: ANN401 - any JSON
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else json_text(value)


def _difference(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    """Yield the lines of a difference with some unchanged lines around each change."""
    for number, group in enumerate(SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT)):
        if number:
            yield DiffLine("~", "")
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                yield from (DiffLine(" ", line) for line in before[start:end])
                continue
            yield from (DiffLine("-", line) for line in before[start:end])
            yield from (DiffLine("+", line) for line in after[new_start:new_end])
