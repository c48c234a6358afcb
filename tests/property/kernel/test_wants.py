"""The wishes of several areas are joined, never weighed against each other."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.conditions import REMOVED, Condition, ConditionStatus
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import TerminationStatusReport
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import (
    DesiredChanges,
    FieldsToApply,
    FinalizerToDrop,
    ObjectToCreate,
    ObjectToDelete,
    StatusToWrite,
    Want,
    Withheld,
)

CLIQUE: Final = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-a")
BECAUSE: Final = (TerminationReason.SET_BEING_DELETED.because(CLIQUE),)
OTHERWISE: Final = (TerminationReason.NOTHING_BREACHED.because(CLIQUE),)
EMPTY: Final = FrozenMap({})

GUARD: Final = Guard("uid", "7")
NOW: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)


def ref(number: int) -> Ref:
    return Ref("grove.io/v1alpha1", "PodClique", "ml", f"llm-0-{number}")


def wants_for(number: int) -> tuple[Want, ...]:
    target = ref(number)
    because = (TerminationReason.SET_BEING_DELETED.because(target),)
    return (
        ObjectToDelete(target, GUARD, because),
        FinalizerToDrop(target, GUARD, "grove.io/hold", because),
        FinalizerToDrop(target, GUARD, "grove.io/other", because),
        FieldsToApply(target, GUARD, FrozenMap({"spec": FrozenMap({"replicas": 1})}), because),
        StatusToWrite(target, GUARD, FrozenMap({"replicas": 1}), because),
        StatusToWrite(target, GUARD, FrozenMap({"replicas": 2}), because),
        ObjectToCreate(target, FrozenMap({}), because),
    )


def withheld(number: int) -> Withheld:
    return Withheld(ref(number), (TerminationReason.NOTHING_BREACHED.because(ref(number)),))


class TestPL013:
    """A plan MUST have at most one step for an object. Of several wants it is the strongest: a deletion or finalizer
    removal, then a status that could not be written later, then other changes, then any other status. If the strongest
    is withheld, the next one becomes the step.
    """

    @pytest.mark.parametrize(
        ("first", "second"), [(0, 1), (1, 0), (1, 2), (2, 1), (4, 5), (5, 4), (3, 3), (6, 0), (3, 6)]
    )
    def test_contradicting_wants_for_one_object_are_a_fault_of_ours(self, first: int, second: int) -> None:
        one, other = wants_for(1)[first], wants_for(1)[second]
        with pytest.raises(BrokenInvariant) as caught:
            DesiredChanges.union_of_areas([DesiredChanges(wants=(one,)), DesiredChanges(wants=(other,))])
        assert caught.value.requirement == "PL-013"

    @pytest.mark.parametrize(("stronger", "weaker"), [(0, 3), (0, 4), (1, 4), (2, 3), (3, 4), (3, 5)])
    def test_the_stronger_want_stands_in_any_order(self, stronger: int, weaker: int) -> None:
        one, other = wants_for(1)[stronger], wants_for(1)[weaker]
        for order in ((one, other), (other, one)):
            assert DesiredChanges.union_of_areas([DesiredChanges((want,)) for want in order]).wants == (one,)

    def test_an_urgent_status_goes_before_fields_and_does_not_lose_them(self) -> None:
        gone, _, _, applied, reported, *_ = wants_for(1)
        assert isinstance(gone, ObjectToDelete)
        assert isinstance(reported, StatusToWrite)
        assert isinstance(applied, FieldsToApply)
        urgent = replace(reported, is_urgent=True)
        for order in ((urgent, applied), (applied, urgent)):
            joined = DesiredChanges.union_of_areas([DesiredChanges((want,)) for want in order])
            assert joined.wants == (replace(urgent, otherwise=applied),)
            kept = replace(gone, otherwise=urgent)
            assert DesiredChanges.union_of_areas([joined, DesiredChanges((gone,))]).wants == (kept,)
            assert DesiredChanges.union_of_areas([DesiredChanges((gone,)), joined]).wants == (kept,)
            assert DesiredChanges.union_of_areas(
                [DesiredChanges((kept,)), DesiredChanges((gone,)), DesiredChanges((applied,))]
            ).wants == (kept,)
            more = replace(reported, fields=FrozenMap({"updated": 1}))
            (both,) = DesiredChanges.union_of_areas([joined, DesiredChanges((more,))]).wants
            assert isinstance(both, StatusToWrite)
            assert (both.is_urgent, both.otherwise) == (True, applied)
            with pytest.raises(BrokenInvariant, match="PL-013"):
                DesiredChanges.union_of_areas([joined, DesiredChanges((applied,))])

    def test_a_termination_status_goes_before_fields_too(self) -> None:
        _, _, _, applied, reported, *_ = wants_for(1)
        assert isinstance(reported, StatusToWrite)
        assert isinstance(applied, FieldsToApply)
        of_end = replace(reported, report=TerminationStatusReport((ref(2),)))
        assert DesiredChanges.union_of_areas([DesiredChanges((of_end, applied))]).wants == (
            replace(of_end, otherwise=applied),
        )

    def test_no_minor_status_is_written_for_an_object_that_is_deleted(self) -> None:
        gone, reported = wants_for(1)[0], wants_for(1)[4]
        assert isinstance(gone, ObjectToDelete)
        assert isinstance(reported, StatusToWrite)
        of_end = replace(reported, report=TerminationStatusReport((ref(2),)))
        assert DesiredChanges.union_of_areas([DesiredChanges((gone, of_end))]).wants == (gone,)
        urgent = replace(of_end, is_urgent=True)
        assert DesiredChanges.union_of_areas([DesiredChanges((gone, urgent))]).wants == (
            replace(gone, otherwise=urgent),
        )

    def test_an_object_without_finalizers_gets_no_more_writes(self) -> None:
        released, reported = wants_for(1)[1], wants_for(1)[4]
        assert isinstance(reported, StatusToWrite)
        for order in ((released, replace(reported, is_urgent=True)), (replace(reported, is_urgent=True), released)):
            assert DesiredChanges.union_of_areas([DesiredChanges(order)]).wants == (released,)

    def test_of_two_areas_that_want_it_gone_the_first_says_why(self) -> None:
        first = wants_for(1)[0]
        second = ObjectToDelete(ref(1), GUARD, (TerminationReason.NOTHING_BREACHED.because(ref(1)),))
        assert DesiredChanges.union_of_areas([DesiredChanges((first,)), DesiredChanges((second,))]).wants == (first,)

    def test_two_areas_write_one_status_together(self) -> None:
        ready = Condition("Ready", ConditionStatus.TRUE, "A", "", NOW).as_json
        placed = Condition("Placed", ConditionStatus.TRUE, "A", "", NOW).as_json
        one = StatusToWrite(ref(1), GUARD, FrozenMap({"replicas": 1, "conditions": (ready,)}), wants_for(1)[0].because)
        other = StatusToWrite(
            ref(1), GUARD, FrozenMap({"updated": 1, "conditions": (placed,)}), wants_for(1)[0].because
        )
        (joined,) = DesiredChanges.union_of_areas([DesiredChanges((one,)), DesiredChanges((other,))]).wants
        assert isinstance(joined, StatusToWrite)
        assert joined.fields == FrozenMap({"replicas": 1, "updated": 1, "conditions": (ready, placed)})
        with pytest.raises(BrokenInvariant):
            DesiredChanges.union_of_areas(
                [DesiredChanges((one,)), DesiredChanges((replace(other, fields=FrozenMap({"conditions": (ready,)})),))]
            )

    def test_it_is_as_wrong_within_one_area(self) -> None:
        one, other, *_ = wants_for(1)
        with pytest.raises(BrokenInvariant):
            DesiredChanges.union_of_areas([DesiredChanges(wants=(one, other))])

    @given(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), unique_by=lambda drawn: drawn[0], max_size=5).flatmap(
            lambda drawn: st.tuples(st.just(drawn), st.permutations(drawn))
        )
    )
    def test_without_a_contradiction_nothing_is_lost_in_any_order(
        self, orders: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    ) -> None:
        joined = [
            DesiredChanges.union_of_areas(
                DesiredChanges((wants_for(number)[kind],), (withheld(number),)) for number, kind in order
            )
            for order in orders
        ]
        assert set(joined[0].wants) == set(joined[1].wants) == {wants_for(number)[kind] for number, kind in orders[0]}
        assert set(joined[0].withheld) == set(joined[1].withheld) == {withheld(number) for number, _ in orders[0]}
        assert len(joined[0].wants) == len(joined[0].withheld) == len(orders[0])

    def test_no_area_wants_nothing(self) -> None:
        assert DesiredChanges.union_of_areas([]) == DesiredChanges()

    def test_what_is_held_back_contradicts_nothing(self) -> None:
        part = DesiredChanges((wants_for(1)[0],), (withheld(1),))
        assert DesiredChanges.union_of_areas([part, DesiredChanges(withheld=(withheld(1),))]) == DesiredChanges(
            (wants_for(1)[0],), (withheld(1), withheld(1))
        )


@pytest.mark.req("PL-013")
class TestWantsOfOneObject:
    @staticmethod
    def status(fields: dict[str, Any], *, first: bool = False, other: bool = False) -> StatusToWrite:
        return StatusToWrite(CLIQUE, GUARD, FrozenMap(fields), OTHERWISE if other else BECAUSE, is_foundation=first)

    @pytest.mark.req("PL-021")
    @pytest.mark.parametrize("early", [(False, False), (True, False), (False, True), (True, True)])
    def test_a_joined_status_keeps_all_but_its_fields(self, early: tuple[bool, bool]) -> None:
        one = self.status({"replicas": 1}, first=early[0])
        two = self.status({"updated": 1}, first=early[1], other=True)
        joined = DesiredChanges.union_of_areas([DesiredChanges((one,)), DesiredChanges((two,))]).wants
        fields = FrozenMap({"replicas": 1, "updated": 1})
        assert joined == (StatusToWrite(CLIQUE, GUARD, fields, (*BECAUSE, *OTHERWISE), is_foundation=any(early)),)

    def test_conditions_to_take_away_are_added_up(self) -> None:
        one = self.status({"a": 1, REMOVED: ("Ready",)})
        two = self.status({"b": 1, REMOVED: ("Placed",)}, other=True)
        (joined,) = DesiredChanges.union_of_areas([DesiredChanges((one,)), DesiredChanges((two,))]).wants
        assert isinstance(joined, StatusToWrite)
        assert joined.fields == FrozenMap({"a": 1, "b": 1, REMOVED: ("Ready", "Placed")})

    @pytest.mark.parametrize("key", ["conditions", REMOVED])
    def test_what_is_no_list_is_no_list_of_conditions(self, key: str) -> None:
        odd: dict[str, Any] = {key: 5}
        (joined,) = DesiredChanges.union_of_areas(
            [DesiredChanges((self.status(odd),)), DesiredChanges((self.status({"b": 1}),))]
        ).wants
        assert isinstance(joined, StatusToWrite)
        assert joined.fields == FrozenMap({**odd, "b": 1})

    def test_the_fault_names_the_object_and_both_wants(self) -> None:
        one, other = ObjectToCreate(CLIQUE, EMPTY, BECAUSE), FieldsToApply(CLIQUE, GUARD, EMPTY, BECAUSE)
        with pytest.raises(
            BrokenInvariant, match=r"^PL-013: two wants for Ref\(.*: ObjectToCreate\(.* and FieldsToApply\("
        ):
            DesiredChanges.union_of_areas([DesiredChanges((one,)), DesiredChanges((other,))])
