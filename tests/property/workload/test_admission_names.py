"""Names, labels and annotations of a PodCliqueSet (WL-100 to WL-116): what is refused, and what is just fine."""

from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.workload.rules import Refuse
from grove_core.kernel.admission import Admit
from grove_core.kernel.reasons import Rule
from tests.property.resources.manifests import Json, clique_set, clique_template, group_template
from tests.property.workload.verdicts import (
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

NAMES: Final[list[tuple[Place, object, object, str, Rule, str]]] = [
    (("metadata", "name"), "Llm", "llm", "", Refuse.SET_NAME_INVALID, '"Llm"'),
    (("metadata", "name"), "l_m", "l-m", "", Refuse.SET_NAME_INVALID, '"l_m"'),
    (("metadata", "name"), "llm-", "l-m", "", Refuse.SET_NAME_INVALID, '"llm-"'),
    (("metadata", "name"), "llm\n", "llm", "", Refuse.SET_NAME_INVALID, '"llm "'),
    (("metadata", "namespace"), "m.l", "m-l", "", Refuse.NAMESPACE_INVALID, '"m.l"'),
    (("metadata", "namespace"), "m" * 64, "m" * 63, "", Refuse.NAMESPACE_INVALID, f'"{"m" * 56}...'),
    (("metadata", "labels"), {"a b": "c"}, {"a.b": "c"}, "", Refuse.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"x/": "c"}, {"x/y": "c"}, "", Refuse.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"X.io/y": "c"}, {"x.io/Y": "c"}, "", Refuse.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"/y": "c"}, {"y": "c"}, "", Refuse.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"x/y/z": "c"}, {"x/y.z": "c"}, "", Refuse.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"": "c"}, {"a": "c"}, "", Refuse.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"a" * 64: "c"}, {"a" * 63: "c"}, "", Refuse.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {f"{'a' * 254}/b": "c"}, {f"{'a' * 253}/b": "c"}, "", Refuse.LABEL_KEY_INVALID, '"c"'),
    (("metadata", "labels"), {"a": "-c"}, {"a": "c"}, "", Refuse.LABEL_VALUE_INVALID, '"-c"'),
    (("metadata", "labels"), {"a": "b c"}, {"a": "b_c"}, "", Refuse.LABEL_VALUE_INVALID, '"b c"'),
    (("metadata", "labels"), {"a": "c" * 64}, {"a": "c" * 63}, "", Refuse.LABEL_VALUE_INVALID, f'"{"c" * 56}...'),
    ((*LEADER, "labels"), {"a b": ""}, {"ab": ""}, "", Refuse.LABEL_KEY_INVALID, '""'),
    ((*LEADER, "labels"), {"a": "ü"}, {"a": "ue"}, "", Refuse.LABEL_VALUE_INVALID, '"ü"'),
    (("metadata", "annotations"), {"a b": "c d"}, {"A.IO/b": "c d"}, "", Refuse.ANNOTATION_KEY_INVALID, '"c d"'),
    ((*LEADER, "annotations"), {"a/b/c": ""}, {"a/b.c": ""}, "", Refuse.ANNOTATION_KEY_INVALID, '""'),
    ((*POOL, "annotations"), {"-a": ""}, {"a": ""}, "", Refuse.ANNOTATION_KEY_INVALID, '""'),
    (
        (*POOL, "annotations"),
        {"a": "é" * 131072},
        {"a": "é" * 131071},
        "",
        Refuse.ANNOTATIONS_TOO_LARGE,
        "262145",
    ),
    (("metadata", "annotations"), {"a": "x" * 262144}, {"a": "x" * 262143}, "", Refuse.ANNOTATIONS_TOO_LARGE, "262145"),
    (("metadata", "name"), "l.m", "l-m", "", Refuse.SET_NAME_UNFIT_FOR_SERVICES, '"l.m"'),
    (("metadata", "name"), "1lm", "lm1", "", Refuse.SET_NAME_UNFIT_FOR_SERVICES, '"1lm"'),
    ((*GROUPS, 1), group_template("p.q"), group_template("p-q"), ".name", Refuse.PART_NAME_UNFIT_FOR_HOSTS, '"p.q"'),
    ((*GROUPS, 1), group_template("p_q"), group_template("pq"), ".name", Refuse.GROUP_NAME_INVALID, '"p_q"'),
    ((*GROUPS, 1), group_template(""), group_template("p"), ".name", Refuse.GROUP_NAME_INVALID, '""'),
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
        ("", Refuse.CLIQUE_NAME_INVALID),
        ("A", Refuse.CLIQUE_NAME_INVALID),
        ("a..b", Refuse.CLIQUE_NAME_INVALID),
        (".a", Refuse.CLIQUE_NAME_INVALID),
        pytest.param("a.b", Refuse.PART_NAME_UNFIT_FOR_HOSTS, marks=pytest.mark.req("WL-109")),
    ],
)
def test_wl107_names_of_cliques(name: str, rule: Rule) -> None:
    def named(clique: str) -> Json:
        return clique_set(cliques=[clique_template("a"), clique_template(clique)], podCliqueScalingGroups=[])

    assert objections(named(name)) == [Found("spec.template.cliques[1].name", rule, f'"{name}"')]
    assert objections(named("a-b")) == []
    assert objections(named("1")) == []


