"""GT-090 to GT-100: which manifests are admitted, and which are refused, with the path."""

import pytest

from grove_core.admit import admit
from grove_core.areas.gang_termination.rules import GangTerminationDenial
from grove_core.kernel.admission import Deny
from tests.property.gang_termination.objections import CLIQUES, DELAY, GROUPS, changed, objections
from tests.property.resources.manifests import (
    Json,
    clique_set,
    clique_template,
    group_template,
)


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
            (f"{GROUPS}[0].terminationDelay", GangTerminationDenial.DELAY_MALFORMED),
            (DELAY, GangTerminationDenial.DELAY_MALFORMED),
        ]

    def test_an_override_is_not_said_to_override_nothing_because_of_it(self) -> None:
        assert objections(changed(("spec", "template", "terminationDelay"), "1d")) == [
            (DELAY, GangTerminationDenial.DELAY_MALFORMED)
        ]

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
            (DELAY, GangTerminationDenial.DELAY_NOT_POSITIVE)
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
            (f"{GROUPS}[1].terminationDelay", GangTerminationDenial.OVERRIDE_WITHOUT_DELAY)
        ]

    def test_a_delay_of_nothing_is_the_set_s_own_fault(self) -> None:
        groups = [group_template("pool", terminationDelay="1h")]
        assert objections(with_groups(*groups, terminationDelay="0s")) == [
            (DELAY, GangTerminationDenial.DELAY_NOT_POSITIVE)
        ]


