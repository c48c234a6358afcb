"""What was tried a moment ago holds back what hangs on it, and nothing else."""

import pytest

from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, SetStatus, Step, StepStage, TerminationStatusReport
from grove_core.kernel.wants import (
    DesiredChanges,
    FieldsToApply,
    ObjectToCreate,
    ObjectToDelete,
    StatusToWrite,
    Want,
)
from grove_core.plan.plan import Plan
from grove_core.plan.planner import plan_from_wants, steps_for_objects_without_root
from grove_core.plan.statuses_after_failed_deletions import status_step_without_termination
from grove_core.resources.api_names import GROVE
from grove_core.snapshot.own_writes import standing_refusals_after_round
from tests.property.plan.test_broken_laws import BECAUSE, GUARD, KNOWN, Seen, manifest
from tests.property.termination_bases import termination_deletion_for
from tests.property.workload.sets import NOW

CAUSE, FIRST, SECOND = (Ref(GROVE, "PodClique", "ml", f"llm-0-{name}") for name in "cab")
AS_COMPANION = termination_deletion_for((CAUSE, GUARD))
AS_CAUSE = termination_deletion_for((CAUSE, GUARD), is_cause=True)
SURPLUS = tuple(reason._replace(subject=SECOND) for reason in BECAUSE)
END = (
    ObjectToDelete(FIRST, GUARD, BECAUSE, termination=AS_COMPANION),
    ObjectToDelete(SECOND, GUARD, BECAUSE, termination=AS_COMPANION),
    ObjectToDelete(CAUSE, GUARD, BECAUSE, termination=AS_CAUSE),
)


def plan_after(wants: tuple[Want, ...], target: Ref, outcome: AttemptOutcome, detail: str = "", *more: Attempt) -> Plan:
    """After one of the steps was tried."""
    (tried,) = (step for step in steps_for_objects_without_root(wants) if step.target == target)
    return plan_from_wants(
        AreaResult(DesiredChanges(wants)), Seen(KNOWN, attempts=(Attempt(tried, outcome, detail), *more))
    )


def plan_unasked(*wants: Want, deferred: tuple[ObjectToDelete, ...], said: str = "503") -> Plan:
    """What is wanted while the server could not be asked about some ends."""
    (tried, *_) = steps_for_objects_without_root(deferred)
    seen = Seen(KNOWN, attempts=(Attempt(tried, AttemptOutcome.NOT_CONFIRMED, said),))
    return plan_from_wants(AreaResult(DesiredChanges(wants), deferred=deferred), seen)


def reported(plan: Plan) -> dict[str, str]:
    """Withheld object -> its rule."""
    return {held.target.name: held.because[0].rule.requirement for held in plan.withheld}


@pytest.mark.parametrize(
    ("refused", "goes", "withheld"),
    [
        (FIRST, [SECOND], {"llm-0-a": "PL-012", "llm-0-c": "PL-014"}),
        (SECOND, [FIRST], {"llm-0-b": "PL-012", "llm-0-c": "PL-014"}),
        (CAUSE, [], {"llm-0-a": "PL-027", "llm-0-b": "PL-027", "llm-0-c": "PL-012"}),
    ],
    ids=["the first companion", "the second companion", "the cause"],
)
def test_pl014_pl027_companions_wait_for_their_cause_and_not_for_each_other(
    refused: Ref, goes: list[Ref], withheld: dict[str, str]
) -> None:
    plan = plan_after(END, refused, AttemptOutcome.REFUSED, "held by a webhook")
    assert [step.target for step in plan.steps] == goes
    assert reported(plan) == withheld


@pytest.mark.parametrize("said", ["503", ""])
def test_pl029_a_failed_fresh_read_terminates_nothing_and_refuses_nothing(said: str) -> None:
    """A deletion for another reason is not delayed; no termination is reported as begun."""
    flag = StatusToWrite(
        SECOND, GUARD, FrozenMap({"conditions": ()}), BECAUSE, report=TerminationStatusReport((CAUSE,))
    )
    plan = plan_unasked(flag, deferred=END[::2], said=said)
    assert reported(plan) == {"llm-0-a": "PL-029", "llm-0-c": "PL-029", "llm-0-b": "PL-028"}
    assert not plan.steps
    assert [held.because[1:] for held in plan.withheld if held.target != SECOND] == [BECAUSE, BECAUSE]
    assert {dict(held.because[0].facts).get("detail") for held in plan.withheld} == {said or "no detail given", None}
    scaled_in = tuple(ObjectToDelete(want.target, GUARD, SURPLUS) for want in END)
    plan = plan_unasked(*scaled_in, deferred=END, said=said)
    assert {step.target for step in plan.steps} == {FIRST, SECOND, CAUSE}
    assert not plan.withheld


