"""A recording of a real control plane: the causes are those of the operator, however the record is cut up."""

import gzip
import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grove_core.kernel.time_formats import format_time
from grove_shell.reading import audit_log
from grove_shell.reading.audit_log import AuditLogFaults
from grove_shell.reconstruction.deletion_causes import DeletionCauseClass
from grove_shell.reconstruction.record_scan import RebuiltRecord
from grove_shell.reconstruction.recorded_objects import KEPT, RecordedObjects, SetKey
from grove_shell.reconstruction.sets_in_question import StorySets
from grove_shell.reconstruction.writers import WriterRole
from tests.reconstruction.recordings import (
    Json,
    causes_in,
    changed,
    decided,
    dump_at,
    lines,
    read,
    text_of,
    without_content,
    written,
)

BY_RULES = {DeletionCauseClass.TERMINATION, DeletionCauseClass.RULES}


def reasons_by_uid(record: RebuiltRecord) -> Json:
    """The causes of all PodCliques that went, in the form of the decision log."""
    found: Json = {}
    for one in record.deletions:
        if one.key.kind == "PodClique":
            assert one.cause.reasons is not None, one
            found[one.uid] = {
                "because": [[why.rule.requirement, why.sentence] for why in one.cause.reasons.because],
                "terminates": [[end.trigger.name, format_time(end.deadline)] for end in one.cause.reasons.terminates],
            }
    return found


class TestReasons:
    """For a deletion by the operator the cause is that of the plan for the latest state whose plan deletes it."""

    @pytest.mark.parametrize("dumps", [(), ("before.json",), ("before.json", "after.json")], ids=str)
    def test_af007_causes_are_those_of_the_decision_log(self, dumps: tuple[str, ...], tmp_path: Path) -> None:
        record = read([written(tmp_path, "audit.log")], [written(tmp_path, name) for name in dumps])
        assert len(decided()) == 4
        assert reasons_by_uid(record) == decided()
        assert record.operators.users == ("operator",)

    def test_af007_pods_have_causes_too(self, tmp_path: Path) -> None:
        record = read([written(tmp_path, "audit.log")])
        pods = [one for one in record.deletions if one.key.kind == "Pod"]
        assert {one.cause.kind for one in pods} == {DeletionCauseClass.RULES, DeletionCauseClass.OWNER}
        assert all(one.owner is not None for one in pods if one.cause.kind is DeletionCauseClass.OWNER)
        assert all(one.gone is not None and one.gone >= one.at for one in pods)

    def test_af008_a_termination_before_its_time_is_not_explained(self, tmp_path: Path) -> None:
        def with_longer_delay(event: Json) -> Json:
            is_set = event["objectRef"]["resource"] == "podcliquesets"
            text = json.dumps(event).replace('"terminationDelay": "20s"', '"terminationDelay": "4h"')
            return json.loads(text) if is_set else event

        record = read([written(tmp_path, "audit.log", changed(with_longer_delay))])
        found = [one.cause for one in record.deletions if one.key.kind == "PodClique"]
        assert {(cause.kind, cause.rules) for cause in found} == {(DeletionCauseClass.NOT_EXPLAINED, "design")}
        assert all({one.question for one in cause.verdicts} == {"breach", "termination"} for cause in found)


