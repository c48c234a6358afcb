"""The fit check (TP-100 to TP-120), on clusters so small that every placement can be tried."""

from itertools import permutations
from typing import Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.topology.fit_check import GangTreeFit, PodCliqueSetFit, check_gangs_fit_on_nodes
from grove_core.areas.topology.gang_constraint_tree import GangToPlace
from grove_core.areas.topology.node_capacity import nodes_without_topology_labels
from grove_core.areas.topology.rules import FitReason
from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.node import Node
from grove_core.resources.podgang import GangPackConstraint
from tests.property.topology.gangs_and_nodes import (
    LEVELS,
    SUBJECT,
    TAINT,
    a_clique,
    a_demand,
    a_gang,
    a_node,
    all_assignments,
    gangs,
    is_valid_assignment,
    nodes,
)

ONE: Final = {"z": "a", "r": "1"}
OTHER: Final = {"z": "a", "r": "2"}


def fit_of(gang: GangToPlace, cluster_nodes: list[Node]) -> PodCliqueSetFit:
    return check_gangs_fit_on_nodes([gang], cluster_nodes, LEVELS, SUBJECT)


def result_of(gang: GangToPlace, *cluster_nodes: Node) -> GangTreeFit:
    return fit_of(gang, list(cluster_nodes)).gangs[0].result


def rules_of(fitting: GangTreeFit) -> list[FitReason]:
    return [reason.rule for reason in fitting.because]  # type: ignore[misc]  # all of them are of that enumeration


def as_assignment(fitting: GangTreeFit, gang: GangToPlace) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {one.name: [] for one in gang.cliques}
    for place in fitting.assignments:
        found[place.clique] += [place.node] * place.pods
    return found


class TestTP100:
    """A gang MUST be reported to fit only with a node for each of its pods, and not to fit only with a proof that it
    cannot; otherwise it is undecided. Neither the order of nodes nor more free capacity makes a gang not fit.
    """

    @given(gangs(), nodes())
    @pytest.mark.req("TP-101")
    @pytest.mark.req("TP-103")
    @pytest.mark.req("TP-107")
    def test_yes_and_no_are_never_wrong(self, gang: GangToPlace, cluster_nodes: list[Node]) -> None:
        found = result_of(gang, *cluster_nodes)
        event(f"{found.verdict.value}, {rules_of(found)[-1].code}")
        if found.verdict is FitVerdict.FITS:
            placed = as_assignment(found, gang)
            assert {one.name: one.pods for one in gang.cliques} == {name: len(on) for name, on in placed.items()}
            assert is_valid_assignment(placed, gang, cluster_nodes)
        elif found.verdict is FitVerdict.CANNOT:
            assert not any(
                is_valid_assignment(one, gang, cluster_nodes) for one in all_assignments(gang, cluster_nodes)
            )

    @given(gangs(), nodes())
    @pytest.mark.req("TP-109")
    def test_the_verdict_on_minimum_pods_is_never_wrong(self, gang: GangToPlace, cluster_nodes: list[Node]) -> None:
        started = fit_of(gang, cluster_nodes).gangs[0].minimum_result
        if started is None:
            return
        cliques = tuple(one._replace(pods=one.minimum) for one in gang.cliques)
        least = replace(gang, cliques=cliques)
        if started.verdict is FitVerdict.FITS:
            assert is_valid_assignment(as_assignment(started, least), least, cluster_nodes)
        elif started.verdict is FitVerdict.CANNOT:
            assert not any(
                is_valid_assignment(one, least, cluster_nodes) for one in all_assignments(least, cluster_nodes)
            )

    @given(gangs(), nodes(), st.integers(1, 2))
    @pytest.mark.req("TP-109")
    def test_gangs_that_fit_at_once_do_not_overlap(
        self, gang: GangToPlace, cluster_nodes: list[Node], more: int
    ) -> None:
        """All gangs are checked as one gang without a constraint of its own."""
        several = [_named(gang, number) for number in range(1 + more)]
        found = check_gangs_fit_on_nodes(several, cluster_nodes, LEVELS, SUBJECT)
        assert sum(len(one.names) for one in found.gangs) == 1 + more
        if found.result.verdict is FitVerdict.FITS:
            used: dict[str, list[str]] = {}
            for one in several:
                placed = as_assignment(assignments_of(found.result, one), one)
                assert is_valid_assignment(placed, one, cluster_nodes)
                used |= placed
            all_gangs = a_gang(*(clique for one in several for clique in one.cliques))
            assert is_valid_assignment(used, all_gangs, cluster_nodes)
        if found.gangs[0].result.verdict is FitVerdict.CANNOT:
            assert found.result.verdict is FitVerdict.CANNOT

    def test_a_proof_of_all_at_once(self) -> None:
        gang = a_gang(a_clique("a", 2, a_demand(4)), required="r")
        found = check_gangs_fit_on_nodes(
            [_named(gang, number) for number in range(2)], [a_node("n", ONE, 12)], LEVELS, SUBJECT
        )
        assert found.gangs[0].result.verdict is FitVerdict.FITS
        assert found.result.verdict is FitVerdict.CANNOT
        assert found.gangs[0].names == ("llm-0", "llm-1")


