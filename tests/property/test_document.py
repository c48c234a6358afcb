"""The JSON plan: what is none of ours is refused with a reason, never with a traceback."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.document.document_reading import attempts_from_json, plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import FORMAT_VERSION, PlanDocument, RuleSetSource
from grove_core.document.step_reading import reason_from_json
from grove_core.document.step_writing import reason_as_json
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.reasons import Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Delete
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import one_round_forecast
from grove_core.plan.plan import Plan
from grove_core.plan.plan_staleness import changes_since_reviewed_plan
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import Configuration, SchedulerProfiles
from grove_core.testing import RandomCluster, cluster_of, clusters
from grove_core.testing.cluster_builder import START
from tests.property.resources.manifests import almost, outcome, replaced
from tests.property.terminating_sets import ENDING
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]


def document_of(plan: Plan) -> PlanDocument:
    return PlanDocument(rules="design", as_of=START, not_collected=(), forecasts=(one_round_forecast(plan, START),))


def plain(generated: RandomCluster) -> Json:
    return plan_document_as_json(document_of(reconcile(generated.snapshot)), decisions=True)


NOT_IN_PLANS = {"PreflightFailureReason", "SchedulingPreflightReason", "FitReason"}


def enums_below(base: type[Rule]) -> Iterator[type[Rule]]:
    for found in base.__subclasses__():
        yield found
        yield from enums_below(found)


@pytest.mark.parametrize(
    "enum",
    [
        one
        for one in enums_below(Rule)
        if one.__name__.endswith("Reason") and one.__name__ not in NOT_IN_PLANS and "domain_" not in one.__module__
    ],
    ids=lambda one: one.__name__,
)
def test_cl011_every_reason_of_a_plan_is_read_back(enum: type[Rule]) -> None:
    subject = Ref("grove.io/v1alpha1", "PodClique", "ml", "a")
    for rule in enum:
        reason = rule.because(subject, **dict.fromkeys(rule.fact_names, 1))
        assert reason_from_json(reason_as_json(reason)) == reason


@pytest.mark.parametrize("version", [None, "2.0", "0.9", 1, "", "x"])
def test_cl011_another_major_version_is_refused(version: object) -> None:
    with pytest.raises(MalformedObject, match="formatVersion"):
        plan_document_from_json({**plain(cluster_of(b"")), "formatVersion": version})


def test_cl011_another_init_image_is_read_back() -> None:
    plan = reconcile(cluster_of(ENDING).snapshot)
    document = replace(document_of(plan), configuration=Configuration(init_image="a/b:1"))
    written = plan_document_as_json(document, decisions=True)
    assert written["configuration"]["startup"] == {"image": "a/b:1"}
    assert plan_document_from_json(written) == document


@pytest.mark.req("IN-071")
def test_cl011_the_schedulers_of_the_go_operator_are_read_back() -> None:
    plan = reconcile(cluster_of(ENDING).snapshot)
    schedulers = SchedulerProfiles(("kai-scheduler", "default-scheduler"), "kai-scheduler")
    document = replace(document_of(plan), configuration=Configuration(schedulers=schedulers))
    written = plan_document_as_json(document, decisions=True)
    assert written["configuration"]["scheduler"]["defaultProfileName"] == "kai-scheduler"
    assert plan_document_from_json(written) == document


def test_cl011_a_later_minor_version_is_read() -> None:
    raw = plain(cluster_of(b""))
    major = FORMAT_VERSION.split(".")[0]
    assert plan_document_from_json({**raw, "formatVersion": f"{major}.99", "novelty": 1}) == plan_document_from_json(
        raw
    )


@pytest.mark.parametrize("missing", ["rules", "asOf", "notCollected", "plans"])
def test_cl011_a_document_that_lacks_something_is_refused(missing: str) -> None:
    raw = plain(cluster_of(b""))
    del raw[missing]
    with pytest.raises(MalformedObject):
        plan_document_from_json(raw)


def test_cl011_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(MalformedObject, match='"yesterday" instead of an RFC 3339'):
        plan_document_from_json({**plain(cluster_of(b"")), "asOf": "yesterday"})


@pytest.mark.parametrize("source", [RuleSetSource("option"), RuleSetSource("cluster", "v0.1.0-alpha.9 is there")])
@pytest.mark.req("CL-055")
def test_cl011_what_chose_the_rules_reads_back(source: RuleSetSource) -> None:
    reported = replace(document_of(reconcile(cluster_of(b"").snapshot)), rules_from=source)
    assert plan_document_from_json(plan_document_as_json(reported, decisions=True)) == reported


@pytest.mark.parametrize("lacks", ["restsOn", "terminates"])
@pytest.mark.req("PL-019")
def test_cl011_a_deletion_with_causes_or_gangs_alone_is_refused(lacks: str) -> None:
    raw = plain(cluster_of(ENDING))["plans"][0]["rounds"][0]["steps"]
    (first, *_) = [step for step in raw if step.get("terminates")]
    recorded = {**first, "outcome": "done", "detail": ""}
    assert len(attempts_from_json([recorded])) == 1
    with pytest.raises(MalformedObject) as caught:
        attempts_from_json([{**recorded, lacks: []}])
    assert "only one of restsOn and terminates (PL-019)" in caught.value.problems[-1].got


@given(clusters(), st.sampled_from(AttemptOutcome))
@pytest.mark.req("PL-012")
def test_cl011_attempts_read_back(generated: RandomCluster, outcome: AttemptOutcome) -> None:
    raw = plain(generated)["plans"][0]["rounds"][0]["steps"]
    steps = reconcile(generated.snapshot).steps
    recorded = [{**step, "outcome": outcome.value, "detail": "words"} for step in raw]
    assert attempts_from_json(recorded) == tuple(Attempt(step, outcome, "words") for step in steps)


@pytest.mark.parametrize("raw", [None, 5, "x", [5], [{}], [{"action": "delete"}], {"outcome": "done"}])
def test_pl012_what_is_no_attempt_is_refused(raw: object) -> None:
    with pytest.raises(MalformedObject):
        attempts_from_json(raw)


@pytest.mark.parametrize(
    ("raw", "path", "got"),
    [
        (None, "", "nothing"),
        ([{"action": "delete"}], "attempts[0]", "an object with 1 key, of which 'because' is missing or not known"),
        ([5, 5], "attempts[1]", "5"),
    ],
)
@pytest.mark.req("CL-005")
def test_pl012_a_step_without_an_attempt_is_reported_in_our_words(raw: object, path: str, got: str) -> None:
    with pytest.raises(MalformedObject) as caught:
        attempts_from_json(raw)
    last = caught.value.problems[-1]
    assert (last.path, last.got) == (path, got)


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
def test_cl011_what_a_deletion_takes_is_three_numbers(takes: object) -> None:
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


@cache
def ending() -> Json:
    """A plan with every kind of step but creations."""
    return plain(cluster_of(ENDING))


@cache
def beginning() -> Json:
    """A plan with creations and a status."""
    seen = Life(set_raw(clique_raw("a", 2))).look()
    assert seen is not None
    document = PlanDocument(
        rules="design", as_of=START, not_collected=("Pod",), forecasts=(one_round_forecast(reconcile(seen), START),)
    )
    return plan_document_as_json(document, decisions=True)


def test_cl011_a_plan_with_earlier_reason_codes_reads_back() -> None:
    found = plan_document_from_json(ending())
    assert (
        plan_document_from_json(json.loads(re.sub(r'"rule": "\w+"', '"rule": "LetGo"', json.dumps(ending())))) == found
    )


@given(st.sampled_from([ending(), beginning()]).flatmap(almost))
def test_cl011_a_damaged_plan_is_refused_or_can_be_used(raw: Any) -> None:
    """Whatever was done to the file: what reads can be compared with a plan made now, and written again."""
    found = outcome(plan_document_from_json, raw)
    if not isinstance(found, PlanDocument):
        assert found
        assert all(map(str, found))
        return
    for forecast in found.forecasts:
        for round_ in forecast.rounds:
            assert all(
                map(
                    str,
                    (*changes_since_reviewed_plan(round_.steps, ()), *changes_since_reviewed_plan((), round_.steps)),
                )
            )
    assert plan_document_from_json(plan_document_as_json(found, decisions=True)) == found


STEP: Any = ("plans", 0, "rounds", 0, "steps", 0)
DEEP: Json = {"a": 1}
for _ in range(500):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    ("place", "value", "word"),
    [
        ((), [1], "formatVersion"),
        (("notCollected",), "Pod", "instead of a list"),
        (("plans",), {}, "instead of a list"),
        (("plans", 0, "rounds"), [], "no round"),
        (("plans", 0, "complete"), "false", "instead of true or false"),
        (("plans", 0, "rounds", 0, "round"), "one", "instead of an integer"),
        ((*STEP, "action"), "holdFinalizer", "no action"),
        ((*STEP, "object"), DEEP, "levels"),
        ((*STEP, "because"), [], "no reason"),
        ((*STEP, "because", 0, "facts", "novelty"), 1, "novelty"),
        (("plans", 0, "decisions", 0, "because"), [], "no reason"),
        (("plans", 0, "decisions", 0, "verdict"), True, "instead of a string"),
    ],
)
def test_cl011_what_would_fail_later_is_refused_at_once(place: tuple[str | int, ...], value: object, word: str) -> None:
    raw = beginning()
    more = {"guard": {"uid": "u", "resourceVersion": "1"}, "restsOn": [], "isCause": False, "stage": "CLEANUP"}
    step = {**raw["plans"][0]["rounds"][0]["steps"][0], **more}
    assert plan_document_from_json(replaced(raw, STEP, {**step, "action": "delete"})).forecasts
    with pytest.raises(MalformedObject, match=word):
        plan_document_from_json(replaced(replaced(raw, STEP, step), place, value))


def test_cl011_a_reason_has_the_facts_of_its_rule() -> None:
    raw = ending()
    place, name = next(
        ((number, at), name)
        for number, step in enumerate(raw["plans"][0]["rounds"][0]["steps"])
        for at, reason in enumerate(step["because"])
        for name in reason["facts"]
    )
    facts = ("plans", 0, "rounds", 0, "steps", place[0], "because", place[1], "facts")
    with pytest.raises(MalformedObject, match="instead of a fact"):
        plan_document_from_json(replaced(raw, (*facts, name), [1]))
    with pytest.raises(MalformedObject, match=rf"whose facts are .*{name}.*, not none"):
        plan_document_from_json(replaced(raw, facts, {}))


def test_cl011_a_change_reads_back() -> None:
    life = Life(set_raw(clique_raw("a", 2)))
    life.settle()
    life.scale("llm-0-a", 3)
    while (plan := life.round()) is not None and not any(isinstance(step.action, Apply) for step in plan.steps):
        pass
    assert plan is not None
    document = document_of(plan)
    assert plan_document_from_json(plan_document_as_json(document, decisions=True)) == document


def test_cl011_a_deletion_that_waits_for_what_is_owned_reads_back() -> None:
    life = Life(set_raw(clique_raw("a")))
    life.settle()
    life.world.put_object(replace(life.root, deleting=True))
    plan = life.round()
    assert plan is not None
    (gone,) = [step.action for step in plan.steps if step.target.kind == "PodClique"]
    assert isinstance(gone, Delete)
    assert gone.foreground
    document = document_of(plan)
    assert plan_document_from_json(plan_document_as_json(document, decisions=True)) == document