class TestSeveralLogs:
    """Lines of several audit logs are merged by the time of their response, each request once."""

    @pytest.mark.parametrize("seed", range(5))
    def test_af003_several_servers_and_rotation_are_one_log(self, seed: int, tmp_path: Path) -> None:
        chance = random.Random(seed)
        shares: list[list[bytes]] = [[], [], []]
        for line in lines():
            chance.choice(shares).append(line)
            if chance.random() < 0.1:
                chance.choice(shares).append(line)
        paths = [written(tmp_path, f"{number}.log", b"".join(share)) for number, share in enumerate(shares)]
        chance.shuffle(paths)
        whole = read([written(tmp_path, "audit.log")])
        assert causes_in(read(paths)) == causes_in(whole)
        assert causes_in(read(paths), "Pod") == causes_in(whole, "Pod")

    def test_af003_a_compressed_log_is_the_same(self, tmp_path: Path) -> None:
        packed = read([written(tmp_path, "a.log.gz", gzip.compress(text_of("audit.log")))])
        assert causes_in(packed) == causes_in(read([written(tmp_path, "audit.log")]))

    def test_af003_lines_may_be_out_of_order(self, tmp_path: Path) -> None:
        mixed = lines()
        for start in range(0, len(mixed), 20):
            part = mixed[start : start + 20]
            random.Random(start).shuffle(part)
            mixed[start : start + 20] = part
        assert causes_in(read([written(tmp_path, "m.log", b"".join(mixed))])) == causes_in(
            read([written(tmp_path, "audit.log")])
        )


def answered(line: bytes) -> str:
    return str(json.loads(line)["stageTimestamp"])


class TestUnknownParts:
    """What the record does not show counts as not collected, never as absent."""

    def test_af005_metadata_gives_clients_and_no_rules(self, tmp_path: Path) -> None:
        record = read([written(tmp_path, "audit.log", changed(without_content))])
        cliques = [one for one in record.deletions if one.key.kind == "PodClique"]
        assert len(cliques) == len(decided())
        assert {one.role for one in cliques} == {WriterRole.OPERATOR}
        assert {one.cause.kind for one in cliques} == {DeletionCauseClass.NOT_KNOWN}
        assert record.writes_without_content.keys() >= {"PodClique", "Pod", "PodCliqueSet"}

    def test_af004_statuses_of_pods_that_are_not_logged_are_not_known(self, tmp_path: Path) -> None:
        """Many policies leave them out; under these rules a breach is counted from pods."""

        def passing(event: Json) -> Json | None:
            return None if event["objectRef"]["resource"] == "pods" and "subresource" in event["objectRef"] else event

        record = read([written(tmp_path, "audit.log", changed(passing))])
        cliques = [one.cause for one in record.deletions if one.key.kind == "PodClique"]
        assert cliques
        assert {cause.kind for cause in cliques} == {DeletionCauseClass.NOT_KNOWN}
        assert all(kind == "Pod" for cause in cliques for kind, _ in cause.gaps)

    def test_af004_pods_from_before_are_not_known_without_a_dump(self, tmp_path: Path) -> None:
        half = [line for line in lines() if answered(line) > "2026-11-29T03:24:33"]
        log = written(tmp_path, "half.log", b"".join(half))
        without = [one for one in read([log]).deletions if one.key.kind == "PodClique"]
        assert {one.cause.kind for one in without} == {DeletionCauseClass.NOT_KNOWN, DeletionCauseClass.TERMINATION}
        for one in without:
            assert one.cause.gaps or one.cause.reasons
        assert reasons_by_uid(read([log], [written(tmp_path, "before.json")])) == decided()


class TestDumps:
    """What one dump has and the next lacks is gone between the two; its cause is expected."""

    def test_af010_a_series_of_dumps(self, tmp_path: Path) -> None:
        times = ("2026-11-29T03:24:31Z", "2026-11-29T03:24:50Z", "2026-11-29T03:25:06Z", "2026-11-29T03:25:27Z")
        record = read([], [dump_at(tmp_path, time) for time in times])
        cliques = [one for one in record.deletions if one.key.kind == "PodClique"]
        assert {one.uid for one in cliques} == set(decided())
        for one in cliques:
            assert one.since is not None
            assert one.writer is None
            assert one.since < one.at
            assert one.cause.kind in {DeletionCauseClass.NOT_KNOWN, DeletionCauseClass.TERMINATION}
            assert one.cause.expected == (one.cause.kind is DeletionCauseClass.TERMINATION)
        expected = {one.uid for one in cliques if one.cause.expected}
        assert expected == set(decided()), "both breaches had begun when the dump before was taken"

    def test_af010_an_undated_dump_beside_a_log_ends_nothing(self, tmp_path: Path) -> None:
        """It was taken after the time that its newest object shows; until then the log has the deletions."""
        items = json.loads(text_of("after.json"))["items"][1:]
        early = "2026-11-29T03:24:40Z"
        kept = [item for item in items if item["kind"] in {"PodCliqueSet", "PodCliqueScalingGroup"}]
        clique = next(item for item in items if item["kind"] == "PodClique")
        for item in (*kept, clique):
            item["metadata"]["creationTimestamp"] = early
            item.pop("status", None)
        few = {"apiVersion": "v1", "kind": "List", "items": [*kept, clique]}
        record = read([written(tmp_path, "audit.log")], [written(tmp_path, "few.json", json.dumps(few).encode())])
        assert all(one.writer is not None for one in record.deletions)

    def test_af010_a_request_on_record_needs_no_expectation(self, tmp_path: Path) -> None:
        dumps = [written(tmp_path, "before.json"), written(tmp_path, "after.json")]
        record = read([written(tmp_path, "audit.log")], dumps)
        assert all(one.since is None and not one.cause.expected for one in record.deletions)


