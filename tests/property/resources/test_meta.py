"""Identity, owner and conditions are read alike from every kind."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Guard
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED as OWN
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.labels import LabelKeys
from grove_core.resources.metadata_readers import Resource, read_conditions, read_replica_index
from grove_core.resources.owned_object import owned_object_from_json
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.resources.podgang import podgang_from_json
from grove_core.resources.scaling_group import scaling_group_from_json
from tests.property.resources.manifests import SINCE, Json, clique, clique_set, condition, gang, group, owner

Reader = Callable[[Any], Any]
WITH_META: Final = (
    pytest.param(podclique_from_json, clique(), id="PodClique"),
    pytest.param(scaling_group_from_json, group(), id="PodCliqueScalingGroup"),
    pytest.param(podcliqueset_from_json, clique_set(), id="PodCliqueSet"),
    pytest.param(podgang_from_json, gang(), id="PodGang"),
)
WITH_STATUS: Final = WITH_META[:3]


def paths_of(read: Reader, raw: Json) -> list[str]:
    with pytest.raises(MalformedObject) as caught:
        read(raw)
    return [problem.path for problem in caught.value.problems]


def with_meta(raw: Json, **more: object) -> Json:
    return {**raw, "metadata": {**raw["metadata"], **more}}


@pytest.mark.parametrize(("read", "raw"), WITH_META)
class TestMetadata:
    """What every object carries."""

    @pytest.mark.req("PL-004")
    def test_identity_owner_and_finalizers(self, read: Reader, raw: Json) -> None:
        references = [owner("uid-x", controller=False), owner("uid-llm", kind="PodCliqueSet", name="llm")]
        known: Resource = read(
            with_meta(raw, uid="u", resourceVersion="8", finalizers=["a", "b"], ownerReferences=references)
        )
        assert known.guard == Guard("u", "8")
        assert known.finalizers == ("a", "b")
        assert (known.owner_uid, known.owner_kind, known.owner_name) == ("uid-llm", "PodCliqueSet", "llm")
        assert known.ref.name == raw["metadata"]["name"]
        assert known.ref.namespace == "ml"
        assert not known.deleting

    def test_a_namespace_that_is_not_written_is_default(self, read: Reader, raw: Json) -> None:
        assert read(with_meta(raw, namespace=None)).ref.namespace == "default"

    def test_an_accepted_deletion_is_seen(self, read: Reader, raw: Json) -> None:
        assert read(with_meta(raw, deletionTimestamp=SINCE)).deleting

    def test_its_faults_are_reported_where_they_are(self, read: Reader, raw: Json) -> None:
        references = [owner(uid, kind="PodCliqueSet", name="llm") for uid in ("uid-one", "uid-two")]
        assert paths_of(
            read,
            with_meta(
                raw, uid=1, resourceVersion=2, finalizers=["a", 3], deletionTimestamp="now", ownerReferences=references
            ),
        ) == [
            "metadata.ownerReferences[1].controller",
            "metadata.uid",
            "metadata.resourceVersion",
            "metadata.finalizers[1]",
            "metadata.deletionTimestamp",
        ]

    def test_a_controller_needs_a_uid(self, read: Reader, raw: Json) -> None:
        bad = owner("x", kind="PodCliqueSet", name="llm") | {"uid": None}
        assert paths_of(read, with_meta(raw, ownerReferences=[bad])) == ["metadata.ownerReferences[0].uid"]

    def test_whether_an_owner_controls_is_true_or_false(self, read: Reader, raw: Json) -> None:
        first = owner("uid-llm", kind="PodCliqueSet", name="llm")
        assert paths_of(read, with_meta(raw, ownerReferences=[first, owner("x", controller="yes")])) == [
            "metadata.ownerReferences[1].controller"
        ]


@pytest.mark.parametrize(("read", "raw"), WITH_STATUS)
class TestConditions:
    """Conditions are read whole or not at all."""

    def test_they_come_sorted_by_type(self, read: Reader, raw: Json) -> None:
        stored = [condition("B", "Unknown", reason="R", message="M"), condition("A", "False", reason=None)]
        since = parse_time(SINCE)
        assert since is not None
        assert read({**raw, "status": {"conditions": stored}}).status.conditions == (
            Condition("A", ConditionStatus.FALSE, "", "", since),
            Condition("B", ConditionStatus.UNKNOWN, "R", "M", since),
        )

    @pytest.mark.req("GT-019")
    @pytest.mark.parametrize("since", [None, "", "yesterday", "2026-11-20", 5])
    def test_gt019_a_condition_says_since_when(self, read: Reader, raw: Json, since: object) -> None:
        stored = [condition("A"), condition("MinAvailableBreached") | {"lastTransitionTime": since}]
        assert paths_of(read, {**raw, "status": {"conditions": stored}}) == ["status.conditions[1].lastTransitionTime"]

    @pytest.mark.parametrize("status", ["true", "Maybe", True, None, "", 1])
    def test_a_status_is_one_of_three_strings(self, read: Reader, raw: Json, status: object) -> None:
        stored = [condition(OWN) | {"status": status}]
        assert paths_of(read, {**raw, "status": {"conditions": stored}}) == ["status.conditions[0].status"]

    @pytest.mark.parametrize("odd", [{"status": "Maybe"}, {"lastTransitionTime": None}, {"reason": 5}, {"message": []}])
    def test_in053_an_odd_condition_of_others_refuses_nothing(self, read: Reader, raw: Json, odd: Json) -> None:
        stored = [condition("example.com/gate") | odd, condition(OWN)]
        found = read({**raw, "status": {"conditions": stored}}).status.conditions
        assert [one.type for one in found] == [OWN]

    def test_two_of_one_type_are_refused(self, read: Reader, raw: Json) -> None:
        stored = [condition(OWN), condition("B"), condition(OWN, "False")]
        assert paths_of(read, {**raw, "status": {"conditions": stored}}) == ["status.conditions[2].type"]

    def test_all_their_faults_are_reported_at_once(self, read: Reader, raw: Json) -> None:
        stored = [{}, condition(OWN, reason=5, message=6), "B"]
        assert set(paths_of(read, {**raw, "status": {"conditions": stored}})) == {
            "status.conditions[0].type",
            "status.conditions[0].status",
            "status.conditions[0].lastTransitionTime",
            "status.conditions[1].reason",
            "status.conditions[1].message",
            "status.conditions[2]",
            "status.conditions[2].type",
            "status.conditions[2].status",
            "status.conditions[2].lastTransitionTime",
        }


def test_a_sound_condition_beside_a_bad_one_is_still_read() -> None:
    status = JsonFieldReader({"conditions": [condition("A"), condition(OWN) | {"status": 5}]}, "status", [])
    assert [stored.type for stored in read_conditions(status)] == ["A"]
    assert [problem.path for problem in status.problems] == ["status.conditions[1].status"]


@pytest.mark.parametrize(("text", "got"), [("x", '"x"'), ("", "nothing")])
def test_gt026_what_is_no_index_is_quoted(text: str, got: str) -> None:
    labels = JsonFieldReader({"replica": text} if text else {}, "metadata.labels", [])
    assert read_replica_index(labels, LabelKeys("replica", "other"), None) == -1
    assert [problem.got for problem in labels.problems] == [got]


def test_gt025_what_is_wrong_with_conditions_is_said() -> None:
    sound = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T09:00:00Z"}
    fields = JsonFieldReader({"conditions": [{**sound, "status": "true"}, sound, sound]}, "status", [])
    assert [one.reason for one in read_conditions(fields)] == [""]
    assert {problem.path: problem.expected for problem in fields.problems} == {
        "status.conditions[0].status": "True, False or Unknown as a string",
        "status.conditions[2].type": "one condition of each type",
    }


@pytest.mark.parametrize(("raw", "paths"), [({}, ["apiVersion", "kind"]), ({"kind": 5, "apiVersion": "v1"}, ["kind"])])
def test_in030_what_says_not_what_it_is_is_reported(raw: dict[str, Any], paths: list[str]) -> None:
    with pytest.raises(MalformedObject) as caught:
        owned_object_from_json(raw)
    assert [problem.path for problem in caught.value.problems if "metadata" not in problem.path] == paths
