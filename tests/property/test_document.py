"""The JSON plan: what is none of ours is refused with a reason, never with a traceback."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.document.document import FORMAT_VERSION, Document
from grove_core.document.reading import attempts_from_json, document_from_json
from grove_core.document.writing import document_as_json
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.steps import Apply, Attempt, Outcome
from grove_core.plan.forecast import forecast_of
from grove_core.reconcile import reconcile
from tests.property.strategies.worlds import START, World, world_of, worlds
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]


def plain(world: World) -> Json:
    plan = reconcile(world.snapshot)
    document = Document(rules="design", as_of=START, not_collected=(), forecasts=(forecast_of(plan, START),))
    return document_as_json(document, decisions=True)


@pytest.mark.parametrize("version", [None, "2.0", "0.9", 1, "", "x"])
def test_cl011_another_major_version_is_refused(version: object) -> None:
    with pytest.raises(MalformedObject, match="formatVersion"):
        document_from_json({**plain(world_of(b"")), "formatVersion": version})


def test_cl011_a_later_minor_version_is_read() -> None:
    raw = plain(world_of(b""))
    major = FORMAT_VERSION.split(".")[0]
    assert document_from_json({**raw, "formatVersion": f"{major}.99", "novelty": 1}) == document_from_json(raw)


@pytest.mark.parametrize("missing", ["rules", "asOf", "notCollected", "plans"])
def test_cl011_a_document_that_lacks_something_is_refused(missing: str) -> None:
    raw = plain(world_of(b""))
    del raw[missing]
    with pytest.raises(MalformedObject):
        document_from_json(raw)


def test_cl011_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(MalformedObject, match="RFC 3339"):
        document_from_json({**plain(world_of(b"")), "asOf": "yesterday"})


@given(worlds(), st.sampled_from(Outcome))
@pytest.mark.req("PL-012")
def test_pl009_attempts_read_back(world: World, outcome: Outcome) -> None:
    raw = plain(world)["plans"][0]["rounds"][0]["steps"]
    steps = reconcile(world.snapshot).steps
    recorded = [{**step, "outcome": outcome.value, "detail": "words"} for step in raw]
    assert attempts_from_json(recorded) == tuple(Attempt(step, outcome, "words") for step in steps)


@pytest.mark.parametrize("raw", [None, 5, "x", [5], [{}], [{"action": "delete"}], {"outcome": "done"}])
def test_pl012_what_is_no_attempt_is_refused(raw: object) -> None:
    with pytest.raises(MalformedObject):
        attempts_from_json(raw)


@pytest.mark.parametrize(
    "spoiled",
    [
        {"action": "setStatus", "object": 5},
        {"action": "setStatus", "object": None},
        {"action": "dropFinalizer", "object": {"finalizer": []}},
        {"target": {"apiVersion": "v1", "kind": "Pod", "namespace": "ml", "name": "x", "replica": "first"}},
        {"guard": {"uid": [], "resourceVersion": "1"}},
        {"detail": {}},
    ],
)
def test_pl012_an_attempt_of_strange_parts_is_refused(spoiled: Json) -> None:
    guard: Json = {"uid": "u", "resourceVersion": "1"}
    target: Json = {"apiVersion": "v1", "kind": "Pod", "namespace": "ml", "name": "x"}
    sound: Json = {"action": "delete", "target": target, "guard": guard, "object": None, "because": [], "restsOn": []}
    sound |= {"isCause": False, "outcome": "refused"}
    assert len(attempts_from_json([sound])) == 1
    with pytest.raises(MalformedObject):
        attempts_from_json([{**sound, **spoiled}])


@pytest.mark.parametrize("takes", [{"pods": "3", "ready": 0, "gpus": 0}, {"pods": 3}, 3])
@pytest.mark.req("PL-019")
def test_pl009_what_a_deletion_takes_is_three_numbers(takes: object) -> None:
    step = {
        "action": "delete",
        "target": {"apiVersion": "v1", "kind": "Pod", "namespace": "ml", "name": "p"},
        "guard": {"uid": "u", "resourceVersion": "1"},
        "restsOn": [],
        "isCause": False,
        "because": [],
        "outcome": "done",
    }
    assert len(attempts_from_json([step])) == 1
    with pytest.raises(MalformedObject):
        attempts_from_json([{**step, "takes": takes}])


def test_pl009_a_change_reads_back() -> None:
    life = Life(set_raw(clique_raw("a", 2)))
    life.settle()
    life.scale("llm-0-a", 3)
    while (plan := life.round()) is not None and not any(isinstance(step.action, Apply) for step in plan.steps):
        pass
    assert plan is not None
    document = Document(rules="design", as_of=START, not_collected=(), forecasts=(forecast_of(plan, START),))
    assert document_from_json(document_as_json(document, decisions=True)) == document
