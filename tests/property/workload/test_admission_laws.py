"""Laws of admission: for any JSON, and for sets with mistakes and with fields that do not read."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.gang_termination import rules as gang_termination
from grove_core.areas.workload.rules import WorkloadDenial, WorkloadWarning
from grove_core.kernel.admission import Deny
from grove_core.kernel.reasons import Rule
from tests.property.resources.manifests import Json, almost, any_json, is_there
from tests.property.workload.admission_examples import FULL, Found, Place, changed, objections, path_of, warnings

MANIFESTS: Final = st.dictionaries(st.sampled_from(("metadata", "spec", "status")), any_json()) | almost(FULL)
CHANGE_RULES: Final = {
    gang_termination.GangTerminationDenial.IMMUTABLE,
    *(rule for rule in WorkloadDenial if "WL-150" <= rule.requirement <= "WL-156"),
}


def _places(value: object, place: Place = ()) -> Iterator[Place]:
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    if isinstance(value, list):
        items = list(enumerate(value))
    for key, item in items:
        yield (*place, key)
        yield from _places(item, (*place, key))


@pytest.mark.req("GT-102", "GT-103", "WL-157")
@given(MANIFESTS, st.none() | MANIFESTS)
@example(new={}, old={})
@example(new=FULL, old={})
def test_wl157_any_json_gets_a_verdict(new: Any, old: Any) -> None:
    decision = admit(new, old)
    found = objections(new, old)
    for rule in {rule for _, rule, _ in found}:
        event(rule.requirement)
    assert isinstance(decision.verdict, Deny) == bool(found)
    for path, _, _ in found:
        assert is_there(new, path, {other for other, _, _ in found}), path
    assert len(set(found)) == len(set(getattr(decision.verdict, "objections", ())))
    assert [(path, rule.requirement) for path, rule, _ in found] == sorted(
        (path, rule.requirement) for path, rule, _ in found
    )
    assert {rule for _, rule, _ in warnings(new, old)} <= set(WorkloadWarning)


@given(MANIFESTS, st.none() | MANIFESTS)
def test_wl157_the_same_manifest_gets_the_same_answer(new: Any, old: Any) -> None:
    before = repr((new, old))
    first = admit(new, old)
    assert repr((new, old)) == before
    assert admit(deepcopy(new), deepcopy(old)) == first


@pytest.mark.req("GT-101")
@given(MANIFESTS)
def test_wl150_what_is_as_it_was_has_not_changed(raw: Any) -> None:
    assert not CHANGE_RULES & {rule for _, rule, _ in objections(raw, deepcopy(raw))}


def _mistaken() -> st.SearchStrategy[Json]:
    """A set with some mistakes, each of which reads."""
    clique, pool = ("spec", "template", "cliques"), ("spec", "template", "podCliqueScalingGroups", 0)
    mistakes: list[tuple[Place, object]] = [
        (("spec", "replicas"), -1),
        ((*clique, 0, "spec", "minAvailable"), 7),
        ((*clique, 0, "name"), "leader"),
        ((*clique, 0, "name"), "Router"),
        ((*clique, 1, "name"), "ghost"),
        ((*clique, 1, "spec", "roleName"), "router"),
        ((*clique, 1, "spec", "startsAfter"), ["router", "nobody"]),
        ((*clique, 1, "spec", "podSpec", "schedulerName"), "volcano"),
        ((*clique, 2, "spec", "replicas"), 0),
        ((*clique, 2, "spec", "autoScalingConfig"), {"maxReplicas": 1}),
        ((*clique, 0, "spec", "autoScalingConfig"), {"minReplicas": 1, "maxReplicas": 2}),
        ((*pool, "cliqueNames"), ["leader", "worker", "nobody"]),
        ((*pool, "minAvailable"), 4),
        ((*pool, "name"), "g" * 60),
        ((*pool, "terminationDelay"), "0s"),
        ((*pool, "resourceSharing", 0, "name"), "disk" * 20),
        (("spec", "template", "resourceClaimTemplates", 0, "name"), "disk"),
        (("spec", "template", "resourceSharing", 0, "namespace"), "ml"),
    ]
    return st.lists(st.sampled_from(mistakes), max_size=4).map(_with)


def _with(mistakes: list[tuple[Place, object]]) -> Json:
    raw = FULL
    for place, value in mistakes:
        raw = changed(place, value, raw)
    return raw


@pytest.mark.req("GT-103")
@given(_mistaken(), st.data())
def test_wl157_what_does_not_read_is_held_against_no_other_field(raw: Json, data: st.DataObject) -> None:
    """What was meant may have been anything, so also what stood there before: nothing new may come up beside it."""
    places = [place for place in _places(raw["spec"], ("spec",)) if place[-1] not in {"key", "devices"}]
    place = data.draw(st.sampled_from(places))
    junk = data.draw(st.sampled_from([5.5, "?", [[]], {"?": []}, ...]))
    path = path_of(place)
    found = objections(changed(place, junk, raw), FULL)
    if not any(rule.requirement == "GT-103" and where.startswith(path) for where, rule, _ in found):
        return  # something that reads, however strange
    event(path)
    beside = [one for one in found if not one.path.startswith(path) and one.rule.requirement != "GT-103"]
    assert _reported(beside) <= _reported(objections(raw, FULL))


def _reported(found: list[Found]) -> set[tuple[str, Rule]]:
    """Where and what; of two schedulers either may be said to differ from the other."""
    return {("" if rule is WorkloadDenial.SCHEDULERS_DIFFER else path, rule) for path, rule, _ in found}


@pytest.mark.req("GT-103")
@pytest.mark.parametrize("place", list(_places(FULL["spec"]["template"], ("spec", "template"))), ids=path_of)
@pytest.mark.parametrize("junk", [5.5, None, [5.5], ...], ids=["number", "null", "list", "absent"])
def test_wl157_what_does_not_read_hides_no_other_field(place: Place, junk: object) -> None:
    raw = changed(("spec", "replicas"), -1, changed(("metadata", "labels"), {"a b": "c"}))
    found = {(path, rule.requirement) for path, rule, _ in objections(changed(place, junk, raw), FULL)}
    assert found >= {("spec.replicas", "GT-096"), ("metadata.labels", "WL-102")}


@pytest.mark.req("GT-103")
def test_wl157_a_clique_name_that_is_no_text_hides_no_other_fault() -> None:
    raw = changed(("spec", "template", "podCliqueScalingGroups", 0, "cliqueNames"), ["leader", 5, "nobody"])
    raw = changed(("spec", "template", "cliques", 0, "spec", "minAvailable"), 9, raw)
    assert [(path.rpartition("template.")[2], rule.requirement) for path, rule, _ in objections(raw, FULL)] == [
        ("cliques[0].spec.minAvailable", "GT-094"),
        ("cliques[0].spec.minAvailable", "GT-101"),
        ("podCliqueScalingGroups[0].cliqueNames[1]", "GT-103"),
        ("podCliqueScalingGroups[0].cliqueNames[2]", "GT-097"),
    ]


def test_wl157_thousands_of_cliques_are_judged_in_no_time() -> None:
    cliques = [{**deepcopy(FULL["spec"]["template"]["cliques"][1]), "name": f"c{number}"} for number in range(2000)]
    for number, clique in enumerate(cliques):
        clique["spec"] = {**clique["spec"], "roleName": f"c{number}", "startsAfter": [f"c{number + 1}", "nobody"]}
    raw = changed(("spec", "template", "cliques"), cliques, FULL)
    raw["spec"]["template"].update(resourceSharing=[], podCliqueScalingGroups=[])
    rules = [rule for _, rule, _ in objections(raw, raw)]
    assert rules == [WorkloadDenial.STARTS_AFTER_UNKNOWN] * 2001
