"""Admission of names and of derived names (WL-100 to WL-116)."""

from typing import Final

import pytest

from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.reasons import Rule
from tests.property.resources.manifests import Json, clique_set, clique_template, group_template
from tests.property.workload.admission_examples import (
    FULL,
    GROUPS,
    LEADER,
    POOL,
    Found,
    Place,
    changed,
    facts,
    objections,
    path_of,
)
from tests.property.workload.set_names import set_of

NAMES: Final[list[tuple[Place, object, object, str, Rule, str]]] = [
    (("metadata", "name"), "Llm", "llm", "", WorkloadDenial.SET_NAME_INVALID, '"Llm"'),
    (("metadata", "name"), "l_m", "l-m", "", WorkloadDenial.SET_NAME_INVALID, '"l_m"'),
    (("metadata", "name"), "llm-", "l-m", "", WorkloadDenial.SET_NAME_INVALID, '"llm-"'),
    (("metadata", "name"), "llm\n", "llm", "", WorkloadDenial.SET_NAME_INVALID, '"llm "'),
    (("metadata", "namespace"), "m.l", "m-l", "", WorkloadDenial.NAMESPACE_INVALID, '"m.l"'),
    (("metadata", "namespace"), "m" * 64, "m" * 63, "", WorkloadDenial.NAMESPACE_INVALID, f'"{"m" * 56}...'),
    (("metadata", "labels"), {"a b": "c"}, {"a.b": "c"}, "", WorkloadDenial.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"x/": "c"}, {"x/y": "c"}, "", WorkloadDenial.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"X.io/y": "c"}, {"x.io/Y": "c"}, "", WorkloadDenial.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"/y": "c"}, {"y": "c"}, "", WorkloadDenial.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"x/y/z": "c"}, {"x/y.z": "c"}, "", WorkloadDenial.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"": "c"}, {"a": "c"}, "", WorkloadDenial.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"a" * 64: "c"}, {"a" * 63: "c"}, "", WorkloadDenial.LABEL_KEY_INVALID, '"c"'),
    (
        ("metadata", "labels"),
        {f"{'a' * 254}/b": "c"},
        {f"{'a' * 253}/b": "c"},
        "",
        WorkloadDenial.LABEL_KEY_INVALID,
        '"c"',
    ),
    (("metadata", "labels"), {"a": "-c"}, {"a": "c"}, "", WorkloadDenial.LABEL_VALUE_INVALID, '"-c"'),
    (("metadata", "labels"), {"a": "b c"}, {"a": "b_c"}, "", WorkloadDenial.LABEL_VALUE_INVALID, '"b c"'),
    (
        ("metadata", "labels"),
        {"a": "c" * 64},
        {"a": "c" * 63},
        "",
        WorkloadDenial.LABEL_VALUE_INVALID,
        f'"{"c" * 56}...',
    ),
    ((*LEADER, "labels"), {"a b": ""}, {"ab": ""}, "", WorkloadDenial.LABEL_KEY_INVALID, '""'),
    ((*LEADER, "labels"), {"a": "ü"}, {"a": "ue"}, "", WorkloadDenial.LABEL_VALUE_INVALID, '"ü"'),
    (
        ("metadata", "annotations"),
        {"a b": "c d"},
        {"A.IO/b": "c d"},
        "",
        WorkloadDenial.ANNOTATION_KEY_INVALID,
        '"c d"',
    ),
    ((*LEADER, "annotations"), {"a/b/c": ""}, {"a/b.c": ""}, "", WorkloadDenial.ANNOTATION_KEY_INVALID, '""'),
    ((*POOL, "annotations"), {"-a": ""}, {"a": ""}, "", WorkloadDenial.ANNOTATION_KEY_INVALID, '""'),
    (
        (*POOL, "annotations"),
        {"a": "é" * 131072},
        {"a": "é" * 131071},
        "",
        WorkloadDenial.ANNOTATIONS_TOO_LARGE,
        "262145",
    ),
    (
        ("metadata", "annotations"),
        {"a": "x" * 262144},
        {"a": "x" * 262143},
        "",
        WorkloadDenial.ANNOTATIONS_TOO_LARGE,
        "262145",
    ),
    (("metadata", "name"), "l.m", "l-m", "", WorkloadDenial.SET_NAME_UNFIT_FOR_SERVICES, '"l.m"'),
    (("metadata", "name"), "1lm", "lm1", "", WorkloadDenial.SET_NAME_UNFIT_FOR_SERVICES, '"1lm"'),
    (
        (*GROUPS, 1),
        group_template("p.q"),
        group_template("p-q"),
        ".name",
        WorkloadDenial.PART_NAME_UNFIT_FOR_HOSTS,
        '"p.q"',
    ),
    ((*GROUPS, 1), group_template("p_q"), group_template("pq"), ".name", WorkloadDenial.GROUP_NAME_INVALID, '"p_q"'),
    ((*GROUPS, 1), group_template(""), group_template("p"), ".name", WorkloadDenial.GROUP_NAME_INVALID, '""'),
]
TWO_GROUPS: Final = changed(GROUPS, [*FULL["spec"]["template"]["podCliqueScalingGroups"], group_template("spare")])


