"""Each objection of admission shows the value that is refused, and the rule's bound or the value before the update."""

from typing import Final

import pytest

from grove_core.admit import admit
from grove_core.kernel.admission import Deny
from grove_core.kernel.reasons import Fact
from tests.property.gang_termination.objections import CLIQUES, DELAY, GROUPS, changed
from tests.property.resources.manifests import Json, clique_set, clique_template, group_template

OLD: Final = clique_set(
    cliques=[clique_template("a"), clique_template("b")],
    podCliqueScalingGroups=[group_template("g", "a", "b", replicas=3), group_template("h", replicas=3)],
)
GROUP: Final = ("spec", "template", "podCliqueScalingGroups")
CLIQUE: Final = ("spec", "template", "cliques")


def with_cliques(*cliques: Json) -> Json:
    return clique_set(cliques=list(cliques), podCliqueScalingGroups=[])


def with_groups(*groups: Json) -> Json:
    return clique_set(podCliqueScalingGroups=list(groups))


def shown(new: Json, old: Json | None = None) -> list[tuple[str, str, dict[str, Fact]]]:
    """Return path, value and facts of each objection."""
    verdict = admit(new, old).verdict
    assert isinstance(verdict, Deny)
    return [(objection.path, objection.got, dict(objection.reason.facts)) for objection in verdict.objections]


@pytest.mark.parametrize(
    ("manifest", "path", "got", "facts"),
    [
        (changed(("spec", "replicas"), -2), "spec.replicas", "-2", {"least": 0}),
        (with_cliques(), CLIQUES, "a list of 0", {}),
        (with_cliques(clique_template("a"), clique_template("a")), f"{CLIQUES}[1].name", '"a"', {}),
        (
            with_cliques(clique_template("a", replicas=-3, minAvailable=None)),
            f"{CLIQUES}[0].spec.replicas",
            "-3",
            {"least": 1},
        ),
        (
            with_cliques(clique_template("a", replicas=3, minAvailable=4)),
            f"{CLIQUES}[0].spec.minAvailable",
            "4",
            {"replicas": 3},
        ),
        (with_groups(group_template("g"), group_template("g")), f"{GROUPS}[1].name", '"g"', {}),
        (with_groups(group_template("g", replicas=-3)), f"{GROUPS}[0].replicas", "-3", {"least": 1}),
        (
            with_groups(group_template("g", replicas=3, minAvailable=4)),
            f"{GROUPS}[0].minAvailable",
            "4",
            {"replicas": 3},
        ),
        (with_groups(group_template("g", terminationDelay="-1h")), f"{GROUPS}[0].terminationDelay", "-1h", {}),
        (
            with_groups(group_template("g", "ghost")),
            f"{GROUPS}[0].cliqueNames[0]",
            '"ghost"',
            {"known": "leader, router, worker"},
        ),
        (changed(("spec", "template", "terminationDelay"), "-1h"), DELAY, "-1h", {}),
    ],
    ids=str,
)
def test_an_objection_shows_the_value_and_the_bound(
    manifest: Json, path: str, got: str, facts: dict[str, Fact]
) -> None:
    assert shown(manifest) == [(path, got, facts)]


@pytest.mark.parametrize(
    ("place", "value", "path", "got", "before"),
    [
        ((*CLIQUE, 1, "name"), "c", CLIQUES, '"a, c"', "a, b"),
        ((*GROUP, 1, "name"), "i", GROUPS, '"g, i"', "g, h"),
        ((*CLIQUE, 0, "spec", "minAvailable"), 1, f"{CLIQUES}[0].spec.minAvailable", "1", 2),
        ((*GROUP, 0, "minAvailable"), 2, f"{GROUPS}[0].minAvailable", "2", 1),
        ((*GROUP, 0, "cliqueNames"), ["b", "a"], f"{GROUPS}[0].cliqueNames", '"b, a"', "a, b"),
    ],
    ids=str,
)
@pytest.mark.req("GT-101")
def test_a_refused_change_shows_both_values(
    place: tuple[str | int, ...], value: object, path: str, got: str, before: str | int
) -> None:
    found = [one for one in shown(changed(place, value, OLD), OLD) if one[0] == path]
    assert found == [(path, got, {"before": before})]


def test_a_new_group_hides_no_refused_change_of_the_groups_after_it() -> None:
    new = changed((*GROUP, 0, "name"), "new", changed((*GROUP, 1, "minAvailable"), 2, OLD))
    assert [path for path, _, _ in shown(new, OLD)] == [GROUPS, f"{GROUPS}[1].minAvailable"]
