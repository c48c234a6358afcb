"""Addresses have one order and one short form."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.refs import Guard, Ref, is_placeholder_uid, placeholder_uid

NAMES: Final = st.sampled_from(("a", "b", "llm", "llm-0"))
REFS: Final = st.builds(Ref, st.just("v1"), NAMES, NAMES, NAMES, st.none() | st.integers(0, 3))


def test_the_short_form_names_the_replica_where_one_is_meant() -> None:
    ref = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
    assert ref.short == "PodCliqueSet/llm"
    assert ref.at_replica(0).short == "PodCliqueSet/llm[0]"


def test_a_replica_is_another_address_of_the_same_object() -> None:
    ref = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
    assert ref.at_replica(2) == Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm", 2)
    assert ref.at_replica(2).at_replica(1) == ref.at_replica(1)
    assert ref.replica is None


def test_kind_comes_before_namespace_before_name_before_replica() -> None:
    ordered = [
        Ref("v1", "A", "y", "y", 9),
        Ref("v1", "B", "x", "y", 9),
        Ref("v1", "B", "y", "x", 9),
        Ref("v1", "B", "y", "y"),
        Ref("v1", "B", "y", "y", 0),
        Ref("v1", "B", "y", "y", 10),
    ]
    shuffled = ordered[3:] + ordered[:3]
    assert sorted(shuffled, key=lambda ref: ref.sort_key) == ordered


@given(REFS, REFS)
def test_two_addresses_of_one_api_never_tie(one: Ref, other: Ref) -> None:
    assert (one.sort_key == other.sort_key) == (one == other)


@given(REFS, st.integers(0, 5))
def test_an_object_comes_before_its_replicas(ref: Ref, replica: int) -> None:
    whole = Ref(ref.api_version, ref.kind, ref.namespace, ref.name)
    assert whole.sort_key < whole.at_replica(replica).sort_key


def test_pl004_a_guard_distinguishes_incarnations_and_states() -> None:
    assert Guard("u1", "7") == Guard("u1", "7")
    assert len({Guard("u1", "7"), Guard("u2", "7"), Guard("u1", "8")}) == 3


def test_the_whole_of_a_replica_is_the_object_itself() -> None:
    ref = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
    assert ref.at_replica(3).without_replica == ref.without_replica == ref


@given(REFS, st.integers(1, 3))
def test_an_invented_uid_is_known_as_one_and_each_serial_has_its_own(ref: Ref, serial: int) -> None:
    assert is_placeholder_uid(placeholder_uid(ref, serial))
    assert placeholder_uid(ref, serial) != placeholder_uid(ref, serial + 1)
    assert not is_placeholder_uid("0b8b4ac1-5f0b-4f2c-9a55-0f7a2b1c3d4e")
    assert not is_placeholder_uid("")
