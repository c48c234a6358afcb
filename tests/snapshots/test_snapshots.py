"""What a real cluster looks like: every dump loads, is decided, and is explained.

The operator that ran this cluster does not write wasAvailable, so our rules end nothing in these dumps (GT-015). With
the record in place they would have ended what that operator ended, at the second at which it did; the last test says
so dump by dump.
"""

import io
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import parse_time
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cli.main import run_command_line
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import LoadedInput

HERE: Final = Path(__file__).parent


@dataclass(frozen=True)
class Dump:
    """A dump, the moment it was taken, and what is known of it.

    Attributes:
        spared: cliques with too few ready pods that nothing says were ever available.
        ended_at: what the Go operator did next: moment -> cliques it deleted.
    """

    now: str
    sets: int = 3
    spared: frozenset[str] = frozenset()
    ended_at: tuple[tuple[str, int], ...] = ()


DUMPS: Final = {
    "s1b-created-pending.yaml": Dump(
        "2026-11-21T09:37:17.605Z",
        spared=frozenset(
            {
                "deepseek-0-decode-0-dl",
                "deepseek-0-decode-0-dw",
                "deepseek-0-decode-1-dl",
                "deepseek-0-decode-1-dw",
                "deepseek-0-prefill-0-pl",
                "deepseek-0-prefill-0-pw",
                "deepseek-0-prefill-1-pl",
                "deepseek-0-prefill-1-pw",
                "embed-0-emb",
                "qwen-0-worker",
                "qwen-1-worker",
            }
        ),
    ),
    "s2-healthy.yaml": Dump("2026-11-21T09:38:48.202Z"),
    "s2-healthy.json": Dump("2026-11-21T09:38:48.202Z"),
    "s3a-breach-standalone-notready.yaml": Dump(
        "2026-11-21T09:39:04.239Z", spared=frozenset({"qwen-0-worker"}), ended_at=(("2026-11-21T09:39:19Z", 2),)
    ),
    "s3a-breach-standalone-notready-events.yaml": Dump("2026-11-21T09:39:04.239Z", sets=0),
    "s4a-breach-in-one-pcsg-replica.yaml": Dump(
        "2026-11-21T09:40:15.126Z",
        spared=frozenset({"deepseek-0-prefill-0-pw", "qwen-1-worker"}),
        ended_at=(("2026-11-21T09:40:29Z", 2), ("2026-11-21T09:41:00Z", 2)),
    ),
    "s4d-pcsg-breached-both-replicas.yaml": Dump(
        "2026-11-21T09:46:42.582Z",
        spared=frozenset({"deepseek-0-prefill-0-pw", "deepseek-0-prefill-1-pw"}),
        ended_at=(("2026-11-21T09:47:22Z", 13),),
    ),
    "s5a-rolling-update-early.yaml": Dump(
        "2026-11-21T09:43:53.756Z",
        spared=frozenset({"deepseek-0-decode-2-dl", "deepseek-0-decode-2-dw", "qwen-0-router"}),
    ),
    "s6b-pcsg-scaled-out.yaml": Dump(
        "2026-11-21T09:43:52.858Z",
        spared=frozenset({"deepseek-0-decode-2-dl", "deepseek-0-decode-2-dw", "deepseek-0-decode-3-dw"}),
    ),
    "s7b-deleting-pods-terminating.yaml": Dump("2026-11-21T09:52:25.148Z", sets=0),
    "s9a-termination-without-capacity.yaml": Dump("2026-11-21T09:49:39.161Z"),
}


def loaded(name: str) -> LoadedInput:
    return load_input_files([str(HERE / name)], io.BytesIO())


def moment(text: str) -> datetime:
    found = parse_time(text)
    assert found is not None
    return found


def plans(name: str, now: datetime) -> list[tuple[Snapshot, Plan]]:
    cluster = loaded(name).cluster
    snapshots = [cluster.snapshot_of(root, now) for root in cluster.sets]
    return [(snapshot, reconcile(snapshot)) for snapshot in snapshots]


