"""GT-102: every mistake is found alone and among others, and any JSON gets a verdict."""

from collections.abc import Callable
from copy import deepcopy
from itertools import permutations
from typing import Any, Final

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.gang_termination.rules import GangTerminationDenial
from grove_core.kernel.admission import Admit, Deny
from grove_core.kernel.refs import Ref
from tests.property.gang_termination.objections import CLIQUES, DELAY, GROUPS, SOUND, Found, objections
from tests.property.resources.manifests import (
    Json,
    almost,
    any_json,
    clique_set,
    clique_template,
    group_template,
    is_there,
)

# ------------------------------------------------------------------------------- arbitrary manifests


@st.composite
def sound_sets(draw: st.DrawFn) -> Json:
    """Generate a set that breaks no rule; at least one clique is standalone, and one group has a member."""
    names = draw(st.lists(st.sampled_from(("a", "b", "c", "d", "e", "f")), unique=True, min_size=2))
    cliques = []
    for name in names:
        replicas = draw(st.integers(1, 4))
        spec = {"replicas": replicas, "minAvailable": draw(st.none() | st.integers(1, replicas))}
        cliques.append(
            {"name": name, "spec": {**spec, "podSpec": {"containers": [{"name": "main", "image": "main:1"}]}}}
        )
    delay = draw(st.sampled_from((None, "4h", "90s")))
    override = st.none() if delay is None else st.sampled_from((None, "1h", "30m"))
    free = draw(st.permutations(names[1:]))
    groups: list[Json] = []
    for name in ("g", "h")[: draw(st.integers(1, 2))]:
        taken = [free.pop() for _ in range(min(len(free), draw(st.integers(0 if groups else 1, 2))))]
        replicas = draw(st.integers(1, 4))
        groups.append(
            group_template(
                name,
                *taken,
                replicas=replicas,
                minAvailable=draw(st.integers(1, replicas)),
                terminationDelay=draw(override),
            )
        )
    raw = clique_set(terminationDelay=delay, cliques=cliques, podCliqueScalingGroups=groups)
    raw["spec"]["replicas"] = draw(st.integers(0, 3))
    return raw


Mutation = Callable[[Json], list[Found]]


def _delay_malformed(template: Json) -> list[Found]:
    template["terminationDelay"] = "1d"
    return [(DELAY, GangTerminationDenial.DELAY_MALFORMED)]


def _override_malformed(template: Json) -> list[Found]:
    template["podCliqueScalingGroups"][0]["terminationDelay"] = "soon"
    return [(f"{GROUPS}[0].terminationDelay", GangTerminationDenial.DELAY_MALFORMED)]


def _delay_not_positive(template: Json) -> list[Found]:
    template["terminationDelay"] = "0s"
    return [(DELAY, GangTerminationDenial.DELAY_NOT_POSITIVE)]


def _override_without_delay(template: Json) -> list[Found]:
    del template["terminationDelay"]
    for group in template["podCliqueScalingGroups"]:
        group["terminationDelay"] = "1h"
    return [
        (f"{GROUPS}[{index}].terminationDelay", GangTerminationDenial.OVERRIDE_WITHOUT_DELAY)
        for index in range(len(template["podCliqueScalingGroups"]))
    ]


def _override_not_positive(template: Json) -> list[Found]:
    template["terminationDelay"] = "4h"
    template["podCliqueScalingGroups"][0]["terminationDelay"] = "-1h"
    return [(f"{GROUPS}[0].terminationDelay", GangTerminationDenial.OVERRIDE_NOT_POSITIVE)]


def _clique_threshold_too_high(template: Json) -> list[Found]:
    spec = template["cliques"][-1]["spec"]
    spec["minAvailable"] = spec["replicas"] + 1
    return [
        (
            f"{CLIQUES}[{len(template['cliques']) - 1}].spec.minAvailable",
            GangTerminationDenial.CLIQUE_THRESHOLD_OUT_OF_RANGE,
        )
    ]


def _clique_threshold_too_low(template: Json) -> list[Found]:
    template["cliques"][0]["spec"]["minAvailable"] = 0
    return [(f"{CLIQUES}[0].spec.minAvailable", GangTerminationDenial.CLIQUE_THRESHOLD_OUT_OF_RANGE)]


def _group_threshold_too_high(template: Json) -> list[Found]:
    group = template["podCliqueScalingGroups"][0]
    group["minAvailable"] = group["replicas"] + 1
    return [(f"{GROUPS}[0].minAvailable", GangTerminationDenial.GROUP_THRESHOLD_OUT_OF_RANGE)]


