"""Whose pods are tried last: those of a PodClique of which one was not made."""

from datetime import UTC, datetime

import pytest

from grove_core.kernel.steps import Attempt, Outcome
from grove_shell.operator.pace import Pace
from tests.operator.missing_labels import HOME, birth, known


@pytest.mark.parametrize("failed", [Outcome.UNREACHABLE, Outcome.CONFLICT, Outcome.REFUSED])
def test_op017_pods_of_another_clique_are_made_before(failed: Outcome) -> None:
    """Twenty of one clique may not be made, for one of it is not followed; creations stop at the first (OP-015)."""
    pace, seen = Pace(), known().observe(HOME, datetime.now(UTC))
    assert seen is not None
    steps = [birth(f"llm-0-{letter}-{index}", letter) for letter in "ab" for index in range(20)]
    pace.take([Attempt(steps[0], failed)])
    (*others, last) = pace.due(steps, seen, 0.0).steps
    assert others == [*steps[20:], *steps[1:20]]
    assert last == steps[0]
    pace.take([Attempt(step, Outcome.DONE) for step in steps])
    assert pace.due(steps, seen, 0.0).steps == tuple(steps)