def _named(gang: GangToPlace, number: int) -> GangToPlace:
    """The same gang for another replica."""

    def name(text: str) -> str:
        return text.replace("llm-0", f"llm-{number}")

    placement = gang.placement._replace(
        cliques=tuple((name(clique), pack) for clique, pack in gang.placement.cliques),
        packed_groups=tuple(
            one._replace(name=name(one.name), cliques=tuple(map(name, one.cliques)))
            for one in gang.placement.packed_groups
        ),
    )
    return GangToPlace(name(gang.name), tuple(one._replace(name=name(one.name)) for one in gang.cliques), placement)


def assignments_of(fitting: GangTreeFit, gang: GangToPlace) -> GangTreeFit:
    """The assignments of one gang."""
    names = {one.name for one in gang.cliques}
    return fitting._replace(assignments=tuple(place for place in fitting.assignments if place.clique in names))


@pytest.mark.req("TP-100")
class TestMoreCapacityNeverHurtsAndOrderDoesNotMatter:
    """The verdict MUST NOT depend on the order of nodes, and more free capacity never turns a gang that fits into one
    that cannot.
    """

    @given(gangs(), nodes(), st.integers(0, 4), st.sampled_from(["nvidia.com/gpu", "cpu", "pods"]))
    def test_more_free_capacity_never_hurts(
        self, gang: GangToPlace, cluster_nodes: list[Node], which: int, resource: str
    ) -> None:
        node = cluster_nodes[which % len(cluster_nodes)]
        larger = replace(node, amounts=FrozenDict({**node.amounts, resource: node.amounts[resource] + 1000}))
        more = [larger if one is node else one for one in cluster_nodes]
        before, after = result_of(gang, *cluster_nodes).verdict, result_of(gang, *more).verdict
        assert (before, after) != (FitVerdict.FITS, FitVerdict.CANNOT)
        new = a_node("n9", dict(node.labels) | {"h": "n9"}, 4)
        assert (before, result_of(gang, *cluster_nodes, new).verdict) != (FitVerdict.FITS, FitVerdict.CANNOT)

    @given(gangs(), nodes(), st.randoms(use_true_random=False))
    @pytest.mark.req("PL-001")
    def test_the_order_of_nodes_does_not_matter(
        self, gang: GangToPlace, cluster_nodes: list[Node], chance: object
    ) -> None:
        shuffled = sorted(cluster_nodes, key=lambda _: chance.random())  # type: ignore[attr-defined]  # Hypothesis has no name for its randoms
        assert fit_of(gang, shuffled) == fit_of(gang, cluster_nodes)


GPU4: Final = a_demand(4)
SMALL: Final = a_demand(0, 1)


def test_tp116_too_little_of_a_resource() -> None:
    gang = a_gang(a_clique("a", 1, a_demand(3)), a_clique("b", 1, a_demand(2)), required="r")
    found = result_of(gang, a_node("n0", ONE, 3), a_node("n1", ONE, 1), a_node("n2", OTHER, 1))
    assert (found.verdict, rules_of(found)) == (
        FitVerdict.CANNOT,
        [FitReason.NO_DOMAIN_HAS_ROOM, FitReason.RESOURCE_SHORT],
    )
    assert found.because[1].sentence == "rack a/1 has 4 nvidia.com/gpu free, and they ask for 5 nvidia.com/gpu"


