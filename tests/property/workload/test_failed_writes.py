"""Writes that failed before, by Events and statuses in the input (WL-255)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.resources.failed_write import FailedWrite, failed_write_in_event, failed_writes_in_status
from grove_shell.cli.main import run_command_line
from tests.property.workload.sets import clique_raw, manifests_of, set_raw

Json = dict[str, Any]
GROVE: Final = "grove.io/v1alpha1"
NOW: Final = ("--now", "2026-11-20T09:00:00Z", "--rules", "field")
REFUSAL: Final = 'Error creating pod a: Pod "a" is invalid: spec.containers[0].image: Required value'
CLIQUE_UID: Final = "uid-llm-0-a"


def event(reason: str = "PodCreateFailed", message: str | None = REFUSAL, **more: Any) -> Json:
    about = {"apiVersion": GROVE, "kind": "PodClique", "namespace": "ml", "name": "llm-0-a", "uid": CLIQUE_UID}
    times = {"firstTimestamp": "2026-11-20T08:00:00Z", "lastTimestamp": "2026-11-20T08:59:00Z", "count": 12}
    meta = {"name": "e", "namespace": "ml", "uid": "e", "creationTimestamp": "2026-11-20T08:00:00Z"}
    shown = {"apiVersion": "v1", "kind": "Event", "metadata": meta, "involvedObject": about, "type": "Warning"}
    return {**shown, "reason": reason, "message": message, **times, **more}


def cluster(*more: Json, errors: list[Json] | None = None) -> list[Json]:
    """A set whose PodClique exists and has no pods."""
    raw = {"apiVersion": GROVE, "kind": "PodCliqueSet", **set_raw(clique_raw("a", 2), terminationDelay="4h")}
    found = [raw, *(one for one in manifests_of(raw) if one["kind"] == "PodClique")]
    for one in found:
        one["metadata"] |= {"uid": f"uid-{one['metadata']['name']}", "resourceVersion": "7"}
    for owner in found[1]["metadata"]["ownerReferences"]:
        owner["uid"] = "uid-llm"
    found[1]["status"] = {"lastErrors": errors} if errors else {}
    return [*found, *more]


def printed(capsys: pytest.CaptureFixture[str], tmp_path: Path, objects: list[Json], *words: str) -> str:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(objects), encoding="utf-8")
    command, *rest = words or ("plan",)
    assert run_command_line([command, "-f", str(path), "--complete", "all", *NOW, *rest], "grove") == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (event(), ("Pod", 12)),
        (event("PodCliqueScalingGroupCreateOrUpdateFailed"), ("PodCliqueScalingGroup", 12)),
        (event("PodCliqueSetReplicaDeleteFailed", count=None, series={"count": 3}), ("PodCliqueSet", 3)),
        (event("RefusedBefore", "Pod/llm-0-a: the server refused this", count=None), ("Pod", 1)),
        (event("PodCreateSuccessful"), None),
        (event("FailedScheduling"), None),
        (event(involvedObject={"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x"}), None),
        (event(involvedObject=None), None),
        (event(message=None), None),
        (event(firstTimestamp=None, lastTimestamp="soon", metadata=None), None),
    ],
)
def test_wl255_which_events_report_a_failed_write(raw: Json, found: tuple[str, int] | None) -> None:
    read = failed_write_in_event(raw)
    assert (read and (read.kind, read.times)) == found


def test_wl255_an_event_of_the_newer_api_reads_alike() -> None:
    old = event()
    new = {
        **{key: old[key] for key in ("metadata", "reason", "type")},
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "regarding": old["involvedObject"],
        "note": old["message"],
        "deprecatedLastTimestamp": old["lastTimestamp"],
        "deprecatedCount": 12,
    }
    assert failed_write_in_event(new) == failed_write_in_event(old) != None  # noqa: E711 - all three at once


def test_wl255_a_long_message_is_cut_and_on_one_line() -> None:
    read = failed_write_in_event(event(message="a\n  b" + "c" * 1_000))
    assert read is not None
    assert read.message.startswith("a b")
    assert read.message.endswith("c...")
    assert len(read.message) < 410


@pytest.mark.parametrize(
    "status", [None, 5, {"lastErrors": 5}, {"lastErrors": [5, {"description": 5}, {"description": "x"}]}]
)
def test_wl255_a_status_without_a_whole_error_reports_nothing(status: object) -> None:
    assert [*failed_writes_in_status({"kind": "PodClique", "metadata": {"name": "x"}, "status": status})] == []


@pytest.mark.req("CL-015")
def test_wl255_plan_and_explain_say_why_pods_are_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = printed(capsys, tmp_path, cluster(event()))
    assert "writes failed before for 1 object" in page.splitlines()[0]
    line = f"the operator could not write its Pod (12x, last at 2026-11-20T08:59:00Z): {REFUSAL}"
    assert f"  FAILED     PodClique llm-0-a: {line}\n" in page
    assert f"    {line}  WriteFailed WL-255\n" in printed(capsys, tmp_path, cluster(event()), "explain", "pclq/llm-0-a")
    document = json.loads(printed(capsys, tmp_path, cluster(event()), "plan", "-o", "json"))
    assert [why["requirement"] for why in document["plans"][0]["failedWrites"]] == ["WL-255"]
    assert "FAILED" not in printed(capsys, tmp_path, cluster())


def error(at: str, text: str) -> Json:
    return {"code": "ERR_SYNC_PODS", "description": text, "observedAt": at}


def test_wl255_the_newest_error_of_a_status_counts_and_an_event_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = [error("2026-11-20T08:50:00Z", "first"), error("2026-11-20T08:59:30Z", "quota exceeded")]
    page = printed(capsys, tmp_path, cluster(errors=errors))
    assert "could not write its objects (1x, last at 2026-11-20T08:59:30Z): quota exceeded" in page
    page = printed(capsys, tmp_path, cluster(event(), errors=errors))
    assert "Required value" in page
    assert "quota exceeded" not in page


def test_wl255_what_is_over_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = event()
    earlier["involvedObject"]["uid"] = "of-an-earlier-clique"
    of_set = event("PodCliqueScalingGroupCreateOrUpdateFailed")
    of_set["involvedObject"] |= {"kind": "PodCliqueSet", "name": "llm", "uid": "uid-llm"}
    assert "FAILED" not in printed(capsys, tmp_path, cluster(earlier, of_set)), "another uid; no such write is planned"
    whole = cluster(event())
    owner = {"apiVersion": GROVE, "kind": "PodClique", "name": "llm-0-a", "uid": CLIQUE_UID, "controller": True}
    for index in range(2):
        meta = {"name": f"p{index}", "namespace": "ml", "uid": f"p{index}", "ownerReferences": [owner]}
        whole.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {}, "status": {}})
    assert "FAILED" not in printed(capsys, tmp_path, whole), "it has its pods"


def test_wl255_a_write_of_another_kind_counts_while_the_plan_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_set = event("PodGangCreateOrUpdateFailed", "Error Creating/Updating PodGang ml/llm-0: no quota")
    of_set["involvedObject"] |= {"kind": "PodCliqueSet", "name": "llm", "uid": "uid-llm"}
    page = printed(capsys, tmp_path, cluster(of_set))
    assert "  FAILED     PodCliqueSet llm: the operator could not write its PodGang" in page


def test_wl255_failures_are_data() -> None:
    (found,) = failed_writes_in_status(
        {"kind": "PodClique", "metadata": {"name": "x"}, "status": {"lastErrors": [error("2026-11-20T08:50:00Z", "e")]}}
    )
    assert isinstance(found, FailedWrite)
    assert (found.about.kind, found.about.namespace, found.uid, found.kind) == ("PodClique", "default", "", "")


AMOUNTS: Final = "requested: pods=1,requests.nvidia.com/gpu=8, used: pods=3,requests.nvidia.com/gpu=24, limited: pods=9"
FULL: Final = f'Error creating pod a: pods "a" is forbidden: exceeded quota: team-gpus, {AMOUNTS}'


@pytest.mark.parametrize(
    ("message", "quotas"),
    [
        (FULL, [f"ResourceQuota team-gpus refuses it ({AMOUNTS}): "]),
        (f"{FULL}; {FULL}", [f"ResourceQuota team-gpus refuses it ({AMOUNTS}): "]),
        ('pods "a" is forbidden: exceeded quota: q1, requested: pods=1, us...', ["ResourceQuota q1 refuses it: "]),
        (REFUSAL, []),
        ("quota exceeded", []),
    ],
)
def test_wl256_the_quota_that_refuses_a_pod(
    message: str, quotas: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = cluster(event(message=message))
    page = printed(capsys, tmp_path, objects)
    found = [line.strip() for line in page.splitlines() if line.strip().startswith("ResourceQuota ")]
    assert [line.partition("Grove does not hold it back")[0] for line in found] == quotas
    by_status = printed(capsys, tmp_path, cluster(errors=[error("2026-11-20T08:50:00Z", message)]))
    assert [line.strip() for line in by_status.splitlines() if line.strip().startswith("ResourceQuota ")] == found
    for target in ("pcs/llm", "pclq/llm-0-a", "pod/llm-0-a-0"):
        assert printed(capsys, tmp_path, objects, "explain", target).count(" WL-256\n") == len(quotas)
