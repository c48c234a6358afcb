"""Which PodCliqueSet manifests are admitted, and every reason why others are not."""

from collections.abc import Callable
from copy import deepcopy
from itertools import permutations
from typing import Any, Final

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.gang_termination.rules import Refuse
from grove_core.kernel.admission import Admit, Deny
from grove_core.kernel.refs import Ref
from tests.property.resources.manifests import (
    Json,
    almost,
    any_json,
    clique_set,
    clique_template,
    condition,
    group_template,
    is_there,
    replaced,
)

Found = tuple[str, Refuse]
SOUND: Final = clique_set()
DELAY: Final = "spec.template.terminationDelay"
CLIQUES: Final = "spec.template.cliques"
GROUPS: Final = "spec.template.podCliqueScalingGroups"
CLIQUE: Final = ("spec", "template", "cliques", 0)
GROUP: Final = ("spec", "template", "podCliqueScalingGroups", 0)


def objections(new: Json, old: Json | None = None) -> list[Found]:
    """Path and rule of every objection of this area; that verdict and reasons belong together is checked on the way."""
    decision = admit(new, old)
    if isinstance(decision.verdict, Admit):
        assert [reason.rule for reason in decision.because] == [Refuse.ADMITTED]
        return []
    assert decision.verdict.objections
    assert decision.because == tuple(objection.reason for objection in decision.verdict.objections)
    rules = [objection.reason.rule for objection in decision.verdict.objections]
    assert Refuse.ADMITTED not in rules
    return [
        (objection.path, objection.reason.rule)
        for objection in decision.verdict.objections
        if isinstance(objection.reason.rule, Refuse)
    ]


def changed(place: tuple[str | int, ...], value: object, raw: Json = SOUND) -> Json:
    whole: Json = replaced(raw, place, value)
    return whole


def with_cliques(*cliques: object, **more: object) -> Json:
    return clique_set(cliques=list(cliques), **{"podCliqueScalingGroups": [], **more})


def with_groups(*groups: object, **more: object) -> Json:
    return clique_set(podCliqueScalingGroups=list(groups), **more)


class TestGT090:
    """A ``terminationDelay`` that is not a Go duration (``4h``, ``1h30m``, ``90s``) MUST be refused."""

    @pytest.mark.parametrize("delay", ["4h", "1h30m", "90s", "1.5h", ".5h", "300ms", "1h0m0s"])
    def test_durations_are_admitted(self, delay: str) -> None:
        assert objections(with_groups(group_template("pool", terminationDelay=delay), terminationDelay=delay)) == []

    @pytest.mark.parametrize(
        "delay", ["", "4", "1d", " 4h", "1h-5m", "soon", "1ns", "2562048h", 4, 0, True, [], {"h": 4}]
    )
    def test_anything_else_is_refused(self, delay: object) -> None:
        assert objections(with_groups(group_template("pool", terminationDelay=delay), terminationDelay=delay)) == [
            (f"{GROUPS}[0].terminationDelay", Refuse.DELAY_MALFORMED),
            (DELAY, Refuse.DELAY_MALFORMED),
        ]

    def test_an_override_is_not_said_to_override_nothing_because_of_it(self) -> None:
        assert objections(changed(("spec", "template", "terminationDelay"), "1d")) == [(DELAY, Refuse.DELAY_MALFORMED)]

    def test_the_objection_shows_what_stood_there(self) -> None:
        verdict = admit(changed(("spec", "template", "terminationDelay"), "1d")).verdict
        assert isinstance(verdict, Deny)
        assert [objection.got for objection in verdict.objections] == ['"1d"']


class TestGT091:
    """A ``terminationDelay`` of the set that is not greater than zero MUST be refused."""

    @pytest.mark.parametrize("delay", ["1us", "1s", "4h", None])
    def test_more_than_nothing_or_none_is_admitted(self, delay: str | None) -> None:
        assert objections(with_groups(terminationDelay=delay)) == []

    @pytest.mark.parametrize(
        ("delay", "got"), [("0s", "0s"), ("0", "0s"), ("-0", "0s"), ("-1h", "-1h"), ("-90s", "-1m30s")]
    )
    def test_nothing_and_less_is_refused(self, delay: str, got: str) -> None:
        verdict = admit(with_groups(terminationDelay=delay)).verdict
        assert isinstance(verdict, Deny)
        assert [(objection.path, objection.reason.rule) for objection in verdict.objections] == [
            (DELAY, Refuse.DELAY_NOT_POSITIVE)
        ]
        assert [objection.got for objection in verdict.objections] == [got]


