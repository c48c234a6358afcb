"""A termination that was interrupted goes on, after a failed deletion or a crash of the operator."""

from datetime import timedelta
from typing import Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step, StepStage, termination_causes
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import CliqueStatus
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster, clusters, storms
from tests.property.strategies.worlds import is_termination
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw


def ends_in(generated: RandomCluster) -> list[Step]:
    """Return the deletions of terminations, in the order in which they are tried."""
    return [step for step in reconcile(generated.snapshot).steps if is_termination(step)]


class TestGT066:
    """If a scaling group that is not being updated has a breach past its delay in its status, and of its replica of the
    set only breached cliques of this group are left, the group's other replicas MUST count as breached too.
    """

    @given(st.one_of(storms(), clusters()), st.floats(min_value=0, max_value=1), st.booleans())
    @pytest.mark.req("GT-063")
    def test_a_termination_that_is_interrupted_anywhere_goes_on(
        self, generated: RandomCluster, part: float, lingers: bool
    ) -> None:
        ends = ends_in(generated)
        done, left = ends[: int(part * len(ends))], ends[int(part * len(ends)) :]
        gone = {step.target for step in done}
        cliques = tuple(
            replace(clique, deleting=clique.deleting or clique.ref in gone)
            for clique in generated.cliques
            if lingers or clique.ref not in gone
        )
        again = {step.target for step in ends_in(replace(generated, cliques=cliques))}
        assert again >= {step.target for step in left}
        causes = sum(step.stage is StepStage.CAUSE for step in left)
        event(f"done {min(len(done), 3)}, causes left {min(causes, 3)}")


class TestPL027:
    """While the API server refuses to delete the breached PodCliques that caused a termination, a plan MUST NOT contain
    another deletion of that termination.
    """

    @given(st.one_of(storms(), clusters()), st.integers(min_value=0, max_value=3))
    def test_a_refused_cause_saves_its_companions(self, generated: RandomCluster, which: int) -> None:
        causes = [step for step in ends_in(generated) if step.stage is StepStage.CAUSE]
        if len(causes) <= which:
            return
        refused = causes[which]
        after = reconcile(replace(generated.snapshot, attempts=(Attempt(refused, AttemptOutcome.REFUSED, "no"),)))
        for step in after.steps:
            if isinstance(step.action, Delete):
                assert not termination_causes(step.action) & termination_causes(refused.action)
        reported = {held.target: held.because[0].rule.requirement for held in after.withheld}
        for step in ends_in(generated):
            if termination_causes(step.action) & termination_causes(refused.action):
                assert reported[step.target] == ("PL-012" if step.target == refused.target else "PL-027")


POOL: Final = {"name": "g", "cliqueNames": ["a"], "replicas": 3, "minAvailable": 2}


def one_breached_clique_left(since: timedelta, replicas: int = 3) -> Snapshot:
    """Return a snapshot with one clique of a group, with a delay of four hours, that is stored as breached."""
    rest = at_rest(applied(set_raw(clique_raw("a"), groups=(POOL,), terminationDelay="4h")))
    breached = (Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "", "", rest.now - since),)
    groups = tuple(
        replace(one, replicas=replicas, status=replace(one.status, conditions=breached)) for one in rest.groups
    )
    was = CliqueStatus(recorded=True, was_available=True)
    return replace(
        rest, groups=groups, cliques=tuple(replace(one, status=was) for one in rest.cliques[:1]), pods_of=FrozenDict()
    )


@pytest.mark.req("WL-024")
def test_gt066_a_number_that_is_a_slip_is_not_counted_one_by_one() -> None:
    """A breached group that is scaled to the largest int32 does not block other sets."""
    (judged,) = judge_gang_termination_by_design(one_breached_clique_left(timedelta(hours=4), 2**31 - 1)).groups
    assert judged.deleted_replicas == 2**31 - 2
    assert judged.breach is ConditionStatus.TRUE


@pytest.mark.parametrize(("early", "lost"), [(timedelta(), 2), (timedelta(microseconds=1), 0)])
def test_gt066_no_termination_has_begun_before_the_delay_is_over(early: timedelta, lost: int) -> None:
    """A missing clique then may be of a replica that was just scaled out and is not created yet."""
    (judged,) = judge_gang_termination_by_design(one_breached_clique_left(timedelta(hours=4) - early)).groups
    assert judged.deleted_replicas == lost
