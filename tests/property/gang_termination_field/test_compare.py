"""Differences between the terminations of one set by two rule sets (CL-043)."""

from datetime import timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.rules import TerminationReason as Design
from grove_core.compare import TerminationChangeKind, compare_forecasts
from grove_core.kernel.decisions import Finding
from grove_core.kernel.gang_terminations import GangTermination, GangTerminationReasons, TerminationBasis
from grove_core.kernel.questions import BREACH, TERMINATION
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Delete, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import Forecast, ForecastRound
from grove_core.resources.api_names import GROVE
from grove_core.testing.cluster_builder import START

ROOT: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
CLIQUE: Final = Ref(GROVE, "PodClique", "ml", "llm-0-a")
ENDS: Final = GoOperatorReason.GANG_TERMINATED.because(ROOT, replica=0, cause=CLIQUE.short)
MIRRORED: Final = {
    TerminationChangeKind.ENDS: TerminationChangeKind.SPARED,
    TerminationChangeKind.SOONER: TerminationChangeKind.LATER,
    TerminationChangeKind.OFTENER: TerminationChangeKind.RARER,
    TerminationChangeKind.SPARED: TerminationChangeKind.ENDS,
    TerminationChangeKind.LATER: TerminationChangeKind.SOONER,
    TerminationChangeKind.RARER: TerminationChangeKind.OFTENER,
}
Minutes = list[int]
courses: Final = st.lists(st.integers(0, 5), max_size=3, unique=True).map(sorted)


def played(minutes: Minutes) -> Forecast:
    """Return a forecast in which a clique is terminated at these minutes, and created again in between."""
    step = whole(CLIQUE)
    rounds = [ForecastRound(1, START, (), (), None)]
    rounds += [
        ForecastRound(number, START + timedelta(minutes=minute), (step,), (), None)
        for number, minute in enumerate(minutes, start=2)
    ]
    return Forecast(root=ROOT, root_uid="r", rounds=tuple(rounds))


def changes(before: Minutes, after: Minutes) -> list[TerminationChangeKind]:
    return [one.change for one in compare_forecasts(played(before), played(after)).differences]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ([], [], []),
        ([1, 3], [1, 3], []),
        ([], [4], [TerminationChangeKind.ENDS]),
        ([4], [], [TerminationChangeKind.SPARED]),
        ([3], [2], [TerminationChangeKind.SOONER]),
        ([1, 4], [2], [TerminationChangeKind.LATER]),
        ([1], [1, 3], [TerminationChangeKind.OFTENER]),
        ([1, 3], [1], [TerminationChangeKind.RARER]),
    ],
)
def test_cl043_each_change_by_example(before: Minutes, after: Minutes, change: list[TerminationChangeKind]) -> None:
    assert changes(before, after) == change


@given(before=courses, after=courses)
def test_cl043_the_other_way_round_is_the_opposite(before: Minutes, after: Minutes) -> None:
    there, back = changes(before, after), changes(after, before)
    assert [MIRRORED[change] for change in there] == back
    assert compare_forecasts(played(before), played(after)).has_same_terminations is (not there)


@given(course=courses)
def test_cl043_nothing_parts_from_itself(course: Minutes) -> None:
    assert compare_forecasts(played(course), played(course)).has_same_terminations


OTHER: Final = Ref(GROVE, "PodClique", "ml", "llm-0-g-1-b")
GROUP: Final = Ref(GROVE, "PodCliqueScalingGroup", "ml", "llm-0-g")


def rounds_of(*rounds: tuple[int, tuple[Step, ...]]) -> Forecast:
    """Return a forecast of some rounds, each with its minute."""
    found = [ForecastRound(1, START, (), (), None)]
    found += [
        ForecastRound(number, START + timedelta(minutes=minute), steps, (), None)
        for number, (minute, steps) in enumerate(rounds, start=2)
    ]
    return Forecast(root=ROOT, root_uid="r", rounds=tuple(found))


def deletion_of(replica: Ref, clique: Ref) -> Delete:
    gangs = (GangTermination(replica, clique, START),)
    return Delete(Guard("u", "1"), basis=TerminationBasis(((clique, Guard("c", "1")),), gangs))