class TestGT092:
    """A ``terminationDelay`` on a scaling group MUST be refused when the set has none."""

    def test_a_group_may_override_the_set(self) -> None:
        groups = [group_template("pool", terminationDelay="1h"), group_template("spare")]
        assert objections(with_groups(*groups, terminationDelay="4h")) == []

    @pytest.mark.parametrize("absent", [None, ...])
    def test_there_must_be_something_to_override(self, absent: object) -> None:
        groups = [group_template("spare"), group_template("pool", terminationDelay="1h")]
        assert objections(with_groups(*groups, terminationDelay=absent)) == [
            (f"{GROUPS}[1].terminationDelay", Refuse.OVERRIDE_WITHOUT_DELAY)
        ]

    def test_a_delay_of_nothing_is_the_set_s_own_fault(self) -> None:
        groups = [group_template("pool", terminationDelay="1h")]
        assert objections(with_groups(*groups, terminationDelay="0s")) == [(DELAY, Refuse.DELAY_NOT_POSITIVE)]


class TestGT093:
    """A ``terminationDelay`` of a scaling group that is not greater than zero MUST be refused."""

    @pytest.mark.parametrize("delay", ["1us", "8h", None])
    def test_more_than_nothing_is_admitted(self, delay: str | None) -> None:
        assert objections(with_groups(group_template("pool", terminationDelay=delay))) == []

    @pytest.mark.parametrize("delay", ["0s", "-1h"])
    def test_nothing_and_less_is_refused(self, delay: str) -> None:
        groups = [group_template("pool", terminationDelay="1h"), group_template("spare", terminationDelay=delay)]
        assert objections(with_groups(*groups)) == [(f"{GROUPS}[1].terminationDelay", Refuse.OVERRIDE_NOT_POSITIVE)]

    @pytest.mark.req("GT-092")
    def test_both_faults_of_an_override_are_named(self) -> None:
        assert objections(with_groups(group_template("pool", terminationDelay="0s"), terminationDelay=None)) == [
            (f"{GROUPS}[0].terminationDelay", Refuse.OVERRIDE_WITHOUT_DELAY),
            (f"{GROUPS}[0].terminationDelay", Refuse.OVERRIDE_NOT_POSITIVE),
        ]


class TestGT094:
    """A clique's ``minAvailable`` that is not between 1 and its ``replicas`` MUST be refused."""

    @pytest.mark.parametrize(("replicas", "needed"), [(1, 1), (3, 1), (3, 3), (3, None), (None, 1), (None, None)])
    def test_within_the_replicas_is_admitted(self, replicas: int | None, needed: int | None) -> None:
        assert objections(with_cliques(clique_template("a", replicas=replicas, minAvailable=needed))) == []

    @pytest.mark.parametrize(("replicas", "needed"), [(3, 0), (3, -1), (3, 4), (None, 2), (1, 2**31 - 1)])
    def test_outside_is_refused(self, replicas: int | None, needed: int) -> None:
        bad = clique_template("b", replicas=replicas, minAvailable=needed)
        assert objections(with_cliques(clique_template("a"), bad)) == [
            (f"{CLIQUES}[1].spec.minAvailable", Refuse.CLIQUE_THRESHOLD_OUT_OF_RANGE)
        ]

    def test_unreadable_replicas_are_not_held_against_it(self) -> None:
        assert objections(with_cliques(clique_template("a", replicas="five", minAvailable=4))) == [
            (f"{CLIQUES}[0].spec.replicas", Refuse.MALFORMED)
        ]


