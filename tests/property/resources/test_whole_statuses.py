"""A status whole, as its one writer applies it (OP-012)."""

from typing import Any

import pytest

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.structs import replace
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.status_comparison import object_after_status_write, status_as_json
from tests.property.resources.manifests import clique, condition
from tests.property.workload.life import Life
from tests.property.workload.sets import NOW, clique_raw, set_raw

Json = dict[str, Any]


def stored(status: Json) -> PodClique:
    return podclique_from_json({**clique("llm-0-a"), "status": status})


def test_op012_foreign_conditions_and_unset_fields_are_left_out() -> None:
    ours, others = condition("MinAvailableBreached", "False"), condition("SomebodyElses")
    said = thaw_json(status_as_json(stored({"readyReplicas": 0, "wasAvailable": False, "conditions": [others, ours]})))
    assert said == {"readyReplicas": 0, "wasAvailable": False, "conditions": [ours]}
    assert thaw_json(status_as_json(stored({}))) == {}


@pytest.mark.parametrize("kind", ["PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang"])
def test_op012_what_is_applied_reads_back_as_what_was_meant(kind: str) -> None:
    """Every status that an operator brings a set to: written whole on nothing, it is the same status."""
    raw = set_raw(
        clique_raw("a", 3, minAvailable=1),
        clique_raw("b", 1),
        groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1},),
    )
    life = Life(raw)
    life.settle()
    life.new_image("engine:2")
    for _ in range(6):
        life.round()
        life.kubelet()
    found: list[Any] = [item for item in life.world.items.values() if item.ref.kind == kind]
    assert found
    for item in found:
        said = status_as_json(item)
        again = object_after_status_write(replace(item, status=type(item.status)()), said)
        assert status_as_json(again) == said
        assert again.status.conditions == item.status.conditions


def test_op012_a_condition_of_ours_is_written_as_it_is() -> None:
    written = Condition("PodCliqueScheduled", ConditionStatus.TRUE, "Why", "words", NOW)
    bare = stored({})
    seen = replace(bare, status=replace(bare.status, conditions=(written,)))
    assert thaw_json(status_as_json(seen)) == {"conditions": [thaw_json(written.as_json)]}