@pytest.mark.parametrize("deferred", [END[:2], END[1::-1]])
def test_pl028_of_several_parts_that_wait_the_first_is_named(deferred: tuple[ObjectToDelete, ...]) -> None:
    """In whatever order they come: a plan is read again, and compared."""
    flag = StatusToWrite(CAUSE, GUARD, FrozenMap({"conditions": ()}), BECAUSE, report=TerminationStatusReport((CAUSE,)))
    (held,) = (held for held in plan_unasked(flag, deferred=deferred).withheld if held.target == CAUSE)
    assert dict(held.because[0].facts)["part"] == FIRST.short


@pytest.mark.parametrize("causes", [(), ((FIRST, GUARD),), ((FIRST, GUARD), (SECOND, GUARD))])
def test_pl012_for_an_end_is_tried_what_was_refused_for_less(causes: tuple[tuple[Ref, Guard], ...]) -> None:
    """An attempt for this termination is what shows that it has begun."""
    (tried,) = steps_for_objects_without_root(
        [ObjectToDelete(FIRST, GUARD, BECAUSE, termination=termination_deletion_for(*causes))]
    )
    refused = Attempt(tried, AttemptOutcome.REFUSED, "no")
    plan = plan_from_wants(AreaResult(DesiredChanges(END)), Seen(KNOWN, attempts=(refused,)))
    assert [step.target for step in plan.steps] == [FIRST, SECOND, CAUSE]
    (again,) = (step for step in plan.steps if step.target == FIRST)
    known = standing_refusals_after_round((refused,), (Attempt(again, AttemptOutcome.REFUSED, "no"),))
    for wants in (END, END[:1], [ObjectToDelete(FIRST, GUARD, BECAUSE)]):
        plan = plan_from_wants(AreaResult(DesiredChanges(tuple(wants))), Seen(KNOWN, attempts=known))
        assert reported(plan)["llm-0-a"] == "PL-012"


def test_pl012_a_cause_that_may_not_be_deleted_may_not_for_whatever_reason() -> None:
    (tried,) = steps_for_objects_without_root([ObjectToDelete(CAUSE, GUARD, BECAUSE)])
    plan = plan_from_wants(
        AreaResult(DesiredChanges(END)), Seen(KNOWN, attempts=(Attempt(tried, AttemptOutcome.REFUSED, "no"),))
    )
    assert not plan.steps
    assert reported(plan) == {"llm-0-a": "PL-027", "llm-0-b": "PL-027", "llm-0-c": "PL-012"}


@pytest.mark.parametrize("subject", [FIRST, CAUSE], ids=["a companion", "the cause"])
def test_pl029_what_is_deferred_is_written_to_like_everything_else(subject: Ref) -> None:
    """Nothing is tried that rests on its version (PL-015)."""
    fields = FieldsToApply(subject, GUARD, FrozenMap({"spec": FrozenMap({})}), BECAUSE)
    status = StatusToWrite(subject, GUARD, FrozenMap({"conditions": ()}), BECAUSE)
    for want, kind in ((fields, Apply), (status, SetStatus)):
        plan = plan_unasked(want, deferred=END)
        assert [(step.target, type(step.action)) for step in plan.steps] == [(subject, kind)]
        assert set(reported(plan)) == {"llm-0-a", "llm-0-b", "llm-0-c"}


