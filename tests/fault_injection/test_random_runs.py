"""Random runs of an operator on a faulty server; ``python -m tests.fault_injection`` runs more of them."""

import pytest

from tests.fault_injection.random_events import CHANGES, FAIR, SELDOM, UNSEEN, random_run


@pytest.mark.req("GT-033")
@pytest.mark.req("GT-050")
@pytest.mark.req("OP-013")
@pytest.mark.parametrize("seed", [0, 2, 22])
def test_op074_nothing_that_is_well_ends_and_all_that_is_due_does(seed: int) -> None:
    run = random_run(seed, SELDOM)
    assert not run.faults, run.faults
    assert run.ends


@pytest.mark.req("OP-013")
@pytest.mark.req("OP-074")
@pytest.mark.parametrize("seed", [7, 33])
def test_op106_a_pod_that_loses_its_label_is_not_made_again(seed: int) -> None:
    run = random_run(seed, UNSEEN)
    assert not run.faults, run.faults


@pytest.mark.req("OP-013")
@pytest.mark.parametrize("seed", range(3))
def test_op023_whatever_was_asked_for_is_there_in_the_end(seed: int) -> None:
    run = random_run(seed, CHANGES)
    assert not run.faults, run.faults


@pytest.mark.req("GT-033")
@pytest.mark.req("GT-067")
@pytest.mark.req("OP-103")
@pytest.mark.parametrize("rules", ["design", "field"])
@pytest.mark.parametrize("seed", range(2))
def test_op023_failed_single_writes_do_not_shift_a_termination(seed: int, rules: str) -> None:
    run = random_run(seed, FAIR, rules)
    assert not run.faults, run.faults
    assert run.ends
