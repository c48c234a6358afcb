"""Which step creates a pod, and for which PodClique."""

from grove_core.in_memory.forecasts import steps_of_coming_rounds
from grove_core.kernel.steps import Create
from grove_core.resources.owned_object import clique_of_new_pod
from grove_core.rule_sets.rule_set import DESIGN
from tests.property.workload.sets import applied, clique_raw, set_raw


def test_gt001_a_new_pod_belongs_to_the_podclique_that_controls_it_and_other_steps_to_none() -> None:
    steps = list(steps_of_coming_rounds(applied(set_raw(clique_raw("a", 2), clique_raw("b", 1))), DESIGN))
    found = [clique_of_new_pod(step) for step in steps]
    assert [bool(uid) for uid in found] == [
        step.target.kind == "Pod" and isinstance(step.action, Create) for step in steps
    ]
    assert len(set(found) - {""}) == len({"a", "b"})
    assert sum(map(bool, found)) == 2 + 1
