"""The objects that a plan creates: their rounds, their names and why they are wanted."""

from typing import Final

from hypothesis import given

from grove_core.in_memory.planned_objects import (
    creation_reasons,
    creations_in_next_reconcile,
    may_create_object_named,
    played_rounds_of_set,
)
from grove_core.kernel.steps import Make, SetStatus
from grove_core.kernel.structs import replace
from grove_core.rule_sets.rule_set_by_name import rule_set
from tests.property.few_examples import RARELY
from tests.property.workload.life import Life
from tests.property.workload.sets import Json, applied, clique_raw, raw_sets, set_raw

DESIGN: Final = rule_set("design")


@RARELY
@given(raw_sets())
def test_cl080_each_object_that_the_rounds_create_is_found_by_its_name(raw: Json) -> None:
    played = played_rounds_of_set(applied(raw), DESIGN)
    created = [(one.number, step) for one in played.rounds for step in one.steps if isinstance(step.action, Make)]
    for number, step in created:
        ref = step.target
        assert played.name_of_created_object(ref.kind, ref.name) == ref.name
        assert ref.name in played.names_of_created_objects(ref.kind)
        steps = played.steps_for_object(ref.kind, ref.name)
        assert (number, step) in [(one.number, made) for one, made in steps]
        assert not [made for _, made in steps if isinstance(made.action, SetStatus)]


def test_cl080_a_pod_is_also_found_by_its_host_name() -> None:
    played = played_rounds_of_set(applied(set_raw(clique_raw("a", 2))), DESIGN)
    names = played.names_of_created_objects("Pod")
    assert len(names) == 2
    assert {played.name_of_created_object("Pod", f"llm-0-a-{index}") for index in (0, 1)} == {*names}
    assert played.name_of_created_object("Pod", "llm-0-a-2") == ""
    assert played.name_of_created_object("PodClique", "llm-0-a-0") == ""


def test_cl080_a_set_creates_names_that_begin_with_its_own() -> None:
    start = applied(set_raw(clique_raw("a")))
    assert may_create_object_named(start, "llm")
    assert may_create_object_named(start, "llm-0-a")
    assert not may_create_object_named(start, "llmx-0-a")
    for step in (step for one in played_rounds_of_set(start, DESIGN).rounds for step in one.steps):
        assert may_create_object_named(start, step.target.name)


def test_cl074_an_object_without_pods_has_the_reasons_of_its_creation() -> None:
    life = Life(set_raw(clique_raw("a")))
    life.settle()
    seen = life.look()
    assert seen is not None
    services = [item for item in seen.others if item.ref.kind == "Service"]
    assert services
    new = creations_in_next_reconcile(applied(life.raw), DESIGN, {"Service"})
    assert [step.target for step in new] == [item.ref for item in services]
    for item in services:
        because = creation_reasons(seen, DESIGN, "Service", item.ref.name)
        others = replace(seen, others=tuple(one for one in seen.others if one != item))
        (step,) = creations_in_next_reconcile(others, DESIGN, {"Service"})
        assert step.target == item.ref
        assert because == step.because != ()
    assert creation_reasons(seen, DESIGN, "Service", "llm-7") == ()
