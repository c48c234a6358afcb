"""The wishes of several areas are joined, never weighed against each other."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.rules import Why
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.wants import Absent, Desired, HeldBack, Released, Status, Want

GUARD: Final = Guard("uid", "7")


def ref(number: int) -> Ref:
    return Ref("grove.io/v1alpha1", "PodClique", "ml", f"llm-0-{number}")


def wants_for(number: int) -> tuple[Want, ...]:
    target = ref(number)
    because = (Why.SET_BEING_DELETED.because(target),)
    return (
        Absent(target, GUARD, because),
        Released(target, GUARD, "grove.io/hold", because),
        Released(target, GUARD, "grove.io/other", because),
        Status(target, GUARD, FrozenMap({"replicas": 1}), because),
        Status(target, GUARD, FrozenMap({"replicas": 2}), because),
    )


def held_back(number: int) -> HeldBack:
    return HeldBack(ref(number), (Why.NOTHING_BREACHED.because(ref(number)),))


class TestPL013:
    """Wants of two areas that contradict each other are a broken invariant, never resolved by order."""

    @pytest.mark.parametrize("second", range(5))
    @pytest.mark.parametrize("first", range(5))
    def test_two_different_wants_for_one_object_are_a_fault_of_ours(self, first: int, second: int) -> None:
        one, other = wants_for(1)[first], wants_for(1)[second]
        if first == second:
            return
        with pytest.raises(BrokenInvariant) as caught:
            Desired.union([Desired(wants=(one,)), Desired(wants=(other,))])
        assert caught.value.requirement == "PL-013"

    def test_it_is_as_wrong_within_one_area(self) -> None:
        one, other, *_ = wants_for(1)
        with pytest.raises(BrokenInvariant):
            Desired.union([Desired(wants=(one, other))])

    @given(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), unique_by=lambda drawn: drawn[0], max_size=5).flatmap(
            lambda drawn: st.tuples(st.just(drawn), st.permutations(drawn))
        )
    )
    def test_without_a_contradiction_nothing_is_lost_in_any_order(
        self, orders: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    ) -> None:
        joined = [
            Desired.union(Desired((wants_for(number)[kind],), (held_back(number),)) for number, kind in order)
            for order in orders
        ]
        assert set(joined[0].wants) == set(joined[1].wants) == {wants_for(number)[kind] for number, kind in orders[0]}
        assert set(joined[0].held_back) == set(joined[1].held_back) == {held_back(number) for number, _ in orders[0]}
        assert len(joined[0].wants) == len(joined[0].held_back) == len(orders[0])

    def test_no_area_wants_nothing(self) -> None:
        assert Desired.union([]) == Desired()

    def test_what_is_held_back_contradicts_nothing(self) -> None:
        part = Desired((wants_for(1)[0],), (held_back(1),))
        assert Desired.union([part, Desired(held_back=(held_back(1),))]) == Desired(
            (wants_for(1)[0],), (held_back(1), held_back(1))
        )
