"""Terminations that are not complete, by the responses to their writes, and how they are judged (GF-091, GF-092)."""

from datetime import timedelta
from typing import Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.breach_delays import breach_delay_reason
from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.incomplete_terminations import (
    IncompleteTerminations,
    UnwrittenTerminationFlag,
    failed_terminations_in,
)
from grove_core.areas.gang_termination.field.judge import judge_gang_termination_by_go_operator
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.verdicts import GoOperatorReplicaJudgement
from grove_core.areas.gang_termination.verdicts import Keep, MinAvailableBreach, Terminate, Wait
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.gang_terminations import GangTermination, GangTerminationReasons, TerminationBasis
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    SetStatus,
    Step,
    StepStage,
    TerminationStatusReport,
    gangs_terminated_by,
)
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw

POOL: Final = {"name": "g", "cliqueNames": ["x", "y"], "replicas": 1, "minAvailable": 1}
SEEN: Final = at_rest(
    applied(
        set_raw(
            clique_raw("a"),
            clique_raw("b"),
            clique_raw("x"),
            clique_raw("y"),
            groups=(POOL,),
            replicas=2,
            terminationDelay="4h",
        )
    )
)
FAILURES: Final = st.sampled_from([AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE])
DELAY: Final = timedelta(hours=4)
OVER: Final = NOW - timedelta(minutes=10)
FATES: Final = ("stays", "leaves", "gone", "another")


def one_of(part: PodClique | ScalingGroup) -> tuple[Ref, Guard]:
    return part.ref, part.guard


def end_of(part: PodClique, *causes: PodClique | ScalingGroup) -> Step:
    """Return the deletion of a clique of a replica of the set that is terminated."""
    cause = causes[0].ref
    why = GoOperatorReason.GANG_TERMINATED.because(part.ref, replica=part.replica_index, cause=cause.short)
    due = breach_delay_reason(GoOperatorReason.DELAY_EXPIRED, MinAvailableBreach(cause, OVER - DELAY, DELAY))
    replica, reasons = SEEN.root.ref.at_replica(part.replica_index), GangTerminationReasons(why, due)
    basis = TerminationBasis(tuple(map(one_of, causes)), (GangTermination(replica, cause, OVER, reasons),))
    return Step(StepStage.CAUSE, part.ref, Delete(part.guard, basis=basis), (why, due))


def of_gangs(step: Step, *gangs: GangTermination) -> Step:
    """Return a deletion as the termination of other gangs."""
    assert isinstance(step.action, Delete)
    return replace(step, action=replace(step.action, basis=TerminationBasis(step.action.rests_on, gangs)))


def flag_of(group: ScalingGroup, *causes: Ref, type_: str = "GangTerminationInProgress") -> Step:
    """Return the status with the flag of a termination."""
    first = Condition("Ready", ConditionStatus.TRUE, "Drawn", "", NOW).as_json
    last = Condition(type_, ConditionStatus.TRUE, "Drawn", "", NOW).as_json
    status = SetStatus(FrozenMap({"conditions": (first, last)}), group.guard, TerminationStatusReport(causes))
    why = GoOperatorReason.GANG_TERMINATED.because(group.ref, replica=group.replica_index, cause=causes[0].short)
    return Step(StepStage.STATUS, group.ref, status, (why,))


def seen_with(fates: dict[Ref, str]) -> Snapshot:
    """Return the snapshot with objects that are gone, being deleted, or created again under their names."""

    def as_it_is(one: PodClique | ScalingGroup) -> PodClique | ScalingGroup:
        fate = fates.get(one.ref, "stays")
        return replace(one, deleting=fate == "leaves", uid="another" if fate == "another" else one.uid)

    groups = tuple(as_it_is(one) for one in SEEN.groups if fates.get(one.ref) != "gone")
    cliques = tuple(as_it_is(one) for one in SEEN.cliques if fates.get(one.ref) != "gone")
    return replace(
        SEEN,
        groups=tuple(one for one in groups if isinstance(one, ScalingGroup)),
        cliques=tuple(one for one in cliques if isinstance(one, PodClique)),
    )


def unfinished(
    seen: Snapshot, *steps: Step, outcome: AttemptOutcome = AttemptOutcome.CONFLICT
) -> IncompleteTerminations:
    return failed_terminations_in(replace(seen, attempts=tuple(Attempt(step, outcome, "no") for step in steps)))


