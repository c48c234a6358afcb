"""A manifest is judged by its definition, and what a cluster stored is not (GT-103, WL-158, WL-159, IN-039)."""

from collections import Counter
from typing import Any, Final

import pytest
from hypothesis import given

from grove_core.admit import admit
from grove_core.kernel.admission import Admit, DenialReason, Deny
from grove_core.resources.api_names import GROVE
from grove_shell.manifests.crd_definitions import schema_for
from grove_shell.manifests.schema_validation import violations_in, with_schema_objections
from grove_shell.manifests.validation_rules import RULES
from tests.manifests.invalid_sets import Broken, broken, misspelt, sound
from tests.property.resources.manifests import Json, almost, any_json
from tests.property.workload.admission_examples import LEADER, Place, changed, path_of

BROKEN: Final = tuple(broken())


def objections(raw: Json, old: Json | None = None) -> tuple[DenialReason, ...]:
    verdict = with_schema_objections(raw, admit(raw, old)).verdict
    return verdict.objections if isinstance(verdict, Deny) else ()


def flaws(raw: Any) -> list[str]:
    schema = schema_for(GROVE, "PodCliqueSet")
    assert schema is not None
    return [flaw.path for flaw in violations_in(schema, raw)]


def spoilt(place: Place, value: object) -> Json:
    if place[-2:] == ("containers", 1):
        raw = sound()
        raw["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"].append(value)
        return raw
    return changed(place, value, sound())


def test_in039_a_sound_manifest_is_admitted() -> None:
    decision = admit(sound())
    assert isinstance(decision.verdict, Admit)
    assert with_schema_objections(sound(), decision) is decision


@pytest.mark.req("WL-159")
@pytest.mark.req("GT-103")
@pytest.mark.parametrize(("place", "value", "requirement", "words"), tuple(misspelt()))
def test_wl158_each_slip_is_told_with_its_place(place: Place, value: object, requirement: str, words: str) -> None:
    (found,) = [one for one in objections(spoilt(place, value)) if words in one.reason.sentence]
    assert found.reason.rule.requirement == requirement
    assert found.path.startswith(path_of(place))


def test_in039_what_a_cluster_stored_is_not_judged_again() -> None:
    raw = changed((*LEADER, "spec", "someNewField"), 1, sound())
    assert objections(raw)
    assert not objections(changed(("metadata", "uid"), "u", raw))


def test_wl158_all_of_it_is_one_report() -> None:
    raw = changed((*LEADER, "spec", "minAvailabe"), 1, changed(("spec", "replicas"), -1, sound()))
    raw = changed((*LEADER, "spec", "podSpec", "nodeName"), 5, raw)
    assert [one.reason.rule.requirement for one in objections(raw)] == ["GT-096", "WL-158", "GT-103"]


def test_wl158_what_is_said_of_a_list_does_not_hide_what_is_wrong_in_it() -> None:
    raw = changed((*LEADER, "spec", "minAvailabe"), 1, sound())
    raw["spec"]["template"]["cliques"].pop()
    told = {one.path: one.reason.rule.requirement for one in objections(raw, sound())}
    assert told["spec.template.cliques"] == "GT-101"
    assert told["spec.template.cliques[1].spec.minAvailabe"] == "WL-158"


def test_wl158_one_slip_is_told_once() -> None:
    for place, value, _, _ in misspelt():
        paths = [one.path for one in objections(spoilt(place, value)) if one.path.startswith(path_of(place))]
        assert len(paths) == len(set(paths)), place


@pytest.mark.parametrize("case", BROKEN, ids=[f"{index}-{case.requirement}" for index, case in enumerate(BROKEN)])
def test_mf005_what_a_definition_refuses_admission_refuses(case: Broken) -> None:
    assert case.requirement in {one.reason.rule.requirement for one in objections(case.new, case.old)}


def test_mf005_every_rule_of_the_definition_is_broken_once() -> None:
    cited = Counter(check.requirement for check in RULES if check.requirement)
    assert cited.keys() == {case.requirement for case in BROKEN}
    assert all(check.cel or check.keywords for check in RULES)


def test_mf005_keywords_refuse_what_they_are_for() -> None:
    told = {check.requirement for check in RULES if check.keywords} - {""}
    for case in BROKEN:
        if case.requirement in told and case.old is None and case.requirement not in {"GT-094", "GT-095"}:
            assert flaws(case.new), case.requirement


@given(any_json() | almost(sound()))
def test_in039_judging_is_total(raw: Any) -> None:
    paths = flaws(raw)
    assert paths == flaws(raw)
    if isinstance(raw, dict):
        decision = admit(raw)
        stricter = with_schema_objections(raw, decision)
        if isinstance(decision.verdict, Deny):
            assert isinstance(stricter.verdict, Deny)
            assert set(decision.verdict.objections) <= set(stricter.verdict.objections)