def set_of(name: str, *cliques: Json, groups: tuple[Json, ...] = (), replicas: int = 1, **template: object) -> Json:
    raw = clique_set(cliques=list(cliques), podCliqueScalingGroups=list(groups), **template)
    raw["metadata"]["name"] = name
    raw["spec"]["replicas"] = replicas
    return raw


class TestWL110:
    """A standalone clique whose name has, together with the set's, more than 45 characters MUST be refused."""

    def test_one_too_many(self) -> None:
        path = "spec.template.cliques[1].name"
        new = set_of("p" * 20, clique_template("a"), clique_template("c" * 26))
        assert objections(new) == [Found(path, Refuse.STANDALONE_NAMES_TOO_LONG, f'"{"c" * 26}"')]
        assert facts(new) == [{"excess": 1, "most": 45}]
        assert objections(set_of("p" * 20, clique_template("a"), clique_template("c" * 25))) == []

    def test_it_counts_on_update_too(self) -> None:
        new = set_of("p" * 20, clique_template("c" * 26))
        assert [found.rule for found in objections(new, new)] == [Refuse.STANDALONE_NAMES_TOO_LONG]


class TestWL111:
    """A member of a scaling group whose name has, together with those of the group and the set, more than 45 characters
    MUST be refused.
    """

    def test_one_too_many(self) -> None:
        cliques = (clique_template("a"), clique_template("c" * 10))
        path = "spec.template.podCliqueScalingGroups[0].cliqueNames[1]"
        new = set_of("p" * 20, *cliques, groups=(group_template("g" * 16, "a", "c" * 10),))
        assert objections(new) == [Found(path, Refuse.MEMBER_NAMES_TOO_LONG, f'"{"c" * 10}"')]
        assert facts(new) == [{"excess": 1, "most": 45, "group": "g" * 16}]
        assert objections(set_of("p" * 20, *cliques, groups=(group_template("g" * 15, "a", "c" * 10),))) == []

    def test_a_very_long_name_is_quoted_short(self) -> None:
        new = set_of("p", clique_template("a"), groups=(group_template("g" * 200, "a"),))
        (quoted,) = facts(new)
        assert len(str(quoted["group"])) < 100


CACHE: Final = {"name": "t" * 30, "scope": "PerReplica"}
MANY: Final = 2**31 - 1


def _with_sharing(part: Json, name: str, scope: str) -> Json:
    return {**part, "resourceSharing": [{"name": name, "scope": scope}]}


