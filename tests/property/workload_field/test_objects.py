"""Objects that the Go operator has for a set with everything in it."""

from grove_core.areas.mnnvl.verdicts import ComputeDomainsOfNewParts
from grove_core.areas.topology.verdicts import GangsPlacedByTopology, PlacingTopology
from grove_core.areas.workload.field.releases import FROM_ALPHA_12
from grove_core.areas.workload.field.wants import workload_result_by_go_operator
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import Apply, Create
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import FieldsToApply, ObjectToCreate
from grove_core.reconcile import reconcile
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.rule_sets.go_operator import NEWEST
from tests.property.workload.sets import applied
from tests.property.workload_field.healthy_sets import Json, edited, healthy, raw_set


def rich() -> Json:
    """A set with autoscalers, shared claims, a topology constraint and annotations on its scaling group."""
    raw = raw_set()
    template = raw["spec"]["template"]
    router, worker = template["cliques"]
    router["spec"]["autoScalingConfig"] = {"minReplicas": 3, "maxReplicas": 5}
    spec = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}}
    template["resourceClaimTemplates"] = [{"name": "disk", "templateSpec": spec}]
    for one in (router, worker):
        one["resourceSharing"] = [{"name": "disk", "scope": "PerReplica"}]
    (pool,) = template["podCliqueScalingGroups"]
    pool["scaleConfig"] = {"minReplicas": 2, "maxReplicas": 4}
    template["topologyConstraint"] = {"topologyName": "racks", "pack": {"required": "rack"}}
    return raw


def test_wf053_autoscalers_and_claims_are_created() -> None:
    seen = healthy(rich())
    kinds = sorted(
        other.ref.short for other in seen.others if other.ref.kind in {"HorizontalPodAutoscaler", "ResourceClaim"}
    )
    assert kinds[:2] == ["HorizontalPodAutoscaler/llm-0-pool", "HorizontalPodAutoscaler/llm-0-router"]
    assert len(kinds) == 2 + 3 + 2 * 2, "one claim for each pod"


def test_wf031_two_pods_of_one_index_stop_creation() -> None:
    seen = healthy()
    (router,) = (clique for clique in seen.cliques if not clique.is_in_scaling_group)
    pods = tuple(replace(pod, index=0) for pod in seen.pods_of[router.uid][:2])
    plan = reconcile(replace(seen, pods_of=FrozenDict({**seen.pods_of, router.uid: pods})), NEWEST)
    assert not [step for step in plan.steps if isinstance(step.action, Create)]
    assert "PodIndexTakenTwice" in {held.because[0].rule.code for held in plan.withheld}


def test_wf003_annotations_of_a_scaling_group_follow_the_template() -> None:
    raw = raw_set()
    raw["spec"]["template"]["podCliqueScalingGroups"][0]["annotations"] = {"team": "a"}
    steps = reconcile(edited(healthy(), raw), NEWEST).steps
    changed = [step.target.short for step in steps if isinstance(step.action, Apply)]
    assert changed == ["PodCliqueScalingGroup/llm-0-pool"]


def test_wf132_constraints_become_those_of_the_topology_at_once() -> None:
    seen = healthy(rich())
    locked = WorkloadReason.NO_LONGER_PART.because(seen.root.ref)
    racks = PlacingTopology("racks", FrozenDict({"rack": "example.com/rack"}))
    topology = GangsPlacedByTopology(racks, follows=False, because=locked)
    inputs = WorkloadInputs(gang_topology=topology)
    result = workload_result_by_go_operator(seen, inputs, FROM_ALPHA_12)
    assert result.misplaced == ()
    changes = (want for want in result.of_area.wants.wants if isinstance(want, FieldsToApply))
    assert {want.target.name for want in changes if want.target.kind == "PodGang"} == {"llm-0", "llm-0-pool-0"}
    assert not result.of_area.wants.withheld


def test_wf050_a_set_of_which_too_little_is_known_is_left_alone() -> None:
    seen = healthy()
    partial = replace(seen, complete=frozenset({"Pod"}))
    result = workload_result_by_go_operator(partial, WorkloadInputs(), FROM_ALPHA_12)
    assert not result.of_area.wants.wants
    assert result.misplaced is None
    assert podcliqueset_from_json(raw_set()).spec.replicas == 1


def test_wf009_no_gang_is_created_while_a_clique_waits_for_its_domain() -> None:
    start = applied(raw_set())
    seen = replace(start, complete=start.complete - {"Secret"})  # the operator waits for no token (WF-070)
    why = WorkloadReason.NO_LONGER_PART.because(seen.root.ref)
    waiting = WorkloadInputs(clique_domains=ComputeDomainsOfNewParts(waiting=FrozenDict({0: (why,)})))
    for inputs, kinds in ((WorkloadInputs(), {"PodGang", "PodClique"}), (waiting, set())):
        wants = workload_result_by_go_operator(seen, inputs, FROM_ALPHA_12).of_area.wants.wants
        created = {want.target.kind for want in wants if isinstance(want, ObjectToCreate)}
        assert created & {"PodGang", "PodClique"} == kinds
