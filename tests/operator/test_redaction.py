"""A capture may be shown to others, and is decided like the original (OP-051, IN-047)."""

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.document.document import action_name
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import EVERY_KIND
from grove_shell.reading import capture
from grove_shell.reading.collected import Collected
from grove_shell.reading.objects import Loaded, load
from grove_shell.reading.sources import items_of
from grove_shell.world.redaction import Redaction
from tests.property.workload.sets import NOW

Json = dict[str, Any]
SNAPSHOTS: Final = sorted((Path(__file__).parent.parent / "snapshots").glob("s*.yaml"))
SECRET: Final = "hf_of_somebody"  # noqa: S105 - nobody's


def with_secrets(items: list[Json]) -> list[Json]:
    """A secret stands wherever people put some: in every container and its calls, in volumes, in what pods tell."""
    for item in items:
        item["metadata"]["managedFields"] = [{"manager": SECRET}]
        item["metadata"].setdefault("annotations", {})["kubectl.kubernetes.io/last-applied-configuration"] = SECRET
        for spec in _pod_specs(item):
            for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
                if container.get("name") != "grove-initc":
                    container["env"] = [{"name": name, "value": SECRET} for name in ("TOKEN", "GROVE_TOKEN")] + [
                        *container.get("env", ())
                    ]
                    container["args"], container["command"] = [f"--token={SECRET}"], ["run", SECRET]
                    header = {"name": "Authorization", "value": SECRET}
                    container["livenessProbe"] = {"exec": {"command": ["curl", "-u", SECRET]}}
                    container["readinessProbe"] = {"httpGet": {"port": 1, "httpHeaders": [header]}}
                    hooks = {
                        "preStop": {"exec": {"command": [SECRET]}},
                        "postStart": {"httpGet": {"httpHeaders": [header]}},
                    }
                    container["lifecycle"] = hooks
            spec["volumes"] = [
                *spec.get("volumes", ()),
                {"name": "own", "csi": {"driver": "d", "volumeAttributes": {"key": SECRET}}},
                {"name": "old", "flexVolume": {"driver": "d", "options": {"key": SECRET}}},
            ]
        if item["kind"] == "Pod":
            for each in (*item["status"].get("containerStatuses", ()), *item["status"].get("conditions", ())):
                each["message"] = f"it said {SECRET}"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "ml"}, "data": {"t": SECRET}}
    return [*items, secret]


def _pod_specs(item: Json) -> list[Json]:
    if item["kind"] == "Pod":
        return [item["spec"]]
    if item["kind"] == "PodClique":
        return [item["spec"]["podSpec"]]
    if item["kind"] == "PodCliqueSet":
        return [clique["spec"]["podSpec"] for clique in item["spec"]["template"]["cliques"]]
    return []


def loaded(items: list[Json], tmp_path: Path) -> Loaded:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return load((str(path),), BytesIO())


def plans(found: Loaded) -> list[Plan]:
    assert found.faults == ()
    return [reconcile(found.cluster.snapshot_of(root, NOW)) for root in found.cluster.sets]


def what(plan: Plan) -> list[tuple[str, str, str]]:
    return [(action_name(step.action), step.target.short, step.because[0].rule.code) for step in plan.steps]


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_op051_nothing_secret_is_left_and_the_plan_is_the_same(path: Path, tmp_path: Path) -> None:
    items = with_secrets([item.value for item in items_of(str(path), [], BytesIO())])
    shown = Redaction(b"salt").of(items)
    assert SECRET in json.dumps(items)
    assert SECRET not in json.dumps(shown)
    assert [item["metadata"]["name"] for item in shown] == [item["metadata"]["name"] for item in items]
    before, after = (plans(loaded(found, tmp_path)) for found in (items, shown))
    assert list(map(what, after)) == list(map(what, before))


def test_op051_two_captures_share_no_word() -> None:
    container = {"name": "main", "env": [{"name": "A", "value": SECRET}, {"name": "B", "value": SECRET}]}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}
    words = [
        {variable["value"] for variable in Redaction(salt).of([pod])[0]["spec"]["containers"][0]["env"]}
        for salt in (b"one", b"two")
    ]
    assert [len(found) for found in words] == [1, 1]
    assert words[0] != words[1]


def test_in047_a_capture_tells_what_it_is(tmp_path: Path) -> None:
    taken_at = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
    told = Collected(
        origin="https://somewhere",
        complete=frozenset((kind, "ml") for kind in EVERY_KIND - {"Pod"}),
        unseen={("Pod", "ml"): "pods is forbidden"},
    )
    found = loaded([capture.as_item(told, taken_at)], tmp_path)
    assert (found.faults, found.taken_at) == ((), taken_at)
    assert found.unseen == {("Pod", "ml"): "pods is forbidden"}
    assert found.cluster.complete == told.complete
    assert ("Pod", "ml") in found.cluster.gaps


def test_in047_a_capture_that_does_not_read_is_a_fault(tmp_path: Path) -> None:
    broken = {**capture.as_item(Collected(origin=""), NOW), "takenAt": "yesterday", "collected": "all"}
    found = loaded([broken], tmp_path)
    assert [fault.path for fault in found.faults] == ["collected", "takenAt"]