class TestGT093:
    """A ``terminationDelay`` of a scaling group that is not greater than zero MUST be refused."""

    @pytest.mark.parametrize("delay", ["1us", "8h", None])
    def test_more_than_nothing_is_admitted(self, delay: str | None) -> None:
        assert objections(with_groups(group_template("pool", terminationDelay=delay))) == []

    @pytest.mark.parametrize("delay", ["0s", "-1h"])
    def test_nothing_and_less_is_refused(self, delay: str) -> None:
        groups = [group_template("pool", terminationDelay="1h"), group_template("spare", terminationDelay=delay)]
        assert objections(with_groups(*groups)) == [
            (f"{GROUPS}[1].terminationDelay", GangTerminationDenial.OVERRIDE_NOT_POSITIVE)
        ]

    @pytest.mark.req("GT-092")
    def test_both_faults_of_an_override_are_named(self) -> None:
        assert objections(with_groups(group_template("pool", terminationDelay="0s"), terminationDelay=None)) == [
            (f"{GROUPS}[0].terminationDelay", GangTerminationDenial.OVERRIDE_WITHOUT_DELAY),
            (f"{GROUPS}[0].terminationDelay", GangTerminationDenial.OVERRIDE_NOT_POSITIVE),
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
            (f"{CLIQUES}[1].spec.minAvailable", GangTerminationDenial.CLIQUE_THRESHOLD_OUT_OF_RANGE)
        ]

    def test_unreadable_replicas_are_not_held_against_it(self) -> None:
        assert objections(with_cliques(clique_template("a", replicas="five", minAvailable=4))) == [
            (f"{CLIQUES}[0].spec.replicas", GangTerminationDenial.MALFORMED)
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
            (f"{GROUPS}[1].minAvailable", GangTerminationDenial.GROUP_THRESHOLD_OUT_OF_RANGE)
        ]

    def test_unreadable_replicas_are_not_held_against_it(self) -> None:
        assert objections(with_groups(group_template("g", replicas=[], minAvailable=4))) == [
            (f"{GROUPS}[0].replicas", GangTerminationDenial.MALFORMED)
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
        assert objections(changed(("spec", "replicas"), replicas)) == [
            ("spec.replicas", GangTerminationDenial.COUNT_OUT_OF_RANGE)
        ]

    @pytest.mark.parametrize("replicas", [0, -1])
    def test_a_clique_has_at_least_one(self, replicas: int) -> None:
        bad = clique_template("b", replicas=replicas, minAvailable=None)
        assert objections(with_cliques(clique_template("a", replicas=1, minAvailable=None))) == []
        assert objections(with_cliques(clique_template("a"), bad)) == [
            (f"{CLIQUES}[1].spec.replicas", GangTerminationDenial.COUNT_OUT_OF_RANGE)
        ]

    @pytest.mark.req("GT-095")
    @pytest.mark.parametrize("replicas", [0, -1])
    def test_a_group_has_at_least_one(self, replicas: int) -> None:
        assert objections(with_groups(group_template("g", replicas=1))) == []
        assert objections(with_groups(group_template("g", replicas=replicas))) == [
            (f"{GROUPS}[0].replicas", GangTerminationDenial.COUNT_OUT_OF_RANGE)
        ]  # what follows from it is not reported as well


class TestGT097:
    """A name in ``cliqueNames`` that no clique of the template has MUST be refused."""

    def test_cliques_of_the_template_are_admitted(self) -> None:
        assert objections(with_groups(group_template("g", "worker", "leader"))) == []
        assert objections(with_groups(group_template("g"))) == []

    @pytest.mark.parametrize("name", ["ghost", "", "Leader", "leader "])
    def test_unknown_names_are_refused(self, name: str) -> None:
        assert objections(with_groups(group_template("g", "leader", name))) == [
            (f"{GROUPS}[0].cliqueNames[1]", GangTerminationDenial.CLIQUE_UNKNOWN)
        ]

    def test_an_unknown_name_is_unknown_each_time(self) -> None:
        assert objections(with_groups(group_template("g", "ghost"), group_template("h", "ghost"))) == [
            (f"{GROUPS}[0].cliqueNames[0]", GangTerminationDenial.CLIQUE_UNKNOWN),
            (f"{GROUPS}[1].cliqueNames[0]", GangTerminationDenial.CLIQUE_UNKNOWN),
        ]


class TestGT098:
    """A clique that is named more than once over all scaling groups MUST be refused."""

    def test_each_clique_in_one_group_is_admitted(self) -> None:
        assert objections(with_groups(group_template("g", "leader"), group_template("h", "worker"))) == []

    def test_a_clique_in_two_groups_is_refused(self) -> None:
        groups = [group_template("g", "leader"), group_template("h", "worker", "leader")]
        assert objections(with_groups(*groups)) == [
            (f"{GROUPS}[1].cliqueNames[1]", GangTerminationDenial.CLIQUE_IN_TWO_GROUPS)
        ]

    def test_a_clique_twice_in_one_group_is_refused(self) -> None:
        assert objections(with_groups(group_template("g", "leader", "leader", "leader"))) == [
            (f"{GROUPS}[0].cliqueNames[1]", GangTerminationDenial.CLIQUE_IN_TWO_GROUPS),
            (f"{GROUPS}[0].cliqueNames[2]", GangTerminationDenial.CLIQUE_IN_TWO_GROUPS),
        ]


class TestGT099:
    """Two cliques or two scaling groups of one name MUST be refused."""

    def test_a_clique_and_a_group_may_share_a_name(self) -> None:
        assert objections(with_groups(group_template("leader", "leader"))) == []

    def test_two_cliques_of_one_name_are_refused(self) -> None:
        cliques = [clique_template(name) for name in ("a", "b", "a", "a")]
        assert objections(with_cliques(*cliques)) == [
            (f"{CLIQUES}[2].name", GangTerminationDenial.NAME_REPEATED),
            (f"{CLIQUES}[3].name", GangTerminationDenial.NAME_REPEATED),
        ]

    def test_two_groups_of_one_name_are_refused(self) -> None:
        groups = [group_template("g", "leader"), group_template("g", "worker")]
        assert objections(with_groups(*groups)) == [(f"{GROUPS}[1].name", GangTerminationDenial.NAME_REPEATED)]


class TestGT100:
    """A template without cliques MUST be refused."""

    def test_one_clique_is_enough(self) -> None:
        assert objections(with_cliques(clique_template("a"))) == []

    def test_none_is_refused(self) -> None:
        assert objections(with_cliques()) == [(CLIQUES, GangTerminationDenial.NO_CLIQUES)]

    @pytest.mark.req("GT-103")
    def test_cliques_that_are_not_written_are_a_missing_field(self) -> None:
        assert objections(clique_set(cliques=..., podCliqueScalingGroups=[])) == [
            (CLIQUES, GangTerminationDenial.MALFORMED)
        ]
