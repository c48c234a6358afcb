"""What ``check_all`` reports, and what happens in its histories."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import Phase, given, settings
from hypothesis.stateful import run_state_machine_as_test

from grove_core.reconcile import reconcile
from grove_core.testing import (
    INVARIANTS,
    ClusterWorld,
    Effort,
    Event,
    EventKind,
    InvariantViolated,
    Plan,
    PlayedCluster,
    RandomCluster,
    Sizes,
    Snapshot,
    any_clusters,
    breached_cliques,
    breached_since,
    busy_clusters,
    check_all,
    check_history,
    check_snapshot,
    cluster_of,
    clusters,
    event_sequences,
    events,
    removed_pods,
    sets,
    snapshots,
    storms,
    stormy,
)
from tests.property.few_examples import RARELY
from tests.property.gang_termination.hand_mutants import HAND_MUTANTS

SMALL = Sizes(cliques=1, pods=1, set_replicas=1, group_replicas=0)
UNSHRUNK = settings(max_examples=100, deadline=None, database=None, phases=(Phase.generate,))
REFUSALS = frozenset({EventKind.WRITES_FAIL, EventKind.PODS_FAIL, EventKind.DELAY_PASSES})


def deletes_breached(snapshot: Snapshot) -> list[str]:
    return sorted(breached_cliques(snapshot))


def test_lt003_a_violation_has_rule_and_history() -> None:
    with pytest.raises(InvariantViolated) as caught:
        check_all(deletes_breached, effort=Effort(histories=0))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{caught.value.invariant.id} is violated: {caught.value.invariant.sentence}")
    assert [line.partition(":")[0] for line in lines[1:5]] == ["where", "expected", "got", "history"]
    assert [line.strip() for line in lines[5:]] == list(caught.value.history)
    assert caught.value.history[-1].partition("plan: ")[2].startswith("delete PodClique/")
    assert len(caught.value.history) <= 6, "the smallest set that shows it"


def test_lt003_the_smallest_history_is_short() -> None:
    make = HAND_MUTANTS["refused_deletion_is_repeated"]
    with pytest.raises(InvariantViolated) as caught:
        check_all(
            make(),
            effort=Effort(snapshots=0, histories=1000, events=4, kinds=REFUSALS, sizes=Sizes(1, 1, 1, 0)),
        )
    assert any("failed: " in line for line in caught.value.history)
    assert len(caught.value.history) <= 12


def test_lt004_the_same_seed_finds_the_same() -> None:
    def found(seed: int | None) -> str:
        with pytest.raises(InvariantViolated) as caught:
            check_all(deletes_breached, effort=Effort(seed=seed, shrink=False, histories=0))
        return str(caught.value)

    assert found(7) == found(7)
    assert found(None)


@pytest.mark.parametrize("kind", list(EventKind))
@RARELY
@given(start=any_clusters())
def test_lt005_every_event_fits_every_cluster(kind: EventKind, start: RandomCluster) -> None:
    played = PlayedCluster(start, reconcile)
    for number in (0, 1, 255):
        played.happen(Event(kind, number, number))
    played.settle()
    assert any(kind.value in line for line in played.lines)


def test_lt005_events_change_what_they_name() -> None:
    played = PlayedCluster(cluster_of(b""), reconcile)
    played.happen(Event(EventKind.TIME_PASSES, amount=1))
    played.happen(Event(EventKind.POD_FAILS))
    assert breached_cliques(played.rounds[-1].snapshot) == {"llm-0-router"}
    played.happen(Event(EventKind.DELAY_PASSES))
    assert [ref.name for ref in played.rounds[-1].deletions] == ["llm-0-router"]
    played.settle()
    assert played.rounds[-1].plan.settled


class Mine(ClusterWorld):
    def plan(self, snapshot: Snapshot) -> Plan:
        return reconcile(snapshot)


class Hasty(ClusterWorld):
    def plan(self, snapshot: Snapshot) -> list[str]:
        return deletes_breached(snapshot)


def test_lt005_the_state_machine_keeps_the_invariants() -> None:
    run_state_machine_as_test(Mine, settings=settings(max_examples=5, deadline=None))


def test_lt005_the_state_machine_finds_mistakes() -> None:
    with pytest.raises(InvariantViolated):
        run_state_machine_as_test(
            Hasty, settings=settings(max_examples=100, deadline=None, database=None, phases=(Phase.generate,))
        )
    with pytest.raises(NotImplementedError):
        ClusterWorld().plan(cluster_of(b"").snapshot)
    ClusterWorld().teardown()


@given(busy_clusters())
def test_lt006_deletions_are_names_references_or_objects(start: RandomCluster) -> None:
    seen = start.snapshot
    for decision in (deletes_breached(seen), [one.ref for one in seen.cliques], list(seen.cliques)):
        gone = [pod.name for _, pod in removed_pods(seen, decision)]
        assert set(gone) <= {pod.name for _, pod in seen.pods()}
    assert {pod.name for _, pod in removed_pods(seen, seen.cliques)} == {pod.name for _, pod in seen.pods()}
    assert all(pod.name for _, pod in removed_pods(seen, reconcile(seen)))


def test_lt006_an_unknown_object_is_an_error_of_the_controller() -> None:
    with pytest.raises(ValueError, match="the controller deletes gone, which the set llm does not have"):
        check_history(lambda _: ["gone"], cluster_of(b""), ())


@given(snapshots(SMALL) | snapshots(SMALL, incomplete=True), sets(SMALL), event_sequences(2))
def test_lt005_sizes_are_kept(seen: Snapshot, root: object, events: tuple[Event, ...]) -> None:
    assert len(seen.root.spec.template.cliques) == 1
    assert seen.root.spec.replicas <= 1
    assert not seen.groups
    assert len(events) <= 2
    assert repr(seen).count("\n") <= 9
    assert root


ONE: Final[Any] = cluster_of(b"")  # of any type, as what a user may write
NONE: Final[Any] = None
STRATEGIES: Final = (sets, clusters, busy_clusters, storms, any_clusters, snapshots)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: check_all(ONE), "a controller is a RuleSet or a function of a snapshot; got"),
        (lambda: check_all(lambda _: ONE), "a controller returns a Plan, or a list of what it deletes; got"),
        (lambda: check_all(lambda _: "llm-0"), "or a list of what it deletes; got 'llm-0'"),
        (lambda: check_all(lambda _: [ONE]), "what is deleted is a name, a Ref, a PodClique or a Pod; got"),
        (lambda: check_all(invariants=["GT-999"]), "invariants are those of GT-031, .*; got 'GT-999'"),
        (lambda: check_all(invariants=[]), "or left out for all of them; got none"),
        (lambda: check_all(effort=ONE), r"effort is an Effort, as Effort\(histories=1000\); got"),
        (lambda: Effort(snapshots=0, histories=0), "at least one snapshot or history"),
        (lambda: Effort(events=-1), "^events is at least 0; got -1$"),
        (lambda: list(removed_pods(ONE.snapshot, "llm-0")), "or a list of what it deletes; got 'llm-0'"),
    ],
)
def test_lt003_wrong_arguments_get_one_sentence(wrong: Callable[[], object], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        wrong()


WRONG: Final[Any] = 5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: check_all(WRONG), "^a controller is a RuleSet or a function of a snapshot; got 5$"),
        (lambda: check_all("design"), r"^a controller is a RuleSet, as rule_set\('design'\) or .*; got 'design'$"),  # type: ignore[arg-type]  # refused
        (lambda: check_all(breached_cliques, invariants="GT-033"), r"invariants is a list, as \['GT-033'\]; got"),
        (lambda: check_all(breached_cliques, invariants=INVARIANTS[0]), r"is a list, as \[GT-031\]; got GT-031$"),  # type: ignore[arg-type]  # refused
        (lambda: check_all(breached_cliques, invariants=WRONG), r'invariants is a list, as \["GT-033"\]; got 5$'),
        (lambda: removed_pods(ONE.snapshot, NONE), "of what it deletes; got None: is a return missing\\?$"),
        (lambda: removed_pods(ONE.snapshot, WRONG), "of what it deletes; got 5$"),
        (lambda: check_all(lambda _: NONE), "of what it deletes; got None: is a return missing\\?$"),
        *((lambda draw=draw: draw(WRONG), r"^sizes is a Sizes, as Sizes\(pods=2\); got 5$") for draw in STRATEGIES),
        (lambda: Effort(sizes=WRONG), r"^sizes is a Sizes, as Sizes\(pods=2\); got 5$"),
        (lambda: Effort(kinds=WRONG), "^kinds is a set of EventKind, as .*; got 5$"),
        (lambda: events(frozenset({WRONG})), "^kinds is a set of EventKind, as .*; got frozenset$"),
        (lambda: events(frozenset()), "^kinds has at least one EventKind; got none$"),
        (lambda: event_sequences(NONE), "^most is a number; got None$"),
        (lambda: Effort(snapshots="many"), "^snapshots is a number; got 'many'$"),  # type: ignore[arg-type]  # refused
        (lambda: Effort(snapshots=-1), "^snapshots is at least 0; got -1$"),
        (lambda: Effort(histories=True), "^histories is a number; got True$"),
        (lambda: cluster_of("text"), r"^cluster_of takes bytes, as cluster_of\(b''\); got str$"),  # type: ignore[arg-type]  # refused
        (lambda: stormy(WRONG), r"^stormy takes a RandomCluster, as cluster_of\(b''\); got int$"),
        (lambda: check_history(reconcile, ONE.snapshot, ()), "^a history takes a RandomCluster, .*; got Snapshot$"),
        (lambda: PlayedCluster(ONE, WRONG), "^a controller is a RuleSet or a function of a snapshot; got 5$"),
    ],
)
def test_lt009_wrong_arguments_are_errors_before_anything_is_drawn(wrong: Callable[[], object], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        wrong()


@pytest.mark.parametrize("given_instead", [ONE, {"kind": "PodCliqueSet"}, None, "llm", type("Cluster", (), {})()])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("reconcile", reconcile),
        ("check_snapshot", lambda given: check_snapshot(reconcile, given)),
        ("removed_pods", lambda given: removed_pods(given, [])),
        ("breached_cliques", breached_cliques),
        ("breached_since", breached_since),
    ],
)
def test_lb033_what_is_no_snapshot_is_an_error_that_says_where_one_is_from(
    name: str, function: Callable[[Any], object], given_instead: object
) -> None:
    with pytest.raises(TypeError) as caught:
        function(given_instead)
    assert str(caught.value) == (
        f"{name} takes a Snapshot, as cluster.snapshot of a drawn cluster or cluster.snapshots[0] of "
        f"grove_shell.read(); got {type(given_instead).__name__}"
    )


def test_lt009_an_error_of_the_controller_shows_the_cluster_and_no_drawn_bytes() -> None:
    def broken(_: Snapshot) -> list[str]:
        return [str(1 // 0)]

    with pytest.raises(ZeroDivisionError) as caught:
        check_all(broken)
    (note,) = caught.value.__notes__
    assert note.splitlines()[0] == "raised by the controller for"
    assert "PodCliqueSet/llm: 1 replicas" in note
    assert "\\x00" not in note


def test_lt003_invariants_are_also_named_by_their_ids() -> None:
    with pytest.raises(InvariantViolated) as caught:
        check_all(deletes_breached, invariants=["GT-034"], effort=Effort(histories=0, shrink=False))
    assert caught.value.invariant.id == "GT-034"


def test_lt005_clusters_are_drawn_at_all_times_of_the_day() -> None:
    hours = set[int]()

    @settings(max_examples=100, database=None, phases=(Phase.generate,))
    @given(any_clusters())
    def note(start: RandomCluster) -> None:
        hours.add(start.now.hour)

    note()
    assert hours == {9, 15, 21, 3, 12}


@given(any_clusters())
def test_lt005_a_breach_has_the_time_that_is_stored(start: RandomCluster) -> None:
    seen = start.snapshot
    since = breached_since(seen)
    assert set(since) == breached_cliques(seen)
    assert all(at.tzinfo is not None for at in since.values())


def test_lt005_sizes_have_limits() -> None:
    with pytest.raises(ValueError, match="at most 5 cliques"):
        Sizes(cliques=6)