class TestGT095:
    """A scaling group's ``minAvailable`` that is not between 1 and its ``replicas`` MUST be refused."""

    @pytest.mark.parametrize(("replicas", "needed"), [(1, 1), (3, 1), (3, 3), (3, None), (None, 1), (None, None)])
    def test_within_the_replicas_is_admitted(self, replicas: int | None, needed: int | None) -> None:
        assert objections(with_groups(group_template("g", replicas=replicas, minAvailable=needed))) == []

    @pytest.mark.parametrize(("replicas", "needed"), [(3, 0), (3, -1), (3, 4), (None, 2)])
    def test_outside_is_refused(self, replicas: int | None, needed: int) -> None:
        bad = group_template("h", replicas=replicas, minAvailable=needed)
        assert objections(with_groups(group_template("g"), bad)) == [
            (f"{GROUPS}[1].minAvailable", Refuse.GROUP_THRESHOLD_OUT_OF_RANGE)
        ]

    def test_unreadable_replicas_are_not_held_against_it(self) -> None:
        assert objections(with_groups(group_template("g", replicas=[], minAvailable=4))) == [
            (f"{GROUPS}[0].replicas", Refuse.MALFORMED)
        ]


class TestGT096:
    """A negative number of replicas of the set, or a number of replicas of a clique or scaling group below 1, MUST be
    refused.
    """

    @pytest.mark.parametrize("replicas", [0, 1, 2**31 - 1, None])
    def test_a_set_may_have_none(self, replicas: int | None) -> None:
        assert objections(changed(("spec", "replicas"), replicas)) == []

    @pytest.mark.parametrize("replicas", [-1, -(2**31)])
    def test_a_set_has_no_fewer(self, replicas: int) -> None:
        assert objections(changed(("spec", "replicas"), replicas)) == [("spec.replicas", Refuse.COUNT_OUT_OF_RANGE)]

    @pytest.mark.parametrize("replicas", [0, -1])
    def test_a_clique_has_at_least_one(self, replicas: int) -> None:
        bad = clique_template("b", replicas=replicas, minAvailable=None)
        assert objections(with_cliques(clique_template("a", replicas=1, minAvailable=None))) == []
        assert objections(with_cliques(clique_template("a"), bad)) == [
            (f"{CLIQUES}[1].spec.replicas", Refuse.COUNT_OUT_OF_RANGE)
        ]

    @pytest.mark.req("GT-095")
    @pytest.mark.parametrize("replicas", [0, -1])
    def test_a_group_has_at_least_one(self, replicas: int) -> None:
        assert objections(with_groups(group_template("g", replicas=1))) == []
        assert objections(with_groups(group_template("g", replicas=replicas))) == [
            (f"{GROUPS}[0].minAvailable", Refuse.GROUP_THRESHOLD_OUT_OF_RANGE),
            (f"{GROUPS}[0].replicas", Refuse.COUNT_OUT_OF_RANGE),
        ]


class TestGT097:
    """A name in ``cliqueNames`` that no clique of the template has MUST be refused."""

    def test_cliques_of_the_template_are_admitted(self) -> None:
        assert objections(with_groups(group_template("g", "worker", "leader"))) == []
        assert objections(with_groups(group_template("g"))) == []

    @pytest.mark.parametrize("name", ["ghost", "", "Leader", "leader "])
    def test_unknown_names_are_refused(self, name: str) -> None:
        assert objections(with_groups(group_template("g", "leader", name))) == [
            (f"{GROUPS}[0].cliqueNames[1]", Refuse.CLIQUE_UNKNOWN)
        ]

    def test_an_unknown_name_is_unknown_each_time(self) -> None:
        assert objections(with_groups(group_template("g", "ghost"), group_template("h", "ghost"))) == [
            (f"{GROUPS}[0].cliqueNames[0]", Refuse.CLIQUE_UNKNOWN),
            (f"{GROUPS}[1].cliqueNames[0]", Refuse.CLIQUE_UNKNOWN),
        ]


