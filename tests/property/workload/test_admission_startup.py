"""The order in which cliques start (WL-121 to WL-125)."""

from typing import Final

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.areas.workload.admission.template_validation import startup_cycles_in
from grove_core.areas.workload.rules import WorkloadDenial
from tests.property.resources.manifests import Json, clique_set, clique_template
from tests.property.workload.admission_examples import Found, facts, objections

EXPLICIT: Final = "CliqueStartupTypeExplicit"


def waiting(waits: dict[str, list[str]], kind: str = EXPLICIT) -> Json:
    cliques = [clique_template(name, startsAfter=others) for name, others in waits.items()]
    return clique_set(cliqueStartupType=kind, cliques=cliques, podCliqueScalingGroups=[])


def place(clique: int, position: int) -> str:
    return f"spec.template.cliques[{clique}].spec.startsAfter[{position}]"


@pytest.mark.req("WL-122", "WL-123", "WL-124")
@pytest.mark.parametrize(
    ("bad", "fine", "position", "rule", "got"),
    [
        (["a", "x"], ["a", "c"], 1, WorkloadDenial.STARTS_AFTER_UNKNOWN, '"x"'),
        (["A"], ["a"], 0, WorkloadDenial.STARTS_AFTER_UNKNOWN, '"A"'),
        (["a", ""], ["a"], 1, WorkloadDenial.STARTS_AFTER_NOTHING, '""'),
        (["b"], [], 0, WorkloadDenial.STARTS_AFTER_ITSELF, '"b"'),
        (["a", "c", "a"], ["a", "c"], 2, WorkloadDenial.STARTS_AFTER_TWICE, '"a"'),
    ],
)
def test_wl121_the_cliques_a_clique_may_wait_for(
    bad: list[str], fine: list[str], position: int, rule: WorkloadDenial, got: str
) -> None:
    assert objections(waiting({"a": [], "b": bad, "c": []})) == [Found(place(1, position), rule, got)]
    assert objections(waiting({"a": [], "b": fine, "c": []})) == []
    for kind in ("CliqueStartupTypeInOrder", "CliqueStartupTypeAnyOrder"):
        assert objections(waiting({"a": [], "b": bad, "c": []}, kind)) == []


class TestWL125:
    """With explicit start-up cliques that wait for each other in a cycle MUST be refused."""

    def test_two(self) -> None:
        new = waiting({"a": ["b"], "b": ["a"]})
        assert objections(new) == [Found(place(0, 0), WorkloadDenial.STARTUP_CYCLE, '"b"')]
        assert facts(new) == [{"cycle": "a -> b -> a"}]
        assert objections(waiting({"a": ["b"], "b": []})) == []

    def test_the_first_clique_of_the_template_is_named_first(self) -> None:
        new = waiting({"z": ["y"], "y": ["a", "x"], "a": [], "x": ["z"]})
        assert objections(new) == [Found(place(0, 0), WorkloadDenial.STARTUP_CYCLE, '"y"')]
        assert facts(new) == [{"cycle": "z -> y -> x -> z"}]

    def test_every_knot_is_named_also_behind_another(self) -> None:
        new = waiting({"a": ["c", "b"], "b": ["a"], "c": ["d"], "d": ["c"], "e": ["a"]})
        assert facts(new) == [{"cycle": "a -> b -> a"}, {"cycle": "c -> d -> c"}]

    def test_waiting_for_many_is_no_circle(self) -> None:
        assert objections(waiting({"a": ["b", "c", "d"], "b": ["c", "d"], "c": ["d"], "d": []})) == []

    def test_a_long_way_around_is_found_and_named(self) -> None:
        count = 5000
        ring = waiting({f"c{number}": [f"c{(number + 1) % count}"] for number in range(count)})
        ((path, rule, _),) = objections(ring)
        assert (path, rule) == (place(0, 0), WorkloadDenial.STARTUP_CYCLE)
        (quoted,) = facts(ring)
        assert str(quoted["cycle"]).count("->") == count

    def test_a_long_line_is_no_circle(self) -> None:
        assert objections(waiting({f"c{number}": [f"c{number + 1}"] for number in range(5000)} | {"c5000": []})) == []


WAITS: Final = st.integers(1, 7).flatmap(
    lambda count: st.lists(st.lists(st.integers(0, count - 1), unique=True), min_size=count, max_size=count)
)


@given(WAITS)
@example([[0]])
@example([[1], [2], [1, 3], [0]])
def test_wl125_there_is_a_way_around_exactly_if_there_is_no_order(numbers: list[list[int]]) -> None:
    waits = {str(name): [str(other) for other in others] for name, others in enumerate(numbers)}
    started: set[str] = set()
    while ready := [name for name, others in waits.items() if name not in started and started.issuperset(others)]:
        started.update(ready)
    cycles = startup_cycles_in(waits)
    event(f"{len(cycles)} cycles")
    assert bool(cycles) == (len(started) < len(waits))
    named = [name for cycle in cycles for name in cycle]
    assert len(set(named)) == len(named)
    for cycle in cycles:
        for name, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert other in waits[name]