def test_tp117_room_for_too_few_pods_and_why() -> None:
    gang = a_gang(a_clique("a", 3, GPU4), required="r")
    tainted = a_node("n2", ONE, 8, 9, TAINT)
    found = result_of(gang, a_node("n0", ONE, 4), a_node("n1", ONE, 3), tainted, a_node("n3", OTHER, 0))
    assert (found.verdict, rules_of(found)) == (
        FitVerdict.CANNOT,
        [FitReason.NO_DOMAIN_HAS_ROOM, FitReason.PLACES_SHORT],
    )
    assert "room for 1 of 3 pods of llm-0-a, each 4 nvidia.com/gpu" in found.because[1].sentence
    assert "of its 3 nodes 1 has too little free, 1 excludes them by the taint gpu-only" in found.because[1].sentence


def test_tp117_singular_and_plural_in_sentences() -> None:
    gang = a_gang(a_clique("a", 1, GPU4), required="r")
    tainted = [a_node(f"n{number}", ONE, 8, 9, TAINT) for number in range(2)]
    found = result_of(gang, *tainted, a_node("n2", ONE, 3), a_node("n3", ONE, 2))
    assert found.because[0].sentence == "no rack has room for the 1 pod of llm-0; the best of 1:"
    assert found.because[1].sentence.endswith(
        "of its 4 nodes 2 have too little free, 2 exclude them by the taint gpu-only"
    )
    assert "room for 0 of 1 pod of llm-0-a" in found.because[1].sentence
    assert result_of(gang, a_node("n0", ONE, 4)).because[0].sentence == "there is room for the pod in rack a/1"


def test_tp118_too_many_large_pods() -> None:
    """Each kind fits by itself and there are enough GPUs, but a node takes one pod of either kind."""
    gang = a_gang(a_clique("a", 2, a_demand(3)), a_clique("b", 2, a_demand(4)), required="r")
    found = result_of(gang, *(a_node(f"n{number}", ONE, 5) for number in range(3)))
    assert (found.verdict, rules_of(found)) == (
        FitVerdict.CANNOT,
        [FitReason.NO_DOMAIN_HAS_ROOM, FitReason.LARGE_SHORT],
    )
    assert "room for 3 of the 4 pods that ask for 3 nvidia.com/gpu or more" in found.because[1].sentence


def test_tp119_too_few_domains() -> None:
    """Two cliques need a rack each; there is one that could hold either."""
    cliques = (a_clique("a", 2, a_demand(3)), a_clique("b", 2, a_demand(3)))
    gang = a_gang(*cliques, required="z", a=GangPackConstraint("r"), b=GangPackConstraint("r"))
    found = result_of(gang, a_node("n0", ONE, 6), a_node("n1", OTHER, 3), a_node("n2", {"z": "a", "r": "3"}, 3))
    assert (found.verdict, rules_of(found)) == (
        FitVerdict.CANNOT,
        [FitReason.NO_DOMAIN_HAS_ROOM, FitReason.PARTS_SHORT],
    )
    assert "at most 1 of 2 such as llm-0-a, each in one rack" in found.because[1].sentence
    alone = result_of(
        a_gang(cliques[0], required="z", a=GangPackConstraint("h")), a_node("n0", ONE, 5), a_node("n1", ONE, 5)
    )
    assert rules_of(alone) == [FitReason.NO_DOMAIN_HAS_ROOM, FitReason.NO_DOMAIN_HAS_ROOM, FitReason.PLACES_SHORT]


def test_tp120_neither_a_placement_nor_a_proof() -> None:
    """One pod of each kind fills a node exactly; a search that puts the largest pods together does not find it."""
    kinds = (a_clique("a", 2, a_demand(3, 1)), a_clique("b", 2, a_demand(2, 3)), a_clique("c", 2, a_demand(2, 0)))
    gang, cluster_nodes = a_gang(*kinds, required="r"), [a_node("n0", ONE, 7, 4), a_node("n1", ONE, 7, 4)]
    assert is_valid_assignment({f"llm-0-{name}": ["n0", "n1"] for name in "abc"}, gang, cluster_nodes)
    found = result_of(gang, *cluster_nodes)
    assert (found.verdict, rules_of(found)) == (FitVerdict.UNDECIDED, [FitReason.NOT_FOUND])