class TestGT098:
    """A clique that is named more than once over all scaling groups MUST be refused."""

    def test_each_clique_in_one_group_is_admitted(self) -> None:
        assert objections(with_groups(group_template("g", "leader"), group_template("h", "worker"))) == []

    def test_a_clique_in_two_groups_is_refused(self) -> None:
        groups = [group_template("g", "leader"), group_template("h", "worker", "leader")]
        assert objections(with_groups(*groups)) == [(f"{GROUPS}[1].cliqueNames[1]", Refuse.CLIQUE_IN_TWO_GROUPS)]

    def test_a_clique_twice_in_one_group_is_refused(self) -> None:
        assert objections(with_groups(group_template("g", "leader", "leader", "leader"))) == [
            (f"{GROUPS}[0].cliqueNames[1]", Refuse.CLIQUE_IN_TWO_GROUPS),
            (f"{GROUPS}[0].cliqueNames[2]", Refuse.CLIQUE_IN_TWO_GROUPS),
        ]


class TestGT099:
    """Two cliques or two scaling groups of one name MUST be refused."""

    def test_a_clique_and_a_group_may_share_a_name(self) -> None:
        assert objections(with_groups(group_template("leader", "leader"))) == []

    def test_two_cliques_of_one_name_are_refused(self) -> None:
        cliques = [clique_template(name) for name in ("a", "b", "a", "a")]
        assert objections(with_cliques(*cliques)) == [
            (f"{CLIQUES}[2].name", Refuse.NAME_REPEATED),
            (f"{CLIQUES}[3].name", Refuse.NAME_REPEATED),
        ]

    def test_two_groups_of_one_name_are_refused(self) -> None:
        groups = [group_template("g", "leader"), group_template("g", "worker")]
        assert objections(with_groups(*groups)) == [(f"{GROUPS}[1].name", Refuse.NAME_REPEATED)]


class TestGT100:
    """A template without cliques MUST be refused."""

    def test_one_clique_is_enough(self) -> None:
        assert objections(with_cliques(clique_template("a"))) == []

    def test_none_is_refused(self) -> None:
        assert objections(with_cliques()) == [(CLIQUES, Refuse.NO_CLIQUES)]

    @pytest.mark.req("GT-103")
    def test_cliques_that_are_not_written_are_a_missing_field(self) -> None:
        assert objections(clique_set(cliques=..., podCliqueScalingGroups=[])) == [(CLIQUES, Refuse.MALFORMED)]


