"""Admission of the names of claims (WL-112, WL-113)."""

from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.admission import Admit
from tests.property.resources.manifests import Json, clique_template, group_template
from tests.property.workload.admission_examples import (
    Found,
    changed,
    facts,
    objections,
    path_of,
)
from tests.property.workload.set_names import set_of

CACHE: Final = {"name": "t" * 30, "scope": "PerReplica"}
MANY: Final = 2**31 - 1


def _with_sharing(part: Json, name: str, scope: str) -> Json:
    return {**part, "resourceSharing": [{"name": name, "scope": scope}]}


class TestWL112:
    """A name MUST be refused if it makes the name of a created object, a host name or a label value longer than 63
    characters. The largest index that the manifest's replicas and autoscalers allow counts.
    """

    @pytest.mark.parametrize(
        ("bad", "fine", "path", "expected"),
        [
            (
                set_of("p" * 51, clique_template("c")),
                set_of("p" * 44, clique_template("c")),
                "metadata.name",
                {"excess": 1, "derived": "label of the Role", "name": f"grove.io-pcs-{'p' * 51}", "most": 63},
            ),
            (
                set_of("p" * 60, clique_template("c"), replicas=MANY),
                set_of("p" * 44, clique_template("c"), replicas=MANY),
                "metadata.name",
                {"excess": 10, "derived": "label of the Role", "name": f"grove.io-pcs-{'p' * 60}", "most": 63},
            ),
            (
                set_of("p" * 10, clique_template("c"), groups=(group_template("g" * 51),), replicas=11),
                set_of("p" * 10, clique_template("c"), groups=(group_template("g" * 47),), replicas=11),
                "spec.template.podCliqueScalingGroups[0].name",
                {"excess": 4, "derived": "PodGang", "name": f"{'p' * 10}-10-{'g' * 51}-0", "most": 63},
            ),
            (
                set_of("p" * 10, clique_template("c"), groups=(group_template("g" * 51, replicas=1),)),
                set_of("p" * 10, clique_template("c"), groups=(group_template("g" * 50, replicas=1),)),
                "spec.template.podCliqueScalingGroups[0].name",
                {"excess": 1, "derived": "PodCliqueScalingGroup", "name": f"{'p' * 10}-0-{'g' * 51}", "most": 63},
            ),
            (
                set_of(
                    "p" * 10,
                    clique_template("c"),
                    groups=(group_template("g" * 49, replicas=1, scaleConfig={"maxReplicas": 2}),),
                ),
                set_of(
                    "p" * 10,
                    clique_template("c"),
                    groups=(group_template("g" * 49, replicas=1, scaleConfig={"maxReplicas": 1}),),
                ),
                "spec.template.podCliqueScalingGroups[0].name",
                {"excess": 1, "derived": "PodGang", "name": f"{'p' * 10}-0-{'g' * 49}-0", "most": 63},
            ),
            (
                set_of("p" * 20, clique_template("c" * 25, replicas=10**6 + 1), replicas=10**9 + 1),
                set_of("p" * 20, clique_template("c" * 25, replicas=10**6), replicas=10**8),
                "spec.template.cliques[0].name",
                {
                    "excess": 2,
                    "derived": "host name of a pod",
                    "name": f"{'p' * 20}-{10**9}-{'c' * 25}-{10**6}",
                    "most": 63,
                },
            ),
            (
                set_of(
                    "p" * 20,
                    clique_template("c" * 15, replicas=10**4 + 1),
                    groups=(group_template("g" * 10, "c" * 15, replicas=10**4 + 1),),
                    replicas=10**4 + 1,
                ),
                set_of(
                    "p" * 20,
                    clique_template("c" * 15, replicas=10**4),
                    groups=(group_template("g" * 10, "c" * 15, replicas=10**4),),
                    replicas=10**4 + 1,
                ),
                "spec.template.cliques[0].name",
                {
                    "excess": 2,
                    "derived": "host name of a pod",
                    "name": f"{'p' * 20}-{10**4}-{'g' * 10}-{10**4}-{'c' * 15}-{10**4}",
                    "most": 63,
                },
            ),
            (
                set_of("p" * 30, clique_template("c"), resourceSharing=[CACHE], replicas=101),
                set_of("p" * 30, clique_template("c"), resourceSharing=[CACHE], replicas=10),
                "spec.template.resourceSharing[0].name",
                {"excess": 2, "derived": "ResourceClaim", "name": f"{'p' * 30}-100-{'t' * 30}", "most": 63},
            ),
            (
                set_of("p" * 20, _with_sharing(clique_template("c"), "t" * 37, "AllReplicas")),
                set_of("p" * 20, _with_sharing(clique_template("c"), "t" * 34, "AllReplicas")),
                "spec.template.cliques[0].resourceSharing[0].name",
                {"excess": 3, "derived": "ResourceClaim", "name": f"{'p' * 20}-0-c-all-{'t' * 37}", "most": 63},
            ),
            (
                set_of(
                    "p" * 20,
                    clique_template("c"),
                    groups=(_with_sharing(group_template("g", "c", replicas=101), "t" * 36, "PerReplica"),),
                ),
                set_of(
                    "p" * 20,
                    clique_template("c"),
                    groups=(_with_sharing(group_template("g", "c", replicas=100), "t" * 35, "PerReplica"),),
                ),
                "spec.template.podCliqueScalingGroups[0].resourceSharing[0].name",
                {"excess": 2, "derived": "ResourceClaim", "name": f"{'p' * 20}-0-g-100-{'t' * 36}", "most": 63},
            ),
            (
                set_of(
                    "p" * 20,
                    _with_sharing(clique_template("c", replicas=101), "t" * 34, "PerReplica"),
                    groups=(group_template("g", "c"),),
                ),
                set_of(
                    "p" * 20,
                    _with_sharing(clique_template("c", replicas=101), "t" * 30, "PerReplica"),
                    groups=(group_template("g", "c"),),
                ),
                "spec.template.cliques[0].resourceSharing[0].name",
                {"excess": 4, "derived": "ResourceClaim", "name": f"{'p' * 20}-0-g-1-c-100-{'t' * 34}", "most": 63},
            ),
        ],
    )
    def test_the_derived_object_and_the_excess_are_named(
        self, bad: Json, fine: Json, path: str, expected: dict[str, Any]
    ) -> None:
        assert [(found.path, found.rule) for found in objections(bad)] == [(path, WorkloadDenial.DERIVED_NAME_TOO_LONG)]
        assert facts(bad) == [expected]
        assert objections(fine) == []

    def test_what_is_too_long_already_is_not_reported_again(self) -> None:
        shared = _with_sharing(clique_template("c" * 40), "t" * 60, "AllReplicas")
        new = set_of("p" * 10, shared, groups=(group_template("g" * 60, "c" * 40),))
        assert [found.rule for found in objections(new)] == [WorkloadDenial.MEMBER_NAMES_TOO_LONG]

    def test_a_group_keeps_to_its_threshold_only_if_that_is_one(self) -> None:
        new = set_of("p" * 10, clique_template("c"), groups=(group_template("g" * 50, minAvailable=0),))
        assert WorkloadDenial.DERIVED_NAME_TOO_LONG not in {found.rule for found in objections(new)}


