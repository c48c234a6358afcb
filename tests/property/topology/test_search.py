"""Placements that only a search in the right order finds (TP-100)."""

from typing import Any, Final

import pytest

from grove_core.areas.topology.fit_check import check_gangs_fit_on_nodes
from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.resources.podgang import GangPackConstraint
from tests.property.topology.gangs_and_nodes import LEVELS, SUBJECT, TAINT, a_clique, a_demand, a_gang, a_node

Ground = tuple[tuple[str, int, int], ...]
Asked = dict[str, tuple[int, int, int, str]]

HEAVY_FIRST: Final = "the heaviest part first"
BOTH_ORDERS: Final = "the tightest domain first, and then the roomiest"
TAKEN_BACK: Final = "what did not work out is taken back"
PLAIN_NODES: Final = "nodes with nothing else to offer first"


@pytest.mark.parametrize(
    ("ground", "asked"),
    [
        pytest.param(
            (("2", 3, 1), ("2", 3, 2), ("1", 6, 1), ("2", 5, 4)),
            {"a": (1, 4, 0, "h"), "b": (1, 3, 1, "h"), "c": (1, 5, 2, "h")},
            id=HEAVY_FIRST,
        ),
        pytest.param(
            (("2", 2, 1), ("1", 3, 2)),
            {"a": (1, 2, 1, "h"), "b": (1, 0, 2, "h")},
            id=BOTH_ORDERS,
        ),
        pytest.param(
            (("1", 2, 2), ("1", 1, 1), ("1", 5, 2), ("2", 3, 4), ("3", 3, 2)),
            {"a": (2, 1, 0, "h"), "b": (2, 1, 2, "r"), "c": (1, 5, 2, "")},
            id=TAKEN_BACK,
        ),
        pytest.param(
            (("2", 3, 3), ("2", 6, 1), ("2", 0, 4)),
            {"a": (2, 0, 1, "r"), "b": (2, 0, 1, "r"), "c": (1, 2, 2, "")},
            id=PLAIN_NODES,
        ),
    ],
)
def test_tp100_a_placement_that_is_hard_to_find_is_found(ground: Ground, asked: Asked) -> None:
    """Racks with the GPUs and CPUs of each node; pods with their requests, and the domain that they share."""
    nodes = [a_node(f"n{at}", {"z": "a", "r": rack}, gpus, cpus) for at, (rack, gpus, cpus) in enumerate(ground)]
    cliques = [a_clique(name, pods, a_demand(gpus, cpus)) for name, (pods, gpus, cpus, _) in asked.items()]
    packs: dict[str, Any] = {name: GangPackConstraint(key) for name, (*_, key) in asked.items() if key}
    (found,) = check_gangs_fit_on_nodes([a_gang(*cliques, required="z", **packs)], nodes, LEVELS, SUBJECT).gangs
    assert found.result.verdict is FitVerdict.FITS


def test_tp100_a_proof_counts_the_nodes_that_take_the_larger_pods_too() -> None:
    """The large pod goes where only it is eligible, the small one where only it fits."""
    large, small = a_clique("a", 1, a_demand(4, tolerates=True)), a_clique("b", 1, a_demand(1))
    nodes = [a_node("n0", {"z": "a", "r": "1"}, 4, 9, TAINT), a_node("n1", {"z": "a", "r": "1"}, 1)]
    (found,) = check_gangs_fit_on_nodes([a_gang(large, small, required="r")], nodes, LEVELS, SUBJECT).gangs
    assert found.result.verdict is FitVerdict.FITS


def test_tp100_a_node_without_a_resource_in_its_status_has_none() -> None:
    clique = a_clique("a", 1, a_demand(0, 1)._replace(amounts=(("example.com/nic", 1),)))
    (found,) = check_gangs_fit_on_nodes([a_gang(clique)], [a_node("n0", {}, 8)], LEVELS, SUBJECT).gangs
    assert found.result.verdict is FitVerdict.CANNOT
