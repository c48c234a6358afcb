"""How a prediction is compared with what was written."""

from typing import Any

from tests.beside.operator_writes import happened
from tests.beside.score import compared, either
from tests.cluster.api import Json


def event(t: float, verb: str, kind: str, name: str = "", **more: Any) -> Json:
    return {"t": t, "user": "operator", "verb": verb, "kind": kind, "name": name, "code": 200, **more}


def test_what_is_deleted_twice_counts_once() -> None:
    done = happened(
        [
            event(0.1, "delete", "Pod", "a-0-w-abcde"),
            event(0.2, "delete", "Pod", "a-0-w-abcde"),
            event(0.3, "deletecollection", "Pod", items=["a-0-w-abcde", "a-0-w-fghij"]),
        ]
    )
    assert done == {("delete", "Pod", "a-0-w"): [0.1, 0.3]}


def test_an_object_that_is_created_again_can_be_deleted_again() -> None:
    verbs = ("delete", "create", "delete")
    done = happened([event(number, verb, "PodClique", "a-0-w") for number, verb in enumerate(verbs)])
    assert done == {("delete", "PodClique", "a-0-w"): [0, 2], ("create", "PodClique", "a-0-w"): [1]}


def test_other_writers_failures_statuses_and_earlier_writes_do_not_count() -> None:
    ignored = [
        event(-1, "delete", "Pod", "a-0-w-abcde"),
        event(1, "delete", "Pod", "a-0-w-abcde", user="garbage collector"),
        event(1, "delete", "Pod", "a-0-w-abcde", code=404),
        event(1, "patch", "PodClique", "a-0-w", subresource="status", body={"spec": {}}),
        event(1, "patch", "PodClique", "a-0-w", body={"metadata": {"finalizers": ["grove.io/podclique.grove.io"]}}),
    ]
    assert happened(ignored) == {}


def test_pairs_are_made_in_the_order_of_time() -> None:
    key = ("delete", "Pod", "a-0-w")
    score = compared({key: [0, 9], ("create", "Pod", "a-0-w"): [1]}, {key: [5.0, 0.5, 20.0]})
    assert score.cells()[:4] == ["2", "1", "1", "1"]
    assert score.late == [(key, 9, 5.0)]


def test_a_dropped_finalizer_and_changed_labels_count() -> None:
    done = happened(
        [
            event(1, "patch", "PodClique", "a-0-w", body={"metadata": {"labels": {"tier": "gold"}}}),
            event(2, "patch", "PodClique", "a-0-w", body={"metadata": {"finalizers": None}}),
        ]
    )
    assert done == {("patch", "PodClique", "a-0-w"): [1], ("release", "PodClique", "a-0-w"): [2]}


def test_what_one_of_two_predictions_names_is_named() -> None:
    first, second, other = (("delete", "Pod", name) for name in ("a-0-w", "b-0-w", "c-0-w"))
    done = {first: [0.0], second: [0.0, 1.0]}
    named = either(compared({first: [0.0], other: [0.0]}, done), compared({second: [0.0]}, done))
    assert named.cells()[:3] == ["2", "0", "1"]