class TestDamagedLines:
    """A line that is no audit event is a problem with file and line, besides a last line that is cut short."""

    def test_af014_a_cut_log_is_a_hole(self, tmp_path: Path) -> None:
        flaws = AuditLogFaults()
        path = written(tmp_path, "cut.log", text_of("audit.log")[:-100])
        assert causes_in(read([path], flaws=flaws))
        assert not flaws.faults
        assert flaws.cut == [path]

    @pytest.mark.parametrize("line", [b"{}", b"[]", b"no JSON", b'{"kind": "Pod", "apiVersion": "v1"}', b"\xff\xfe"])
    def test_af014_other_lines_are_problems(self, line: bytes, tmp_path: Path) -> None:
        flaws = AuditLogFaults()
        read([written(tmp_path, "bad.log", lines()[0] + line + b"\n" + b"".join(lines()[1:]))], flaws=flaws)
        assert [fault.line for fault in flaws.faults] == [2]

    def test_af014_a_file_of_something_else_is_not_read_to_its_end(self, tmp_path: Path) -> None:
        flaws = AuditLogFaults()
        read([written(tmp_path, "bad.log", b"something else\n" * 1000)], flaws=flaws)
        assert len(flaws.faults) == 21

    def test_af014_a_missing_file_is_a_problem(self, tmp_path: Path) -> None:
        flaws = AuditLogFaults()
        read([str(tmp_path / "nowhere.log")], flaws=flaws)
        assert [fault.got for fault in flaws.faults] == ["no such file"]


class TestOnePass:
    """Memory holds objects as they are, and what they were a moment before."""

    def test_af013_states_are_kept_for_seconds(self) -> None:
        objects = RecordedObjects(lambda key, _: SetKey(key.namespace, "llama"))
        pod: Json = {"kind": "Pod", "metadata": {"namespace": "ml", "name": "llama-0-a-x"}}
        start = datetime(2026, 11, 20, tzinfo=UTC)
        for second in range(1000):
            objects.put({**pod, "status": {"phase": str(second)}}, start + timedelta(seconds=second))
        root, last = SetKey("ml", "llama"), start + timedelta(seconds=999)
        assert len(objects.change_times(root, start, last)) <= KEPT.seconds
        (before,) = objects.objects_at(root, last - KEPT)
        assert before["status"] == {"phase": "969"}

    def test_af013_other_lines_are_not_parsed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        parsed: list[bytes] = []

        def parse(line: bytes) -> Any:
            parsed.append(line)
            return json.loads(line)

        monkeypatch.setattr(audit_log, "read_json_with_nesting_limit", parse)
        question = StorySets("two-replicas-groups-0124", "PodCliqueSet", "llama")
        path = written(tmp_path, "audit.log", text_of("audit.log").replace(b"llama-2", b"other-2"))
        found = list(audit_log.audited_writes((path,), question.may_concern, AuditLogFaults()))
        assert len(found) <= len(parsed) < len(lines())
