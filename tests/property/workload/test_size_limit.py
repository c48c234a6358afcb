"""A set that is too large is left as it is, and its statuses stay true (WL-024)."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given

from grove_core.areas.gang_termination.rules import TerminationReason as Termination
from grove_core.areas.gang_termination.verdicts import KEEPS
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Action, Delete, DropFinalizer, SetStatus
from grove_core.kernel.structs import replace
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.expected_replicas import MOST, max_object_count_of_set
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster, clusters
from grove_shell.cache.cluster_cache import ClusterCache
from tests.kubectl_yaml import items_in
from tests.property.workload.life import Life
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw

GROUP: dict[str, Any] = {"name": "pool", "cliqueNames": ["b"], "replicas": 3, "minAvailable": 2}


def of_millions(seen: Snapshot) -> Snapshot:
    """The same, after a slip of the finger."""
    spec = seen.root.spec.model_copy(update={"replicas": 2 * MOST})
    return replace(seen, root=replace(seen.root, spec=spec))


def endless(seen: Snapshot) -> Snapshot:
    """The same without a delay, so that nothing is ever due."""
    template = seen.root.spec.template
    groups = tuple(group.model_copy(update={"termination_delay": None}) for group in template.pod_clique_scaling_groups)
    off = template.model_copy(update={"termination_delay": None, "pod_clique_scaling_groups": groups})
    return replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"template": off})))


def steps_on(seen: Snapshot, kind: type, rules: RuleSet = DESIGN) -> dict[Ref, Action]:
    """The steps of one kind, by target, but for those on the set itself."""
    steps = reconcile(seen, rules).steps
    return {
        step.target: step.action for step in steps if isinstance(step.action, kind) and step.target != seen.root.ref
    }


def ended_in(seen: Snapshot, rules: RuleSet) -> set[Ref]:
    steps = reconcile(seen, rules).steps
    return {step.target for step in steps if isinstance(step.action, Delete) and step.action.rests_on}


@given(clusters())
@pytest.mark.req("PL-001")
@pytest.mark.req("GT-064")
def test_wl024_nothing_of_it_is_made_changed_or_ended(generated: RandomCluster) -> None:
    assume(not generated.root.deleting)
    seen = of_millions(generated.snapshot)
    plan = reconcile(seen)
    assert not broken_laws_in_plan(plan, seen)
    assert {type(step.action) for step in plan.steps} <= {SetStatus, DropFinalizer}
    assert plan.wake_at is None
    (whole,) = (one for one in plan.withheld if one.because[0].rule is WorkloadReason.TOO_LARGE)
    assert whole.target == generated.root.ref
    for finding in plan.findings:
        if finding.question == TERMINATION and finding.subject.kind == "PodCliqueSet":
            assert (finding.verdict, finding.because[0].rule) in {
                (KEEPS, Termination.SET_TOO_LARGE),
                (ConditionStatus.UNKNOWN.value, Termination.NOT_COLLECTED),
            }


@given(clusters())
def test_wl024_reported_and_released_cliques_are_those_without_a_termination(generated: RandomCluster) -> None:
    """Also of what is breached for long: a breach that is over for a while must not count from its beginning later."""
    assume(not generated.root.deleting)
    for kind in (SetStatus, DropFinalizer):
        assert steps_on(of_millions(generated.snapshot), kind) == steps_on(endless(generated.snapshot), kind)


def test_gt064_a_due_clique_stays_and_is_reported() -> None:
    """One of its replicas is breached for longer than its delay; the Go operator, which has no limit, ends it."""
    case = "golden/gang_termination/gt033_delay_expired_terminates_whole_replica/given.yaml"
    given = items_in(Path(__file__).parents[2] / case)
    cache = ClusterCache()
    for kind in ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "Pod"):
        cache.replace_all_of_kind(kind, [item for item in given if item["kind"] == kind], "1")
    seen = cache.snapshot_of_set(("ml", "ml"), datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert seen is not None
    assert {ref.name for ref in ended_in(seen, DESIGN)} == {"ml-0-decode", "ml-0-pool-0-pf", "ml-0-router"}
    assert ended_in(of_millions(seen), DESIGN) == set()
    assert ended_in(of_millions(seen), NEWEST) == ended_in(seen, NEWEST) != set()


def test_wl230_it_is_deleted_all_the_same() -> None:
    rested = of_millions(at_rest(applied(set_raw(clique_raw("a", 2)))))
    plan = reconcile(replace(rested, root=replace(rested.root, deleting=True)))
    assert "llm-0-a" in {step.target.name for step in plan.steps if isinstance(step.action, Delete)}
    assert WorkloadReason.TOO_LARGE not in {why.rule for held in plan.withheld for why in held.because}


def test_wl024_what_is_being_deleted_is_let_go_of() -> None:
    rested = of_millions(at_rest(applied(set_raw(clique_raw("a", 2), clique_raw("b")))))
    (going,) = (clique for clique in rested.cliques if clique.ref.name == "llm-0-a")
    others = tuple(clique for clique in rested.cliques if clique is not going)
    plan = reconcile(replace(rested, cliques=(replace(going, deleting=True), *others)))
    assert [step.target for step in plan.steps if isinstance(step.action, DropFinalizer)] == [going.ref]
    gated = {
        uid: [replace(pod, has_grove_gate=True, gated=True) for pod in pods] for uid, pods in rested.pods_of.items()
    }
    held = [
        one
        for one in reconcile(replace(rested, pods_of=frozen_dict_of_tuples(gated))).withheld
        if one.target.kind == "Pod"
    ]
    assert len(held) == 3
    assert {one.because[0].rule for one in held} == {WorkloadReason.TOO_LARGE}


@pytest.mark.parametrize(("replicas", "size"), [(0, 0), (1, 3 + 3 * 2), (2, 2 * (3 + 3 * 2))])
def test_wl024_the_size_of_a_set(replicas: int, size: int) -> None:
    seen = applied(set_raw(clique_raw("a", 2), clique_raw("b", 1), groups=(GROUP,), replicas=replicas))
    assert max_object_count_of_set(seen) == size


def look(life: Life) -> Snapshot:
    seen = life.look()
    assert seen is not None
    return seen


def test_wl024_groups_that_were_scaled_out_count_as_they_are() -> None:
    life = Life(set_raw(clique_raw("b", 1), groups=(GROUP,)))
    life.settle()
    life.scale("llm-0-pool", 50)
    seen = look(life)
    assert max_object_count_of_set(seen) == 50 * 2 + 1
