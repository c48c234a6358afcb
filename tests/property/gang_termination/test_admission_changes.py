"""GT-101 and GT-103: updates that are refused, and manifests that are malformed."""

from copy import deepcopy
from typing import Final

import pytest

from grove_core.admit import admit
from grove_core.areas.gang_termination.rules import GangTerminationDenial
from grove_core.kernel.admission import Deny
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED as OWN
from tests.property.gang_termination.objections import CLIQUES, DELAY, GROUPS, SOUND, changed, objections
from tests.property.resources.manifests import (
    Json,
    clique_set,
    clique_template,
    condition,
    group_template,
)

CLIQUE: Final = ("spec", "template", "cliques", 0)
GROUP: Final = ("spec", "template", "podCliqueScalingGroups", 0)


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
        assert objections(new, self.OLD) == [(path, GangTerminationDenial.IMMUTABLE)]

    def test_names_cannot_be_added_or_taken_away(self) -> None:
        more, fewer = deepcopy(self.OLD), deepcopy(self.OLD)
        more["spec"]["template"]["cliques"].insert(0, clique_template("extra"))
        del fewer["spec"]["template"]["cliques"][0]
        more["spec"]["template"]["podCliqueScalingGroups"].insert(0, group_template("extra"))
        del fewer["spec"]["template"]["podCliqueScalingGroups"][1]
        for new in (more, fewer):
            assert objections(new) == []
            assert objections(new, self.OLD) == [
                (CLIQUES, GangTerminationDenial.IMMUTABLE),
                (GROUPS, GangTerminationDenial.IMMUTABLE),
            ]

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
            (f"{CLIQUES}[3].spec.minAvailable", GangTerminationDenial.IMMUTABLE),
            (f"{GROUPS}[1].minAvailable", GangTerminationDenial.IMMUTABLE),
        ]

    def test_a_change_into_something_else_that_is_wrong_is_wrong_twice(self) -> None:
        assert objections(changed((*CLIQUE, "spec", "minAvailable"), 4, self.OLD), self.OLD) == [
            (f"{CLIQUES}[0].spec.minAvailable", GangTerminationDenial.CLIQUE_THRESHOLD_OUT_OF_RANGE),
            (f"{CLIQUES}[0].spec.minAvailable", GangTerminationDenial.IMMUTABLE),
        ]

    @pytest.mark.parametrize("field", ["minAvailable", "replicas"])
    def test_what_does_not_read_is_no_change(self, field: str) -> None:
        for number in range(2):
            place = ("spec", "template", "cliques", number, "spec", field)
            assert objections(changed(place, "some", self.OLD), self.OLD) == [
                (f"{CLIQUES}[{number}].spec.{field}", GangTerminationDenial.MALFORMED)
            ]

    @pytest.mark.parametrize("old", [{}, {"spec": 5}, changed((*CLIQUE, "spec", "minAvailable"), "two")])
    def test_an_old_spec_that_does_not_read_has_nothing_to_compare_with(self, old: Json) -> None:
        assert objections(SOUND, old) == []

    @pytest.mark.parametrize("old", [{**SOUND, "status": 5}, {**SOUND, "metadata": None}])
    def test_an_old_status_does_not_matter(self, old: Json) -> None:
        new = changed((*CLIQUE, "spec", "minAvailable"), 1)
        assert objections(new, old) == [(f"{CLIQUES}[0].spec.minAvailable", GangTerminationDenial.IMMUTABLE)]


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
            (("status",), {"conditions": [condition(OWN) | {"status": True}]}, "status.conditions[0].status"),
        ],
        ids=str,
    )
    def test_it_is_refused_with_its_path(self, place: tuple[str | int, ...], value: object, path: str) -> None:
        assert objections(SOUND) == []
        assert objections(changed(place, value)) == [(path, GangTerminationDenial.MALFORMED)]

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
            ("metadata.finalizers[0]", GangTerminationDenial.MALFORMED),
            ("metadata.name", GangTerminationDenial.MALFORMED),
            ("spec.replicas", GangTerminationDenial.COUNT_OUT_OF_RANGE),
            (f"{CLIQUES}[0].spec.minAvailable", GangTerminationDenial.MALFORMED),
            (f"{CLIQUES}[1].name", GangTerminationDenial.NAME_REPEATED),
            (f"{CLIQUES}[1].spec.minAvailable", GangTerminationDenial.CLIQUE_THRESHOLD_OUT_OF_RANGE),
            (f"{CLIQUES}[2].spec.replicas", GangTerminationDenial.MALFORMED),
            (f"{GROUPS}[0].cliqueNames[0]", GangTerminationDenial.CLIQUE_UNKNOWN),
            (f"{GROUPS}[0].replicas", GangTerminationDenial.COUNT_OUT_OF_RANGE),
            (f"{GROUPS}[1].terminationDelay", GangTerminationDenial.OVERRIDE_NOT_POSITIVE),
            (DELAY, GangTerminationDenial.DELAY_MALFORMED),
        ]

    @pytest.mark.req("GT-101")
    def test_a_malformed_field_does_not_hide_a_change(self) -> None:
        new = changed((*GROUP, "minAvailable"), 2, changed((*CLIQUE, "spec", "replicas"), "three"))
        assert objections(new, SOUND) == [
            (f"{CLIQUES}[0].spec.replicas", GangTerminationDenial.MALFORMED),
            (f"{GROUPS}[0].minAvailable", GangTerminationDenial.IMMUTABLE),
        ]


@pytest.mark.parametrize(
    ("place", "names", "old", "path", "rule", "got"),
    [
        (
            0,
            ["leader", "router"],
            True,
            f"{GROUPS}[0].cliqueNames",
            GangTerminationDenial.IMMUTABLE,
            '"leader, router"',
        ),
        (1, ["worker"], False, f"{GROUPS}[1].cliqueNames[0]", GangTerminationDenial.CLIQUE_IN_TWO_GROUPS, '"worker"'),
    ],
    ids=["changed", "of two groups"],
)
def test_gt101_gt098_an_objection_shows_the_names_that_it_is_about(
    place: int, names: list[str], old: bool, path: str, rule: GangTerminationDenial, got: str
) -> None:
    cliques = [clique_template(name) for name in ("leader", "worker", "router")]
    groups = [group_template("pool", "leader", "worker"), group_template("spare")]
    before = clique_set(cliques=cliques, podCliqueScalingGroups=groups)
    after = changed(("spec", "template", "podCliqueScalingGroups", place, "cliqueNames"), names, before)
    verdict = admit(after, before if old else None).verdict
    assert isinstance(verdict, Deny)
    assert [(one.path, one.reason.rule, one.got) for one in verdict.objections] == [(path, rule, got)]


@pytest.mark.parametrize(
    ("before", "after", "got", "was"),
    [
        (["pool", "spare"], ["pool"], '"pool"', "pool, spare"),
        (["pool"], [], '"none"', "pool"),
        ([], ["spare", "pool"], '"pool, spare"', "none"),
    ],
)
def test_gt101_an_objection_names_the_groups_of_before_and_after(
    before: list[str], after: list[str], got: str, was: str
) -> None:
    def set_with(names: list[str]) -> dict[str, object]:
        groups = [group_template(name) for name in names]
        return clique_set(cliques=[clique_template("leader")], podCliqueScalingGroups=groups)

    verdict = admit(set_with(after), set_with(before)).verdict
    assert isinstance(verdict, Deny)
    (found,) = (one for one in verdict.objections if one.path == GROUPS)
    assert (found.got, dict(found.reason.facts)["before"]) == (got, was)
    assert found.reason.subject.kind == "PodCliqueSet"