class TestGT101:
    """An update that changes the set of clique or scaling group names, a ``minAvailable``, or the ``cliqueNames`` of a
    group MUST be refused.
    """

    OLD: Final = clique_set(
        cliques=[
            clique_template("router"),
            clique_template("plain", minAvailable=None),
            clique_template("leader"),
            clique_template("worker"),
        ],
        podCliqueScalingGroups=[
            group_template("pool", "leader", "worker", terminationDelay="1h", replicas=3),
            group_template("spare", replicas=3, minAvailable=None),
        ],
    )

    def test_an_update_that_changes_nothing_is_admitted(self) -> None:
        assert objections(self.OLD, self.OLD) == []

    @pytest.mark.parametrize(
        ("place", "value"),
        [
            (("spec", "replicas"), 7),
            (("spec", "template", "terminationDelay"), "2h"),
            ((*CLIQUE, "spec", "replicas"), 9),
            ((*CLIQUE, "spec", "podSpec"), {"containers": []}),
            ((*GROUP, "replicas"), 9),
            ((*GROUP, "terminationDelay"), "3h"),
            ((*GROUP, "terminationDelay"), None),
            (("spec", "template", "podCliqueScalingGroups", 1, "minAvailable"), 1),
            (("spec", "template", "cliques", 1, "spec", "minAvailable"), 3),
            (("metadata", "labels"), {"a": "b"}),
        ],
        ids=str,
    )
    def test_the_rest_may_change(self, place: tuple[str | int, ...], value: object) -> None:
        assert objections(changed(place, value, self.OLD), self.OLD) == []

    @pytest.mark.parametrize(
        ("place", "value", "path"),
        [
            ((*CLIQUE, "spec", "minAvailable"), 1, f"{CLIQUES}[0].spec.minAvailable"),
            ((*CLIQUE, "spec", "minAvailable"), None, f"{CLIQUES}[0].spec.minAvailable"),
            (("spec", "template", "cliques", 1, "spec", "minAvailable"), 2, f"{CLIQUES}[1].spec.minAvailable"),
            (("spec", "template", "cliques", 1, "spec", "replicas"), 4, f"{CLIQUES}[1].spec.minAvailable"),
            ((*CLIQUE, "name"), "gateway", CLIQUES),
            ((*GROUP, "minAvailable"), 2, f"{GROUPS}[0].minAvailable"),
            (("spec", "template", "podCliqueScalingGroups", 1, "minAvailable"), 2, f"{GROUPS}[1].minAvailable"),
            ((*GROUP, "cliqueNames"), ["leader"], f"{GROUPS}[0].cliqueNames"),
            ((*GROUP, "cliqueNames"), ["leader", "worker", "router"], f"{GROUPS}[0].cliqueNames"),
            ((*GROUP, "cliqueNames"), ["leader", "router"], f"{GROUPS}[0].cliqueNames"),
            ((*GROUP, "cliqueNames"), ["worker", "leader"], f"{GROUPS}[0].cliqueNames"),
            ((*GROUP, "cliqueNames"), [], f"{GROUPS}[0].cliqueNames"),
            ((*GROUP, "name"), "pond", GROUPS),
            (("spec", "template", "podCliqueScalingGroups"), [], GROUPS),
            (("spec", "template", "podCliqueScalingGroups"), None, GROUPS),
        ],
        ids=str,
    )
    def test_what_must_not_change_is_refused(self, place: tuple[str | int, ...], value: object, path: str) -> None:
        new = changed(place, value, self.OLD)
        assert objections(new) == []
        assert objections(new, self.OLD) == [(path, Refuse.IMMUTABLE)]

    def test_names_cannot_be_added_or_taken_away(self) -> None:
        more, fewer = deepcopy(self.OLD), deepcopy(self.OLD)
        more["spec"]["template"]["cliques"].insert(0, clique_template("extra"))
        del fewer["spec"]["template"]["cliques"][0]
        more["spec"]["template"]["podCliqueScalingGroups"].insert(0, group_template("extra"))
        del fewer["spec"]["template"]["podCliqueScalingGroups"][1]
        for new in (more, fewer):
            assert objections(new) == []
            assert objections(new, self.OLD) == [(CLIQUES, Refuse.IMMUTABLE), (GROUPS, Refuse.IMMUTABLE)]

    def test_the_order_of_cliques_and_groups_may_change(self) -> None:
        new = deepcopy(self.OLD)
        new["spec"]["template"]["cliques"].reverse()
        new["spec"]["template"]["podCliqueScalingGroups"].reverse()
        assert objections(new, self.OLD) == []

    def test_a_change_is_found_under_the_new_place(self) -> None:
        new = changed((*CLIQUE, "spec", "minAvailable"), 3, self.OLD)
        new = changed((*GROUP, "minAvailable"), 3, new)
        new["spec"]["template"]["cliques"].reverse()
        new["spec"]["template"]["podCliqueScalingGroups"].reverse()
        assert objections(new, self.OLD) == [
            (f"{CLIQUES}[3].spec.minAvailable", Refuse.IMMUTABLE),
            (f"{GROUPS}[1].minAvailable", Refuse.IMMUTABLE),
        ]

    def test_a_change_into_something_else_that_is_wrong_is_wrong_twice(self) -> None:
        assert objections(changed((*CLIQUE, "spec", "minAvailable"), 4, self.OLD), self.OLD) == [
            (f"{CLIQUES}[0].spec.minAvailable", Refuse.CLIQUE_THRESHOLD_OUT_OF_RANGE),
            (f"{CLIQUES}[0].spec.minAvailable", Refuse.IMMUTABLE),
        ]

    @pytest.mark.parametrize("field", ["minAvailable", "replicas"])
    def test_what_does_not_read_is_no_change(self, field: str) -> None:
        for number in range(2):
            place = ("spec", "template", "cliques", number, "spec", field)
            assert objections(changed(place, "some", self.OLD), self.OLD) == [
                (f"{CLIQUES}[{number}].spec.{field}", Refuse.MALFORMED)
            ]

    @pytest.mark.parametrize("old", [{}, {"spec": 5}, changed((*CLIQUE, "spec", "minAvailable"), "two")])
    def test_an_old_spec_that_does_not_read_has_nothing_to_compare_with(self, old: Json) -> None:
        assert objections(SOUND, old) == []

    @pytest.mark.parametrize("old", [{**SOUND, "status": 5}, {**SOUND, "metadata": None}])
    def test_an_old_status_does_not_matter(self, old: Json) -> None:
        new = changed((*CLIQUE, "spec", "minAvailable"), 1)
        assert objections(new, old) == [(f"{CLIQUES}[0].spec.minAvailable", Refuse.IMMUTABLE)]