@pytest.mark.req("WL-101", "WL-102", "WL-103", "WL-104", "WL-105", "WL-106", "WL-108", "WL-109")
@pytest.mark.parametrize(
    ("place", "bad", "fine", "below", "rule", "got"),
    NAMES,
    ids=lambda value: value.name if isinstance(value, Rule) else "",
)
def test_wl100_each_rule_of_a_name_has_a_smallest_change(
    place: Place, bad: object, fine: object, below: str, rule: Rule, got: str
) -> None:
    assert objections(changed(place, bad, TWO_GROUPS)) == [Found(path_of(place) + below, rule, got)]
    assert objections(changed(place, fine, TWO_GROUPS)) == []


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("", WorkloadDenial.CLIQUE_NAME_INVALID),
        ("A", WorkloadDenial.CLIQUE_NAME_INVALID),
        ("a..b", WorkloadDenial.CLIQUE_NAME_INVALID),
        (".a", WorkloadDenial.CLIQUE_NAME_INVALID),
        pytest.param("a.b", WorkloadDenial.PART_NAME_UNFIT_FOR_HOSTS, marks=pytest.mark.req("WL-109")),
    ],
)
def test_wl107_names_of_cliques(name: str, rule: Rule) -> None:
    def named(clique: str) -> Json:
        return clique_set(cliques=[clique_template("a"), clique_template(clique)], podCliqueScalingGroups=[])

    assert objections(named(name)) == [Found("spec.template.cliques[1].name", rule, f'"{name}"')]
    assert objections(named("a-b")) == []
    assert objections(named("1")) == []


class TestWL110:
    """A clique in no scaling group MUST be refused if its name and the set's have more than 45 characters together."""

    def test_one_too_many(self) -> None:
        path = "spec.template.cliques[1].name"
        new = set_of("p" * 20, clique_template("a"), clique_template("c" * 26))
        assert objections(new) == [Found(path, WorkloadDenial.STANDALONE_NAMES_TOO_LONG, f'"{"c" * 26}"')]
        assert facts(new) == [{"excess": 1, "most": 45}]
        assert objections(set_of("p" * 20, clique_template("a"), clique_template("c" * 25))) == []

    def test_it_counts_on_update_too(self) -> None:
        new = set_of("p" * 20, clique_template("c" * 26))
        assert [found.rule for found in objections(new, new)] == [WorkloadDenial.STANDALONE_NAMES_TOO_LONG]


class TestWL111:
    """A clique of a scaling group MUST be refused if its name, the group's and the set's have more than 45 characters
    together.
    """

    def test_one_too_many(self) -> None:
        cliques = (clique_template("a"), clique_template("c" * 10))
        path = "spec.template.podCliqueScalingGroups[0].cliqueNames[1]"
        new = set_of("p" * 20, *cliques, groups=(group_template("g" * 16, "a", "c" * 10),))
        assert objections(new) == [Found(path, WorkloadDenial.MEMBER_NAMES_TOO_LONG, f'"{"c" * 10}"')]
        assert facts(new) == [{"excess": 1, "most": 45, "group": "g" * 16}]
        assert objections(set_of("p" * 20, *cliques, groups=(group_template("g" * 15, "a", "c" * 10),))) == []

    def test_a_very_long_name_is_quoted_short(self) -> None:
        new = set_of("p", clique_template("a"), groups=(group_template("g" * 200, "a"),))
        (quoted,) = facts(new)
        assert len(str(quoted["group"])) < 100


