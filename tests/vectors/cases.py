"""Recorded cases: each a whole namespace as objects, the clock, and an earlier judgement of another program."""

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from grove_core.kernel.steps import Delete
from grove_core.kernel.time_formats import format_time, parse_time
from grove_core.plan.plan import Plan
from grove_core.resources.pod import pod_from_json
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot

Json: TypeAlias = dict[str, Any]
HERE: Final = Path(__file__).parent


def cases(folder: Path, files: Iterable[str]) -> Iterator[Any]:
    """Every case as a parameter of a test."""
    for name in files:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                yield pytest.param(case, id=f"{name}-{case['id']}")


def snapshot_of(case: Json) -> Snapshot:
    """What its only set can see."""
    by_kind: dict[str, list[Json]] = {}
    for item in case["objects"]:
        by_kind.setdefault(item["kind"], []).append(item)
    shared: dict[str, str] = {}
    cluster = index_cluster(
        sets=map(podcliqueset_from_json, by_kind["PodCliqueSet"]),
        groups=map(scaling_group_from_json, by_kind.get("PodCliqueScalingGroup", [])),
        cliques=map(podclique_from_json, by_kind.get("PodClique", [])),
        pods=[pod_from_json(raw, shared) for raw in by_kind.get("Pod", [])],
    )
    now = parse_time(case["now"])
    assert now is not None
    return cluster.snapshot_of(cluster.sets[0], now)


def assert_ended(plan: Plan, expect: Json) -> None:
    """The plan deletes, ends and waits as it was recorded."""
    assert sorted(step.target.name for step in plan.steps if isinstance(step.action, Delete)) == expect["deletes"]
    ended = [finding.subject for finding in plan.findings if finding.verdict == "Terminate"]
    groups: dict[str, list[int]] = {}
    for subject in ended:
        if subject.kind == "PodCliqueScalingGroup" and subject.replica is not None:
            groups.setdefault(subject.name, []).append(subject.replica)
    assert groups == expect["terminate"]["podCliqueScalingGroups"]
    sets = [subject.replica for subject in ended if subject.kind == "PodCliqueSet"]
    assert sets == expect["terminate"]["podCliqueSetReplicas"]
    wake = format_time(plan.wake_at) if plan.wake_at else None
    assert wake in {expect["wakeAt"], *expect.get("wakeAtEarlier", ())}


def status_of(item: PodClique | ScalingGroup | PodCliqueSet) -> Json:
    """A stored status by names in JSON; conditions by type."""
    status = item.status
    shown: Json = {name: getattr(status, attribute) for name, attribute in status.FIELDS.items()}
    shown["conditions"] = {condition.type: condition for condition in status.conditions}
    return shown
