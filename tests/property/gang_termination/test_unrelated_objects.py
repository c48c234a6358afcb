"""What changes no verdict on a breach: deletion of the set, a missing part, a rollout of the set."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.areas.gang_termination.design.verdicts import SetTerminationJudgement
from grove_core.areas.gang_termination.verdicts import Terminate
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.status_comparison import is_marked_breached
from grove_core.testing import (
    RandomCluster,
    busy_clusters,
    cluster_of,
    storms,
    stormy,
)
from tests.property.strategies.worlds import is_termination

CLUSTERS = st.one_of(storms(), busy_clusters())


def breached(judgement: SetTerminationJudgement) -> dict[int, set[Ref]]:
    """Return the breached constituents by replica of the set."""
    return {replica.number: {breach.ref for breach in replica.breaches} for replica in judgement.replicas}


class TestGT037:
    """A set that is being deleted MUST NOT have any part of it terminated."""

    @given(CLUSTERS)
    def test_nothing_is_terminated_at_any_level(self, generated: RandomCluster) -> None:
        leaving = replace(generated, root=replace(generated.root, deleting=True)).snapshot
        judgement = judge_gang_termination_by_design(leaving)
        fates = [replica.fate for replica in judgement.replicas]
        assert Terminate() not in [
            *fates,
            *(fate for group in judgement.groups for fate in group.fates.values()),
        ]
        assert not [step for step in reconcile(leaving).steps if is_termination(step)]


class TestGT038:
    """A standalone clique or scaling group that does not exist or is being deleted MUST NOT count as breached. The
    other cliques and groups of its replica are judged as usual.
    """

    @given(CLUSTERS, st.integers(min_value=0))
    @pytest.mark.req("GT-066")
    @example(
        stormy(cluster_of(bytes.fromhex("0100000000000101" + "00" * 26 + "0f"))),
        0,
    )
    def test_without_one_of_them_the_others_are_as_they_were(self, generated: RandomCluster, which: int) -> None:
        alone = [clique for clique in generated.cliques if not clique.is_in_scaling_group]
        parts = [*alone, *generated.groups]
        if not parts:
            return
        lost = parts[which % len(parts)]
        left = replace(
            generated,
            cliques=tuple(clique for clique in generated.cliques if clique is not lost),
            groups=tuple(group for group in generated.groups if group is not lost),
        )
        with_it, without = (
            breached(judge_gang_termination_by_design(generated.snapshot)),
            breached(judge_gang_termination_by_design(left.snapshot)),
        )
        standing = {group.ref for group in left.groups if is_marked_breached(group.status)}  # GT-066
        for index in with_it.keys() | without.keys():
            before, after = with_it.get(index, set()) - {lost.ref}, without.get(index, set())
            assert before <= after <= before | standing


@pytest.mark.req("GT-018")
class TestARolloutOfTheSetSuspendsNothing:
    """The update progress of the PodCliqueSet MUST NOT change any verdict on a breach or on a termination."""

    @given(CLUSTERS)
    def test_verdicts_are_the_same_while_the_set_is_updated(self, generated: RandomCluster) -> None:
        updated = replace(generated.root, status=replace(generated.root.status, updating=True))
        before, after = (
            judge_gang_termination_by_design(generated.snapshot),
            judge_gang_termination_by_design(replace(generated, root=updated).snapshot),
        )
        assert [judged.breach for judged in before.cliques] == [judged.breach for judged in after.cliques]
        assert [(group.breach, group.fates) for group in before.groups] == [
            (group.breach, group.fates) for group in after.groups
        ]
        assert [replica.fate for replica in before.replicas] == [replica.fate for replica in after.replicas]