class TestGT103:
    """A manifest with a field of the wrong type or a missing required field MUST be refused."""

    @pytest.mark.parametrize(
        ("place", "value", "path"),
        [
            (("metadata",), None, "metadata.name"),
            (("metadata", "name"), "", "metadata.name"),
            (("metadata", "name"), 5, "metadata.name"),
            (("spec",), None, "spec"),
            (("spec", "replicas"), "two", "spec.replicas"),
            (("spec", "replicas"), 2**31, "spec.replicas"),
            (("spec", "template"), None, "spec.template"),
            ((*CLIQUE, "spec", "minAvailable"), "two", f"{CLIQUES}[0].spec.minAvailable"),
            ((*CLIQUE, "name"), None, f"{CLIQUES}[0].name"),
            (CLIQUE, None, f"{CLIQUES}[0]"),
            ((*GROUP, "cliqueNames"), "leader", f"{GROUPS}[0].cliqueNames"),
            ((*GROUP, "cliqueNames", 0), 5, f"{GROUPS}[0].cliqueNames[0]"),
            (("spec", "template", "podCliqueScalingGroups"), 5, GROUPS),
            (("status",), {"conditions": [condition("A") | {"status": True}]}, "status.conditions[0].status"),
        ],
        ids=str,
    )
    def test_it_is_refused_with_its_path(self, place: tuple[str | int, ...], value: object, path: str) -> None:
        assert objections(SOUND) == []
        assert objections(changed(place, value)) == [(path, Refuse.MALFORMED)]

    def test_the_objection_names_what_was_expected_and_what_stood_there(self) -> None:
        verdict = admit(changed((*CLIQUE, "spec", "minAvailable"), "two")).verdict
        assert isinstance(verdict, Deny)
        (objection,) = verdict.objections
        assert objection.got == '"two"'
        assert objection.reason.facts == (("expected", "an integer"),)

    def test_all_faults_are_named_at_once_the_malformed_beside_the_forbidden(self) -> None:
        raw = clique_set(
            terminationDelay="1d",
            cliques=[
                clique_template("a", minAvailable="two"),
                clique_template("a", minAvailable=0),
                clique_template("b", replicas=[], minAvailable=2),
            ],
            podCliqueScalingGroups=[
                group_template("g", "ghost", replicas=0),
                group_template("h", terminationDelay="0s"),
            ],
        )
        raw["spec"]["replicas"] = -1
        raw["metadata"] = {"finalizers": [5]}
        assert objections(raw) == [
            ("metadata.finalizers[0]", Refuse.MALFORMED),
            ("metadata.name", Refuse.MALFORMED),
            ("spec.replicas", Refuse.COUNT_OUT_OF_RANGE),
            (f"{CLIQUES}[0].spec.minAvailable", Refuse.MALFORMED),
            (f"{CLIQUES}[1].name", Refuse.NAME_REPEATED),
            (f"{CLIQUES}[1].spec.minAvailable", Refuse.CLIQUE_THRESHOLD_OUT_OF_RANGE),
            (f"{CLIQUES}[2].spec.replicas", Refuse.MALFORMED),
            (f"{GROUPS}[0].cliqueNames[0]", Refuse.CLIQUE_UNKNOWN),
            (f"{GROUPS}[0].minAvailable", Refuse.GROUP_THRESHOLD_OUT_OF_RANGE),
            (f"{GROUPS}[0].replicas", Refuse.COUNT_OUT_OF_RANGE),
            (f"{GROUPS}[1].terminationDelay", Refuse.OVERRIDE_NOT_POSITIVE),
            (DELAY, Refuse.DELAY_MALFORMED),
        ]

    @pytest.mark.req("GT-101")
    def test_a_malformed_field_does_not_hide_a_change(self) -> None:
        new = changed((*GROUP, "minAvailable"), 2, changed((*CLIQUE, "spec", "replicas"), "three"))
        assert objections(new, SOUND) == [
            (f"{CLIQUES}[0].spec.replicas", Refuse.MALFORMED),
            (f"{GROUPS}[0].minAvailable", Refuse.IMMUTABLE),
        ]


