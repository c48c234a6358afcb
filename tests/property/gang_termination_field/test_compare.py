"""What two rule sets make of one set, for every course that both could take (CL-043)."""

from datetime import timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.rules import Why
from grove_core.compare import Change, compare
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Delete, Stage, Step
from grove_core.plan.forecast import Forecast, Round
from grove_core.resources.keys import GROVE
from tests.property.strategies.worlds import START

ROOT: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
CLIQUE: Final = Ref(GROVE, "PodClique", "ml", "llm-0-a")
ENDS: Final = Why.GANG_TERMINATED.because(ROOT, replica=0, cause=CLIQUE.short)
MIRRORED: Final = {
    Change.ENDS: Change.SPARED,
    Change.SOONER: Change.LATER,
    Change.OFTENER: Change.RARER,
    Change.SPARED: Change.ENDS,
    Change.LATER: Change.SOONER,
    Change.RARER: Change.OFTENER,
}
Minutes = list[int]
courses: Final = st.lists(st.integers(0, 5), max_size=3, unique=True).map(sorted)


def played(minutes: Minutes) -> Forecast:
    """A forecast in which a clique ends at these minutes, and comes back in between."""
    step = Step(Stage.CAUSE, CLIQUE, Delete(Guard("u", "1")), (ENDS,))
    rounds = [Round(1, START, (), (), None)]
    rounds += [
        Round(number, START + timedelta(minutes=minute), (step,), (), None)
        for number, minute in enumerate(minutes, start=2)
    ]
    return Forecast(root=ROOT, root_uid="r", rules="any", rounds=tuple(rounds))


def changes(before: Minutes, after: Minutes) -> list[Change]:
    return [one.change for one in compare(played(before), played(after)).differences]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ([], [], []),
        ([1, 3], [1, 3], []),
        ([], [4], [Change.ENDS]),
        ([4], [], [Change.SPARED]),
        ([3], [2], [Change.SOONER]),
        ([1, 4], [2], [Change.LATER]),
        ([1], [1, 3], [Change.OFTENER]),
        ([1, 3], [1], [Change.RARER]),
    ],
)
def test_cl043_each_change_by_example(before: Minutes, after: Minutes, change: list[Change]) -> None:
    assert changes(before, after) == change


@given(before=courses, after=courses)
def test_cl043_the_other_way_round_is_the_opposite(before: Minutes, after: Minutes) -> None:
    there, back = changes(before, after), changes(after, before)
    assert [MIRRORED[change] for change in there] == back
    assert compare(played(before), played(after)).is_same is (not there)


@given(course=courses)
def test_cl043_nothing_parts_from_itself(course: Minutes) -> None:
    assert compare(played(course), played(course)).is_same
