"""A manifest is judged by its definition, and what a cluster stored is not (GT-103, WL-158, WL-159, IN-039)."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given

from grove_core.admit import admit
from grove_core.kernel.admission import Admit, DenialReason, Deny
from grove_core.resources.api_names import GROVE
from grove_shell.manifests.crd_definitions import schema_of_kind
from grove_shell.manifests.schema_validation import schema_violations_in, verdict_with_schema_objections
from tests.manifests.invalid_sets import Broken, broken, misspelt, sound
from tests.property.resources.manifests import Json, almost, any_json
from tests.property.workload.admission_examples import LEADER, Place, changed, path_of

BROKEN: Final = tuple(broken())
CLIQUE: Final = "template.cliques[]"
GROUP: Final = "template.podCliqueScalingGroups[]"
KEYWORDS: Final = {
    ("replicas", "minimum"): "GT-096",
    ("template.cliques", "minItems"): "GT-100",
    (f"{CLIQUE}.name", "minLength"): "WL-107",
    (f"{CLIQUE}.name", "maxLength"): "WL-110",
    (f"{CLIQUE}.spec.replicas", "minimum"): "GT-096",
    (f"{CLIQUE}.spec.minAvailable", "minimum"): "GT-094",
    (f"{GROUP}.name", "minLength"): "WL-108",
    (f"{GROUP}.replicas", "minimum"): "GT-096",
    (f"{GROUP}.minAvailable", "minimum"): "GT-095",
    ("template.resourceClaimTemplates[].name", "minLength"): "WL-140",
    **{
        (f"{level}.resourceSharing[].name", keyword): "WL-143"
        for level in ("template", CLIQUE, GROUP)
        for keyword in ("minLength", "maxLength")
    },
}
"""The rules of admission that keywords of the definition enforce, beside those in CEL, whose messages name theirs."""
LIMITS: Final = {
    ("template.cliques", "maxItems"): 100,
    ("template.podCliqueScalingGroups", "maxItems"): 32,
    (f"{CLIQUE}.spec.roleName", "maxLength"): 253,
    (f"{CLIQUE}.spec.startsAfter", "maxItems"): 100,
    (f"{CLIQUE}.spec.startsAfter[]", "maxLength"): 63,
    (f"{CLIQUE}.spec.podSpec.schedulerName", "maxLength"): 63,
    (f"{GROUP}.name", "maxLength"): 63,
    (f"{GROUP}.cliqueNames", "maxItems"): 100,
    (f"{GROUP}.cliqueNames[]", "maxLength"): 45,
    ("template.resourceSharing", "maxItems"): 50,
    (f"{GROUP}.resourceSharing", "maxItems"): 50,
    ("template.terminationDelay", "maxLength"): 63,
    ("template.clusterTopologyName", "maxLength"): 253,
    (f"{GROUP}.terminationDelay", "maxLength"): 63,
}
"""Limits of size: the cost of CEL is estimated for the longest list and the longest text."""


def parts_of(schema: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """The parts of a schema by path, without those that Kubernetes or the topology area declares."""
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        if path.endswith("podSpec") and name != "schedulerName":
            continue
        if name != "topologyConstraint":
            yield from parts_of(part, f"{path}.{name}".removeprefix("."))
    if "items" in schema:
        yield from parts_of(schema["items"], f"{path}[]")


def spec_of_sets() -> Json:
    schema = schema_of_kind(GROVE, "PodCliqueSet")
    assert schema is not None
    spec: Json = schema["properties"]["spec"]
    return spec


CEL: Final = tuple(rule for _, part in parts_of(spec_of_sets()) for rule in part.get("x-kubernetes-validations", ()))


def objections(raw: Json, old: Json | None = None) -> tuple[DenialReason, ...]:
    verdict = verdict_with_schema_objections(raw, admit(raw, old), old).verdict
    return verdict.objections if isinstance(verdict, Deny) else ()


def flaws(raw: Any) -> list[str]:
    schema = schema_of_kind(GROVE, "PodCliqueSet")
    assert schema is not None
    return [flaw.path for flaw in schema_violations_in(schema, raw)]


def spoilt(place: Place, value: object) -> Json:
    if place[-2:] == ("containers", 1):
        raw = sound()
        raw["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"].append(value)
        return raw
    return changed(place, value, sound())


def test_in039_a_sound_manifest_is_admitted() -> None:
    decision = admit(sound())
    assert isinstance(decision.verdict, Admit)
    assert verdict_with_schema_objections(sound(), decision) is decision


@pytest.mark.req("WL-159")
@pytest.mark.req("GT-103")
@pytest.mark.parametrize(("place", "value", "requirement", "words"), tuple(misspelt()))
def test_wl158_each_slip_is_reported_with_its_place(place: Place, value: object, requirement: str, words: str) -> None:
    (found,) = [one for one in objections(spoilt(place, value)) if words in one.reason.sentence]
    assert found.reason.rule.requirement == requirement
    assert found.path.startswith(path_of(place))


def test_in039_what_a_cluster_stored_is_not_judged_again() -> None:
    raw = changed((*LEADER, "spec", "someNewField"), 1, sound())
    assert objections(raw)
    assert not objections(changed(("metadata", "uid"), "u", raw))


def test_in039_an_edit_with_a_uid_is_judged_except_for_what_is_stored() -> None:
    """As with ``kubectl get -o yaml``, an editor, and ``kubectl apply``."""
    stored = changed(("spec", "ofANewerRelease"), 1, changed(("metadata", "uid"), "u", sound()))
    assert not objections(stored, stored)
    edit = changed(("spec", "replicaCount"), 2, stored)
    assert [one.path for one in objections(edit, stored)] == ["spec.replicaCount"]
    other = changed(("spec", "ofANewerRelease"), 2, stored)
    assert [one.path for one in objections(other, stored)] == ["spec.ofANewerRelease"]


def test_wl158_all_of_it_is_one_report() -> None:
    raw = changed((*LEADER, "spec", "minAvailabe"), 1, changed(("spec", "replicas"), -1, sound()))
    raw = changed((*LEADER, "spec", "podSpec", "nodeName"), 5, raw)
    assert [one.reason.rule.requirement for one in objections(raw)] == ["GT-096", "WL-158", "GT-103"]


def test_wl158_what_is_said_of_a_list_does_not_hide_what_is_wrong_in_it() -> None:
    raw = changed((*LEADER, "spec", "minAvailabe"), 1, sound())
    raw["spec"]["template"]["cliques"].pop()
    reported = {one.path: one.reason.rule.requirement for one in objections(raw, sound())}
    assert reported["spec.template.cliques"] == "GT-101"
    assert reported["spec.template.cliques[1].spec.minAvailabe"] == "WL-158"


def test_wl158_one_slip_is_reported_once() -> None:
    for place, value, _, _ in misspelt():
        paths = [one.path for one in objections(spoilt(place, value)) if one.path.startswith(path_of(place))]
        assert len(paths) == len(set(paths)), place


@pytest.mark.parametrize("case", BROKEN, ids=[f"{index}-{case.requirement}" for index, case in enumerate(BROKEN)])
def test_mf005_what_a_definition_refuses_admission_refuses(case: Broken) -> None:
    assert case.requirement in {one.reason.rule.requirement for one in objections(case.new, case.old)}


def test_mf005_every_rule_of_the_definition_is_broken_once() -> None:
    cited = {match[1] for rule in CEL if (match := re.search(r" \(([A-Z]+-\d+)\)$", rule["message"]))}
    assert all(rule["rule"] for rule in CEL)
    assert len(CEL) == 24
    assert cited | set(KEYWORDS.values()) == {case.requirement for case in BROKEN}


def test_mf005_every_keyword_is_a_rule_or_a_limit_of_size() -> None:
    words = ("minimum", "minItems", "maxItems", "minLength", "maxLength")
    found = {(path, word): part[word] for path, part in parts_of(spec_of_sets()) for word in words if word in part}
    assert found.keys() == KEYWORDS.keys() | LIMITS.keys()
    assert {place: value for place, value in found.items() if place in LIMITS} == LIMITS


def test_mf005_keywords_refuse_what_they_are_for() -> None:
    reported = set(KEYWORDS.values())
    for case in BROKEN:
        if case.requirement in reported and case.old is None and case.requirement not in {"GT-094", "GT-095"}:
            assert flaws(case.new), case.requirement


@given(any_json() | almost(sound()))
def test_in039_judging_is_total(raw: Any) -> None:
    paths = flaws(raw)
    assert paths == flaws(raw)
    if isinstance(raw, dict):
        decision = admit(raw)
        stricter = verdict_with_schema_objections(raw, decision)
        if isinstance(decision.verdict, Deny):
            assert isinstance(stricter.verdict, Deny)
            assert set(decision.verdict.objections) <= set(stricter.verdict.objections)
