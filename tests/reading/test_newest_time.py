"""The newest time in an input, and the time that commands decide at (IN-080, IN-081)."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.kernel.time_formats import format_time
from grove_shell.cli.main import run_command_line
from grove_shell.reading.newest_time import EVENT_TIMES, LEASE_TIMES, STATUS_TIMES, newest_timestamp_in_object
from tests.command_line.process import grove
from tests.golden.tracing import ROOT

Json = dict[str, Any]
DUMP: Final = "tests/snapshots/s3a-breach-standalone-notready.yaml"
FROM_INPUT: Final = "(the newest time in the input; --now clock for the computer's)"
T9, T10, T11 = ("2026-11-20T09:00:00Z", "2026-11-20T10:00:00.5Z", "2026-11-20T19:00:00+08:00")


@pytest.mark.parametrize(
    ("raw", "newest"),
    [
        ({"metadata": {"creationTimestamp": T9}, "status": {"startTime": "soon"}}, T9),
        ({"metadata": {"creationTimestamp": T9, "managedFields": [{"time": T10}, 5]}}, T10),
        ({"status": {"conditions": [{"lastTransitionTime": T11}, {"lastTransitionTime": T10}]}}, T11),
        ({"status": {"containerStatuses": [{"state": {"running": {"startedAt": T10}}}]}}, T10),
        ({"status": {"lastErrors": [{"observedAt": T9}], "updateProgress": {"updateStartedAt": T10}}}, T10),
        ({"kind": "Event", "lastTimestamp": T9, "series": {"lastObservedTime": T10}}, T10),
        ({"kind": "Event", "eventTime": T9, "series": None}, T9),
        ({"kind": "Lease", "spec": {"acquireTime": T9, "renewTime": T10}}, T10),
        ({"kind": "Lease", "spec": "odd"}, None),
        ({"kind": "Node", "status": {"conditions": [{"lastHeartbeatTime": T10}]}}, T10),
        ({"kind": "Pod", "metadata": {"deletionTimestamp": T10, "creationTimestamp": T9}}, T9),
        ({"kind": "Certificate", "status": {"notAfter": T11, "renewalTime": T10, "conditions": []}}, None),
        ({"kind": "Pod", "spec": {"startTime": T10}, "status": ["odd"]}, None),
    ],
)
def test_in080_which_times_count(raw: Json, newest: str | None) -> None:
    expected = None if newest is None else datetime.fromisoformat(newest).astimezone(UTC)
    assert newest_timestamp_in_object(raw) == expected


def test_in080_the_table_has_every_field() -> None:
    text = (ROOT / "specs" / "input.md").read_text(encoding="utf-8")
    table = text.partition("Fields with a time of the past (IN-080):")[2].partition("### ")[0]
    assert all(f"`{name}`" in table for name in (*STATUS_TIMES, *EVENT_TIMES, *LEASE_TIMES))


def test_in081_an_old_dump_is_decided_at_its_newest_time(capsys: pytest.CaptureFixture[str]) -> None:
    pages = []
    for now in ([], ["--now", "dump"], ["--now", "2026-11-21T09:38:49Z"]):
        assert run_command_line(["plan", "-f", DUMP, *now], "grove") == 0
        pages.append(capsys.readouterr().out.splitlines())
    default, dump, given = pages
    assert default == dump
    assert default[1].startswith(f"as of 2026-11-21 09:38:49Z {FROM_INPUT}, rules ")
    assert FROM_INPUT not in given[1]
    assert [line for line in default if line != default[1]] == [line for line in given if line != given[1]]


def test_in081_the_clock_is_used_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    assert run_command_line(["plan", "-f", DUMP, "--now", "clock", "-o", "json"], "grove") == 0
    raw = json.loads(capsys.readouterr().out)
    assert datetime.fromisoformat(raw["asOf"]) >= before
    assert "asOfFrom" not in raw


@pytest.mark.req("CL-011")
@pytest.mark.parametrize(
    "command", [["plan"], ["explain", "pcs/qwen"], ["compare", "--rules", "field", "--rules", "design"]]
)
def test_in081_documents_name_the_source_of_the_time(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line([*command, "-f", DUMP, "-o", "json"], "grove") == 0
    raw = json.loads(capsys.readouterr().out)
    assert (raw["asOf"], raw["asOfFrom"]) == ("2026-11-21T09:38:49Z", "input")
    assert run_command_line([*command, "-f", DUMP], "grove") == 0
    assert FROM_INPUT in capsys.readouterr().out


def test_in081_standard_input_is_as_new_as_the_clock() -> None:
    content = (ROOT / DUMP).read_bytes()
    assert FROM_INPUT not in grove("plan", "-f", "-", stdin=content).stdout.decode()
    assert FROM_INPUT in grove("plan", "-f", "-", "--now", "dump", stdin=content).stdout.decode()
    manifest = (ROOT / "examples" / "edits" / "qwen-new-image.yaml").read_bytes()
    assert FROM_INPUT in grove("plan", "-f", DUMP, "-f", "-", stdin=manifest).stdout.decode()


@pytest.mark.parametrize(("age", "is_old"), [(timedelta(minutes=50), False), (timedelta(minutes=70), True)])
def test_in081_one_newer_object_makes_the_input_new(
    age: timedelta, *, is_old: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = format_time(datetime.now(UTC) - age)
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "kwok-01", "uid": "1"}}
    (tmp_path / "lease.json").write_text(json.dumps({**lease, "spec": {"renewTime": seen}}), encoding="utf-8")
    assert run_command_line(["plan", "-f", DUMP, "-f", str(tmp_path / "lease.json")], "grove") == 0
    assert (FROM_INPUT in capsys.readouterr().out) is is_old


def test_in081_a_manifest_has_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    manifest = "examples/edits/qwen-new-image.yaml"
    assert run_command_line(["plan", "-f", manifest], "grove") == 0
    assert FROM_INPUT not in capsys.readouterr().out
    assert run_command_line(["plan", "-f", manifest, "--now", "dump"], "grove") == 1
    assert "nothing in the input has a time" in capsys.readouterr().err


@pytest.mark.req("CL-009")
def test_in081_what_now_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["plan", "-f", DUMP, "--now", "yesterday"], "grove") == 64
    assert "'yesterday' is not dump, clock or a time such as 2026-11-20T09:00:00Z" in capsys.readouterr().err
    assert run_command_line(["plan", "--live", "--now", "dump"], "grove") == 64
    assert "--now dump is about files" in capsys.readouterr().err
