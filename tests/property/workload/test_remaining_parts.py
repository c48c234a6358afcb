"""The parts of a deleted set that are waited for: how many remain, and which kinds are not known (WL-231, WL-232)."""

from typing import Final

import pytest

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import FrozenDict, Json, frozen_dict_of_tuples
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Step
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw
from tests.property.workload.settled_sets import GROUP, rested, seen_in

ONE: Final = set_raw(clique_raw("a", 1))
GROUPED: Final = set_raw(clique_raw("a", 1), groups=(GROUP,), replicas=2)


@pytest.fixture
def going() -> Snapshot:
    """A set that is being deleted, and nothing is left of it."""
    seen = seen_in(rested(ONE))
    return replace(seen, root=replace(seen.root, deleting=True), cliques=(), groups=(), pods_of=FrozenDict())


def remaining(seen: Snapshot) -> list[Json]:
    """How much is waited for, as it is said."""
    found = [
        why for held in reconcile(seen).withheld for why in held.because if why.rule is WorkloadReason.PARTS_REMAIN
    ]
    return [dict(why.facts)["remaining"] for why in found]


def steps_of(kind: str) -> list[Step]:
    life = Life(GROUPED)
    plans = [life.round() for _ in range(4)]
    return [step for plan in plans if plan for step in plan.steps if step.target.kind == kind]


@pytest.mark.parametrize(
    ("kind", "outcome", "left"),
    [
        ("PodClique", AttemptOutcome.DONE, [1]),
        ("PodCliqueScalingGroup", AttemptOutcome.DONE, [1]),
        ("PodClique", AttemptOutcome.CONFLICT, []),
        ("Service", AttemptOutcome.DONE, []),
    ],
)
def test_wl231_what_was_made_a_moment_ago_is_waited_for(
    going: Snapshot, kind: str, outcome: AttemptOutcome, left: list[int]
) -> None:
    made = next(step for step in steps_of(kind) if isinstance(step.action, Create))
    assert remaining(replace(going, attempts=(Attempt(made, outcome),))) == left


def test_wl231_what_is_left_is_counted(going: Snapshot) -> None:
    """Cliques, and pods that have outlived theirs; pods of other sets of the namespace are none of it."""
    seen = seen_in(rested(set_raw(clique_raw("a", 2), clique_raw("b", 1))))
    clique = next(one for one in seen.cliques if one.ref.name == "llm-0-b")
    pods = [pod for pod in seen.pods() if pod[1].name.startswith("llm-0-a")]
    orphans = {"gone": [pod for _, pod in pods], "else": [replace(pods[0][1], set_name="chat", uid="x")]}
    left = replace(
        going, cliques=(clique,), pods_of=frozen_dict_of_tuples({clique.uid: seen.pods_of[clique.uid], **orphans})
    )
    assert remaining(left) == [3]


def test_wl232_all_kinds_that_were_not_collected_are_named(going: Snapshot) -> None:
    blind = replace(going, not_collected=frozenset({"PodClique", "Pod"}))
    found = [why for held in reconcile(blind).withheld for why in held.because]
    assert [dict(why.facts)["kinds"] for why in found if why.rule is WorkloadReason.PARTS_NOT_COLLECTED] == [
        "PodCliques, pods"
    ]
