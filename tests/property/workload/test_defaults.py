"""Defaults of a manifest (WL-190)."""

import json
from copy import deepcopy
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.workload.admission.manifest_defaults import json_patch_between, podcliqueset_with_defaults
from grove_core.kernel.admission import Admit
from tests.property.resources.manifests import Json, almost, any_json, clique_set
from tests.property.workload.admission_examples import FULL, changed
from tests.property.workload.sets import clique_raw, set_raw

MANIFESTS: Final = (
    st.dictionaries(st.sampled_from(("metadata", "spec", "status")), any_json()) | almost(FULL) | almost(clique_set())
)


def clique_with(**spec: object) -> Any:
    raw = {"metadata": {"name": "llm"}, "spec": {"template": {"cliques": [{"name": "a", "spec": spec}]}}}
    assert isinstance(admit(raw).verdict, Admit)
    return podcliqueset_with_defaults(raw)["spec"]["template"]["cliques"][0]["spec"]


class TestWL190:
    """A field of the table below that is absent or null MUST get its default, and nothing else is changed. Written
    values stay, including 0 and values that cannot be read. A manifest that has its defaults already stays as it is.
    """

    @pytest.mark.parametrize("absent", [{}, {"replicas": None}, {"minAvailable": None}])
    def test_nothing_written_is_one_of_one(self, absent: Json) -> None:
        assert clique_with(**absent) == {"replicas": 1, "minAvailable": 1}

    def test_the_threshold_follows_the_replicas(self) -> None:
        assert clique_with(replicas=5) == {"replicas": 5, "minAvailable": 5}
        assert clique_with(replicas=5, minAvailable=2) == {"replicas": 5, "minAvailable": 2}

    @pytest.mark.parametrize("replicas", [0, -1, "two", True, 2**31, [], 1.0])
    @pytest.mark.req("WL-190")
    def test_replicas_that_are_none_are_refused_and_followed_by_nothing(self, replicas: object) -> None:
        place = ("spec", "template", "cliques", 0)
        raw = changed(
            place, {"name": "router", "spec": {"replicas": replicas, "autoScalingConfig": {"maxReplicas": 5}}}
        )
        spec = podcliqueset_with_defaults(raw)["spec"]["template"]["cliques"][0]["spec"]
        assert spec == {"replicas": replicas, "autoScalingConfig": {"maxReplicas": 5}}
        assert not isinstance(admit(raw).verdict, Admit)


def test_wl190_the_floor_of_an_autoscaler() -> None:
    assert clique_with(autoScalingConfig={"maxReplicas": 5})["autoScalingConfig"] == {
        "maxReplicas": 5,
        "minReplicas": 1,
    }
    assert clique_with(replicas=3, autoScalingConfig={"maxReplicas": 5})["autoScalingConfig"]["minReplicas"] == 3
    place = ("spec", "template", "podCliqueScalingGroups", 0)
    for replicas, expected in ((4, 4), (..., 1)):
        raw = changed((*place, "scaleConfig"), {"maxReplicas": 5}, changed((*place, "replicas"), replicas))
        group = podcliqueset_with_defaults(raw)["spec"]["template"]["podCliqueScalingGroups"][0]
        assert group["scaleConfig"]["minReplicas"] == expected


def test_wl190_everything_that_has_a_default() -> None:
    raw = {
        "metadata": {"name": "llm", "namespace": ""},
        "spec": {
            "updateStrategy": {},
            "template": {
                "cliques": [{"name": "a", "spec": {"podSpec": {"restartPolicy": ""}}}],
                "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["a"]}],
            },
        },
    }
    assert podcliqueset_with_defaults(raw) == {
        "metadata": {"name": "llm", "namespace": "default"},
        "spec": {
            "replicas": 0,
            "updateStrategy": {"type": "RollingRecreate"},
            "template": {
                "cliqueStartupType": "CliqueStartupTypeAnyOrder",
                "headlessServiceConfig": {"publishNotReadyAddresses": True},
                "cliques": [
                    {
                        "name": "a",
                        "spec": {
                            "replicas": 1,
                            "minAvailable": 1,
                            "podSpec": {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30},
                        },
                    }
                ],
                "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["a"], "replicas": 1, "minAvailable": 1}],
            },
        },
    }


