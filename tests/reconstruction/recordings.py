"""A minute of two sets on a real control plane: its audit log, dumps from before and after, Events, and decisions.

``tests.cluster.audited_churn`` recorded it, with the operator of this repository. The set in
``three-replicas-0c70`` had three replicas of two cliques, and replica 2 was terminated; of the set in
``two-replicas-groups-0124`` replica 0 of a scaling group was. Both are named ``llama``. ``decided.json`` has the
reasons of the operator's decision log by the uid of each PodClique that it deleted.
"""

import gzip
import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from grove_core.resources.configuration import DEFAULT_CONFIGURATION
from grove_shell.actions.rule_set_choice import choose_rule_set
from grove_shell.reading.audit_log import AuditLogFaults, audited_writes
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_sources import standard_input_bytes
from grove_shell.reconstruction.dumps import read_dumps
from grove_shell.reconstruction.record_scan import RebuiltRecord, rebuild_from_record
from grove_shell.reconstruction.sets_in_question import StorySets

Json = dict[str, Any]
HERE: Final = Path(__file__).parent / "recorded"


@cache
def text_of(name: str) -> bytes:
    """The content of a recorded file."""
    return gzip.decompress((HERE / f"{name}.gz").read_bytes())


def lines() -> list[bytes]:
    """The lines of the audit log, in their order."""
    return text_of("audit.log").splitlines(keepends=True)


def decided() -> Json:
    """Uid of a PodClique -> the reasons and terminations of the plan that deleted it."""
    found: Json = json.loads((HERE / "decided.json").read_text(encoding="utf-8"))
    return found


def written(folder: Path, name: str, content: bytes | None = None) -> str:
    """Write a recorded file, or other content, into a folder; return its path."""
    path = folder / name
    path.write_bytes(text_of(name) if content is None else content)
    return str(path)


def changed(change: Callable[[Json], Json | None]) -> bytes:
    """The audit log with every event changed; those of which nothing is left are left out."""
    events = (change(json.loads(line)) for line in lines())
    return b"".join(json.dumps(event).encode() + b"\n" for event in events if event is not None)


def without_content(event: Json) -> Json:
    """An event as the level Metadata has it."""
    bodies = {"requestObject", "responseObject"}
    return {key: value for key, value in event.items() if key not in bodies} | {"level": "Metadata"}


def read(
    logs: Iterable[str], dumps: Iterable[str] = (), rules: str | None = None, flaws: AuditLogFaults | None = None
) -> RebuiltRecord:
    """What files show of all sets."""
    question, faults = StorySets(None), list[InputFault]()
    record = rebuild_from_record(
        audited_writes(tuple(logs), question.may_concern, flaws or AuditLogFaults()),
        read_dumps(tuple(dumps), standard_input_bytes(), faults, DEFAULT_CONFIGURATION),
        question,
        DEFAULT_CONFIGURATION,
        lambda cluster, newer: choose_rule_set(rules, None, cluster, newer),
    )
    assert not faults
    return record


def causes_in(record: RebuiltRecord, kind: str = "PodClique") -> list[tuple[Any, ...]]:
    """Every deletion of a kind with its time, its client, and its cause."""
    return [
        (one.key, one.at, one.role, one.cause.kind, one.cause.reasons)
        for one in record.deletions
        if one.key.kind == kind
    ]


def dump_at(folder: Path, moment: str) -> str:
    """Write a dump of all objects as the audit log shows them at a time; return its path."""
    earlier = [line for line in lines() if json.loads(line)["stageTimestamp"] <= moment]
    record = read([written(folder, f"until-{len(earlier)}.log", b"".join(earlier))])
    roots = record.objects.roots
    items = [item for root in roots for key in record.objects.keys_of(root) if (item := record.objects.newest(key))]
    header = {"apiVersion": "snapshot.grove.io/v1", "kind": "Snapshot", "metadata": {"name": "snapshot"}}
    kinds = sorted({str(item["kind"]) for item in items})
    collected = [{"kind": kind, "namespace": ""} for kind in kinds]
    listed = {**header, "takenAt": moment, "server": "https://127.0.0.1", "collected": collected, "notCollected": []}
    whole = {"apiVersion": "v1", "kind": "List", "items": [listed, *items]}
    return written(folder, f"dump-{len(earlier)}.json", json.dumps(whole).encode())