@pytest.mark.parametrize("name", list(DUMPS))
def test_in030_every_dump_loads_without_a_fault(name: str) -> None:
    found = loaded(name)
    assert found.faults == ()
    assert found.cluster.gaps == frozenset()
    assert len(found.cluster.sets) == DUMPS[name].sets


@pytest.mark.parametrize("name", list(DUMPS))
def test_gt015_nothing_is_ended_without_a_record(name: str) -> None:
    for snapshot, plan in plans(name, moment(DUMPS[name].now)):
        assert broken_laws_in_plan(plan, snapshot) == ()
        assert not [step for step in plan.steps if isinstance(step.action, Delete)]
        assert plan.wake_at is None


@pytest.mark.parametrize("name", [name for name, dump in DUMPS.items() if dump.spared])
def test_gt015_those_that_are_spared_are_named(name: str) -> None:
    rules = {"AvailabilityNotRecorded", "NeverAvailable"}
    spared = {
        finding.subject.name
        for _, plan in plans(name, moment(DUMPS[name].now))
        for finding in plan.findings
        if finding.question == "breach" and finding.because[0].rule.code in rules
    }
    assert spared == DUMPS[name].spared


def with_record(snapshot: Snapshot, now: datetime) -> Snapshot:
    """The same moment of a cluster whose operator had written wasAvailable all along."""
    cliques = tuple(replace(clique, status=replace(clique.status, was_available=True)) for clique in snapshot.cliques)
    return replace(snapshot, cliques=cliques, now=now)


@pytest.mark.parametrize("name", [name for name, dump in DUMPS.items() if dump.ended_at])
def test_gt033_with_the_record_we_end_what_was_ended_when_it_was(name: str) -> None:
    taken = moment(DUMPS[name].now)
    snapshots = [snapshot for snapshot, _ in plans(name, taken)]
    before = [reconcile(with_record(snapshot, taken)) for snapshot in snapshots]
    wakes = sorted(plan.wake_at for plan in before if plan.wake_at is not None)
    assert wakes == [moment(text) for text, _ in DUMPS[name].ended_at]
    for text, cliques in DUMPS[name].ended_at:
        ended = [
            step.target.name
            for snapshot, plan in zip(snapshots, before, strict=True)
            if plan.wake_at == moment(text)
            for step in reconcile(with_record(snapshot, moment(text))).steps
            if isinstance(step.action, Delete)
        ]
        assert len(ended) == cliques


@pytest.mark.parametrize("name", list(DUMPS))
def test_cl001_every_dump_is_planned_by_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "-f", str(HERE / name), "--now", DUMPS[name].now, "--rules", "design"]
    code = 0 if DUMPS[name].sets else 3  # nothing judged is not success (CL-056)
    assert run_command_line(words, "grove") == code
    page = capsys.readouterr().out
    assert run_command_line([*words, "-o", "json", "--decisions"], "grove") == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert len(document["plans"]) == DUMPS[name].sets
    assert "nothing" in page.splitlines()[0]
    for clique in DUMPS[name].spared:
        assert clique in page or len(DUMPS[name].spared) > 8


@pytest.mark.parametrize("name", [name for name, dump in DUMPS.items() if dump.spared])
@pytest.mark.parametrize("question", [[], ["--why-not", "terminate"]])
def test_cl015_every_spared_clique_is_explained(
    name: str, question: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for clique in DUMPS[name].spared:
        words = ["explain", "-f", str(HERE / name), "--now", DUMPS[name].now, f"pclq/{clique}", *question]
        words += ["--rules", "design"]
        assert run_command_line(words, "grove") == 0
        said = capsys.readouterr().out
        assert clique in said
        assert "AvailabilityNotRecorded" in said or "NeverAvailable" in said


def test_in053_yaml_and_json_of_one_moment_are_one_cluster() -> None:
    assert loaded("s2-healthy.yaml").cluster == loaded("s2-healthy.json").cluster