@pytest.mark.parametrize("name", ["a.b", "A", "a-"])
def test_wl113_the_name_of_a_claim_is_a_dns_label(name: str) -> None:
    place = ("spec", "template", "resourceSharing", 1, "name")
    new = changed(place, name)
    assert objections(new) == [Found(path_of(place), WorkloadDenial.CLAIM_NAME_INVALID, f'"{name}"')]
    assert facts(new) == [{"name": f"llm-1-{name}"}]
    assert objections(changed(place, "ab")) == []


# ----------------------------------------------------------------------------------------------- laws


@st.composite
def sets_with_long_names(draw: st.DrawFn) -> Json:
    name, clique, member, group, claim = (draw(st.integers(1, most)) for most in (48, 40, 40, 45, 45))
    counts = st.sampled_from((1, 2, 9, 10, 11, 100, 10**6, MANY))
    sharing = [{"name": "t" * claim, "scope": draw(st.sampled_from(("AllReplicas", "PerReplica")))}]
    return set_of(
        "p" * name,
        {**clique_template("c" * clique, replicas=draw(counts), minAvailable=1), "resourceSharing": sharing},
        {**clique_template("m" * member, replicas=draw(counts), minAvailable=1)},
        groups=({**group_template("g" * group, "m" * member, replicas=draw(counts)), "resourceSharing": sharing},),
        replicas=draw(counts),
        resourceSharing=sharing,
    )


@pytest.mark.req("WL-110", "WL-111")
@given(sets_with_long_names())
def test_wl112_whatever_is_admitted_can_be_named(raw: Json) -> None:
    """The names are made here once more, by hand."""
    verdict = admit(raw).verdict
    event(type(verdict).__name__)
    template = raw["spec"]["template"]
    (clique, member), (group,) = template["cliques"], template["podCliqueScalingGroups"]
    name, claim = raw["metadata"]["name"], template["resourceSharing"][0]["name"]
    last, last_group = raw["spec"]["replicas"] - 1, group["replicas"] - 1

    def shared(owner: str, index: int) -> str:
        return f"{owner}-{'all' if template['resourceSharing'][0]['scope'] == 'AllReplicas' else index}-{claim}"

    standalone, scaled = f"{name}-{last}-{clique['name']}", f"{name}-{last}-{group['name']}"
    names = [
        f"grove.io-pcs-{name}",
        f"{name}-ic-sat",
        f"{name}-{last}",
        f"{standalone}-{clique['spec']['replicas'] - 1}",
        f"{scaled}-{max(last_group - 1, 0)}" if last_group else scaled,
        f"{scaled}-{last_group}-{member['name']}-{member['spec']['replicas'] - 1}",
        shared(name, last),
        shared(standalone, clique["spec"]["replicas"] - 1),
        shared(scaled, last_group),
    ]
    together = [len(name + clique["name"]), len(name + group["name"] + member["name"])]
    assert isinstance(verdict, Admit) == (max(map(len, names)) <= 63 and max(together) <= 45)
