"""The merge patch of wanted fields has what differs from the stored ones (WL-025)."""

from typing import Any

import pytest

from grove_core.kernel.frozen import FrozenMap, freeze, thaw_json
from grove_core.resources.merge_patch import merge_patch_of_wanted_fields

Json = dict[str, Any]


def a_map(value: Json) -> FrozenMap:
    found = freeze(value)
    assert isinstance(found, FrozenMap)
    return found


def test_wl025_what_differs_inside_an_object_is_written() -> None:
    stored = a_map({"scaleTargetRef": {"name": "a", "kind": "x"}, "maxReplicas": 3})
    wanted = a_map({"scaleTargetRef": {"name": "b", "kind": "x"}, "maxReplicas": 3})
    assert thaw_json(merge_patch_of_wanted_fields(wanted, stored)) == {"scaleTargetRef": {"name": "b"}}


@pytest.mark.parametrize(("stored", "same"), [("1000m", True), ("2", False)])
def test_wl025_quantities_in_a_list_are_compared_as_numbers(stored: str, *, same: bool) -> None:
    one, other = ({"requests": [{"limits": {"cpu": amount}}]} for amount in ("1", stored))
    assert (not merge_patch_of_wanted_fields(a_map(one), a_map(other))) is same