def _clique_without_replicas(template: Json) -> list[Found]:
    template["cliques"][0]["spec"] = {"replicas": 0}
    return [(f"{CLIQUES}[0].spec.replicas", GangTerminationDenial.COUNT_OUT_OF_RANGE)]


def _clique_unknown(template: Json) -> list[Found]:
    names = template["podCliqueScalingGroups"][0]["cliqueNames"]
    names.append("ghost")
    return [(f"{GROUPS}[0].cliqueNames[{len(names) - 1}]", GangTerminationDenial.CLIQUE_UNKNOWN)]


def _clique_in_two_groups(template: Json) -> list[Found]:
    groups = template["podCliqueScalingGroups"]
    groups.append(group_template("last", groups[0]["cliqueNames"][0]))
    return [(f"{GROUPS}[{len(groups) - 1}].cliqueNames[0]", GangTerminationDenial.CLIQUE_IN_TWO_GROUPS)]


def _clique_name_repeated(template: Json) -> list[Found]:
    template["cliques"].append(template["cliques"][0])
    return [(f"{CLIQUES}[{len(template['cliques']) - 1}].name", GangTerminationDenial.NAME_REPEATED)]


def _group_name_repeated(template: Json) -> list[Found]:
    groups = template["podCliqueScalingGroups"]
    groups.append(group_template(groups[0]["name"]))
    return [(f"{GROUPS}[{len(groups) - 1}].name", GangTerminationDenial.NAME_REPEATED)]


def _no_cliques(template: Json) -> list[Found]:
    template.update(cliques=[], podCliqueScalingGroups=[])
    return [(CLIQUES, GangTerminationDenial.NO_CLIQUES)]


def _replicas_malformed(template: Json) -> list[Found]:
    template["cliques"][-1]["spec"]["replicas"] = "three"
    return [(f"{CLIQUES}[{len(template['cliques']) - 1}].spec.replicas", GangTerminationDenial.MALFORMED)]


def _name_missing(template: Json) -> list[Found]:
    del template["podCliqueScalingGroups"][0]["name"]
    return [(f"{GROUPS}[0].name", GangTerminationDenial.MALFORMED)]


MUTATIONS: Final[tuple[Mutation, ...]] = (
    _delay_malformed,
    _override_malformed,
    _delay_not_positive,
    _override_without_delay,
    _override_not_positive,
    _clique_threshold_too_high,
    _clique_threshold_too_low,
    _group_threshold_too_high,
    _clique_without_replicas,
    _clique_unknown,
    _clique_in_two_groups,
    _clique_name_repeated,
    _group_name_repeated,
    _no_cliques,
    _replicas_malformed,
    _name_missing,
)


def _clique_added(template: Json) -> list[Found]:
    template["cliques"].append(clique_template("new"))
    return [(CLIQUES, GangTerminationDenial.IMMUTABLE)]


def _clique_taken_away(template: Json) -> list[Found]:
    del template["cliques"][0]
    return [(CLIQUES, GangTerminationDenial.IMMUTABLE)]


def _clique_threshold_changed(template: Json) -> list[Found]:
    spec = template["cliques"][0]["spec"]
    needed = spec["replicas"] if spec["minAvailable"] is None else spec["minAvailable"]
    spec.update(replicas=5, minAvailable=needed + 1)
    return [(f"{CLIQUES}[0].spec.minAvailable", GangTerminationDenial.IMMUTABLE)]


def _group_added(template: Json) -> list[Found]:
    template["podCliqueScalingGroups"].insert(0, group_template("new"))
    return [(GROUPS, GangTerminationDenial.IMMUTABLE)]


def _group_taken_away(template: Json) -> list[Found]:
    del template["podCliqueScalingGroups"][-1]
    return [(GROUPS, GangTerminationDenial.IMMUTABLE)]


def _group_threshold_changed(template: Json) -> list[Found]:
    group = template["podCliqueScalingGroups"][0]
    group.update(replicas=5, minAvailable=group["minAvailable"] + 1)
    return [(f"{GROUPS}[0].minAvailable", GangTerminationDenial.IMMUTABLE)]


def _membership_changed(template: Json) -> list[Found]:
    template["podCliqueScalingGroups"][0]["cliqueNames"].insert(0, template["cliques"][0]["name"])
    return [(f"{GROUPS}[0].cliqueNames", GangTerminationDenial.IMMUTABLE)]


CHANGES: Final[tuple[Mutation, ...]] = (
    _clique_added,
    _clique_taken_away,
    _clique_threshold_changed,
    _group_added,
    _group_taken_away,
    _group_threshold_changed,
    _membership_changed,
)


