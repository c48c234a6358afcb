"""A redacted capture has no secrets and is planned like the original (OP-050, IN-047)."""

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.document.plan_document import step_action_name
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import EVERY_KIND
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_kinds import KINDS
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects, LoadedInput, snapshot_header_item
from grove_shell.reading.input_sources import input_items_in_path
from grove_shell.redaction import ObjectRedaction
from tests.property.few_examples import RARELY
from tests.property.workload.sets import NOW

Json = dict[str, Any]
SNAPSHOTS: Final = sorted((Path(__file__).parent.parent / "snapshots").glob("s*.yaml"))
SECRET: Final = "hf_of_somebody"  # noqa: S105 - no real token


def with_secrets(items: list[Json]) -> list[Json]:
    """A secret stands wherever people put some: in every container and its calls, in volumes, in what pods tell."""
    for item in items:
        item["metadata"]["managedFields"] = [{"manager": SECRET}]
        item["metadata"].setdefault("annotations", {})["kubectl.kubernetes.io/last-applied-configuration"] = SECRET
        for above in _annotated(item):
            above.setdefault("annotations", {})["vault.example.com/token"] = SECRET
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
            ours = {"name": "grove-initc", "command": ["grove-initc", SECRET], "args": [f"--token={SECRET}"]}
            spec["initContainers"] = [*spec.get("initContainers", ()), ours]  # or so it says
            spec["volumes"] = [
                *spec.get("volumes", ()),
                {"name": "own", "csi": {"driver": "d", "volumeAttributes": {"key": SECRET}}},
                {
                    "name": "brief",
                    "ephemeral": {"volumeClaimTemplate": {"metadata": {"annotations": {"key": SECRET}}, "spec": {}}},
                },
                {"name": "old", "flexVolume": {"driver": "d", "options": {"key": SECRET}}},
            ]
        if item["kind"] == "Pod":
            for each in (*item["status"].get("containerStatuses", ()), *item["status"].get("conditions", ())):
                each["message"] = f"it said {SECRET}"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "ml"}, "data": {"t": SECRET}}
    return [*items, secret]


def _annotated(item: Json) -> list[Json]:
    """Wherever users write annotations; what a template has, the objects of it have too."""
    if item["kind"] != "PodCliqueSet":
        return [item["metadata"]]
    template = item["spec"]["template"]
    return [item["metadata"], *template["cliques"], *template.get("podCliqueScalingGroups", ())]


def _pod_specs(item: Json) -> list[Json]:
    if item["kind"] == "Pod":
        return [item["spec"]]
    if item["kind"] == "PodClique":
        return [item["spec"]["podSpec"]]
    if item["kind"] == "PodCliqueSet":
        return [clique["spec"]["podSpec"] for clique in item["spec"]["template"]["cliques"]]
    return []


def loaded(items: list[Json], tmp_path: Path) -> LoadedInput:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return load_input_files((str(path),), raising=False)


def plans(found: LoadedInput) -> list[Plan]:
    assert found.faults == ()
    return [reconcile(found.cluster.snapshot_of(root, NOW)) for root in found.cluster.sets]


def what(plan: Plan) -> list[tuple[str, str, str]]:
    return [(step_action_name(step.action), step.target.short, step.because[0].rule.code) for step in plan.steps]


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_op050_nothing_secret_is_left_and_the_plan_is_the_same(path: Path, tmp_path: Path) -> None:
    items = with_secrets([item.value for item in input_items_in_path(str(path), [], BytesIO())])
    shown = ObjectRedaction(b"salt").redacted_objects(items)
    assert SECRET in json.dumps(items)
    assert SECRET not in json.dumps(shown)
    assert [item["metadata"]["name"] for item in shown] == [item["metadata"]["name"] for item in items]
    before, after = (plans(loaded(found, tmp_path)) for found in (items, shown))
    assert list(map(what, after)) == list(map(what, before))


def test_op050_what_grove_itself_writes_stays() -> None:
    waiter = {"name": "grove-initc", "command": ["grove-initc"], "args": ["--podcliques=llm-0-a:2"]}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"initContainers": [waiter]}, "status": {}}
    assert ObjectRedaction(b"salt").redacted_objects([pod])[0]["spec"]["initContainers"] == [waiter]


CONFIG: Final = {
    "requests": ["gpu"],
    "opaque": {
        "driver": "gpu.example.com",
        "parameters": {
            "apiVersion": "gpu.example.com/v1",
            "kind": "GpuConfig",
            "key": SECRET,
            "more": [{"key": SECRET}],
        },
    },
}


def claimed() -> list[Json]:
    """Claims, their templates, and a set that has one of its own."""
    spec = {"devices": {"requests": [{"name": "gpu"}], "config": [CONFIG]}}
    template = {"metadata": {"annotations": {"example.com/key": SECRET}, "labels": {"data": "kept"}}, "spec": spec}
    allocation = {"devices": {"config": [CONFIG]}}
    reported = [{"driver": "gpu.example.com", "data": {"key": SECRET}}]
    clique = {"name": "a", "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": [{"name": "main"}]}}}
    inline = {"cliques": [clique], "resourceClaimTemplates": [{"name": "one", "templateSpec": template}]}
    return [
        {"kind": "ResourceClaimTemplate", "metadata": {"name": "t"}, "spec": template},
        {
            "kind": "ResourceClaim",
            "metadata": {"name": "c", "annotations": {"example.com/key": SECRET}},
            "spec": spec,
            "status": {"allocation": allocation, "devices": reported},
        },
        {"kind": "PodCliqueSet", "metadata": {"name": "llm"}, "spec": {"replicas": 1, "template": inline}},
    ]


