"""Laws of a user's own over drawn clusters: what they find, and what can be chosen (LT-011 to LT-013)."""

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final

import pytest
from hypothesis import Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from grove_core import Plan, reconcile, rule_set
from grove_core.kernel.frozen import FrozenMap
from grove_core.testing import (
    FIELD_INVARIANTS,
    Effort,
    RandomCluster,
    Snapshot,
    any_clusters,
    breached_cliques,
    busy_clusters,
    check_all,
    cluster_of,
    removed_pods,
    snapshots,
)
from grove_core.testing.history_lines import lines_of_snapshot

EXAMPLE: Final = Path(__file__).parents[3] / "examples/library/test_my_controller.py"
LAW: Final = "test_no_ready_pod_of_a_replica_without_a_breach_is_deleted"


def replicas_with_a_breach(snapshot: Snapshot) -> set[int]:
    breached = breached_cliques(snapshot)
    return {clique.replica_index for clique in snapshot.cliques if clique.ref.name in breached}


def in_replicas(snapshot: Snapshot, replicas: set[int]) -> list[str]:
    return [clique.ref.name for clique in snapshot.cliques if clique.replica_index in replicas]


def terminates_the_whole_set(snapshot: Snapshot) -> list[str]:
    return [clique.ref.name for clique in snapshot.cliques] if breached_cliques(snapshot) else []


def terminates_the_next_replica(snapshot: Snapshot) -> list[str]:
    return in_replicas(snapshot, {index + 1 for index in replicas_with_a_breach(snapshot)})


def forgets_availability(snapshot: Snapshot) -> list[str]:
    ready = {one.uid: sum(pod.ready for pod in snapshot.pods_of.get(one.uid, ())) for one in snapshot.cliques}
    return in_replicas(snapshot, {one.replica_index for one in snapshot.cliques if ready[one.uid] < one.min_available})


def confuses_the_indices(snapshot: Snapshot) -> list[str]:
    breached = breached_cliques(snapshot)
    found = (clique for clique in snapshot.cliques if clique.ref.name in breached)
    return in_replicas(snapshot, {max(clique.group_replica_index, 0) for clique in found})


def terminates_the_group_of_the_next_replica(snapshot: Snapshot) -> list[str]:
    breached = breached_cliques(snapshot)
    parts = [one for one in snapshot.cliques if one.is_in_scaling_group]
    ends = {(one.replica_index + 1, one.owner_name.rpartition("-")[2]) for one in parts if one.ref.name in breached}
    return [one.ref.name for one in parts if (one.replica_index, one.owner_name.rpartition("-")[2]) in ends]


MISTAKES: Final = (
    terminates_the_whole_set,
    terminates_the_next_replica,
    forgets_availability,
    confuses_the_indices,
    terminates_the_group_of_the_next_replica,
)


def run(controller: Callable[[Snapshot], object], number: int) -> None:
    """Run the law of the example with another controller."""
    found = spec_from_file_location("test_my_controller", EXAMPLE)
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    module.my_controller = controller  # type: ignore[attr-defined]  # of the example
    law = getattr(module, LAW).hypothesis.inner_test
    limited = settings(
        max_examples=100, deadline=None, database=None, phases=(Phase.generate,), verbosity=Verbosity.quiet
    )
    seed(number)(limited(given(any_clusters())(law)))()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_lt011_the_law_of_the_example_finds_a_mistake(mistake: Callable[[Snapshot], list[str]]) -> None:
    for number in range(3):
        with pytest.raises(AssertionError):
            run(mistake, number)


def by_design(snapshot: Snapshot) -> Plan:
    return reconcile(snapshot)


@pytest.mark.parametrize("controller", [by_design, lambda seen: sorted(breached_cliques(seen)), lambda _: []])
def test_lt011_the_design_keeps_the_law_of_the_example(controller: Callable[[Snapshot], object]) -> None:
    run(controller, 0)


def test_lt011_nearly_half_of_all_clusters_have_several_parts() -> None:
    large = list[bool]()

    @settings(max_examples=200, database=None, deadline=None, phases=(Phase.generate,))
    @seed(0)
    @given(any_clusters())
    def note(start: RandomCluster) -> None:
        large.append(any(pod.ready for pod in start.pods) and len(start.cliques) > 1)

    note()
    assert sum(large) > len(large) / 3


@given(any_clusters())
def test_lt011_the_deletions_of_a_plan_that_terminate_a_gang_are_a_part_of_all(start: RandomCluster) -> None:
    seen = start.snapshot
    plan = reconcile(seen)
    every = {pod.name for _, pod in removed_pods(seen, plan)}
    ends = {pod.name for _, pod in removed_pods(seen, plan, only_terminations=True)}
    gone = {one for step in plan.steps for one in getattr(step.action, "terminates", ())}
    assert ends <= every
    assert bool(ends) <= bool(gone)
    names = [clique.ref for clique in seen.cliques]
    assert [*removed_pods(seen, names, only_terminations=True)] == [*removed_pods(seen, names)]


@given(busy_clusters().map(lambda one: one.with_labels({"tier": "production"})))
def test_lt012_a_drawn_set_has_the_labels_that_are_chosen(start: RandomCluster) -> None:
    assert start.snapshot.root.labels == FrozenMap({"tier": "production"})
    assert start.snapshot.cliques == start.with_labels({}).snapshot.cliques
    assert not start.with_labels({}).snapshot.root.labels


@given(st.data())
def test_lt011_snapshots_lack_a_kind_only_where_that_is_chosen(data: st.DataObject) -> None:
    assert not data.draw(snapshots()).not_collected
    assert data.draw(snapshots(incomplete=True)).not_collected <= {
        "Pod",
        "PodClique",
        "PodCliqueScalingGroup",
        "PodGang",
    }


@given(any_clusters(), snapshots())
def test_lt011_a_failing_law_shows_a_cluster_in_a_few_lines(start: RandomCluster, seen: Snapshot) -> None:
    assert pretty(start) == "\n".join(("", *lines_of_snapshot(start.snapshot)))
    assert pretty(seen) == "\n".join(("", *lines_of_snapshot(seen)))


def test_lt012_without_a_choice_there_are_none() -> None:
    assert not cluster_of(b"").root.labels
    assert cluster_of(b"", "llama").with_labels({"a": "b"}).root.ref.name == "llama"


def test_lt013_a_controller_that_never_terminates_keeps_the_list_of_the_go_operator() -> None:
    few = Effort(snapshots=50, histories=10)
    check_all(lambda _: [], invariants=FIELD_INVARIANTS, effort=few)


def test_lt013_the_deletions_of_the_rule_set_show_the_other_side() -> None:
    """What the page advises: compare with the Go operator's own rule set."""
    field = rule_set("field")
    differs = list[bool]()

    @settings(max_examples=100, database=None, deadline=None, phases=(Phase.generate,))
    @seed(0)
    @given(any_clusters())
    def compare(start: RandomCluster) -> None:
        seen = start.snapshot
        differs.append(bool(list(removed_pods(seen, reconcile(seen, field), only_terminations=True))))

    compare()
    assert any(differs)
