"""Tests for mutants of readers that no other test killed (specs/mutants.md)."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap, freeze, thaw_json
from grove_core.resources.api_names import CLAIM_VERSIONS, GROVE
from grove_core.resources.compute_domain import compute_domain_from_json
from grove_core.resources.configuration import ServedApis
from grove_core.resources.domain_and_claim_formats import resource_claim_format_to_write
from grove_core.resources.domain_sharing import ComputeDomainUser, clique_indices_from_labels
from grove_core.resources.domain_sharing_labels import domain_user_in_manifest_labels
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.labels import LabelKeys
from grove_core.resources.merge_patch import merge_patch_of_wanted_fields
from grove_core.resources.metadata_readers import read_conditions, read_replica_index
from grove_core.resources.object_after_write import object_after_merge_patch
from grove_core.resources.owned_object import owned_object_from_json
from grove_core.resources.pod import pod_from_json
from grove_core.resources.pod_demand import pod_demand_of
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.podgang import GangPackConstraint, podgang_from_json
from grove_core.resources.scaling_group import scaling_group_from_json

Json = dict[str, Any]
META: Final[Json] = {"name": "llm-0-a", "namespace": "ml", "uid": "u", "resourceVersion": "1", "generation": 3}
LABELS: Final = {"app.kubernetes.io/part-of": "llm", "grove.io/podcliqueset-replica-index": "0"}
OWNED: Final = [{"kind": "PodCliqueSet", "name": "llm", "uid": "s", "controller": True}]


def a_map(value: Json) -> FrozenMap:
    found = freeze(value)
    assert isinstance(found, FrozenMap)
    return found


def test_ms036_the_nodes_that_a_domain_waits_for_follow_its_spec() -> None:
    domain = compute_domain_from_json({"metadata": META, "spec": {"numNodes": 2}})
    assert object_after_merge_patch(domain, a_map({"spec": {"numNodes": 5}})).num_nodes == 5


@pytest.mark.parametrize(("operator", "unchecked"), [("", False), ("Equal", False), ("Exists", False), ("Gt", True)])
def test_tp106_tolerations_by_comparison_are_not_looked_at(operator: str, *, unchecked: bool) -> None:
    found = pod_demand_of({"tolerations": [{"key": "a", "operator": operator}]}).unchecked
    assert found == (("tolerations by comparison",) if unchecked else ())


def test_gt025_what_is_no_flag_is_quoted() -> None:
    fields = JsonFieldReader({"on": "yes"}, "", [])
    assert fields.boolean("on") is None
    assert [(one.path, one.expected, one.got) for one in fields.problems] == [("on", "true or false", '"yes"')]


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


@pytest.mark.parametrize("group", ["llm-0-pool", "pool"])
def test_ms020_a_position_in_a_group_is_found_by_full_and_short_names(group: str) -> None:
    labels = {**LABELS, "grove.io/podcliquescalinggroup": group, "grove.io/podcliquescalinggroup-replica-index": "1"}
    raw = {"metadata": {**META, "name": "llm-0-pool-1-b", "labels": labels}, "spec": {"podSpec": {}}}
    position = clique_indices_from_labels(podclique_from_json(raw))
    assert position is not None
    assert (position.clique, position.group) == ("b", ("llm-0-pool", 1))


def test_wl025_what_differs_inside_an_object_is_written() -> None:
    stored = a_map({"scaleTargetRef": {"name": "a", "kind": "x"}, "maxReplicas": 3})
    wanted = a_map({"scaleTargetRef": {"name": "b", "kind": "x"}, "maxReplicas": 3})
    assert thaw_json(merge_patch_of_wanted_fields(wanted, stored)) == {"scaleTargetRef": {"name": "b"}}


@pytest.mark.parametrize(("stored", "same"), [("1000m", True), ("2", False)])
def test_wl025_quantities_in_a_list_are_compared_as_numbers(stored: str, *, same: bool) -> None:
    one, other = ({"requests": [{"limits": {"cpu": amount}}]} for amount in ("1", stored))
    assert (not merge_patch_of_wanted_fields(a_map(one), a_map(other))) is same


def test_tp020_the_constraint_of_each_clique_of_a_gang_is_read() -> None:
    constraint = {"topologyConstraint": {"packConstraint": {"required": "r", "preferred": "h"}}}
    raw = {"metadata": META, "spec": {"podgroups": [{"name": "llm-0-a", "minReplicas": 1, **constraint}]}}
    assert podgang_from_json(raw).placement.cliques == (("llm-0-a", GangPackConstraint("r", "h")),)


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


@given(st.integers(0, 12), st.sampled_from(["0", "7", None]), st.sampled_from(["llm", "other", None]))
def test_gt026_a_member_is_of_the_replica_that_its_group_is_called_after(
    index: int, label: str | None, set_name: str | None
) -> None:
    """Also where the group is gone and cannot be read; the label counts where the name carries no index."""
    said = {"grove.io/podcliqueset-replica-index": label, "grove.io/podcliqueset": set_name}
    labels = {"grove.io/podcliquescalinggroup-replica-index": "0"} | {key: text for key, text in said.items() if text}
    owner = {"apiVersion": GROVE, "kind": "PodCliqueScalingGroup", "name": f"llm-{index}-g", "uid": "g"}
    meta = {"name": f"llm-{index}-g-0-b", "labels": labels, "ownerReferences": [{**owner, "controller": True}]}
    clique = podclique_from_json({"metadata": meta, "spec": {"podSpec": {}}})
    assert clique.replica_index == (index if set_name == "llm" else int(label or -1))


def test_gt052_what_was_read_of_parts_has_its_generation_and_base_gang() -> None:
    labels = {**LABELS, "grove.io/base-podgang": "llm-0"}
    meta = {**META, "labels": labels, "ownerReferences": OWNED}
    clique = podclique_from_json({"metadata": meta, "spec": {"podSpec": {}}})
    group = scaling_group_from_json({"metadata": meta, "spec": {"cliqueNames": ["a"]}})
    assert (clique.generation, clique.base_gang, group.generation) == (3, "llm-0", 3)


@pytest.mark.parametrize(("version", "nested"), list(zip(CLAIM_VERSIONS, (True, True, False), strict=True)))
def test_ms023_newer_versions_ask_for_exactly_this(version: str, *, nested: bool) -> None:
    dialect = resource_claim_format_to_write(ServedApis(claims=version))
    asked = {"deviceClassName": "c", "count": 1}
    request = {"name": "r", "exactly": asked} if nested else {"name": "r", **asked}
    assert dialect.api_version == version
    assert thaw_json(dialect.spec_for("r", a_map(asked))) == {"devices": {"requests": [request]}}


def test_ms036_labels_name_the_objects_it_will_serve() -> None:
    shared = {**LABELS, "grove.io/mnnvl-managed": "true"}
    assert domain_user_in_manifest_labels(a_map({"metadata": {"labels": shared}})) == ComputeDomainUser(
        "llm", "0", "", "", ""
    )
    assert domain_user_in_manifest_labels(a_map({"metadata": {"labels": LABELS}})) is None
    assert domain_user_in_manifest_labels(a_map({"metadata": {}})) is None


@pytest.mark.parametrize(("raw", "paths"), [({}, ["apiVersion", "kind"]), ({"kind": 5, "apiVersion": "v1"}, ["kind"])])
def test_in030_what_says_not_what_it_is_is_reported(raw: dict[str, Any], paths: list[str]) -> None:
    with pytest.raises(MalformedObject) as caught:
        owned_object_from_json(raw)
    assert [problem.path for problem in caught.value.problems if "metadata" not in problem.path] == paths
