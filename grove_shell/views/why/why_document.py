"""The JSON document of ``grove why`` (CL-066)."""

from datetime import datetime
from typing import Any, Final

from grove_core.document.document_writing import rule_set_source_as_json
from grove_core.document.step_writing import finding_as_json, reasons_as_json, ref_as_json
from grove_core.kernel.time_formats import format_time
from grove_shell.reading.kubernetes_events import ListedKubernetesEvent
from grove_shell.reconstruction.deletion_causes import DeletionCause, RecordedDeletion
from grove_shell.reconstruction.recorded_objects import ObjectKey
from grove_shell.reconstruction.story import DeletionsOfOneCause, Story

FORMAT: Final = "1.0"
Json = dict[str, Any]


def story_as_json(story: Story) -> Json:
    """Return a story as JSON: every deletion with its cause, what happened, the Events, and the holes."""
    target = story.target
    return {
        "formatVersion": FORMAT,
        "target": {"namespace": target.namespace, "kind": target.kind or None, "name": target.name or None},
        "record": {"first": _time(story.first), "last": _time(story.last)},
        "rules": story.rules or None,
        "rulesFrom": rule_set_source_as_json(story.rules_from) if story.rules_from is not None else None,
        "operators": list(story.operators),
        "causes": [_group(group) for group in story.groups],
        "happenings": [
            {
                "at": format_time(one.at),
                "object": _key(one.key),
                "what": one.kind.value,
                "text": one.text,
                "user": one.writer or None,
            }
            for one in story.happenings
        ],
        "events": [_event(event) for event in story.events],
        "holes": [{"what": hole.what, "leavesOpen": hole.leaves_open} for hole in story.holes],
    }


def _group(group: DeletionsOfOneCause) -> Json:
    first = group.first
    return {
        "cause": first.cause.kind.value,
        "expected": first.cause.expected,
        "deletions": [_deletion(one) for one in group.deletions],
        "followers": [_deletion(one, with_cause=False) for one in group.followers],
    }


def _deletion(deletion: RecordedDeletion, *, with_cause: bool = True) -> Json:
    writer = deletion.writer
    return {
        "object": {**_key(deletion.key), "uid": deletion.uid or None},
        "set": deletion.root.name,
        **({"since": _time(deletion.since)} if deletion.since is not None else {}),
        "at": _time(deletion.at),
        "gone": _time(deletion.gone),
        "by": None if deletion.role is None else deletion.role.code,
        "user": None if writer is None else writer.user,
        "userAgent": None if writer is None else writer.agent,
        **(_cause(deletion.cause) if with_cause else {"owner": _owner(deletion)}),
    }


def _cause(cause: DeletionCause) -> Json:
    shown: Json = {"rules": cause.rules or None, "decidedOn": _time(cause.decided_on)}
    if cause.reasons is not None:
        shown["because"] = reasons_as_json(cause.reasons.because)
        shown["terminates"] = [
            {
                "replica": ref_as_json(one.replica),
                "trigger": ref_as_json(one.trigger),
                "deadline": format_time(one.deadline),
            }
            for one in cause.reasons.terminates
        ]
        shown["breaches"] = [finding_as_json(finding) for finding in cause.reasons.breaches]
    if cause.owner is not None:
        shown["owner"] = _key(cause.owner)
    if cause.verdicts:
        shown["verdicts"] = [finding_as_json(finding) for finding in cause.verdicts]
    if cause.gaps:
        shown["notKnown"] = [{"kind": kind, "why": why} for kind, why in cause.gaps]
    return shown


def _owner(deletion: RecordedDeletion) -> Json | None:
    return None if deletion.owner is None else _key(deletion.owner.key)


def _event(event: ListedKubernetesEvent) -> Json:
    return {
        "first": format_time(event.first),
        "last": format_time(event.last),
        "count": event.times,
        "component": event.component,
        "type": "Warning" if event.is_warning else "Normal",
        "reason": event.reason,
        "note": event.note,
        "object": {"kind": event.kind, "namespace": event.namespace, "name": event.name},
    }


def _key(key: ObjectKey) -> Json:
    return {"kind": key.kind, "namespace": key.namespace, "name": key.name}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)