@pytest.mark.parametrize("is_first", [True, False])
def test_pl013_of_two_deletion_reasons_the_first_is_reported(*, is_first: bool) -> None:
    """What is reported of an object that stays is reported of it too."""
    urgent = StatusToWrite(SECOND, GUARD, FrozenMap({"conditions": ()}), BECAUSE, is_urgent=True)
    scaled_in = DesiredChanges((ObjectToDelete(SECOND, GUARD, SURPLUS),))
    ends = DesiredChanges.union_of_areas(
        (DesiredChanges(END), DesiredChanges((urgent,)))
        if is_first
        else (DesiredChanges((urgent,)), DesiredChanges(END))
    )
    desired = DesiredChanges.union_of_areas((ends, scaled_in, scaled_in))
    plan = plan_from_wants(AreaResult(desired), Seen(KNOWN))
    assert [step.because for step in plan.steps] == [BECAUSE] * 3
    (gone,) = (step for step in plan.steps if step.target == SECOND)
    plan = plan_from_wants(AreaResult(desired), Seen(KNOWN, attempts=(Attempt(gone, AttemptOutcome.REFUSED, "no"),)))
    assert (SECOND, SetStatus) in {(step.target, type(step.action)) for step in plan.steps}


@pytest.mark.parametrize(("said", "words"), [("quota", "quota"), ("", "no detail given")])
def test_pl012_a_refusal_is_reported_in_the_words_of_the_server(said: str, words: str) -> None:
    plan = plan_after(END[:1], FIRST, AttemptOutcome.REFUSED, said)
    ((held,), ()) = plan.withheld, plan.steps
    assert dict(held.because[0].facts)["detail"] == words
    assert held.because[1:] == BECAUSE


def test_pl018_what_was_made_is_not_made_again_and_delays_nothing() -> None:
    wants = tuple(ObjectToCreate(ref, manifest(ref.name), BECAUSE) for ref in (FIRST, SECOND, CAUSE))
    for made in (FIRST, SECOND, CAUSE):
        plan = plan_after(wants, made, AttemptOutcome.DONE)
        assert {step.target for step in plan.steps} == {FIRST, SECOND, CAUSE} - {made}
        assert not plan.withheld


def test_pl028_nothing_is_left_of_what_is_no_status() -> None:
    (deletion,) = steps_for_objects_without_root(END[:1])
    assert status_step_without_termination(deletion) is None


@pytest.mark.parametrize("counts", [{}, {"replicas": 2}], ids=["alone", "beside numbers"])
@pytest.mark.parametrize("breach", [True, False], ids=["beside a breach", "without"])
def test_pl028_other_fields_of_a_status_do_not_wait(*, counts: dict[str, int], breach: bool) -> None:
    group = Ref(GROVE, "PodCliqueScalingGroup", "ml", "llm-0-g")
    broken = Condition("MinAvailableBreached", ConditionStatus.TRUE, "InsufficientReadyPods", "", NOW).as_json
    flag = Condition(
        "GangTerminationInProgress", ConditionStatus.TRUE, GoOperatorReason.GANG_TERMINATION_ACTIVE.code, "", NOW
    ).as_json
    active = GoOperatorReason.GANG_TERMINATION_ACTIVE.because(group, replica=0)
    conditions = (*((broken,) if breach else ()), flag)
    fields = FrozenMap({**counts, "conditions": conditions})
    left: dict[str, Json] = {**counts, **({"conditions": (broken,)} if breach else {})}
    report = TerminationStatusReport((CAUSE,), FrozenMap(left), BECAUSE)
    status = StatusToWrite(group, GUARD, fields, (*BECAUSE, active), report=report)
    plan = plan_after((*END, status), FIRST, AttemptOutcome.REFUSED)
    assert reported(plan)["llm-0-g"] == "PL-028"
    (held,) = (held for held in plan.withheld if held.target == group)
    assert held.because[1:] == (*BECAUSE, active)
    written = [(step.action, step.because) for step in plan.steps if step.target == group]
    assert written == ([(SetStatus(FrozenMap(left), GUARD), BECAUSE)] if left else [])
    for action, because in written:
        refused = Attempt(Step(StepStage.STATUS, group, action, because), AttemptOutcome.REFUSED, "no")
        again = plan_after((*END, status), FIRST, AttemptOutcome.REFUSED, "", refused)
        assert not [step for step in again.steps if step.target == group]


