"""What is read from a pod, and how a malformed pod is reported."""

import json
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import example, given

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.api_names import GATE, POD_INDEX
from grove_core.resources.labels import SET
from grove_core.resources.node_loss import NodeLossSigns
from grove_core.resources.pod import Pod, pod_from_json
from tests.property.resources.manifests import (
    SINCE,
    Json,
    almost,
    any_json,
    condition,
    is_there,
    meta,
    outcome,
    owner,
    pod,
)

META: Final[Json] = {"name": "llm-0-a", "namespace": "ml", "uid": "u", "resourceVersion": "1", "generation": 3}

STATES: Final = ("True", "False", "Unknown", None)
SOUND: Final = pod(
    condition("PodScheduled"),
    condition("Ready", "False"),
    metadata={
        "ownerReferences": [owner("uid-clique")],
        "labels": {"grove.io/pod-template-hash": "h1", "grove.io/podgang": "llm-0"},
        "deletionTimestamp": SINCE,
    },
    initContainerStatuses=[{"name": "init", "state": {"terminated": {"reason": "Completed"}}}],
    containerStatuses=[{"name": "main", "ready": False, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
    reason="Evicted",
)


class TextOfAnotherType(str):
    """A string that is not exactly one."""

    __slots__ = ()


def read(raw: Any) -> Pod:
    return pod_from_json(raw, {}, {})


def paths_of(raw: Any) -> list[str]:
    with pytest.raises(MalformedObject) as caught:
        pod_from_json(raw, {})
    return [problem.path for problem in caught.value.problems]


class TestFields:
    """A pod is read into flat facts."""

    def test_every_fact_is_read(self) -> None:
        assert read(SOUND) == Pod(
            namespace="ml",
            name="llm-0-router-x7",
            uid="uid-llm-0-router-x7",
            resource_version="7",
            owner_uid="uid-clique",
            template_hash="h1",
            gang="llm-0",
            node="node-1",
            phase="Running",
            trouble="CrashLoopBackOff",
            deleting=True,
            scheduled=True,
            gated=False,
            ready=False,
            node_signs=NodeLossSigns(parse_time(SINCE), written_for_node=False, tolerates=()),
            deletion_time=SINCE,
        )

    def test_a_pod_needs_a_name_only(self) -> None:
        bare = read({"metadata": {"name": "a"}})
        assert bare == Pod("default", "a", "", "", "", "", "", "", "", "", False, False, False, False)
        assert bare.ref == Ref("v1", "Pod", "default", "a")

    def test_null_is_the_same_as_absent(self) -> None:
        nothing = dict.fromkeys(("namespace", "uid", "resourceVersion", "labels", "ownerReferences"))
        raw = {
            "metadata": {"name": "a", "deletionTimestamp": None, **nothing},
            "spec": {"nodeName": None},
            "status": {"phase": None, "conditions": None, "containerStatuses": None, "reason": None},
        }
        assert read(raw) == read({"metadata": {"name": "a"}})
        assert read({"metadata": {"name": "a"}, "spec": None, "status": None}) == read({"metadata": {"name": "a"}})

    def test_unknown_fields_are_ignored(self) -> None:
        more = {**SOUND, "spec": {**SOUND["spec"], "volumes": [1, 2]}, "extra": {"deep": [None]}}
        assert read(more) == read(SOUND)

    @pytest.mark.parametrize("status", ["True", "False"])
    def test_gt002_a_terminating_pod_is_read_as_any_other(self, status: str) -> None:
        staying = read(pod(condition("Ready", status)))
        going = read(pod(condition("Ready", status), metadata={"deletionTimestamp": SINCE}))
        assert not staying.deleting
        assert going == replace(staying, deleting=True, deletion_time=SINCE)

    @pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded", "Failed", "Unknown"])
    def test_gt002_the_phase_does_not_say_whether_a_pod_is_ready(self, phase: str) -> None:
        assert read(pod(condition("Ready"), phase=phase)).ready
        assert not read(pod(condition("Ready", "False"), phase=phase)).ready


@pytest.mark.req("GT-001")
class TestController:
    def test_the_controller_is_the_owner(self) -> None:
        references = [
            owner("uid-plain", controller=False),
            owner("uid-clique"),
            {"kind": "Node", "name": "node-1", "uid": "uid-node"},
            owner("uid-null", controller=None),
        ]
        assert read(pod(metadata={"ownerReferences": references})).owner_uid == "uid-clique"

    @pytest.mark.parametrize("references", [None, [], [owner("uid-plain", controller=False)]])
    def test_a_pod_without_a_controller_is_unowned(self, references: object) -> None:
        assert read(pod(metadata={"ownerReferences": references})).owner_uid == ""

    def test_the_labels_do_not_say_whose_it_is(self) -> None:
        labels = {"grove.io/podclique": "llm-0-router"}
        owned = read(pod(metadata={"ownerReferences": [owner("uid-old")], "labels": labels}))
        assert owned.owner_uid == "uid-old"
        assert read(pod(metadata={"labels": labels})).owner_uid == ""

    def test_two_controllers_are_refused(self) -> None:
        references = [owner("uid-one"), owner("uid-plain", controller=False), owner("uid-two")]
        assert paths_of(pod(metadata={"ownerReferences": references})) == ["metadata.ownerReferences[2].controller"]

    @pytest.mark.parametrize("controls", ["true", 1, ["yes"]])
    def test_the_controller_flag_is_true_or_false(self, controls: object) -> None:
        reference = {**owner("uid-clique"), "controller": controls}
        with pytest.raises(MalformedObject, match="controller"):
            read(pod(metadata={"ownerReferences": [reference]}))

    @pytest.mark.parametrize("uid", ["", None, 5, ["uid"]])
    @pytest.mark.req("IN-034")
    def test_a_controller_has_a_uid(self, uid: object) -> None:
        assert paths_of(pod(metadata={"ownerReferences": [owner("x") | {"uid": uid}]})) == [
            "metadata.ownerReferences[0].uid"
        ]


class TestSet:
    """Which set a pod is of, by a label of any family (D3)."""

    @pytest.mark.parametrize("key", SET.keys)
    def test_any_family_of_labels_counts(self, key: str) -> None:
        assert read(pod(metadata={"labels": {key: "llm"}})).set_name == "llm"
        assert paths_of(pod(metadata={"labels": {key: 5}})) == [f"metadata.labels.{key}"]

    def test_the_first_that_is_set_counts(self) -> None:
        assert (
            read(pod(metadata={"labels": {SET.primary: "", SET.design: "llm", SET.keys[2]: "other"}})).set_name == "llm"
        )
        assert read(pod()).set_name == ""


class TestConditions:
    """Ready, placed, gated."""

    @pytest.mark.parametrize("status", STATES)
    def test_gt002_ready_is_the_condition_ready_being_true(self, status: str | None) -> None:
        conditions = [condition("ContainersReady"), *([condition("Ready", status)] if status else [])]
        assert read(pod(*conditions)).ready is (status == "True")

    @pytest.mark.parametrize("status", STATES)
    def test_gt002_scheduled_is_the_condition_podscheduled_being_true(self, status: str | None) -> None:
        conditions = [condition("Initialized"), *([condition("PodScheduled", status)] if status else [])]
        assert read(pod(*conditions)).scheduled is (status == "True")

    @pytest.mark.parametrize(
        ("status", "reason"),
        tuple(product(("True", "False", "Unknown"), ("SchedulingGated", "Unschedulable", "", None))),
    )
    def test_gt002_gated_is_podscheduled_being_false_for_that_reason(self, status: str, reason: str | None) -> None:
        gated = read(pod(condition("PodScheduled", status, reason=reason))).gated
        assert gated is (status == "False" and reason == "SchedulingGated")

    def test_gt002_a_node_alone_does_not_make_it_placed(self) -> None:
        bound = read(pod(spec={"nodeName": "node-1"}))
        assert (bound.node, bound.scheduled) == ("node-1", False)

    @pytest.mark.parametrize("kind", ["Ready", "PodScheduled"])
    @pytest.mark.parametrize("status", [True, False, 1, "true", "", None, ["True"], {"True": 1}], ids=repr)
    def test_a_status_is_one_of_three_strings(self, kind: str, status: object) -> None:
        raw = pod(condition("Initialized"), condition(kind) | {"status": status})
        assert paths_of(raw) == ["status.conditions[1].status"]

    def test_the_status_of_other_conditions_is_ignored(self) -> None:
        assert read(pod(condition("Custom") | {"status": 5}, condition("Ready"))).ready


class TestTrouble:
    """The server's shortest word for why a pod is not ready."""

    @pytest.mark.parametrize(
        ("raw", "word"),
        [
            (pod(), ""),
            (pod(reason="Evicted"), "Evicted"),
            (pod(condition("PodScheduled", "False", reason="Unschedulable")), "Unschedulable"),
            (pod(condition("PodScheduled", "False", reason="Unschedulable"), reason="NodeLost"), "NodeLost"),
            (pod(condition("PodScheduled", "True", reason="Any")), ""),
            (pod(condition("PodScheduled", "False", reason=None)), ""),
            (pod(containerStatuses=[{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]), "ImagePullBackOff"),
            (pod(containerStatuses=[{"state": {"terminated": {"reason": "OOMKilled"}}}]), "OOMKilled"),
            (pod(containerStatuses=[{"state": {"running": {}}}, {"state": {"waiting": {"reason": "B"}}}]), "B"),
            (pod(containerStatuses=[{"state": None}, {"state": {"waiting": None}}, {}]), ""),
            (pod(containerStatuses=[{"state": {"terminated": {"reason": "Completed"}}}]), ""),
            (pod(containerStatuses=[{"ready": True, "state": {"waiting": {"reason": "Odd"}}}]), ""),
            (
                pod(
                    initContainerStatuses=[{"state": {"waiting": {"reason": "First"}}}],
                    containerStatuses=[{"state": {"waiting": {"reason": "PodInitializing"}}}],
                ),
                "First",
            ),
            (pod(containerStatuses=[{"state": {"waiting": {"reason": "Crash"}}}], reason="Evicted"), "Crash"),
        ],
    )
    def test_the_first_word_that_explains_it(self, raw: Json, word: str) -> None:
        assert read(raw).trouble == word

    def test_a_ready_pod_has_none(self) -> None:
        waiting = [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
        assert read(pod(condition("Ready"), containerStatuses=waiting, reason="Odd")).trouble == ""


class TestSharing:
    """Pods of one clique share their strings."""

    def test_equal_strings_of_many_pods_are_one(self) -> None:
        shared: dict[str, str] = {}
        printed = json.dumps(
            pod(
                condition("PodScheduled", "False", reason="Unschedulable"),
                metadata={
                    "ownerReferences": [owner("uid-clique")],
                    "labels": {"grove.io/pod-template-hash": "h1h", "grove.io/podgang": "llm-0"},
                },
                phase="Pending",
            )
        )
        first, second = (pod_from_json(json.loads(printed), shared) for _ in range(2))
        for name in ("namespace", "owner_uid", "template_hash", "gang", "node", "phase", "trouble"):
            assert getattr(first, name) is getattr(second, name), name
        assert {"ml", "uid-clique", "h1h", "llm-0", "node-1", "Pending", "Unschedulable"} <= shared.keys()

    def test_what_is_unique_is_not_kept(self) -> None:
        shared: dict[str, str] = {}
        known = pod_from_json(SOUND, shared)
        assert not {known.name, known.uid} & shared.keys()

    @given(almost(SOUND))
    def test_what_was_seen_before_changes_nothing(self, raw: Any) -> None:
        shared: dict[str, str] = {}
        pod_from_json(SOUND, shared)
        assert outcome(lambda seen: pod_from_json(seen, shared), raw) == outcome(read, raw)


class TestFaults:
    """A pod that does not read is refused, with every fault and where it is."""

    @pytest.mark.parametrize(
        ("raw", "paths"),
        [
            (None, ["metadata.name"]),
            ({}, ["metadata.name"]),
            ([], ["", "metadata.name"]),
            ("pod", ["", "metadata.name"]),
            ({"metadata": 5}, ["metadata", "metadata.name"]),
            ({"metadata": {"name": ""}}, ["metadata.name"]),
            ({"metadata": {"name": 5}}, ["metadata.name"]),
            (pod(metadata={"namespace": 5}), ["metadata.namespace"]),
            (pod(metadata={"uid": 5}), ["metadata.uid"]),
            (pod(metadata={"resourceVersion": 7}), ["metadata.resourceVersion"]),
            (pod(metadata={"labels": ["a"]}), ["metadata.labels"]),
            (pod(metadata={"labels": {"grove.io/podgang": 5}}), ["metadata.labels.grove.io/podgang"]),
            (
                pod(metadata={"labels": {"grove.io/pod-template-hash": ["h"]}}),
                ["metadata.labels.grove.io/pod-template-hash"],
            ),
            (pod(metadata={"ownerReferences": {"a": 1}}), ["metadata.ownerReferences"]),
            (pod(metadata={"ownerReferences": [None]}), ["metadata.ownerReferences[0]"]),
            (pod(metadata={"ownerReferences": ["a"]}), ["metadata.ownerReferences[0]"]),
            (pod(metadata={"deletionTimestamp": 5}), ["metadata.deletionTimestamp"]),
            ({**pod(), "spec": "a"}, ["spec"]),
            (pod(spec={"nodeName": 5}), ["spec.nodeName"]),
            (pod(spec={"schedulingGates": [{}]}), ["spec.schedulingGates[0].name"]),
            (pod(spec={"schedulingGates": [5]}), ["spec.schedulingGates[0]", "spec.schedulingGates[0].name"]),
            (pod(spec={"schedulingGates": 5}), ["spec.schedulingGates"]),
            ({**pod(), "status": ["a"]}, ["status"]),
            (pod(phase=5), ["status.phase"]),
            (pod(reason=5), ["status.reason"]),
            ({**pod(), "status": {"conditions": "abc"}}, ["status.conditions"]),
            ({**pod(), "status": {"conditions": [None]}}, ["status.conditions[0]", "status.conditions[0].type"]),
            ({**pod(), "status": {"conditions": [{"status": "True"}]}}, ["status.conditions[0].type"]),
            (pod({"type": "Ready"}), ["status.conditions[0].status"]),
            (pod(condition("PodScheduled", "False", reason=5)), ["status.conditions[0].reason"]),
            (pod(containerStatuses={"a": 1}), ["status.containerStatuses"]),
            (pod(containerStatuses=[5]), ["status.containerStatuses[0]"]),
            (pod(initContainerStatuses=[None]), ["status.initContainerStatuses[0]"]),
            (pod(containerStatuses=[{"state": "up"}]), ["status.containerStatuses[0].state"]),
            (pod(containerStatuses=[{"state": {"waiting": "up"}}]), ["status.containerStatuses[0].state.waiting"]),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) and value else "",
    )
    def test_a_fault_has_its_path(self, raw: object, paths: list[str]) -> None:
        assert paths_of(raw) == paths

    def test_all_faults_are_reported_at_once(self) -> None:
        raw = pod(
            condition("Ready") | {"status": True},
            condition("PodScheduled") | {"status": None},
            metadata={"uid": 5, "labels": {"grove.io/podgang": 5}},
            spec={"nodeName": []},
            phase=5,
        )
        assert paths_of({**raw, "spec": {"nodeName": {}}}) == [
            "metadata.uid",
            "metadata.labels.grove.io/podgang",
            "spec.nodeName",
            "status.phase",
            "status.conditions[0].status",
            "status.conditions[1].status",
        ]

    def test_an_unexplained_object_is_still_refused(self) -> None:
        assert paths_of(pod(metadata={"deletionTimestamp": TextOfAnotherType(SINCE)})) == [""]

    @given(any_json() | almost(SOUND))
    @example(raw=SOUND)
    def test_any_json_is_a_pod_or_malformed(self, raw: Any) -> None:
        known = outcome(read, raw)
        if isinstance(known, Pod):
            assert known.name
            flat = (
                name for name in Pod.__slots__ if name not in {"node_signs", "foreign_gates", "manifest", "requests"}
            )
            assert all(isinstance(getattr(known, name), str | bool | int) for name in flat)
            assert all(isinstance(name, str) for name in known.foreign_gates)
            assert isinstance(known.node_signs, NodeLossSigns | None)
            assert isinstance(known.manifest, FrozenMap | None)
            assert isinstance(known.requests, dict | None)
            assert not (known.gated and known.scheduled)
            return
        assert known
        assert len(set(known)) == len(known)
        for problem in known:
            assert is_there(raw, problem.path, {other.path for other in known}), problem
            assert problem.expected != "a pod", "a fault without an explanation"

    @given(almost(SOUND))
    def test_reading_leaves_the_json_as_it_was(self, raw: Any) -> None:
        before = repr(raw)
        first = outcome(read, raw)
        assert repr(raw) == before
        assert outcome(read, raw) == first


@pytest.mark.parametrize(("label", "index"), [("0", 0), ("12", 12), ("", -1), ("one", -1), (None, -1)])
def test_wl085_the_index_is_read_from_its_label(label: str | None, index: int) -> None:
    labels = {} if label is None else {POD_INDEX: label}
    assert read(pod(metadata={"labels": labels})).index == index


@pytest.mark.parametrize(("gates", "held"), [([], False), (["foreign"], False), (["foreign", GATE], True)])
def test_wl088_only_grove_s_own_gate_is_ours(gates: list[str], *, held: bool) -> None:
    assert read(pod(spec={"schedulingGates": [{"name": name} for name in gates]})).has_grove_gate is held


def test_the_name_of_the_namespace_may_be_left_out() -> None:
    assert read({"metadata": meta("a") | {"namespace": ""}}).namespace == "default"


@pytest.mark.parametrize(
    ("container", "path"),
    [
        ({"state": {"waiting": {"reason": 5}}}, "state.waiting.reason"),
        ({"state": {"terminated": {"reason": 5}}}, "state.terminated.reason"),
        ({"lastState": {"terminated": {"exitCode": "x"}}}, "lastState.terminated.exitCode"),
    ],
)
def test_gt025_all_that_is_wrong_with_a_pod_is_said_once_it_does_not_read(container: Json, path: str) -> None:
    raw = {"metadata": META, "spec": {}, "status": {"phase": 5, "containerStatuses": [container]}}
    with pytest.raises(MalformedObject) as caught:
        pod_from_json(raw, {})
    assert [one.path for one in caught.value.problems] == ["status.phase", f"status.containerStatuses[0].{path}"]
