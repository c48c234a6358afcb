"""The condition of failed ComputeDomains: its content, and that it always fits."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.mnnvl.design.judge import judge_mnnvl
from grove_core.areas.mnnvl.design.wants import desired_mnnvl_changes
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import StatusToWrite
from grove_core.resources.api_names import DOMAINS_READY
from grove_core.resources.domains_ready_condition import DomainCreationFailure, domain_failure_in_stored_conditions
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl.gpu_sets import FOUND, set_in_state
from tests.property.workload.sets import NOW

LONGEST: Final = 32_768  # of a message, by the definition of a set


def read_back(message: str) -> DomainCreationFailure:
    return domain_failure_in_stored_conditions(
        (Condition(DOMAINS_READY, ConditionStatus.FALSE, "CreationFailed", message, NOW),)
    )


@pytest.mark.req("MN-015")
class TestTheMessageFits:
    """Where the indices of failed replicas are too many for a condition, its message MUST write runs of them as
    `first-last`, and leave out from the end what still does not fit.
    """

    @given(st.lists(st.tuples(st.integers(0, 999_999), st.integers(1, 20_000)), min_size=1, max_size=4), st.text())
    def test_mn015_runs_are_read_back(self, runs: list[tuple[int, int]], error: str) -> None:
        replicas = {index for first, count in runs for index in range(first, min(first + count, 1_000_000))}
        failure = DomainCreationFailure(tuple(sorted(replicas)), error)
        assert len(failure.condition_message) <= LONGEST
        assert read_back(failure.condition_message) == failure

    @pytest.mark.parametrize("replicas", [range(0, 20_000, 2), range(0, 400_000, 7)])
    def test_mn015_what_does_not_fit_is_left_out_from_the_end(self, replicas: range) -> None:
        message = DomainCreationFailure(tuple(replicas), "quota exceeded").condition_message
        parsed = read_back(message)
        assert len(message) <= LONGEST
        assert parsed.replicas == tuple(replicas)[: len(parsed.replicas)]
        assert len(parsed.replicas) > 1_000
        assert parsed.error == "quota exceeded"
        assert DomainCreationFailure(parsed.replicas, parsed.error).condition_message == message

    def test_mn015_few_indices_are_written_one_by_one(self) -> None:
        assert DomainCreationFailure((0, 1, 2, 3), "no").condition_message.endswith("[0, 1, 2, 3]. Error: no")

    @pytest.mark.parametrize("listed", ["9" * 5_000, "5-", "-5", "3-1", "0-9999999999", "1000000", "01", "1--2", "²"])
    def test_mn015_text_that_is_no_replica_is_ignored(self, listed: str) -> None:
        parsed = read_back(f"ComputeDomain creation failed for replicas: [4, {listed}]. Error: no")
        assert parsed.replicas in {(4,), ()}

    def test_mn015_runs_that_overlap_are_read_once(self) -> None:
        listed = ", ".join(["0-999999"] * 2_000)
        assert (
            len(read_back(f"ComputeDomain creation failed for replicas: [{listed}]. Error: no").replicas) == 1_000_000
        )


def condition_after(seen: Snapshot) -> list[StatusToWrite]:
    return [want for want in desired_mnnvl_changes(seen, judge_mnnvl(seen)).wants if isinstance(want, StatusToWrite)]


@pytest.mark.parametrize("found", ["nothing", "ours, going", "an earlier set's, going"])
@pytest.mark.parametrize("siblings", ["none", "joined", "without"])
def test_mn013_the_condition_stays_until_the_domain_exists(siblings: str, found: str) -> None:
    """A condition that is removed on each retry would cause a write each time, and no backoff."""
    assert found in FOUND
    assert condition_after(set_in_state(siblings, found, refused=False, before=True, known=True, on=True)) == []


@pytest.mark.parametrize(
    ("stored", "refused", "error"),
    [
        (DomainCreationFailure((0, 1), "of 0"), {}, "of 0"),
        (DomainCreationFailure((0, 1), "of 0"), {1: "of 1"}, "of 0"),
        (DomainCreationFailure((0, 1), "of 0"), {0: "new of 0"}, "new of 0"),
        (DomainCreationFailure((1,), "of 1"), {0: "of 0"}, "of 0"),
    ],
)
def test_mn012_the_error_is_that_of_the_first_replica(
    stored: DomainCreationFailure, refused: dict[int, str], error: str
) -> None:
    seen = set_in_state("none", "nothing", refused=True, before=True, known=True, on=True)
    (attempt,) = seen.attempts
    condition = replace(seen.root.status.conditions[0], message=stored.condition_message)
    root = replace(
        seen.root,
        spec=seen.root.spec.model_copy(update={"replicas": 2}),
        status=replace(seen.root.status, conditions=(condition,)),
    )
    attempts = tuple(
        replace(
            attempt,
            step=replace(attempt.step, target=replace(attempt.step.target, name=f"llm-cd-{index}")),
            detail=words,
        )
        for index, words in refused.items()
    )
    found = judge_mnnvl(replace(seen, root=root, attempts=attempts)).failure
    assert found is not None
    assert found.error == error


def test_mn012_the_replicas_that_failed_are_named() -> None:
    seen = set_in_state("none", "nothing", refused=True, before=False, known=True, on=True)
    (status,) = [one for one in desired_mnnvl_changes(seen, judge_mnnvl(seen)).wants if isinstance(one, StatusToWrite)]
    assert [dict(one.facts) for one in status.because] == [{"replicas": "[0]"}]