def whole(clique: Ref) -> Step:
    return Step(StepStage.CAUSE, clique, deletion_of(ROOT.at_replica(0), clique), (ENDS,))


def part(clique: Ref) -> Step:
    reason = GoOperatorReason.GROUP_REPLICA_TERMINATED.because(clique, replica=1, group=GROUP.short, cause=clique.short)
    return Step(StepStage.CAUSE, clique, deletion_of(GROUP.at_replica(1), clique), (reason,))


def test_cl043_a_clique_spared_by_the_first_rules_is_reported_though_the_second_rules_terminate_all() -> None:
    before = rounds_of((2, (part(OTHER),)), (9, (whole(CLIQUE),)))
    after = rounds_of((1, (whole(CLIQUE), whole(OTHER))))
    reported = {one.cliques: one for one in compare_forecasts(before, after).differences}
    assert {names: one.before.at for names, one in reported.items() if one.before is not None} == {
        (CLIQUE,): START + timedelta(minutes=9),
        (OTHER,): START + timedelta(minutes=2),
    }
    assert [one.before.subject for one in reported.values() if one.before is not None] == [
        ROOT.at_replica(0),
        GROUP.at_replica(1),
    ]


UNTIL: Final = Design.DELAY_RUNNING.because(ROOT, since="s", delay="1h", until="u")
KEPT: Final = Design.NOTHING_BREACHED.because(ROOT)


@pytest.mark.parametrize("subject", [ROOT.at_replica(0), ROOT])
def test_cl043_why_it_ends_and_why_it_is_spared(subject: Ref) -> None:
    """From the verdict on the replica, or else on the set; a delay that is over is a reason to terminate."""
    end = whole(CLIQUE)
    because = (*end.because, UNTIL)
    gangs = (GangTermination(ROOT.at_replica(0), CLIQUE, START, GangTerminationReasons(ENDS, UNTIL)),)
    deletion = Delete(Guard("u", "1"), basis=TerminationBasis(((CLIQUE, Guard("c", "1")),), gangs))
    ends = rounds_of((1, (replace(end, action=deletion, because=because),)))
    spared = replace(rounds_of(), findings=(Finding(subject, TERMINATION, "Kept", (KEPT,)),))
    for one in (*compare_forecasts(ends, spared).differences, *compare_forecasts(spared, ends).differences):
        (ending,) = filter(None, (one.before, one.after))
        assert (ending.because, one.spared_because) == ((UNTIL,), (KEPT,))


def judged(*findings: Finding) -> Forecast:
    return replace(rounds_of(), findings=findings)


def test_cl043_what_cannot_be_judged_and_what_is_breached_by_one_of_them_only() -> None:
    unknown = Design.NOT_COLLECTED.because(ROOT, kind="Pod")
    of_set = Finding(ROOT, TERMINATION, "Unknown", (unknown,))
    by_one = [Finding(CLIQUE, BREACH, verdict, (KEPT,)) for verdict in ("False", "True")]
    same = Finding(OTHER, BREACH, "True", (KEPT,))
    found = compare_forecasts(judged(of_set, by_one[0], same), judged(by_one[1], same))
    assert (found.unknown, found.has_same_terminations) == ((unknown,), False)
    assert found.breaches == ((CLIQUE, "False", "True"),)
    assert compare_forecasts(judged(same), judged(same)).has_same_terminations


def test_cl043_a_clique_that_joins_a_later_termination_is_reported_with_that_one() -> None:
    before = rounds_of((1, (whole(CLIQUE),)), (5, (whole(CLIQUE), whole(OTHER))))
    (one,) = compare_forecasts(before, rounds_of((1, (whole(CLIQUE),)), (5, (whole(CLIQUE),)))).differences
    assert (one.change, one.cliques) == (TerminationChangeKind.SPARED, (OTHER,))
    assert one.before is not None
    assert (one.before.at, one.before.times, one.before.cliques) == (START + timedelta(minutes=5), 1, (CLIQUE, OTHER))