class TestWL112:
    """A name that makes the name of a derived object, of a host or in a label longer than 63 characters, with the
    largest index that the manifest's replicas and autoscalers allow, MUST be refused.
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
        assert [(found.path, found.rule) for found in objections(bad)] == [(path, Refuse.DERIVED_NAME_TOO_LONG)]
        assert facts(bad) == [expected]
        assert objections(fine) == []

    def test_what_is_too_long_already_is_not_reported_again(self) -> None:
        shared = _with_sharing(clique_template("c" * 40), "t" * 60, "AllReplicas")
        new = set_of("p" * 10, shared, groups=(group_template("g" * 60, "c" * 40),))
        assert [found.rule for found in objections(new)] == [Refuse.MEMBER_NAMES_TOO_LONG]

    def test_a_group_keeps_to_its_threshold_only_if_that_is_one(self) -> None:
        new = set_of("p" * 10, clique_template("c"), groups=(group_template("g" * 50, minAvailable=0),))
        assert Refuse.DERIVED_NAME_TOO_LONG not in {found.rule for found in objections(new)}


@pytest.mark.parametrize("name", ["a.b", "A", "a-"])
def test_wl113_the_name_of_a_claim_is_a_dns_label(name: str) -> None:
    place = ("spec", "template", "resourceSharing", 1, "name")
    new = changed(place, name)
    assert objections(new) == [Found(path_of(place), Refuse.CLAIM_NAME_INVALID, f'"{name}"')]
    assert facts(new) == [{"name": f"llm-1-{name}"}]
    assert objections(changed(place, "ab")) == []


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
    assert objections(named("a", scaleConfig={"maxReplicas": 5})) == [Found(path, Refuse.AUTOSCALERS_COLLIDE, '"a"')]
    assert objections(named("a")) == []
    assert objections(named("d", scaleConfig={"maxReplicas": 5})) == []


class TestWL115:
    """A standalone clique whose PodClique would be called as one of a scaling group's replica MUST be refused."""

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
        assert objections(new) == [Found("spec.template.cliques[0].name", Refuse.CLIQUES_COLLIDE, f'"{name}"')]
        assert facts(new) == [expected]

    @pytest.mark.parametrize("name", ["g-11-c", "g-00-c", "g-0-d", "h-0-c", "g-c", "g-0", "g-0-0-c"])
    def test_others_only_look_alike(self, name: str) -> None:
        assert objections(self.named(name)) == []

    def test_a_member_has_its_group_s_name_before_it(self) -> None:
        new = self.named("g-0-c")
        new["spec"]["template"]["podCliqueScalingGroups"].append(group_template("h", "g-0-c"))
        assert objections(new) == []

    def test_a_replica_that_only_the_autoscaler_makes_counts(self) -> None:
        new = self.named("g-11-c", scaleConfig={"maxReplicas": 12})
        assert [found.rule for found in objections(new)] == [Refuse.CLIQUES_COLLIDE]


class TestWL116:
    """An update MUST NOT be refused by WL-106, WL-109, WL-112 to WL-115 or WL-117 for a name that was as bad before."""

    OLD: Final = set_of("p" * 10, clique_template("a.b"), groups=(group_template("g" * 49),), replicas=99)

    def test_a_new_set_is_refused(self) -> None:
        rules = [found.rule for found in objections(self.OLD)]
        assert rules == [Refuse.PART_NAME_UNFIT_FOR_HOSTS, Refuse.DERIVED_NAME_TOO_LONG]

    @pytest.mark.parametrize("replicas", [0, 9, 99])
    def test_an_update_that_makes_it_no_worse_is_admitted(self, replicas: int) -> None:
        assert objections(changed(("spec", "replicas"), replicas, self.OLD), self.OLD) == []

    def test_an_update_that_makes_it_worse_is_refused(self) -> None:
        new = changed(("spec", "replicas"), 101, self.OLD)
        assert [found.rule for found in objections(new, self.OLD)] == [Refuse.DERIVED_NAME_TOO_LONG]


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
