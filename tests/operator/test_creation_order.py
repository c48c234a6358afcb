"""Creations that failed are tried last, with the other pods of their PodClique."""

from datetime import UTC, datetime

import pytest

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CORE
from grove_shell.operator.reconcile_schedule import SetWriteThrottle
from tests.operator.unlabelled_pods import HOME, cache_with, creation_of


@pytest.mark.parametrize("failed", [AttemptOutcome.UNREACHABLE, AttemptOutcome.CONFLICT, AttemptOutcome.REFUSED])
def test_op015_pods_of_another_clique_are_made_before(failed: AttemptOutcome) -> None:
    """Twenty of one clique may not be made, for one of it is not followed; creations stop at the first (OP-015)."""
    pace, seen = SetWriteThrottle(), cache_with().snapshot_of_set(HOME, datetime.now(UTC))
    assert seen is not None
    steps = [creation_of(f"llm-0-{letter}-{index}", letter) for letter in "ab" for index in range(20)]
    pace.record_failed_creations([Attempt(steps[0], failed)])
    (*others, last) = pace.steps_to_try_now(steps, seen, 0.0).steps
    assert others == [*steps[20:], *steps[1:20]]
    assert last == steps[0]
    pace.record_failed_creations([Attempt(steps[20], failed)])
    assert pace.steps_to_try_now(steps, seen, 0.0).steps == (*steps[1:20], steps[0], *steps[21:], steps[20])
    pace.record_failed_creations([Attempt(steps[1], failed)])
    assert pace.steps_to_try_now(steps, seen, 0.0).steps == (*steps[21:], steps[20], *steps[2:20], steps[0], steps[1])
    service = replace(steps[0], target=Ref(CORE, "Service", "ml", "llm-0"))
    pace.record_failed_creations([Attempt(service, failed), *(Attempt(step, AttemptOutcome.DONE) for step in steps)])
    other = replace(service, target=Ref(CORE, "Service", "ml", "llm-1"))
    assert pace.steps_to_try_now((service, other, *steps), seen, 0.0).steps == (other, *steps, service)
    pace.record_failed_creations([Attempt(step, AttemptOutcome.DONE) for step in (service, *steps)])
    assert pace.steps_to_try_now(steps, seen, 0.0).steps == tuple(steps)


@pytest.mark.parametrize("hopeless", [1, 3])
def test_op015_a_step_that_failed_once_is_not_delayed_by_steps_that_always_fail(hopeless: int) -> None:
    """Creations stop at the first that is not accepted (OP-015), which would be the same one each time."""
    pace, seen = SetWriteThrottle(), cache_with().snapshot_of_set(HOME, datetime.now(UTC))
    assert seen is not None
    cliques = [f"{number}" for number in range(hopeless + 1)]
    steps = [creation_of(f"llm-0-{clique}-{index}", clique) for clique in cliques for index in range(5)]
    pace.record_failed_creations(Attempt(step, AttemptOutcome.UNREACHABLE) for step in steps[::5])
    made: set[str] = set()
    for _ in range(hopeless + 1):
        for step in pace.steps_to_try_now([step for step in steps if step.target.name not in made], seen, 0.0).steps:
            done = step.target.name.startswith(f"llm-0-{hopeless}-")
            pace.record_failed_creations([Attempt(step, AttemptOutcome.DONE if done else AttemptOutcome.UNREACHABLE)])
            if not done:
                break
            made.add(step.target.name)
    assert len(made) == 5
