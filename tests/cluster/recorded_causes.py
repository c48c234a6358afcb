"""``python -m tests.cluster.recorded_causes FOLDER``: causes of ``grove why`` and the operator's decision log.

The folder is one of ``tests.cluster.audited_churn``. For every PodClique that went, the cause that the record shows is
compared with the plan that the operator followed: the rules, and of a termination its trigger and its due time. The
decision log is read here alone; the causes come from the audit log and the dump from before.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_core.kernel.time_formats import format_time
from grove_core.resources.configuration import DEFAULT_CONFIGURATION
from grove_shell.actions.rule_set_choice import choose_rule_set
from grove_shell.reading.audit_log import AuditLogFaults, audited_writes
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_sources import standard_input_bytes
from grove_shell.reconstruction.deletion_causes import RecordedDeletion
from grove_shell.reconstruction.dumps import read_dumps
from grove_shell.reconstruction.record_scan import RebuiltRecord, rebuild_from_record
from grove_shell.reconstruction.sets_in_question import StorySets
from grove_shell.reconstruction.writers import WriterRole
from grove_shell.replay.decision_log_reader import recorded_decisions

Json = Mapping[str, Any]
_CLOCKS: Final = 1.0
"""Seconds by which the operator's clock and that of the API server may differ."""


class Shown(NamedTuple):
    """A cause: the numbers and sentences of its reasons, and of each termination its trigger and its due time."""

    because: tuple[tuple[str, str], ...]
    terminates: tuple[tuple[str, str], ...]


class Compared(NamedTuple):
    """A deletion with the cause that the record shows and the one that the operator had; None where it has none."""

    deletion: RecordedDeletion
    shown: Shown | None
    decided: Shown | None

    @property
    def agrees(self) -> bool:
        """Whether both are the same cause."""
        return self.shown is not None and self.shown == self.decided


def read_folder(folder: Path, *, with_dump: bool = True) -> RebuiltRecord:
    """Return what the audit log of a folder shows, by itself or with the dump from before."""
    flaws, faults = AuditLogFaults(), list[InputFault]()
    dumps = [str(folder / "before.json")] if with_dump else []
    question = StorySets(None)
    logs = tuple(str(path) for path in sorted(folder.glob("audit*.log")))
    record = rebuild_from_record(
        audited_writes(logs, question.may_concern, flaws),
        read_dumps(dumps, standard_input_bytes(), faults, DEFAULT_CONFIGURATION),
        question,
        DEFAULT_CONFIGURATION,
        lambda cluster, newer: choose_rule_set(None, None, cluster, newer),
    )
    assert not flaws.faults
    assert not faults
    return record


def compared(record: RebuiltRecord, log: Path) -> Iterator[Compared]:
    """Yield every deletion of a PodClique by the operator beside the decision that led to it."""
    decided = _decided_deletions(log)
    for deletion in record.deletions:
        if deletion.key.kind == "PodClique" and deletion.role is WriterRole.OPERATOR:
            latest = deletion.at.timestamp() + _CLOCKS
            fitting = [cause for at, cause in decided.get(deletion.uid, ()) if at <= latest]
            yield Compared(deletion, _shown(deletion), fitting[-1] if fitting else None)


def _decided_deletions(log: Path) -> Mapping[str, list[tuple[float, Shown]]]:
    """Return uid of a PodClique -> when a plan deletes it, and why."""
    found: dict[str, list[tuple[float, Shown]]] = {}
    with log.open("rb") as lines:
        for look in recorded_decisions(lines):
            for step in look.plan["steps"]:
                if step["action"] == "delete" and step["target"]["kind"] == "PodClique":
                    found.setdefault(step["guard"]["uid"], []).append((look.snapshot.now.timestamp(), _decided(step)))
    return found


def _decided(step: Json) -> Shown:
    return Shown(
        tuple((one["requirement"], one["sentence"]) for one in step["because"]),
        tuple((one["trigger"]["name"], one["deadline"]) for one in step.get("terminates", ())),
    )


def _shown(deletion: RecordedDeletion) -> Shown | None:
    reasons = deletion.cause.reasons
    if reasons is None:
        return None
    return Shown(
        tuple((one.rule.requirement, one.sentence) for one in reasons.because),
        tuple((one.trigger.name, format_time(one.deadline)) for one in reasons.terminates),
    )


def main(folder: Path) -> int:
    """Print how many causes agree, and those that do not; return 0 if all do."""
    record = read_folder(folder)
    found = list(compared(record, folder / "decisions.jsonl"))
    for one in found:
        if not one.agrees:
            sys.stdout.write(f"{one.deletion.at} {one.deletion.key}\n  shown   {one.shown}\n  decided {one.decided}\n")
    gone = [one for one in record.deletions if one.key.kind == "PodClique"]
    sys.stdout.write(f"{len(gone)} PodCliques went, by {dict(Counter(one.cause.kind.value for one in gone))}\n")
    same = sum(one.agrees for one in found)
    sys.stdout.write(f"{same} of {len(found)} causes by the operator are those of its decision log\n")
    return int(same < len(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