def test_tp101_no_node_has_every_label() -> None:
    found = result_of(a_gang(a_clique("a", 1, SMALL), required="z"), a_node("n0", {"z": "a"}, 8))
    assert (found.verdict, rules_of(found)) == (FitVerdict.CANNOT, [FitReason.NO_DOMAIN])
    loose = result_of(a_gang(a_clique("a", 1, SMALL)), a_node("n0", {"z": "a"}, 8))
    assert loose.verdict is FitVerdict.FITS


def test_tp111_missing_labels_are_counted() -> None:
    cluster_nodes = [a_node("n1", ONE, 1), a_node("n3", {}, 1), a_node("n2", {"z": "a"}, 1)]
    assert nodes_without_topology_labels(cluster_nodes, LEVELS) == ((("z", 1), ("r", 2)), ("n2", "n3"))
    assert nodes_without_topology_labels(cluster_nodes, ()) == ((), ())


def test_tp101_racks_of_one_name_in_two_zones_are_two() -> None:
    gang = a_gang(a_clique("a", 2, GPU4), required="r")
    cluster_nodes = [a_node("n0", ONE, 4), a_node("n1", {"z": "b", "r": "1"}, 4)]
    assert result_of(gang, *cluster_nodes).verdict is FitVerdict.CANNOT


def test_tp106_what_is_not_checked_makes_no_yes() -> None:
    demand = a_demand(1, unchecked=("pod affinity",))
    found = result_of(a_gang(a_clique("a", 1, demand), required="r"), a_node("n0", ONE, 1))
    assert (found.verdict, rules_of(found)) == (FitVerdict.UNDECIDED, [FitReason.NOT_LOOKED_AT])
    assert [place.node for place in found.assignments] == ["n0"]
    assert result_of(a_gang(a_clique("a", 1, demand), required="r"), a_node("n0", ONE, 0)).verdict is FitVerdict.CANNOT


def test_tp109_preferences_are_reported_and_change_no_verdict() -> None:
    clique = a_clique("a", 2, a_demand(2))
    gang = a_gang(clique, a_clique("b", 1, SMALL), required="z", preferred="r", a=GangPackConstraint("", "h"))
    (found,) = fit_of(gang, [a_node("n0", ONE, 2), a_node("n1", ONE, 2)]).gangs
    assert found.result.verdict is FitVerdict.FITS
    verdicts = {(one.pods, one.of, one.level): fitting.verdict for one, fitting in found.preferred}
    assert verdicts == {(3, "llm-0", "rack"): FitVerdict.FITS, (2, "llm-0-a", "host"): FitVerdict.CANNOT}


def test_tp111_what_is_guaranteed_in_words() -> None:
    cliques = (a_clique("a", 1, SMALL), a_clique("b", 2, SMALL, group="pool"), a_clique("c", 3, SMALL, group="pool"))
    gang = a_gang(*cliques, required="z", pool=GangPackConstraint("r"), c=GangPackConstraint("h"))
    (found,) = fit_of(gang, [a_node("n0", ONE, 0)]).gangs
    promises = [(one.pods, one.of, one.level) for one in found.guaranteed]
    assert promises == [(6, "llm-0", "zone"), (5, "llm-0-pool-0", "rack"), (3, "llm-0-c", "host")]


def test_tp109_a_gang_without_pods_fits_anywhere() -> None:
    found = result_of(a_gang(a_clique("a", 0, SMALL), required="r"))
    assert (found.verdict, rules_of(found)) == (FitVerdict.FITS, [FitReason.NOTHING_ASKED])


def test_tp100_every_order_of_three_unequal_racks() -> None:
    """The large clique gets the rack that only it needs, in any order of the racks."""
    gang = a_gang(
        a_clique("a", 1, a_demand(1)),
        a_clique("b", 1, GPU4),
        required="z",
        a=GangPackConstraint("r"),
        b=GangPackConstraint("r"),
    )
    for sizes in permutations((1, 4, 0)):
        cluster_nodes = [a_node(f"n{number}", {"z": "a", "r": str(number)}, size) for number, size in enumerate(sizes)]
        assert result_of(gang, *cluster_nodes).verdict is FitVerdict.FITS, sizes
