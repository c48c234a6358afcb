"""What a page and ``explain`` say of a termination besides its reasons (CL-070, CL-071)."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.plan.termination_hints import (
    LongerDelay,
    LostNodeOfPods,
    ReadyPodsToEndBreach,
    RoomForReplacement,
    SchedulerMessage,
    TerminationHints,
)
from grove_core.resources.node_loss import UNREACHABLE
from grove_shell.cli.main import run_command_line
from grove_shell.views.plan.termination_hint_lines import termination_hint_lines

NOW: Final = datetime.fromisoformat("2026-11-20T09:00:00Z")
GIVEN: Final = Path(__file__).parents[1] / "golden/planning/pl040_what_stops_a_termination/given.yaml"
REPLICA: Final = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "ml", 0)
DELAY: Final = "spec.template.terminationDelay"
STOPS: Final = "stops it: 1 more ready pod of a before 09:05:00Z"
HINTS: Final = TerminationHints(replica=REPLICA)


def needed(name: str, pods: int = 1, **more: Any) -> ReadyPodsToEndBreach:
    found = ReadyPodsToEndBreach(Ref("grove.io/v1alpha1", "PodClique", "ml", name), pods, NOW + timedelta(minutes=5))
    return found._replace(**more)


@pytest.mark.parametrize(
    ("hints", "lines"),
    [
        (replace(HINTS, ready_pods=(needed("a"),)), ["stops it: 1 more ready pod of a before 09:05:00Z"]),
        (
            replace(HINTS, ready_pods=(needed("a", 2), needed("b"))),
            [
                "stops it, all of these together:",
                "  2 more ready pods of a before 09:05:00Z",
                "  1 more ready pod of b before 09:05:00Z",
            ],
        ),
        (
            replace(HINTS, ready_pods=tuple(needed(name) for name in "abcde")),
            [
                "stops it, all of these together:",
                *(f"  1 more ready pod of {name} before 09:05:00Z" for name in "abc"),
                "  and 2 more ready pods of 2 other PodCliques (-v)",
            ],
        ),
        (
            replace(HINTS, ready_pods=(needed("a", gated=True),)),
            [f"{STOPS}; the scheduling gates of its pods have to open first"],
        ),
        (
            replace(HINTS, ready_pods=(needed("a", replicas=3, starting_pods_count_already=True),)),
            [f"{STOPS}; its replicas have to be 3; those that are starting count already"],
        ),
        (
            replace(HINTS, ready_pods=(needed("a"),), spares_not=(Ref("v1", "Group", "ml", "ml-0-pool", 1),)),
            ["stops it: 1 more ready pod of a before 09:05:00Z", "  even then terminated: ml-0-pool replica 1"],
        ),
        (
            replace(
                HINTS,
                longer_delay=LongerDelay(
                    (DELAY, "spec.template.podCliqueScalingGroups[0].terminationDelay"), timedelta(minutes=1)
                ),
            ),
            ["puts it off: terminationDelay and podCliqueScalingGroups[0].terminationDelay above 1m"],
        ),
        (
            replace(HINTS, unready=3, nodes=(LostNodeOfPods("gpu-04", UNREACHABLE, NOW, 3),)),
            ["cause: node gpu-04 has not answered since 09:00:00Z; all 3 pods that are not ready are on it"],
        ),
        (
            replace(HINTS, unready=3, nodes=(LostNodeOfPods("gpu-04", UNREACHABLE, None, 2),)),
            ["cause: node gpu-04 does not answer; 2 of 3 pods that are not ready are on it"],
        ),
        (
            replace(HINTS, messages=(SchedulerMessage("0/2 nodes are available: x. preemption: y.", 2),)),
            ["scheduler: 0/2 nodes are available: x (2 pods)"],
        ),
        (replace(HINTS, room=RoomForReplacement.CANNOT), ["no room: its gangs do not fit on the nodes again"]),
        (replace(HINTS, room=RoomForReplacement.FITS), []),
    ],
)
def test_cl070_the_lines_of_a_termination(hints: TerminationHints, lines: list[str]) -> None:
    assert list(termination_hint_lines(hints, NOW, is_due=False)) == lines


def test_cl070_after_the_delay_only_what_happens_at_once_helps() -> None:
    hints = replace(HINTS, ready_pods=(needed("a", before=None),), longer_delay=LongerDelay((DELAY,), timedelta(1)))
    assert list(termination_hint_lines(hints, NOW, is_due=True)) == [
        "stops it, if at once: 1 more ready pod of a",
        "puts it off, if at once: terminationDelay above 24h",
    ]


def explained(target: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    words = ["explain", target, "-f", str(GIVEN), "--now", "2026-11-21T09:40:15Z", "--rules", "field", *more]
    assert run_command_line(words, "grove") == 0
    return capsys.readouterr().out


def test_cl071_explain_has_the_lines_and_the_whole_message(capsys: pytest.CaptureFixture[str]) -> None:
    shown = explained("pod/qwen-1-worker-nxfng", capsys)
    assert "    stops it: 1 more ready pod of qwen-1-worker before 09:40:29Z\n" in shown
    assert "Unschedulable: 0/20 nodes are available: 20 Insufficient nvidia.com/gpu. no new claims" in shown
    assert "stops it" not in explained("pclq/qwen-0-worker", capsys)


def test_cl071_the_conditions_of_a_gang(capsys: pytest.CaptureFixture[str]) -> None:
    shown = explained("podgang/qwen-1", capsys)
    assert "  condition Initialized: True  PodGangPodsCreated: PodGang is fully initialized\n" in shown
    assert "    qwen-1-worker-nxfng: Unschedulable: 0/20 nodes are available: 20 Insufficient nvidia.com/gpu\n" in shown


def test_cl071_json_has_the_hints_and_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    shown = explained("pclq/qwen-1-worker", capsys, "-o", "json")
    assert '"hints"' in shown
    assert '"schedulerMessage": "0/20 nodes are available' in shown
    assert '"hints"' not in explained("pclq/qwen-0-worker", capsys, "-o", "json")


def test_cl085_the_condition_of_a_podgroup_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = GIVEN.parents[2] / "scheduling/sc030_the_words_of_the_scheduler"
    documents = list(yaml.load_all((folder / "given.yaml").read_text("utf-8"), yaml.CSafeLoader))
    condition = {
        "type": "PodGroupInitiallyScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/2 placements are available",
        "lastTransitionTime": "2026-11-20T08:50:00Z",
    }
    items = [item for document in documents for item in document.get("items", [document])]
    (group,) = (one for one in items if (one["kind"], one["metadata"]["name"]) == ("PodGroup", "chat-0-pool-1-worker"))
    group["status"] = {"conditions": [condition]}
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, default=str), encoding="utf-8")
    words = ["-f", str(dump), "--config", str(folder / "operator.yaml"), "--now", "2026-11-20T09:00:00Z"]
    said = "False  Unschedulable: 0/2 placements are available\n"
    for target, of in (("podgroup", ""), ("pclq", " of PodGroup chat-0-pool-1-worker")):
        assert run_command_line(["explain", f"{target}/chat-0-pool-1-worker", *words], "grove") == 0
        assert f"  condition PodGroupInitiallyScheduled{of}: {said}" in capsys.readouterr().out


def dump_with_gpus(*, taken: str) -> str:
    """The dump with enough GPUs on each node, and with a pod of another workload on each that takes CPU."""
    documents = yaml.load(GIVEN.read_text("utf-8"), yaml.CSafeLoader)["items"]
    nodes = [one for one in documents if one["kind"] == "Node"]
    for node in nodes:
        node["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    resources = {"requests": {"cpu": taken}}
    others = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"etl-{node['metadata']['name']}", "namespace": "batch", "uid": f"etl-{number}"},
            "spec": {"nodeName": node["metadata"]["name"], "containers": [{"name": "etl", "resources": resources}]},
            "status": {"phase": "Running"},
        }
        for number, node in enumerate(nodes)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*documents, *others]}, default=str)


@pytest.mark.parametrize(("taken", "room"), [("100m", "Fits"), ("62500m", "Cannot")])
def test_pl045_a_replica_without_cpu_finds_no_room(
    taken: str, room: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    dump = tmp_path / "dump.json"
    dump.write_text(dump_with_gpus(taken=taken), encoding="utf-8")
    words = ["plan", "-f", str(dump), "--now", "2026-11-21T09:40:15Z", "--rules", "field", "-o", "json"]
    assert run_command_line(words, "grove") == 0
    (plan,) = json.loads(capsys.readouterr().out)["plans"]
    assert [one["room"] for one in plan["hints"]] == [room]
