"""What the Go operator does not read changes none of its decisions."""

from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.judge import judge_gang_termination_by_go_operator
from grove_core.areas.gang_termination.verdicts import Keep, Terminate
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.steps import SetStatus
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import COMPONENT, MANAGED_BY
from grove_core.resources.labels import GROUP, SET
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.testing import RandomCluster, storms
from grove_core.testing.cluster_builder import START
from grove_core.testing.tape import ByteChoices
from tests.property.gang_termination_field.worlds import field_clusters, fielded
from tests.property.strategies.worlds import is_termination
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw


def with_template(generated: RandomCluster, **changes: Any) -> RandomCluster:
    template = generated.root.spec.template.model_copy(update=changes)
    return replace(
        generated, root=replace(generated.root, spec=generated.root.spec.model_copy(update={"template": template}))
    )


def as_if_once_healthy(generated: RandomCluster) -> RandomCluster:
    """Generate clusters in which every object is older than its conditions, so that each breach counts."""
    left = fielded(generated, ByteChoices(b""))
    made = START - timedelta(days=30)
    return replace(
        left,
        cliques=tuple(replace(one, created_at=made, deleting=False) for one in left.cliques),
        groups=tuple(replace(one, created_at=made, deleting=False) for one in left.groups),
    )


@pytest.mark.req("GF-001")
class TestThresholdsAreReadFromTheObjects:
    """``minAvailable`` and ``replicas`` of a scaling group and ``minAvailable`` of a PodClique MUST be read from these
    objects; the number of replicas of the set is read from the set.
    """

    @given(field_clusters())
    def test_thresholds_of_the_template_are_not_read(self, generated: RandomCluster) -> None:
        template = generated.root.spec.template
        cliques = [
            one.model_copy(update={"spec": one.spec.model_copy(update={"replicas": 9, "min_available": 9})})
            for one in template.cliques
        ]
        groups = [
            one.model_copy(update={"replicas": 9, "min_available": 9}) for one in template.pod_clique_scaling_groups
        ]
        other = with_template(generated, cliques=tuple(cliques), pod_clique_scaling_groups=tuple(groups))
        before, after = (
            judge_gang_termination_by_go_operator(generated.snapshot, GoOperatorRuleGeneration.F3),
            judge_gang_termination_by_go_operator(other.snapshot, GoOperatorRuleGeneration.F3),
        )
        assert [replica.fate for replica in before.replicas] == [replica.fate for replica in after.replicas]
        assert [group.fates for group in before.groups] == [group.fates for group in after.groups]

    @given(field_clusters())
    def test_replicas_beyond_those_of_the_set_are_not_judged(self, generated: RandomCluster) -> None:
        fewer = replace(
            generated, root=replace(generated.root, spec=generated.root.spec.model_copy(update={"replicas": 1}))
        )
        assert {
            replica.number
            for replica in judge_gang_termination_by_go_operator(fewer.snapshot, GoOperatorRuleGeneration.F3).replicas
        } <= {0}


class TestGF009:
    """A set MUST be judged ``Unknown``, and nothing of it is terminated, if its PodCliques or pods were not collected,
    or if it has scaling groups and these were not collected.
    """

    @given(field_clusters(), st.sampled_from(["Pod", "PodClique", "PodCliqueScalingGroup"]))
    def test_nothing_is_done_without_a_read(self, generated: RandomCluster, kind: str) -> None:
        snapshot = replace(generated.snapshot, not_collected=frozenset({kind}))
        plan = reconcile(snapshot, NEWEST)
        if kind == "PodCliqueScalingGroup" and not generated.root.spec.template.pod_clique_scaling_groups:
            return
        assert not [step for step in plan.steps if is_termination(step)]
        assert {finding.verdict for finding in plan.findings if finding.question == "termination"} == {"Unknown"}


