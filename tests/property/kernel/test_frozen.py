"""Frozen JSON is equal exactly where the JSON is, and never changes."""

import copy
import json
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import (
    FrozenMap,
    Json,
    canonical_json,
    freeze,
    frozen,
    is_same_json,
    object_under_key,
    thaw_json,
)
from tests.property.resources.manifests import any_json

EMPTY: Final = FrozenMap({})

ALIKE_BUT_DIFFERENT: Final = (
    (True, 1),
    (False, 0),
    (1, 1.0),
    (None, False),
    (None, ""),
    ("1", 1),
    ("true", True),
    ((), FrozenMap({})),
    ((), None),
    ((1, 2), (2, 1)),
    ((1,), 1),
)
_HARD_TO_WRITE: Final = (
    float("inf"),
    float("-inf"),
    None,
    "\ud800",
    "\udfff",
    2**64,
    -(2**64),
    float(2**64),
    1e16,
    10**16,
    1e-7,
    -0.0,
    0.0,
    "\x7f\x00\u2028",
)
"""What encoders of JSON write in different ways, or refuse."""
_FEW_FIELDS: Final = st.dictionaries(st.sampled_from("ab"), st.sampled_from(["1", "", 1, True, None, {"a": "1"}]))


@pytest.mark.parametrize(("left", "right"), ALIKE_BUT_DIFFERENT, ids=repr)
def test_values_that_python_confuses_are_kept_apart(left: Json, right: Json) -> None:
    assert FrozenMap({"key": left}) != FrozenMap({"key": right})
    assert FrozenMap({"deep": (FrozenMap({"key": left}),)}) != FrozenMap({"deep": (FrozenMap({"key": right}),)})