def judged(seen: Snapshot, number: int) -> GoOperatorReplicaJudgement:
    """Return the judgement of a replica of the set by its stored statuses."""
    (found,) = (
        one
        for one in judge_gang_termination_by_go_operator(seen, GoOperatorRuleGeneration.F3, looks=False).replicas
        if one.number == number
    )
    return found


A0, A1 = (one for one in SEEN.cliques if one.ref.name.endswith("-a"))
B0, B1 = (one for one in SEEN.cliques if one.ref.name.endswith("-b"))
X0, X1 = (one for one in SEEN.cliques if one.ref.name.endswith("-x"))
Y0, Y1 = (one for one in SEEN.cliques if one.ref.name.endswith("-y"))
G0, G1 = SEEN.groups


@pytest.mark.parametrize("second", [None, *FATES])
@pytest.mark.parametrize("cause", FATES)
@pytest.mark.parametrize("part", FATES)
@pytest.mark.parametrize("of_group", [False, True], ids=["a clique", "a group"])
def test_gf091_a_termination_lasts_while_its_clique_or_a_cause_stays(
    *, of_group: bool, part: str, cause: str, second: str | None
) -> None:
    """Its first cause has to exist; the causes named after that are only breached cliques of it (GF-092)."""
    first = G0 if of_group else A0
    causes = (first,) if second is None else (first, X0)
    fates = {Y0.ref: part, first.ref: cause} | ({} if second is None else {X0.ref: second})
    found = unfinished(seen_with(fates), end_of(Y0, *causes))
    cliques = [part, *([] if of_group else [cause]), *([] if second is None else [second])]
    lasts = cause in {"stays", "leaves"} and "stays" in cliques
    rests_on = tuple(one.ref for one in causes)
    assert found.incomplete == ({0: set(rests_on)} if lasts else {})
    is_group_there = not (of_group and cause == "gone")
    assert found.unwritten_flags == (
        {G0.ref: UnwrittenTerminationFlag(OVER, rests_on)} if is_group_there and not lasts else {}
    )


def test_gf092_what_lasts_in_part_is_not_through() -> None:
    """Of two cliques that could not be deleted, another client deleted one."""
    seen = seen_with({X0.ref: "gone"})
    both = unfinished(seen, end_of(X0, G0, X0), end_of(Y0, G0, X0))
    assert both == IncompleteTerminations(FrozenDict({0: frozenset({G0.ref, X0.ref})}))
    assert unfinished(seen, end_of(X0, G0, X0)).unwritten_flags == {
        G0.ref: UnwrittenTerminationFlag(OVER, (G0.ref, X0.ref))
    }


def test_gf092_a_failed_flag_counts_before_the_end_of_a_delay() -> None:
    seen = seen_with({X0.ref: "gone"})
    steps = (end_of(X0, G0, X0), flag_of(G0, G0.ref))
    for order in (steps, steps[::-1]):
        assert unfinished(seen, *order).unwritten_flags == {G0.ref: UnwrittenTerminationFlag(NOW, (G0.ref,))}


@pytest.mark.parametrize("fate", FATES)
def test_gf092_a_flag_is_of_the_group_that_is_there(fate: str) -> None:
    found = unfinished(seen_with({G0.ref: fate}), flag_of(G0, A0.ref))
    assert found.unwritten_flags == (
        {G0.ref: UnwrittenTerminationFlag(NOW, (A0.ref,))} if fate in {"stays", "leaves"} else {}
    )
    assert not found.incomplete


@pytest.mark.parametrize(("type_", "reported"), [("GangTerminationInProgress", True), ("MinAvailableBreached", False)])
def test_gf092_only_a_flag_records_a_termination(type_: str, *, reported: bool) -> None:
    found = unfinished(SEEN, flag_of(G0, A0.ref, type_=type_))
    assert found.unwritten_flags == ({G0.ref: UnwrittenTerminationFlag(NOW, (A0.ref,))} if reported else {})


def test_gf091_only_terminations_of_the_set_go_on() -> None:
    step = end_of(X0, X0)
    of_group = GangTermination(G0.ref.at_replica(0), X0.ref, OVER)
    assert unfinished(SEEN, step).incomplete == {0: {X0.ref}}
    assert not unfinished(SEEN, of_gangs(step, of_group)).incomplete
    assert unfinished(SEEN, of_gangs(step, of_group, *gangs_terminated_by(step))).incomplete == {0: {X0.ref}}