def test_wl190_an_absent_strategy_and_an_absent_pod_stay_absent() -> None:
    whole = podcliqueset_with_defaults(
        {"metadata": {"name": "llm"}, "spec": {"template": {"cliques": [{"name": "a", "spec": {}}]}}}
    )
    assert "updateStrategy" not in whole["spec"]
    assert "podSpec" not in whole["spec"]["template"]["cliques"][0]["spec"]


def _says(more: object, less: object) -> bool:
    """Whether everything that ``less`` says stands in ``more`` too; null and an empty text say nothing."""
    if isinstance(less, dict) and isinstance(more, dict):
        return all(value in (None, "") or (key in more and _says(more[key], value)) for key, value in less.items())
    if isinstance(less, list) and isinstance(more, list):
        return len(less) == len(more) and all(map(_says, more, less))
    return repr(more) == repr(less)


@given(MANIFESTS)
def test_wl190_what_is_written_stays(raw: Json) -> None:
    before = deepcopy(raw)
    assert _says(podcliqueset_with_defaults(raw), raw)
    assert repr(raw) == repr(before)


@given(MANIFESTS)
def test_wl190_no_delay_comes_from_nowhere(raw: Json) -> None:
    assert repr(podcliqueset_with_defaults(raw)).count("terminationDelay") == repr(raw).count("terminationDelay")


@given(MANIFESTS)
def test_wl190_defaults_are_set_once(raw: Json) -> None:
    once = podcliqueset_with_defaults(raw)
    assert repr(podcliqueset_with_defaults(once)) == repr(once)


@given(MANIFESTS, st.none() | MANIFESTS)
def test_wl157_the_verdict_is_that_of_the_defaults(new: Json, old: Json | None) -> None:
    assert admit(new, old) == admit(podcliqueset_with_defaults(new), old)
    if old is not None:
        assert admit(new, old) == admit(new, podcliqueset_with_defaults(old))


def patched(document: Any, patch: list[Json]) -> Any:
    """RFC 6902 as far as it is needed here."""
    whole = {"": deepcopy(document)}
    for operation in patch:
        *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")]
        place: Any = whole
        for step in steps:
            place = place[int(step) if isinstance(place, list) else step]
        if operation["op"] == "remove":
            del place[last]
        else:
            assert operation["op"] == "add" or isinstance(place, list) or last in place
            place[int(last) if isinstance(place, list) else last] = operation["value"]
    return whole[""]


@pytest.mark.req("WL-190")
class TestPatch:
    """The patch between a manifest and the same manifest with defaults turns the one into the other."""

    @given(MANIFESTS)
    def test_a_manifest_into_its_defaults(self, raw: Json) -> None:
        defaulted = podcliqueset_with_defaults(raw)
        patch = list(json_patch_between(raw, defaulted))
        assert repr_sorted(patched(raw, patch)) == repr_sorted(defaulted)
        assert list(json_patch_between(defaulted, podcliqueset_with_defaults(defaulted))) == []

    @given(any_json(), any_json())
    def test_any_json_into_any_other(self, before: Any, after: Any) -> None:
        assert repr_sorted(patched(before, list(json_patch_between(before, after)))) == repr_sorted(after)

    @given(any_json())
    def test_nothing_into_what_is_equal(self, value: Any) -> None:
        text = json.dumps(value)
        assert list(json_patch_between(json.loads(text), json.loads(text))) == []

    def test_it_is_small_and_escapes_keys(self) -> None:
        before = {"a/b": {"c~d": 1, "same": [1, 2], "gone": 0}, "list": [1, {"x": 1}], "short": [1]}
        after = {"a/b": {"c~d": 2, "same": [1, 2]}, "list": [1, {"x": True}], "short": [1, 2], "new": None}
        assert list(json_patch_between(before, after)) == [
            {"op": "remove", "path": "/a~1b/gone"},
            {"op": "replace", "path": "/a~1b/c~0d", "value": 2},
            {"op": "replace", "path": "/list/1/x", "value": True},
            {"op": "replace", "path": "/short", "value": [1, 2]},
            {"op": "add", "path": "/new", "value": None},
        ]


def repr_sorted(value: Any) -> str:
    """A text in which the order of keys does not matter, but ``1`` is not ``true`` and not ``1.0``."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{repr_sorted(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(repr_sorted, value)) + "]"
    return repr(value)


def test_wl190_the_largest_number_of_replicas_is_a_number() -> None:
    most = 2**31 - 1
    (clique,) = podcliqueset_with_defaults(set_raw(clique_raw("a", most)))["spec"]["template"]["cliques"]
    assert clique["spec"]["minAvailable"] == most
