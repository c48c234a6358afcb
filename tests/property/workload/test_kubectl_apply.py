"""An edit as it is stored: merged as kubectl does, with the defaults of the stored set (WL-198)."""

import copy
import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.workload.admission.manifest_defaults import (
    LAST_APPLIED,
    manifest_after_kubectl_apply,
    podcliqueset_with_defaults,
)
from tests.property.resources.manifests import almost, any_json
from tests.property.workload.sets import raw_sets

Json = dict[str, Any]
SPEC: Final[Json] = {"replicas": 1, "template": {"cliques": [{"name": "a", "spec": {"replicas": 2, "podSpec": {}}}]}}


def stored(raw: Json, *, defaulted: bool, last: Json | None = None) -> Json:
    """The set as a cluster has it after the manifest was applied, with kubectl's note of the last one or without."""
    found = podcliqueset_with_defaults(raw) if defaulted else copy.deepcopy(raw)
    found["metadata"] = {**found["metadata"], "uid": "u", "resourceVersion": "7", "generation": 1}
    if last is not None:
        found["metadata"]["annotations"] = {**found["metadata"].get("annotations", {}), LAST_APPLIED: json.dumps(last)}
    return found


@given(raw_sets(), st.booleans(), st.booleans())
def test_wl198_the_same_manifest_again_changes_nothing(raw: Json, defaulted: bool, noted: bool) -> None:
    there = stored(raw, defaulted=defaulted, last=raw if noted else None)
    found = manifest_after_kubectl_apply(raw, there)
    assert found.manifest["spec"] == there["spec"]
    assert manifest_after_kubectl_apply(found.manifest, there).manifest["spec"] == there["spec"]


@given(raw_sets(), st.booleans())
def test_wl198_a_delay_that_was_not_written_stays(raw: Json, noted: bool) -> None:
    """Another admission has filled it in."""
    raw["spec"]["template"].pop("terminationDelay", None)
    there = stored(raw, defaulted=True, last=raw if noted else None)
    there["spec"]["template"]["terminationDelay"] = "4h0m0s"
    found = manifest_after_kubectl_apply(raw, there)
    assert found.manifest["spec"]["template"]["terminationDelay"] == "4h0m0s"
    assert "spec.template.terminationDelay" in found.kept


@given(raw_sets())
def test_wl198_a_delay_that_was_taken_out_goes(raw: Json) -> None:
    before = copy.deepcopy(raw)
    before["spec"]["template"]["terminationDelay"] = "2h"
    raw["spec"]["template"].pop("terminationDelay", None)
    found = manifest_after_kubectl_apply(raw, stored(before, defaulted=True, last=before))
    assert "terminationDelay" not in found.manifest["spec"]["template"]
    assert "spec.template.terminationDelay" not in found.kept
    raw["spec"]["template"]["terminationDelay"] = None
    found = manifest_after_kubectl_apply(raw, stored(before, defaulted=True))
    assert "terminationDelay" not in found.manifest["spec"]["template"], "null takes it away"


@pytest.mark.parametrize("defaulted", [True, False])
def test_wl198_a_default_is_filled_in_where_the_stored_set_has_it(defaulted: bool) -> None:
    raw: Json = {"metadata": {"name": "llm"}, "spec": copy.deepcopy(SPEC)}
    new = copy.deepcopy(raw)
    new["spec"]["template"]["cliques"].append({"name": "b", "spec": {"podSpec": {}}})
    first, second = manifest_after_kubectl_apply(new, stored(raw, defaulted=defaulted)).manifest["spec"]["template"][
        "cliques"
    ]
    assert ("restartPolicy" in first["spec"]["podSpec"]) is defaulted
    assert ("minAvailable" in first["spec"]) is defaulted
    assert second["spec"]["podSpec"]["restartPolicy"] == "Always", "there is nothing to compare a new clique with"
    assert second["spec"]["minAvailable"] == 1


@pytest.mark.parametrize("note", ["{", "[" * 100_000, "[]", "null", 7, None])
def test_wl198_a_note_that_is_no_manifest_takes_nothing_away(note: object) -> None:
    raw: Json = {"metadata": {"name": "llm"}, "spec": copy.deepcopy(SPEC)}
    there = stored(raw, defaulted=True)
    there["spec"]["template"]["terminationDelay"] = "2h"
    there["metadata"]["annotations"] = {LAST_APPLIED: note}
    found = manifest_after_kubectl_apply(raw, there)
    assert found.manifest["spec"] == there["spec"]
    assert "spec.template.terminationDelay" in found.kept


def test_wl198_labels_are_merged_as_well() -> None:
    raw = {"metadata": {"name": "llm", "labels": {"a": "1", "b": "1"}}, "spec": SPEC}
    there = stored(raw, defaulted=True, last=raw)
    there["metadata"]["labels"]["by-others"] = "x"
    new = {"metadata": {"name": "llm", "labels": {"a": "2"}}, "spec": SPEC}
    assert manifest_after_kubectl_apply(new, there).manifest["metadata"]["labels"] == {"a": "2", "by-others": "x"}


def test_wl198_lists_are_those_of_the_edit() -> None:
    raw = {"metadata": {"name": "llm"}, "spec": copy.deepcopy(SPEC)}
    there = stored(raw, defaulted=True)
    there["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["nodeSelector"] = {"a": "b"}
    (clique,) = manifest_after_kubectl_apply(raw, there).manifest["spec"]["template"]["cliques"]
    assert "nodeSelector" not in clique["spec"]["podSpec"]


@given(almost(SPEC), almost(SPEC), any_json(), st.booleans())
def test_wl198_whatever_is_given_there_is_an_answer(new: Any, there: Any, last: Any, broken: bool) -> None:
    note = "{" if broken else json.dumps(last)
    running = {"metadata": {"annotations": {LAST_APPLIED: note}}, "spec": there}
    assert (
        manifest_after_kubectl_apply({"metadata": {"name": "x"}, "spec": new}, running).manifest["metadata"]["name"]
        == "x"
    )
