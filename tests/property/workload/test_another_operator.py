"""A rule set may treat the parts of a set in its own way; everything else of a plan follows its result."""

from grove_core.areas.workload.design.wants import workload_result_by_design
from grove_core.areas.workload.verdicts import WorkloadInputs, WorkloadResult
from grove_core.kernel.steps import Create
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import applied, clique_raw, set_raw

START = applied(set_raw(clique_raw("a")))


def test_the_parts_of_a_set_are_those_that_the_rule_set_wants() -> None:
    def without_services(snapshot: Snapshot, inputs: WorkloadInputs) -> WorkloadResult:
        found = workload_result_by_design(snapshot, inputs)
        kept = tuple(want for want in found.of_area.wants.wants if want.target.kind != "Service")
        return found._replace(of_area=found.of_area._replace(wants=replace(found.of_area.wants, wants=kept)))

    plan = reconcile(START, replace(DESIGN, name="other", workload=without_services))
    assert plan.rules == "other"
    left_out = {step.target for step in reconcile(START).steps} - {step.target for step in plan.steps}
    assert [ref.short for ref in left_out] == ["Service/llm-0"]


def test_a_rule_set_that_wants_nothing_of_the_parts_creates_nothing() -> None:
    plan = reconcile(START, replace(DESIGN, workload=lambda _snapshot, _inputs: WorkloadResult()))
    assert not [step for step in plan.steps if isinstance(step.action, Create)]
