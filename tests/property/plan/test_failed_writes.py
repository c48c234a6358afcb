"""Failed terminations and breach writes are known until they are retried, written or unwanted (OP-103)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus, is_condition_true
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Apply,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    SetStatus,
    Step,
    StepStage,
    TerminationStatusReport,
)
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import Withheld
from grove_core.plan.plan import Plan
from grove_core.plan.remembered_failed_writes import (
    failed_writes_after_round,
    failed_writes_still_wanted,
    with_expired_deletion_refusals,
)
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import PodClique
from grove_core.resources.status_comparison import breach_condition_of, object_after_status_write
from grove_core.snapshot.own_writes import standing_refusals_after_round
from grove_core.snapshot.unwritten_breach_changes import with_unwritten_breach_changes
from tests.property.termination_bases import basis_of
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw

SEEN: Final = at_rest(applied(set_raw(clique_raw("x"), terminationDelay="4h")))
CLIQUE: Final = SEEN.cliques[0]
ROOT: Final = SEEN.root.ref


def breach(truth: ConditionStatus, seconds: float = 0) -> Condition:
    return Condition(MIN_AVAILABLE_BREACHED, truth, "Drawn", "", NOW + timedelta(seconds=seconds))


def reported(condition: Condition, version: str = "1", *end_of: Ref) -> Step:
    fields = FrozenMap({"conditions": (condition.as_json,)})
    report = TerminationStatusReport(end_of) if end_of else None
    return Step(StepStage.STATUS, CLIQUE.ref, SetStatus(fields, Guard(CLIQUE.uid, version), report), ())


def ended(version: str = "1") -> Step:
    """The deletion of a companion."""
    action = Delete(Guard(CLIQUE.uid, version), basis=basis_of((ROOT, Guard("r", "1"))))
    return Step(StepStage.CLEANUP, CLIQUE.ref, action, ())


def deleted(version: str = "1") -> Step:
    """The deletion of a member of a replica that is updated."""
    return replace(ended(version), action=Delete(Guard(CLIQUE.uid, version)))


OVER: Final = reported(breach(ConditionStatus.FALSE))
ANEW: Final = reported(breach(ConditionStatus.TRUE, 1), "2")
MADE: Final = Step(StepStage.WORKLOAD, CLIQUE.ref, Create(FrozenMap({})), ())
PART: Final = replace(deleted(), target=replace(CLIQUE.ref, kind="ConfigMap"))
CHANGED: Final = Step(StepStage.WORKLOAD, CLIQUE.ref, Apply(FrozenMap({}), Guard(CLIQUE.uid, "3")), ())


def no(step: Step, outcome: AttemptOutcome = AttemptOutcome.CONFLICT) -> Attempt:
    return Attempt(step, outcome, "no")


def expired(refusal: Attempt) -> Attempt:
    return replace(refusal, withheld=False)


def plan_of(*steps: Step, held: tuple[Ref, ...] = ()) -> Plan:
    withheld = tuple(Withheld(ref, ()) for ref in held)
    return Plan(root=ROOT, root_uid="r", rules="", steps=steps, withheld=withheld, wake_at=None, findings=())


def steps_of(attempts: tuple[Attempt, ...]) -> list[Step]:
    return [one.step for one in attempts]


ROUNDS: Final = st.lists(
    st.tuples(st.sampled_from(ConditionStatus), st.sampled_from([*AttemptOutcome, None]), st.booleans(), st.booleans()),
    max_size=12,
)


class TestOP103:
    """All plans of one round MUST get the same list of earlier failures; a failure stays in it until the write is
    tried again or is no longer wanted. A part of a termination that failed is withheld, like a refused write, until
    its backoff ends or the object changes.
    """

    @pytest.mark.req("GT-067")
    @given(ROUNDS)
    def test_what_is_known_of_a_breach_is_what_was_found_last(
        self, rounds: list[tuple[ConditionStatus, AttemptOutcome | None, bool, bool]]
    ) -> None:
        """Whatever fails, in whatever versions, whenever a refusal had its time, and where nothing is tried."""
        clique: PodClique = replace(CLIQUE, status=replace(CLIQUE.status, conditions=(breach(ConditionStatus.TRUE),)))
        refused, unfinished = tuple[Attempt, ...](), tuple[Attempt, ...]()
        found, was_over = breach(ConditionStatus.TRUE), False
        for number, (truth, outcome, moves_on, is_time) in enumerate(rounds, start=1):
            step = reported(breach(truth, number), str(number) if moves_on else "0")
            if is_time:
                refused = ()
            answers = () if outcome is None else (no(step, outcome),)
            refused, unfinished = (
                standing_refusals_after_round(refused, answers),
                failed_writes_after_round(unfinished, answers),
            )
            if outcome is AttemptOutcome.DONE:
                assert isinstance(step.action, SetStatus)
                clique = object_after_status_write(clique, step.action.fields)
                found, was_over = breach(truth, number), False
            elif outcome is not None and is_condition_true(breach_condition_of(clique.status)):
                was_over = was_over or truth is not ConditionStatus.TRUE
                found = breach(truth, number) if was_over else found
            (seen,) = with_unwritten_breach_changes(
                replace(SEEN, cliques=(clique,), attempts=(*refused, *unfinished))
            ).cliques
            assert breach_condition_of(seen.status) == found
            assert len(unfinished) <= 2
            assert not any(one.is_withheld for one in unfinished), "it stands in no way"
        event(f"was over: {was_over}")

    @pytest.mark.req("WL-236")
    @pytest.mark.parametrize("gone", [ended, deleted], ids=["of an end", "of anything else"])
    def test_a_deletion_that_failed_is_known_until_it_is_tried_again(self, gone: Callable[..., Step]) -> None:
        assert steps_of(failed_writes_after_round((), [no(gone()), no(MADE), no(CHANGED), no(PART)])) == [gone()]
        assert steps_of(failed_writes_after_round([no(gone())], [no(MADE), no(OVER)])) == [gone(), OVER]
        assert steps_of(failed_writes_after_round([no(gone())], [no(gone("2"))])) == [gone("2")]
        assert not failed_writes_after_round([no(gone())], [no(gone("2"), AttemptOutcome.DONE)])
        assert failed_writes_after_round((), [no(gone(), AttemptOutcome.UNREACHABLE)]) == (
            no(gone(), AttemptOutcome.UNREACHABLE),
        )

    @pytest.mark.req("GT-067")
    def test_what_is_written_since_makes_an_end_of_what_was_known_of_a_breach(self) -> None:
        assert not failed_writes_after_round([no(OVER), no(ANEW)], [no(ANEW, AttemptOutcome.DONE)])
        assert failed_writes_after_round([no(OVER)], [no(ended(), AttemptOutcome.DONE)]) == (no(OVER),)

    @pytest.mark.req("PL-012")
    def test_a_refusal_is_known_longer_than_it_stands(self) -> None:
        refused = no(ended(), AttemptOutcome.REFUSED)
        assert failed_writes_after_round((), [refused, no(MADE, AttemptOutcome.REFUSED)]) == (expired(refused),)
        anew = no(ANEW, AttemptOutcome.REFUSED)
        assert failed_writes_after_round([no(OVER)], [anew]) == (no(OVER), expired(anew))
        assert failed_writes_after_round([no(OVER), no(ANEW)], [no(OVER, AttemptOutcome.REFUSED)]) == (
            expired(no(OVER, AttemptOutcome.REFUSED)),
        )

    @pytest.mark.req("GF-091")
    def test_a_deletion_that_was_refused_is_known_when_that_stands_no_longer(self) -> None:
        for gone in (ended("1"), deleted("1")):
            refused = [no(one, AttemptOutcome.REFUSED) for one in (gone, OVER, MADE, PART)]
            former = expired(refused[0])
            assert with_expired_deletion_refusals((), refused) == (former,)
            assert with_expired_deletion_refusals([no(OVER)], refused) == (no(OVER), former)
            assert with_expired_deletion_refusals([no(ended("2"))], refused) == (no(ended("2")),), "that is newer"
            assert not with_expired_deletion_refusals((), [no(gone, AttemptOutcome.NOT_CONFIRMED)])

    @pytest.mark.req("PL-028")
    def test_a_status_that_reports_a_termination_is_another_write(self) -> None:
        flag = reported(breach(ConditionStatus.FALSE), "1", ROOT)
        assert steps_of(failed_writes_after_round([no(flag)], [no(OVER)])) == [flag, OVER]
        assert steps_of(failed_writes_after_round([no(flag)], [no(ANEW, AttemptOutcome.DONE)])) == [flag]

    @pytest.mark.parametrize(
        ("plan", "stays"),
        [
            (lambda gone: plan_of(gone()), True),
            (lambda gone: plan_of(gone("7")), True),
            (lambda _gone: plan_of(held=(CLIQUE.ref,)), True),
            (lambda _gone: plan_of(held=(ROOT,)), True),
            (lambda _gone: plan_of(), False),
            (lambda _gone: plan_of(MADE, OVER, CHANGED), False),
            (lambda gone: plan_of(replace(gone(), target=ROOT)), False),
            (lambda _gone: plan_of(held=(replace(CLIQUE.ref, name="another"),)), False),
        ],
    )
    @pytest.mark.req("WL-236")
    @pytest.mark.parametrize("gone", [ended, deleted], ids=["of an end", "of anything else"])
    def test_unwanted_deletions_are_not_reported(
        self, gone: Callable[..., Step], plan: Callable[[Callable[..., Step]], Plan], *, stays: bool
    ) -> None:
        assert failed_writes_still_wanted([no(gone())], plan(gone), SEEN) == ((no(gone()),) if stays else ())
        assert not failed_writes_still_wanted((), plan(gone), SEEN)

    @pytest.mark.req("GF-092")
    @pytest.mark.parametrize("left", [(), (replace(CLIQUE, uid="another"),)], ids=["gone", "another"])
    def test_that_what_is_gone_could_not_be_deleted_matters_of_an_end_alone(self, left: tuple[PodClique, ...]) -> None:
        """A termination may have gone through another way; the name's new holder is withheld for something else."""
        seen, plan = replace(SEEN, cliques=left), plan_of(held=(CLIQUE.ref,))
        assert failed_writes_still_wanted([no(ended()), no(deleted())], plan, seen) == (no(ended()),)

    @pytest.mark.req("PL-013")
    @pytest.mark.parametrize("hiding", [CHANGED, ended()], ids=["fields", "a deletion"])
    def test_a_termination_status_may_be_hidden(self, hiding: Step) -> None:
        flag, other = reported(breach(ConditionStatus.FALSE), "1", ROOT), replace(hiding, target=ROOT)
        assert failed_writes_still_wanted([no(flag)], plan_of(hiding), SEEN) == (no(flag),)
        assert not failed_writes_still_wanted([no(flag)], plan_of(other), SEEN)

    @pytest.mark.req("GT-067")
    @pytest.mark.parametrize("plan", [plan_of(), plan_of(ended()), plan_of(CHANGED), plan_of(held=(CLIQUE.ref, ROOT))])
    def test_of_a_breach_everything_matters_while_it_stands(self, plan: Plan) -> None:
        """Whatever is planned for the clique: it may stay, and recover."""
        attempts = (no(OVER), no(ANEW))
        gone = replace(OVER, target=replace(CLIQUE.ref, name="gone"))
        sick = replace(CLIQUE, status=replace(CLIQUE.status, conditions=(breach(ConditionStatus.TRUE),)))
        assert failed_writes_still_wanted((*attempts, no(gone)), plan, replace(SEEN, cliques=(sick,))) == attempts
        assert not failed_writes_still_wanted(attempts, plan, replace(SEEN, cliques=(replace(sick, uid="another"),)))
        assert failed_writes_still_wanted(attempts, plan, SEEN) == (attempts if plan.withheld else ())

    @pytest.mark.req("OP-023")
    @pytest.mark.parametrize("failed", [OVER, ANEW], ids=["not breached", "breached"])
    def test_a_breach_status_is_kept_while_the_plan_writes_that_status(self, failed: Step) -> None:
        """Also of an object that is not marked as breached, whatever its version is by now."""
        other = replace(failed, target=replace(CLIQUE.ref, name="another"))
        assert failed_writes_still_wanted([no(failed)], plan_of(reported(breach(ConditionStatus.FALSE), "9")), SEEN)
        assert not failed_writes_still_wanted([no(failed)], plan_of(other), SEEN)

    def test_what_was_written_and_is_not_listed_yet_stands(self) -> None:
        written = reported(breach(ConditionStatus.TRUE, -9), CLIQUE.resource_version)
        seen = replace(SEEN, attempts=(no(written, AttemptOutcome.DONE),))
        assert failed_writes_still_wanted([no(OVER)], plan_of(), seen) == (no(OVER),)