@pytest.mark.req("PL-013")
@pytest.mark.parametrize("of_end", [True, False])
def test_pl028_no_status_replaces_a_deletion(*, of_end: bool) -> None:
    well = Condition("MinAvailableBreached", ConditionStatus.FALSE, "SufficientReadyPods", "", NOW).as_json
    flag = Condition(
        "GangTerminationInProgress", ConditionStatus.TRUE, GoOperatorReason.GANG_TERMINATION_ACTIVE.code, "", NOW
    ).as_json
    fields = FrozenMap({"conditions": (well, flag) if of_end else (well,)})
    report = TerminationStatusReport((CAUSE,), FrozenMap({"conditions": (well,)}), BECAUSE) if of_end else None
    status = StatusToWrite(FIRST, GUARD, fields, BECAUSE, report=report, is_urgent=True)
    ((gone,), left) = DesiredChanges.union_of_areas([DesiredChanges((END[0], status))]).wants, END[1:]
    plan = plan_after((gone, *left), FIRST, AttemptOutcome.REFUSED)
    (written,) = (step.action for step in plan.steps if step.target == FIRST)
    assert written == SetStatus(FrozenMap({"conditions": (well,)}), GUARD, is_urgent=True)


WELL = Condition("MinAvailableBreached", ConditionStatus.FALSE, "SufficientReadyPods", "", NOW).as_json
FLAG = Condition(
    "GangTerminationInProgress", ConditionStatus.TRUE, GoOperatorReason.GANG_TERMINATION_ACTIVE.code, "", NOW
).as_json
URGENT = StatusToWrite(FIRST, GUARD, FrozenMap({"conditions": (WELL,)}), BECAUSE, is_urgent=True)


@pytest.mark.req("PL-001")
def test_pl013_what_stands_in_the_place_of_a_deletion_comes_when_statuses_come_and_is_urgent() -> None:
    """It is the deletion that both reasons know of."""
    knows, gone = (
        ObjectToDelete(FIRST, GUARD, BECAUSE, termination=AS_COMPANION, otherwise=URGENT),
        END[0],
    )
    for first, second in ((knows, gone), (gone, knows)):
        (want,) = DesiredChanges.union_of_areas((DesiredChanges((first,)), DesiredChanges((second,)))).wants
        plan = plan_after((want, *END[1:]), FIRST, AttemptOutcome.REFUSED)
        assert [(step.stage, step.target) for step in plan.steps] == [
            (StepStage.CLEANUP, SECOND),
            (StepStage.STATUS, FIRST),
        ]
        written = plan.steps[-1].action
        assert isinstance(written, SetStatus)
        assert written.is_urgent


@pytest.mark.req("PL-013")
def test_pl028_one_thing_is_tried_in_the_place_of_another() -> None:
    """Other fields of the status go before the fields, which come again in a later round."""
    fields = FieldsToApply(SECOND, GUARD, FrozenMap({"metadata": FrozenMap({"annotations": FrozenMap({})})}), BECAUSE)
    flag = StatusToWrite(
        SECOND,
        GUARD,
        FrozenMap({"conditions": (WELL, FLAG)}),
        BECAUSE,
        report=TerminationStatusReport((CAUSE,), FrozenMap({"conditions": (WELL,)}), BECAUSE),
        is_urgent=True,
        otherwise=fields,
    )
    plan = plan_after((END[0], flag, END[2]), FIRST, AttemptOutcome.REFUSED)
    (step,) = (step for step in plan.steps if step.target == SECOND)
    assert step.action == SetStatus(FrozenMap({"conditions": (WELL,)}), GUARD)


@pytest.mark.req("PL-028")
def test_pl013_two_statuses_report_the_termination_that_one_of_them_reports() -> None:
    flag = StatusToWrite(
        FIRST, GUARD, FrozenMap({"conditions": (FLAG,)}), BECAUSE, report=TerminationStatusReport((CAUSE,))
    )
    for parts in ((flag, URGENT), (URGENT, flag)):
        (want,) = DesiredChanges.union_of_areas(DesiredChanges((one,)) for one in parts).wants
        assert isinstance(want, StatusToWrite)
        assert want.report is not None
        assert (want.report.causes, want.is_urgent) == ((CAUSE,), True)
        assert (want.report.fields, want.report.because) == (URGENT.fields, BECAUSE)
