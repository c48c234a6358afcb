"""What distinguishes two rounds of a forecast, and what does not (PL-024); a plan as a forecast of one round."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Action, Create, Delete, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.kernel.wants import Withheld
from grove_core.plan.forecast import Forecast, ForecastRound, RepeatedRounds, one_round_forecast, round_fingerprint
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import GROVE

GUARD: Final = Guard("u-1", "7")
SET: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
CLIQUE: Final = Ref(GROVE, "PodClique", "ml", "llm-0-a")
BECAUSE: Final = (TerminationReason.SET_BEING_DELETED.because(SET),)
EMPTY: Final = FrozenMap({})
NOW: Final = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
MINUTE: Final = timedelta(minutes=1)


def step(action: Action, stage: StepStage = StepStage.WORKLOAD, *, target: Ref = CLIQUE) -> Step:
    return Step(stage, target, action, BECAUSE)


class TestRecurrence:
    """PL-024: what distinguishes two rounds, and what does not."""

    @staticmethod
    def since(moment: datetime) -> Reason:
        return TerminationReason.DELAY_EXPIRED.because(CLIQUE, since=format_time(moment), delay="4h", until="then")

    def looked(self, action: Action, moment: datetime, held: datetime) -> Plan:
        one = Step(StepStage.CLEANUP, CLIQUE, action, (self.since(moment),))
        back = (Withheld(CLIQUE, (self.since(held),)),)
        return Plan(root=SET, root_uid="u-0", rules="design", steps=(one,), withheld=back)

    def test_pl024_another_verb_is_another_round(self) -> None:
        images = {
            round_fingerprint(self.looked(action, NOW, NOW), NOW, NOW) for action in (Delete(GUARD), Create(EMPTY))
        }
        assert len(images) == 2

    def test_pl024_moments_are_distances_in_what_is_held_back_too(self) -> None:
        later, begun = NOW + 5 * MINUTE, NOW - MINUTE
        early = round_fingerprint(self.looked(Delete(GUARD), NOW, NOW), NOW + MINUTE, begun)
        assert early == round_fingerprint(self.looked(Delete(GUARD), later, later), later + MINUTE, begun)
        assert early != round_fingerprint(self.looked(Delete(GUARD), later, NOW), later + MINUTE, begun)
        assert early != round_fingerprint(self.looked(Delete(GUARD), NOW, later), later + MINUTE, begun)

    def test_pl024_moments_before_the_forecast_count_as_they_are(self) -> None:
        past = NOW - MINUTE
        early = round_fingerprint(self.looked(Delete(GUARD), past, past), NOW + MINUTE, NOW)
        assert early == round_fingerprint(self.looked(Delete(GUARD), past, past), NOW + 9 * MINUTE, NOW)

    @pytest.mark.parametrize(("number", "times"), [(1, 1), (2, 6), (3, 6)])
    def test_pl024_the_first_round_of_a_lap_comes_again_too(self, number: int, times: int) -> None:
        again = RepeatedRounds(since=2, every=MINUTE, until=NOW + 5 * MINUTE)
        played = ForecastRound(number, NOW, (), (), None)
        forecast = Forecast(root=SET, root_uid="u-0", rounds=(played,), again=again)
        assert forecast.round_occurrence_count(played) == times

    def test_pl024_the_requeue_time_is_a_distance_too(self) -> None:
        bare = Plan(root=SET, root_uid="u-0", rules="design")
        looks = [replace(bare, wake_at=NOW + number * MINUTE) for number in (1, 2)]
        assert len({round_fingerprint(plan, NOW, NOW) for plan in (bare, *looks)}) == 3
        assert round_fingerprint(looks[0], NOW, NOW) == round_fingerprint(looks[1], NOW + MINUTE, NOW)


class TestNames:
    """PL-024: of the name of a pod only the letters that chance drew do not count."""

    POD: Final = Ref("v1", "Pod", "ml", "llm-0-a-abcde")

    @staticmethod
    def image(ref: Ref) -> object:
        plan = Plan(root=SET, root_uid="u-0", rules="design", steps=(step(Delete(GUARD), target=ref),))
        return round_fingerprint(plan, NOW, NOW)

    def test_pl024_drawn_letters_do_not_count(self) -> None:
        assert self.image(self.POD) == self.image(replace(self.POD, name="llm-0-a-vwxyz"))

    @pytest.mark.parametrize(
        "other", [{"api_version": "v2"}, {"namespace": "dev"}, {"name": "llm-0-b-abcde"}, {"replica": 0}], ids=str
    )
    def test_pl024_all_else_of_an_address_counts(self, other: dict[str, Any]) -> None:
        assert self.image(self.POD) != self.image(replace(self.POD, **other))

    def test_pl024_a_pod_is_no_clique_and_a_clique_is_named_in_full(self) -> None:
        clique = replace(self.POD, kind="PodClique")
        assert len({self.image(ref) for ref in (clique, replace(clique, name="llm-0-a-vwxyz"), self.POD)}) == 3

    def test_pl024_a_pod_keeps_its_kind(self) -> None:
        cut = Ref("v1", "Secret", "ml", "llm-0-a-")
        assert len({self.image(self.POD), self.image(cut)}) == 2


def test_a_plan_is_a_forecast_of_one_round() -> None:
    wake = NOW + MINUTE
    finding = Finding(SET, "termination", "keep", BECAUSE)
    held = (Withheld(CLIQUE, BECAUSE),)
    plan = Plan(root=SET, root_uid="u-0", rules="design", withheld=held, wake_at=wake, findings=(finding,))
    only = ForecastRound(1, NOW, (), held, wake)
    reported = Forecast(root=SET, root_uid="u-0", rounds=(only,), findings=(finding,), complete=True)
    assert one_round_forecast(plan, NOW) == reported
    busy = replace(plan, steps=(step(Delete(GUARD)),))
    assert one_round_forecast(busy, NOW) == replace(reported, rounds=(replace(only, steps=busy.steps),), complete=False)