def test_op050_driver_parameters_are_redacted_and_the_kind_stays() -> None:
    items = claimed()
    shown = ObjectRedaction(b"salt").redacted_objects(items)
    assert SECRET not in json.dumps(shown)
    of_template, of_claim, of_set = shown
    config = of_template["spec"]["spec"]["devices"]["config"][0]
    parameters = config["opaque"]["parameters"]
    assert (parameters["apiVersion"], parameters["kind"]) == ("gpu.example.com/v1", "GpuConfig")
    assert parameters["key"] == parameters["more"][0]["key"]
    assert of_claim["spec"]["devices"]["config"] == of_claim["status"]["allocation"]["devices"]["config"] == [config]
    (inline,) = of_set["spec"]["template"]["resourceClaimTemplates"]
    assert inline["templateSpec"] == of_template["spec"]
    assert of_template["spec"]["metadata"]["labels"] == {"data": "kept"}


KEYS: Final = st.sampled_from(("team", "example.com/token", "grove.io/topology-name"))
TEXTS: Final = st.dictionaries(KEYS, st.sampled_from(("", "one", "two")), max_size=3)
CAPTURED: Final = [[item.value for item in input_items_in_path(str(path), [], BytesIO())] for path in SNAPSHOTS]


@RARELY
@given(st.sampled_from(CAPTURED), st.lists(TEXTS, min_size=1, max_size=4), st.integers(0, 999))
def test_op050_annotations_that_agree_or_not_do_so_in_a_capture(
    items: list[Json], texts: list[Json], seed: int
) -> None:
    """Annotations anywhere, the same here and others there, as after an edit: what follows from them is the same."""
    drawn, chance = json.loads(json.dumps(items)), Random(seed)
    for item in drawn:
        for above in _annotated(item):
            above["annotations"] = {**above.get("annotations", {}), **chance.choice(texts)}
    before, after = (decided(found) for found in (drawn, ObjectRedaction(b"salt").redacted_objects(drawn)))
    assert after == before


def decided(items: list[Json]) -> list[tuple[Any, ...]]:
    """What is done and held back, with every reason; the name of a new pod follows from a hash, and is not compared."""
    cache = ClusterCache()
    for kind in KINDS:
        cache.replace_all_of_kind(kind, [item for item in items if item["kind"] == kind], "0")
    metas = [item["metadata"] for item in items if item["kind"] == "PodCliqueSet"]
    homes = sorted((meta["namespace"], meta["name"]) for meta in metas)
    snapshots = [cache.snapshot_of_set(home, NOW) for home in homes]
    return [
        (action, target if (action, kind) != ("create", "Pod") else "", codes)
        for snapshot in snapshots
        if snapshot is not None
        for plan in (reconcile(snapshot),)
        for action, kind, target, codes in (
            *(
                (
                    step_action_name(step.action),
                    step.target.kind,
                    step.target.short,
                    [why.rule.code for why in step.because],
                )
                for step in plan.steps
            ),
            *(
                ("held", one.target.kind, one.target.short, [why.rule.code for why in one.because])
                for one in plan.withheld
            ),
        )
    ]


def test_op050_two_captures_share_no_word() -> None:
    container = {"name": "main", "env": [{"name": "A", "value": SECRET}, {"name": "B", "value": SECRET}]}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}
    words = [
        {
            variable["value"]
            for variable in ObjectRedaction(salt).redacted_objects([pod])[0]["spec"]["containers"][0]["env"]
        }
        for salt in (b"one", b"two")
    ]
    assert [len(found) for found in words] == [1, 1]
    assert words[0] != words[1]


def test_in047_a_capture_reports_what_it_is(tmp_path: Path) -> None:
    taken_at = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
    reported = CollectedObjects(
        origin="https://somewhere",
        complete=frozenset((kind, "ml") for kind in EVERY_KIND - {"Pod"}),
        not_listed={("Pod", "ml"): "pods is forbidden"},
    )
    found = loaded([snapshot_header_item(reported, taken_at)], tmp_path)
    assert (found.faults, found.taken_at) == ((), taken_at)
    assert found.not_listed == {("Pod", "ml"): "pods is forbidden"}
    assert found.cluster.complete == reported.complete
    assert ("Pod", "ml") in found.cluster.gaps


def test_in047_a_capture_that_does_not_read_is_a_fault(tmp_path: Path) -> None:
    broken = {
        **snapshot_header_item(CollectedObjects(origin=""), NOW),
        "takenAt": "yesterday",
        "collected": "all",
    }
    found = loaded([broken], tmp_path)
    assert [fault.path for fault in found.faults] == ["collected", "takenAt"]