SOME: Final = (
    end_of(Y0, A0),
    end_of(X0, G0, X0),
    end_of(A1, G1, X1),
    end_of(Y1, A1),
    end_of(A1, A1),
    flag_of(G0, A0.ref),
    flag_of(G1, G1.ref, X1.ref),
    flag_of(G0, A0.ref, type_="MinAvailableBreached"),
    Step(StepStage.WORKLOAD, A0.ref, Create(FrozenMap({})), ()),
    Step(StepStage.CAUSE, A0.ref, Delete(A0.guard), ()),
)


@pytest.mark.req("GF-092")
@given(st.lists(st.tuples(st.sampled_from(SOME), FAILURES), unique_by=lambda one: one[0].write_key))
def test_gf091_each_response_counts_by_itself(answers: list[tuple[Step, AttemptOutcome]]) -> None:
    """In any order, and together with any other responses."""
    together = failed_terminations_in(replace(SEEN, attempts=tuple(Attempt(step, how, "no") for step, how in answers)))
    alone = [unfinished(SEEN, step, outcome=how) for step, how in answers]
    assert together.incomplete == {
        number: {ref for one in alone for ref in one.incomplete.get(number, ())}
        for number in {number for one in alone for number in one.incomplete}
    }
    assert together.unwritten_flags == {ref: reported for one in alone for ref, reported in one.unwritten_flags.items()}
    assert all(reported.at == NOW for reported in together.unwritten_flags.values()), "all is there"
    event(f"{len(together.incomplete)} replicas, {len(together.unwritten_flags)} flags")


@pytest.mark.req("PL-029")
@pytest.mark.parametrize("outcome", [AttemptOutcome.DONE, AttemptOutcome.NOT_CONFIRMED])
def test_gf091_successful_and_untried_writes_do_not_count(outcome: AttemptOutcome) -> None:
    assert unfinished(SEEN, *SOME, outcome=outcome) == IncompleteTerminations()


SOON, DUE = (
    MinAvailableBreach(A0.ref, NOW - timedelta(hours=1), DELAY),
    MinAvailableBreach(A0.ref, NOW - timedelta(hours=5), DELAY),
)


def sick(one: PodClique, breach: MinAvailableBreach) -> PodClique:
    """Return the conditions of a clique that is breached since then, and was scheduled long before."""
    conditions = (
        Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "Drawn", "", breach.since),
        Condition(CLIQUE_SCHEDULED, ConditionStatus.TRUE, "Drawn", "", breach.since),
    )
    return replace(one, status=replace(one.status, conditions=conditions))


@pytest.mark.req("GF-070")
@pytest.mark.req("GF-091")
@pytest.mark.req("GF-050")
@pytest.mark.parametrize("leaving", [False, True], ids=["stays", "leaves"])
@pytest.mark.parametrize("begun", [False, True], ids=["", "begun"])
@pytest.mark.parametrize("lacking", [False, True], ids=["all are there", "one is missing"])
@pytest.mark.parametrize("breach", [SOON, DUE], ids=["soon", "due"])
def test_gf090_a_skipped_replica_is_not_terminated(
    *, breach: MinAvailableBreach, lacking: bool, begun: bool, leaving: bool
) -> None:
    """If no clique is missing, the delays decide; else only a termination that has begun goes on (GF-091)."""
    ill = replace(sick(A0, breach), deleting=leaving)
    cliques = tuple(ill if one == A0 else one for one in SEEN.cliques if not (lacking and one == B0))
    attempts = (Attempt(end_of(Y0, A0), AttemptOutcome.CONFLICT, "no"),) if begun else ()
    seen = judged(replace(SEEN, cliques=cliques, attempts=attempts), 0)
    is_due = breach is DUE
    assert seen.absent == ((B0.ref.name,) if lacking else ())
    if lacking and not (begun and is_due):
        assert (seen.fate, seen.breaches, seen.lingers) == (Keep(), (), is_due and leaving)
    else:
        wait = Wait(breach.since + DELAY)
        assert (seen.fate, list(seen.breaches), seen.lingers) == (Terminate() if is_due else wait, [breach], False)