def test_the_order_of_keys_does_not_matter() -> None:
    one = FrozenMap({"a": 1, "b": FrozenMap({"c": 2, "d": 3})})
    other = FrozenMap({"b": FrozenMap({"d": 3, "c": 2}), "a": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert {one: "found"}[other] == "found"


def test_other_types_are_never_equal() -> None:
    assert FrozenMap({}) != {}
    assert FrozenMap({"a": 1}) != (("a", 1),)


def test_it_is_a_mapping() -> None:
    frozen = FrozenMap({"b": 1, "a": None})
    assert list(frozen) == ["b", "a"]
    assert len(frozen) == 2
    assert frozen["a"] is None
    assert "c" not in frozen
    assert dict(frozen.items()) == {"a": None, "b": 1}
    assert repr(frozen) == 'FrozenMap({"a":null,"b":1})'


def test_it_does_not_follow_the_dict_it_was_made_from() -> None:
    source: dict[str, Any] = {"a": 1}
    frozen = FrozenMap(source)
    source["a"] = 2
    assert frozen == FrozenMap({"a": 1})
    assert frozen["a"] == 1


def test_it_does_not_follow_an_inner_dict_it_was_made_from() -> None:
    inner: dict[str, Any] = {"a": 1}
    frozen = FrozenMap({"inner": inner})  # type: ignore[dict-item]  # what a caller without types may pass
    before = hash(frozen)
    inner["a"] = 2
    assert frozen == FrozenMap({"inner": FrozenMap({"a": 1})})
    assert hash(frozen) == before


@pytest.mark.parametrize("name", ["_items", "_text", "color"])
def test_it_cannot_be_changed(name: str) -> None:
    frozen = FrozenMap({"a": 1})
    with pytest.raises(AttributeError):
        setattr(frozen, name, {})
    with pytest.raises(AttributeError):
        delattr(frozen, name)
    assert frozen == FrozenMap({"a": 1})
    assert frozen["a"] == 1
    assert not {"__setitem__", "__delitem__", "update", "pop", "clear", "__ior__"} & set(dir(frozen))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301 - our own bytes
def test_copies_are_equal(again: Callable[[FrozenMap], FrozenMap]) -> None:
    frozen = FrozenMap({"a": (1, FrozenMap({"b": True}), None)})
    copied = again(frozen)
    assert copied == frozen
    assert hash(copied) == hash(frozen)
    assert thaw_json(copied) == {"a": [1, {"b": True}, None]}


@given(any_json())
def test_thawing_undoes_freezing(value: object) -> None:
    frozen = freeze(value)
    thawed = thaw_json(frozen)
    assert canonical_json(thawed) == canonical_json(value)
    assert type(thawed) is type(value)
    assert freeze(thawed) == frozen


@given(any_json())
def test_freezing_is_hashable_and_comes_to_rest(value: object) -> None:
    frozen = freeze(value)
    assert freeze(frozen) == frozen
    assert hash(freeze(frozen)) == hash(frozen)


@given(any_json(), any_json())
def test_equal_means_equal_json(left: object, right: object) -> None:
    same = json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    assert (FrozenMap({"is": freeze(left)}) == FrozenMap({"is": freeze(right)})) == same


@given(_FEW_FIELDS, _FEW_FIELDS)
def test_equal_objects_have_equal_json(left: dict[str, object], right: dict[str, object]) -> None:
    same = json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    assert (freeze(left) == freeze(right)) == same


@pytest.mark.parametrize("left", _HARD_TO_WRITE, ids=repr)
@pytest.mark.parametrize("right", _HARD_TO_WRITE, ids=repr)
@pytest.mark.parametrize("whole", [lambda one: one, lambda one: {"b": [1, one], "a": None}], ids=["bare", "inside"])
def test_values_that_encoders_differ_on_are_compared_by_their_canonical_text(
    left: Json, right: Json, whole: Callable[[Json], Any]
) -> None:
    one, other = whole(left), whole(right)
    assert is_same_json(one, other) == (canonical_json(one) == canonical_json(other))


@given(any_json(), any_json())
def test_the_same_json_is_what_has_the_same_canonical_text(left: object, right: object) -> None:
    assert is_same_json(left, right) == (canonical_json(left) == canonical_json(right))
    assert is_same_json(freeze(left), left)


@given(any_json())
def test_the_canonical_text_is_json_of_the_value(value: object) -> None:
    assert canonical_json(freeze(value)) == canonical_json(value)
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


def test_the_canonical_text_sorts_keys_and_leaves_no_spaces() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": {"µ": True}}) == '{"a":{"µ":true},"b":[1,2.5,null]}'


@pytest.mark.parametrize("alien", [{1, 2}, object(), b"bytes", 1j], ids=lambda alien: type(alien).__name__)
def test_what_is_not_json_is_refused(alien: object) -> None:
    with pytest.raises(TypeError):
        freeze(alien)
    with pytest.raises(TypeError):
        freeze({"deep": [alien]})
    with pytest.raises(TypeError):
        canonical_json({"deep": alien})


@given(st.dictionaries(st.integers(), st.booleans()))
def test_keys_become_text(value: dict[int, bool]) -> None:
    assert thaw_json(freeze(value)) == {str(key): item for key, item in value.items()}


class TestFrozen:
    """A view over what a reader made is as frozen as a copy of it, and its faults name the culprit."""

    RAW: Final = MappingProxyType({"map": {"list": [{"deep": [1]}, "text"]}, "list": [{"deep": 2}, [3]], "text": "t"})

    def test_what_is_seen_through_a_view_is_frozen_all_the_way(self) -> None:
        view = FrozenMap.view_of(self.RAW)
        assert view["map"] == FrozenMap({"list": (FrozenMap({"deep": (1,)}), "text")})
        assert isinstance(view["map"], FrozenMap)
        assert view["list"] == (FrozenMap({"deep": 2}), (3,))
        assert view["text"] == "t"
        assert view.raw is self.RAW

    def test_one_text_whatever_kind_of_mapping_is_looked_at(self) -> None:
        assert canonical_json(FrozenMap.view_of(self.RAW)) == canonical_json(frozen(self.RAW))
        assert FrozenMap.view_of(self.RAW) == frozen(self.RAW)

    def test_different_json_rarely_has_one_hash(self) -> None:
        assert len({hash(FrozenMap({"replicas": number})) for number in range(100)}) > 90

    def test_faults_name_the_culprit(self) -> None:
        with pytest.raises(TypeError, match=r"^set$"):
            freeze({1})
        with pytest.raises(TypeError, match=r"^set$"):
            canonical_json({1})
        for name in ("raw", "_items"):
            with pytest.raises(AttributeError, match=f"^{name}$"):
                delattr(EMPTY, name)

    def test_a_part_is_an_object_or_empty(self) -> None:
        whole = frozen({"spec": {"replicas": 1}, "kind": "Pod"})
        assert object_under_key(whole, "spec") == FrozenMap({"replicas": 1})
        assert object_under_key(whole, "kind") == object_under_key(whole, "status") == EMPTY