def test_wl114_two_autoscalers_of_one_name() -> None:
    def named(group: str, **scaling: object) -> Json:
        cliques = [
            clique_template("a", autoScalingConfig={"maxReplicas": 5}),
            clique_template("b"),
            clique_template("c"),
        ]
        groups = [group_template("b", "c", scaleConfig={"maxReplicas": 5}), group_template(group, **scaling)]
        return clique_set(cliques=cliques, podCliqueScalingGroups=groups)

    path = "spec.template.podCliqueScalingGroups[1].name"
    assert objections(named("a", scaleConfig={"maxReplicas": 5})) == [
        Found(path, WorkloadDenial.AUTOSCALERS_COLLIDE, '"a"')
    ]
    assert objections(named("a")) == []
    assert objections(named("d", scaleConfig={"maxReplicas": 5})) == []


class TestWL115:
    """A standalone clique MUST be refused if its PodClique would have the name of a PodClique of a scaling group."""

    @staticmethod
    def named(clique: str, **group: object) -> Json:
        cliques = [clique_template(clique), clique_template("c"), clique_template("1-c"), clique_template("d")]
        groups = [group_template("g", "c", "1-c", replicas=11, **group)]
        return clique_set(cliques=cliques, podCliqueScalingGroups=groups)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("g-0-c", {"replica": 0, "group": "g", "clique": "c"}),
            ("g-10-c", {"replica": 10, "group": "g", "clique": "c"}),
            ("g-0-1-c", {"replica": 0, "group": "g", "clique": "1-c"}),
        ],
    )
    def test_one_object_would_be_two(self, name: str, expected: dict[str, object]) -> None:
        new = self.named(name)
        assert objections(new) == [Found("spec.template.cliques[0].name", WorkloadDenial.CLIQUES_COLLIDE, f'"{name}"')]
        assert facts(new) == [expected]

    @pytest.mark.parametrize("name", ["g-11-c", "g-00-c", "g-0-d", "h-0-c", "g-c", "g-0", "g-0-0-c"])
    def test_similar_kinds_do_not_match(self, name: str) -> None:
        assert objections(self.named(name)) == []

    def test_a_member_has_its_group_s_name_before_it(self) -> None:
        new = self.named("g-0-c")
        new["spec"]["template"]["podCliqueScalingGroups"].append(group_template("h", "g-0-c"))
        assert objections(new) == []

    def test_a_replica_that_only_the_autoscaler_makes_counts(self) -> None:
        new = self.named("g-11-c", scaleConfig={"maxReplicas": 12})
        assert [found.rule for found in objections(new)] == [WorkloadDenial.CLIQUES_COLLIDE]


class TestWL116:
    """An update MUST NOT be refused by WL-106, WL-109, WL-112 to WL-115 or WL-117 for a name that broke that rule
    before the update too.
    """

    OLD: Final = set_of("p" * 10, clique_template("a.b"), groups=(group_template("g" * 49),), replicas=99)

    def test_a_new_set_is_refused(self) -> None:
        rules = [found.rule for found in objections(self.OLD)]
        assert rules == [WorkloadDenial.PART_NAME_UNFIT_FOR_HOSTS, WorkloadDenial.DERIVED_NAME_TOO_LONG]

    @pytest.mark.parametrize("replicas", [0, 9, 99])
    def test_an_update_that_makes_it_no_worse_is_admitted(self, replicas: int) -> None:
        assert objections(changed(("spec", "replicas"), replicas, self.OLD), self.OLD) == []

    def test_an_update_that_makes_it_worse_is_refused(self) -> None:
        new = changed(("spec", "replicas"), 101, self.OLD)
        assert [found.rule for found in objections(new, self.OLD)] == [WorkloadDenial.DERIVED_NAME_TOO_LONG]
