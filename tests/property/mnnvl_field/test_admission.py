"""Admission of MNNVL groups by the Go operator (NF-070 to NF-077)."""

from typing import Any, Final

import pytest

from grove_core.admit import admit
from grove_core.kernel.admission import Deny, FieldRemark
from grove_core.resources.configuration import Configuration
from tests.property.mnnvl_field.group_sets import FIELD, GROUP, NOT_GIVEN, OFF, ON, clique
from tests.property.workload.sets import set_raw

Json = dict[str, Any]
SET: Final = f"metadata.annotations[{GROUP}]"
CLIQUE: Final = f"spec.template.cliques[0].annotations[{GROUP}]"
POOL: Final = f"spec.template.podCliqueScalingGroups[0].annotations[{GROUP}]"


def manifest(
    of_set: str | None = None,
    of_clique: str | None = None,
    of_pool: str | None = None,
    *,
    gpus: bool = True,
    more: dict[str, str] | None = None,
) -> Json:
    pool = {"name": "pool", "cliqueNames": ["a"], "replicas": 1, "minAvailable": 1}
    if of_pool is not None:
        pool["annotations"] = {GROUP: of_pool}
    raw = set_raw(clique("a", of_clique, gpus=gpus), clique("b", gpus=False), groups=(pool,))
    annotations = {**({} if of_set is None else {GROUP: of_set}), **(more or {})}
    return {**raw, "kind": "PodCliqueSet", "metadata": {**raw["metadata"], "annotations": annotations}}


def judged(new: Json, old: Json | None = None, configuration: Configuration = ON) -> tuple[list[FieldRemark], ...]:
    """Objections and warnings, without those that are not about MNNVL."""
    verdict = admit(new, old, None, configuration, rules=FIELD).verdict
    found = (list(verdict.objections) if isinstance(verdict, Deny) else [], list(verdict.warnings))
    return tuple([one for one in some if one.reason.rule.requirement.startswith(("NF", "MN", "MS"))] for some in found)


def rules_at(found: list[FieldRemark]) -> set[tuple[str, str]]:
    return {(one.path, one.reason.rule.requirement) for one in found}


@pytest.mark.parametrize("value", ["", "A", "a.b", "-a", "x" * 64])
def test_nf070_a_group_is_a_dns_label(value: str) -> None:
    objections, _ = judged(manifest(value, value, value))
    assert rules_at(objections) == {(path, "NF-070") for path in (SET, CLIQUE, POOL)}


@pytest.mark.req("NF-071")
@pytest.mark.parametrize("configuration", [ON, OFF])
@pytest.mark.parametrize("value", ["none", None])
def test_nf070_no_group_is_always_admitted(value: str | None, configuration: Configuration) -> None:
    assert judged(manifest(value, value, value), configuration=configuration) == ([], [])


def test_nf071_no_group_while_mnnvl_is_off() -> None:
    objections, warnings = judged(manifest("x", "none", "y"), configuration=OFF)
    assert (rules_at(objections), warnings) == ({(SET, "NF-071"), (POOL, "NF-071")}, [])
    both, _ = judged(manifest("A"), configuration=OFF)
    assert rules_at(both) == {(SET, "NF-070"), (SET, "NF-071")}


class TestNF072:
    """An update MUST NOT add, change or remove `grove.io/mnnvl-group` of a set, or of a clique or scaling group that
    the set had before.
    """

    @pytest.mark.parametrize(("before", "now"), [(None, "x"), ("x", None), ("x", "y"), ("x", "none"), ("none", None)])
    def test_nf072_at_every_level(self, before: str | None, now: str | None) -> None:
        objections, _ = judged(manifest(now, now, now), manifest(before, before, before))
        assert rules_at(objections) == {(path, "NF-072") for path in (SET, CLIQUE, POOL)}
        assert all(str(before or "absent") in one.reason.sentence for one in objections)

    def test_nf072_an_update_is_compared_and_not_judged(self) -> None:
        """What was admitted while MNNVL was on may be updated while it is off."""
        same = manifest("x", "A", "y")
        assert judged(same, same, OFF)[0] == []

    def test_nf072_a_new_clique_has_nothing_to_be_compared_with(self) -> None:
        new = manifest()
        new["spec"]["template"]["cliques"].append(clique("c", "x"))
        assert judged(new, manifest())[0] == []


@pytest.mark.parametrize(
    "key", ["grove.io/auto-mnnvl", "grove.io/mnnvl-enabled", "grove.io/mnnvl-scope", "grove.io/mnnvl-device-class"]
)
@pytest.mark.parametrize("configuration", [ON, OFF])
def test_nf074_other_annotations_have_no_effect(key: str, configuration: Configuration) -> None:
    objections, warnings = judged(manifest(more={key: "whatever"}), configuration=configuration)
    assert (objections, rules_at(warnings)) == ([], {(f"metadata.annotations[{key}]", "NF-074")})


@pytest.mark.parametrize(
    ("given", "idle"),
    [
        (manifest("x", gpus=False), {SET}),
        (manifest("x", "y"), {SET}),
        (manifest("x", of_pool="y"), {SET}),
        (manifest("x", "z", "y"), {SET, POOL}),
        (manifest("x", "none"), {SET}),
        (manifest("x"), set()),
    ],
)
def test_nf075_a_group_that_decides_for_no_clique_with_gpus(given: Json, idle: set[str]) -> None:
    assert rules_at(judged(given)[1]) == {(path, "NF-075") for path in idle}


@pytest.mark.parametrize(("group", "warned"), [("x", True), (None, False)])
def test_nf076_a_claim_of_the_name(group: str | None, *, warned: bool) -> None:
    given = manifest(group)
    given["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["resourceClaims"] = [
        {"name": "other", "resourceClaimName": "o"},
        {"name": "mnnvl-claim", "resourceClaimName": "mine"},
    ]
    objections, warnings = judged(given)
    path = "spec.template.cliques[0].spec.podSpec.resourceClaims[1].name"
    assert (objections, rules_at(warnings)) == ([], {(path, "NF-076")} if warned else set())


def test_nf077_a_name_too_long_for_its_label() -> None:
    """``llm-0-`` has six letters."""
    assert not judged(manifest("x" * 57))[1]
    assert rules_at(judged(manifest("x" * 58))[1]) == {(SET, "NF-077")}


def test_nf078_without_a_configuration_it_is_not_known_whether_a_group_is_admitted() -> None:
    objections, warnings = judged(manifest("x", "none", "y"), configuration=NOT_GIVEN)
    assert (objections, rules_at(warnings)) == (
        [],
        {(SET, "NF-078"), (POOL, "NF-078"), (SET, "NF-075"), (POOL, "NF-075")},
    )
    assert judged(manifest("none"), configuration=NOT_GIVEN) == ([], [])


@pytest.mark.req("NF-070")
def test_the_design_reads_no_group() -> None:
    verdict = admit(manifest("A"), None, None, OFF).verdict
    assert not isinstance(verdict, Deny)