# ------------------------------------------------------------------------------- arbitrary manifests


@st.composite
def sound_sets(draw: st.DrawFn) -> Json:
    """Any set that breaks no rule; at least one clique is standalone, and one group has a member."""
    names = draw(st.lists(st.sampled_from(("a", "b", "c", "d", "e", "f")), unique=True, min_size=2))
    cliques = []
    for name in names:
        replicas = draw(st.integers(1, 4))
        spec = {"replicas": replicas, "minAvailable": draw(st.none() | st.integers(1, replicas))}
        cliques.append({"name": name, "spec": spec})
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
    return [(DELAY, Refuse.DELAY_MALFORMED)]


def _override_malformed(template: Json) -> list[Found]:
    template["podCliqueScalingGroups"][0]["terminationDelay"] = "soon"
    return [(f"{GROUPS}[0].terminationDelay", Refuse.DELAY_MALFORMED)]


def _delay_not_positive(template: Json) -> list[Found]:
    template["terminationDelay"] = "0s"
    return [(DELAY, Refuse.DELAY_NOT_POSITIVE)]


def _override_without_delay(template: Json) -> list[Found]:
    del template["terminationDelay"]
    for group in template["podCliqueScalingGroups"]:
        group["terminationDelay"] = "1h"
    return [
        (f"{GROUPS}[{index}].terminationDelay", Refuse.OVERRIDE_WITHOUT_DELAY)
        for index in range(len(template["podCliqueScalingGroups"]))
    ]


def _override_not_positive(template: Json) -> list[Found]:
    template["terminationDelay"] = "4h"
    template["podCliqueScalingGroups"][0]["terminationDelay"] = "-1h"
    return [(f"{GROUPS}[0].terminationDelay", Refuse.OVERRIDE_NOT_POSITIVE)]


def _clique_threshold_too_high(template: Json) -> list[Found]:
    spec = template["cliques"][-1]["spec"]
    spec["minAvailable"] = spec["replicas"] + 1
    return [(f"{CLIQUES}[{len(template['cliques']) - 1}].spec.minAvailable", Refuse.CLIQUE_THRESHOLD_OUT_OF_RANGE)]


def _clique_threshold_too_low(template: Json) -> list[Found]:
    template["cliques"][0]["spec"]["minAvailable"] = 0
    return [(f"{CLIQUES}[0].spec.minAvailable", Refuse.CLIQUE_THRESHOLD_OUT_OF_RANGE)]


def _group_threshold_too_high(template: Json) -> list[Found]:
    group = template["podCliqueScalingGroups"][0]
    group["minAvailable"] = group["replicas"] + 1
    return [(f"{GROUPS}[0].minAvailable", Refuse.GROUP_THRESHOLD_OUT_OF_RANGE)]


def _clique_without_replicas(template: Json) -> list[Found]:
    template["cliques"][0]["spec"] = {"replicas": 0}
    return [(f"{CLIQUES}[0].spec.replicas", Refuse.COUNT_OUT_OF_RANGE)]


def _clique_unknown(template: Json) -> list[Found]:
    names = template["podCliqueScalingGroups"][0]["cliqueNames"]
    names.append("ghost")
    return [(f"{GROUPS}[0].cliqueNames[{len(names) - 1}]", Refuse.CLIQUE_UNKNOWN)]


