"""A cluster in which a plan would never come to rest: the forecast breaks off and says over what (PL-002)."""

from datetime import datetime

import pytest

from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step, StepStage
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.snapshot import Snapshot
from tests.property.plan.test_broken_laws import BECAUSE
from tests.property.workload.sets import applied, clique_raw, set_raw


class Deaf(InMemoryCluster):
    """A cluster in which PodGangs are never written, though they have no other writer."""

    def attempt_step(self, step: Step) -> Attempt:
        return Attempt(step, AttemptOutcome.CONFLICT) if step.target.kind == "PodGang" else super().attempt_step(step)


class Undoing(InMemoryCluster):
    """A cluster in which every PodGang that was seen twice is deleted."""

    looks = 0

    def snapshot_of_set(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        others = tuple(one for one in attempts if one.step.target.kind != "PodGang")
        seen = super().snapshot_of_set(root, now, others)
        assert seen is not None
        self.looks = self.looks + 1 if seen.gangs else 0
        if self.looks < 2:
            return seen
        self.looks = 0
        for gang in seen.gangs:
            self.attempt_step(Step(StepStage.CLEANUP, gang.ref, Delete(gang.guard), BECAUSE))
        return super().snapshot_of_set(root, now, others)


def test_pl002_what_comes_again_and_again_at_one_moment_breaks_off() -> None:
    start = applied(set_raw(clique_raw("a")))
    with pytest.raises(BrokenInvariant, match="PL-002: the same steps again and again: Create PodGang/llm-0"):
        forecast_until_settled(Deaf((start,)), start, DESIGN, limit=None, until=None)


def test_pl002_a_circle_of_several_rounds_breaks_off_too() -> None:
    start = applied(set_raw(clique_raw("a")))
    with pytest.raises(BrokenInvariant, match="PL-002: the same steps again and again: "):
        forecast_until_settled(Undoing((start,)), start, DESIGN, limit=None, until=None)