@pytest.mark.req("GT-001")
class TestAPodBelongsToTheCliqueThatControlsIt:
    """A pod MUST be counted for the PodClique whose uid its controller owner reference carries, whatever its labels and
    name say.
    """

    @given(field_clusters())
    def test_names_and_labels_are_nothing(self, generated: RandomCluster) -> None:
        renamed = tuple(
            replace(pod, name=f"other-{number}", gang="other", set_name="other", index=-1)
            for number, pod in enumerate(generated.pods)
        )
        counts = [
            seen.counts
            for seen in judge_gang_termination_by_go_operator(generated.snapshot, GoOperatorRuleGeneration.F3).cliques
        ]
        assert [
            seen.counts
            for seen in judge_gang_termination_by_go_operator(
                replace(generated, pods=renamed).snapshot, GoOperatorRuleGeneration.F3
            ).cliques
        ] == counts
        for seen in judge_gang_termination_by_go_operator(generated.snapshot, GoOperatorRuleGeneration.F3).cliques:
            if not seen.clique.deleting:
                own = [pod for pod in generated.pods if pod.owner_uid == seen.clique.uid]
                assert seen.counts.ready == sum(pod.ready for pod in own)


class TestGF066:
    """While an update of a scaling group runs, the group MUST terminate none of its replicas."""

    @given(storms().map(as_if_once_healthy))
    def test_whatever_is_breached(self, generated: RandomCluster) -> None:
        groups = tuple(replace(group, status=replace(group.status, updating=True)) for group in generated.groups)
        for group in judge_gang_termination_by_go_operator(
            replace(generated, groups=groups).snapshot, GoOperatorRuleGeneration.F3
        ).groups:
            assert Terminate() not in group.fates.values()


class TestGF067:
    """A scaling group MUST do nothing if none of its PodCliques has a breach to act on (GF-050)."""

    @given(field_clusters())
    def test_members_that_are_well_are_no_candidates(self, generated: RandomCluster) -> None:
        pods = tuple(
            replace(pod, scheduled=True, ready=True, crashed=False, unready=False, deleting=False)
            for pod in generated.pods
        )
        cliques = tuple(
            replace(one, deleting=False, status=replace(one.status, conditions=(), updating=False))
            for one in generated.cliques
        )
        for group in judge_gang_termination_by_go_operator(
            replace(generated, pods=pods, cliques=cliques).snapshot, GoOperatorRuleGeneration.F3
        ).groups:
            assert (group.fates, group.fate) == ({}, Keep())


class TestGF077:
    """The set MUST NOT terminate any of its replicas while it is being deleted; its scaling groups still may. A rollout
    of the set suspends no termination.
    """

    @given(field_clusters(), st.sampled_from(["deleting", "updating"]))
    @pytest.mark.req("GF-069")
    def test_fates_of_replicas(self, generated: RandomCluster, how: str) -> None:
        status = replace(generated.root.status, updating=how == "updating")
        root = replace(generated.root, deleting=how == "deleting", status=status)
        for replica in judge_gang_termination_by_go_operator(
            replace(generated, root=root).snapshot, GoOperatorRuleGeneration.F3
        ).replicas:
            due = any(breach.since + breach.delay <= generated.now for breach in replica.breaches)
            assert (replica.fate == Terminate()) == (due and how == "updating")


POOL: Final = {"name": "g", "cliqueNames": ["x"], "replicas": 1, "minAvailable": 1}
SEEN: Final = at_rest(applied(set_raw(clique_raw("x"), groups=(POOL,), terminationDelay="4h")))


@pytest.mark.parametrize("label", [MANAGED_BY, SET.primary, COMPONENT, GROUP.primary])
def test_gf031_a_clique_without_the_labels_is_no_member(label: str) -> None:
    (clique,) = SEEN.cliques
    other = replace(clique, labels=FrozenMap({**clique.labels, label: "other"}))
    (before,), (after,) = (
        judge_gang_termination_by_go_operator(replace(SEEN, cliques=(one,)), GoOperatorRuleGeneration.F3).groups
        for one in (clique, other)
    )
    assert [one.clique for one in before.members] == [clique]
    assert not after.members


@pytest.mark.parametrize(("deleting", "reported"), [(False, True), (True, False)])
def test_gf037_a_set_being_deleted_gets_no_status(*, deleting: bool, reported: bool) -> None:
    stale = replace(SEEN.root.status, available=5)
    root = replace(SEEN.root, status=stale, deleting=deleting)
    steps = reconcile(replace(SEEN, root=root), NEWEST).steps
    assert (root.ref in {step.target for step in steps if isinstance(step.action, SetStatus)}) == reported