@pytest.mark.req("GT-101")
@given(sound_sets())
def test_gt102_what_breaks_no_rule_is_admitted_also_as_an_update_of_itself(raw: Json) -> None:
    decision = admit(raw)
    assert decision.verdict == Admit()
    assert [reason.rule for reason in decision.because] == [GangTerminationDenial.ADMITTED]
    assert decision.because[0].subject == Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
    assert admit(raw, deepcopy(raw)) == decision


@pytest.mark.req("GT-103")
@given(sound_sets(), st.sampled_from(MUTATIONS))
def test_gt102_each_mistake_is_refused_for_exactly_its_own_rule(raw: Json, mutation: Mutation) -> None:
    event(mutation.__name__)
    expected = mutation(raw["spec"]["template"])
    assert objections(raw) == sorted(expected)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__.strip("_"))
def test_gt102_each_mistake_alone_keeps_a_set_out(mutation: Mutation) -> None:
    raw = deepcopy(SOUND)
    expected = mutation(raw["spec"]["template"])
    assert objections(raw) == expected


@given(sound_sets(), st.sampled_from(CHANGES))
def test_gt101_each_change_is_refused_for_exactly_its_own_field(old: Json, change: Mutation) -> None:
    event(change.__name__)
    new = deepcopy(old)
    expected = change(new["spec"]["template"])
    assert objections(new) == []
    assert objections(new, old) == expected


def test_gt102_every_rule_of_admission_refuses_something_here() -> None:
    reached = {GangTerminationDenial.COUNT_OUT_OF_RANGE, GangTerminationDenial.ADMITTED}
    for mutation in (*MUTATIONS, *CHANGES):
        reached |= {rule for _, rule in mutation(deepcopy(SOUND)["spec"]["template"])}
    assert reached == set(GangTerminationDenial)


MANIFESTS: Final = st.dictionaries(st.sampled_from(("metadata", "spec", "status")), any_json()) | almost(SOUND)


class TestAnyJson:
    """Admission returns a verdict for any input."""

    @pytest.mark.req("GT-103")
    @given(MANIFESTS, st.none() | MANIFESTS)
    @example(new={}, old={})
    @example(new=SOUND, old={})
    def test_gt102_any_json_is_admitted_or_refused(self, new: Any, old: Any) -> None:
        decision = admit(new, old)
        found = objections(new, old)
        assert isinstance(decision.verdict, Deny) >= bool(found)
        for path, _ in found:
            assert is_there(new, path, {other for other, _ in found}), path

    @given(MANIFESTS, st.none() | MANIFESTS)
    def test_gt102_the_same_manifest_gets_the_same_answer(self, new: Any, old: Any) -> None:
        before = repr((new, old))
        first = admit(new, old)
        assert repr((new, old)) == before
        assert admit(deepcopy(new), deepcopy(old)) == first

    @given(MANIFESTS, st.none() | MANIFESTS)
    def test_gt102_objections_are_sorted_and_none_is_made_twice(self, new: Any, old: Any) -> None:
        found = [(path, rule.requirement) for path, rule in objections(new, old)]
        assert found == sorted(found)
        verdict = admit(new, old).verdict
        if isinstance(verdict, Deny):
            assert len(set(verdict.objections)) == len(verdict.objections)

    @given(sound_sets(), st.lists(st.sampled_from(MUTATIONS[:12]), unique=True, max_size=4))
    def test_gt102_all_objections_are_found_at_once_in_any_order_of_keys(
        self, raw: Json, mutations: list[Mutation]
    ) -> None:
        for mutation in mutations:
            mutation(raw["spec"]["template"])
        found = objections(raw)
        for keys in permutations(raw["spec"]["template"]):
            template = {key: raw["spec"]["template"][key] for key in keys}
            assert objections({**raw, "spec": {**raw["spec"], "template": template}}) == found

    @pytest.mark.parametrize(
        ("metadata", "namespace", "name"),
        [
            (None, "default", ""),
            ("llm", "default", ""),
            ({"name": "llm"}, "default", "llm"),
            ({"name": "llm", "namespace": "ml"}, "ml", "llm"),
            ({"name": 5, "namespace": None}, "default", "5"),
        ],
    )
    def test_gt102_reasons_name_the_set_by_what_its_metadata_has(
        self, metadata: object, namespace: str, name: str
    ) -> None:
        subjects = {reason.subject for reason in admit({**SOUND, "metadata": metadata}).because}
        assert subjects == {Ref("grove.io/v1alpha1", "PodCliqueSet", namespace, name)}