def _clique_in_two_groups(template: Json) -> list[Found]:
    groups = template["podCliqueScalingGroups"]
    groups.append(group_template("last", groups[0]["cliqueNames"][0]))
    return [(f"{GROUPS}[{len(groups) - 1}].cliqueNames[0]", Refuse.CLIQUE_IN_TWO_GROUPS)]


def _clique_name_repeated(template: Json) -> list[Found]:
    template["cliques"].append(template["cliques"][0])
    return [(f"{CLIQUES}[{len(template['cliques']) - 1}].name", Refuse.NAME_REPEATED)]


def _group_name_repeated(template: Json) -> list[Found]:
    groups = template["podCliqueScalingGroups"]
    groups.append(group_template(groups[0]["name"]))
    return [(f"{GROUPS}[{len(groups) - 1}].name", Refuse.NAME_REPEATED)]


def _no_cliques(template: Json) -> list[Found]:
    template.update(cliques=[], podCliqueScalingGroups=[])
    return [(CLIQUES, Refuse.NO_CLIQUES)]


def _replicas_malformed(template: Json) -> list[Found]:
    template["cliques"][-1]["spec"]["replicas"] = "three"
    return [(f"{CLIQUES}[{len(template['cliques']) - 1}].spec.replicas", Refuse.MALFORMED)]


def _name_missing(template: Json) -> list[Found]:
    del template["podCliqueScalingGroups"][0]["name"]
    return [(f"{GROUPS}[0].name", Refuse.MALFORMED)]


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
    return [(CLIQUES, Refuse.IMMUTABLE)]


def _clique_taken_away(template: Json) -> list[Found]:
    del template["cliques"][0]
    return [(CLIQUES, Refuse.IMMUTABLE)]


def _clique_threshold_changed(template: Json) -> list[Found]:
    spec = template["cliques"][0]["spec"]
    needed = spec["replicas"] if spec["minAvailable"] is None else spec["minAvailable"]
    spec.update(replicas=5, minAvailable=needed + 1)
    return [(f"{CLIQUES}[0].spec.minAvailable", Refuse.IMMUTABLE)]


def _group_added(template: Json) -> list[Found]:
    template["podCliqueScalingGroups"].insert(0, group_template("new"))
    return [(GROUPS, Refuse.IMMUTABLE)]


def _group_taken_away(template: Json) -> list[Found]:
    del template["podCliqueScalingGroups"][-1]
    return [(GROUPS, Refuse.IMMUTABLE)]


def _group_threshold_changed(template: Json) -> list[Found]:
    group = template["podCliqueScalingGroups"][0]
    group.update(replicas=5, minAvailable=group["minAvailable"] + 1)
    return [(f"{GROUPS}[0].minAvailable", Refuse.IMMUTABLE)]


def _membership_changed(template: Json) -> list[Found]:
    template["podCliqueScalingGroups"][0]["cliqueNames"].insert(0, template["cliques"][0]["name"])
    return [(f"{GROUPS}[0].cliqueNames", Refuse.IMMUTABLE)]


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
    assert [reason.rule for reason in decision.because] == [Refuse.ADMITTED]
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
    reached = {Refuse.COUNT_OUT_OF_RANGE, Refuse.ADMITTED}
    for mutation in (*MUTATIONS, *CHANGES):
        reached |= {rule for _, rule in mutation(deepcopy(SOUND)["spec"]["template"])}
    assert reached == set(Refuse)


MANIFESTS: Final = st.dictionaries(st.sampled_from(("metadata", "spec", "status")), any_json()) | almost(SOUND)


class TestAnyJson:
    """Admission answers whatever it is shown."""

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
    def test_gt102_the_reasons_name_the_set_as_far_as_it_says_who_it_is(
        self, metadata: object, namespace: str, name: str
    ) -> None:
        subjects = {reason.subject for reason in admit({**SOUND, "metadata": metadata}).because}
        assert subjects == {Ref("grove.io/v1alpha1", "PodCliqueSet", namespace, name)}
