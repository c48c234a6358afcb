"""A status is written only where it differs, and writing it gives what was wanted."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus, condition_of
from grove_core.kernel.frozen import FrozenMap, Json, thaw_json
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_core.resources.status_comparison import changed_status_fields, object_after_status_write
from tests.property.resources.manifests import clique, clique_set, group

Resource: TypeAlias = PodClique | ScalingGroup | PodCliqueSet
START: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
RESOURCES: Final[tuple[Resource, ...]] = (
    podclique_from_json(clique()),
    scaling_group_from_json(group()),
    podcliqueset_from_json(clique_set()),
)
TYPES: Final = ("MinAvailableBreached", "PodCliqueScheduled", "OfSomebodyElse")
CONDITIONS: Final = st.lists(
    st.builds(
        Condition,
        type=st.sampled_from(TYPES),
        status=st.sampled_from(ConditionStatus),
        reason=st.sampled_from(("A", "B")),
        message=st.sampled_from(("", "two of three")),
        last_transition_time=st.integers(0, 2).map(lambda seconds: START + timedelta(seconds=seconds)),
    ),
    unique_by=lambda condition: condition.type,
    max_size=3,
).map(lambda conditions: tuple(sorted(conditions, key=lambda condition: condition.type)))  # as they are read
COUNTS: Final = st.integers(0, 3)


def values_of(resource: Resource) -> st.SearchStrategy[dict[str, Json]]:
    """Any of the fields that its status may be written with."""
    names = sorted(resource.status.FIELDS)
    value = {name: COUNTS.map(partial(sample, name)) for name in names}
    return st.fixed_dictionaries({}, optional=value)


def sample(name: str, number: int) -> Json:
    """A value that a status field of that name may have, another one for each number."""
    if name == "wasAvailable":
        return bool(number % 2)
    if name == "updateProgress":
        return FrozenMap({"updateStartedAt": format_time(START), "podTemplateHash": f"h{number}"})
    return f"t{number}" if name.lower().endswith(("hash", "selector")) else number


@st.composite
def cases(draw: st.DrawFn) -> tuple[Resource, dict[str, Json], tuple[Condition, ...]]:
    """A resource with some stored status, and a status that is wanted."""
    resource = draw(st.sampled_from(RESOURCES))
    names = resource.status.FIELDS
    stored: dict[str, Any] = {names[name]: value for name, value in draw(values_of(resource)).items()}
    stored["conditions"] = draw(CONDITIONS)
    # mypy cannot see that each kind is given its own kind of status.
    resource = replace(resource, status=replace(resource.status, **stored))  # type: ignore[arg-type]  # resources of several kinds, each with its own status
    return resource, draw(values_of(resource)), draw(CONDITIONS)


def stored_value(resource: Resource, name: str) -> object:
    return getattr(resource.status, resource.status.FIELDS[name])


class TestPL011:
    """A status step MUST contain exactly the status fields that differ from the stored ones, and each condition that
    differs as a whole.
    """

    @given(cases())
    def test_exactly_what_differs_is_written(
        self, case: tuple[Resource, dict[str, Json], tuple[Condition, ...]]
    ) -> None:
        resource, wanted, conditions = case
        change = changed_status_fields(resource.status, wanted, conditions)
        differing = {name for name, value in wanted.items() if stored_value(resource, name) != value}
        assert change.keys() - {"conditions"} == differing
        assert all(change[name] == wanted[name] for name in differing)
        known = resource.status.conditions
        changed = [condition.as_json for condition in conditions if condition_of(known, condition.type) != condition]
        assert change.get("conditions", ()) == tuple(changed)
        assert ("conditions" in change) == bool(changed)

    @given(cases())
    def test_writing_the_change_gives_what_was_wanted(
        self, case: tuple[Resource, dict[str, Json], tuple[Condition, ...]]
    ) -> None:
        resource, wanted, conditions = case
        written = object_after_status_write(resource, changed_status_fields(resource.status, wanted, conditions))
        assert {name: stored_value(written, name) for name in wanted} == wanted
        assert all(condition in written.status.conditions for condition in conditions)
        assert not changed_status_fields(written.status, wanted, conditions)

    @given(cases())
    def test_everything_else_stays_as_it_was(
        self, case: tuple[Resource, dict[str, Json], tuple[Condition, ...]]
    ) -> None:
        resource, wanted, conditions = case
        written = object_after_status_write(resource, changed_status_fields(resource.status, wanted, conditions))
        for name in resource.status.FIELDS.keys() - wanted.keys():
            assert stored_value(written, name) == stored_value(resource, name)
        wanted_types = {condition.type for condition in conditions}
        others = [condition for condition in resource.status.conditions if condition.type not in wanted_types]
        assert [known for known in written.status.conditions if known.type not in wanted_types] == others
        assert replace(written, status=resource.status) == resource  # type: ignore[arg-type]  # of its own kind
        types = [condition.type for condition in written.status.conditions]
        assert len(set(types)) == len(types)
        assert types == sorted(types)

    @given(cases())
    def test_what_holds_already_is_not_written(
        self, case: tuple[Resource, dict[str, Json], tuple[Condition, ...]]
    ) -> None:
        resource, wanted, _ = case
        same = {name: stored_value(resource, name) for name in wanted}
        assert changed_status_fields(resource.status, same, resource.status.conditions) == FrozenMap({})  # type: ignore[arg-type]  # resources of several kinds, each with its own status

    @pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.ref.kind)
    def test_a_field_that_the_status_does_not_have_is_a_fault_of_ours(self, resource: Resource) -> None:
        with pytest.raises(KeyError):
            changed_status_fields(resource.status, {"color": 1}, ())

    @pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.ref.kind)
    def test_fields_are_named_as_the_api_names_them(self, resource: Resource) -> None:
        reader: Any = {
            PodClique: podclique_from_json,
            ScalingGroup: scaling_group_from_json,
            PodCliqueSet: podcliqueset_from_json,
        }
        wanted = {name: sample(name, number) for number, name in enumerate(resource.status.FIELDS, 1)}
        raw = {PodClique: clique(), ScalingGroup: group(), PodCliqueSet: clique_set()}[type(resource)]
        change = changed_status_fields(
            resource.status, wanted, (Condition("Any", ConditionStatus.TRUE, "A", "", START),)
        )
        assert reader[type(resource)]({**raw, "status": thaw_json(change)}) == object_after_status_write(
            resource, change
        )


def test_a_condition_is_replaced_in_its_place() -> None:
    first, second, third = (Condition(type_, ConditionStatus.TRUE, "A", "", START) for type_ in sorted(TYPES))
    resource = replace(RESOURCES[1], status=replace(RESOURCES[1].status, conditions=(first, second)))  # type: ignore[arg-type]  # resources of several kinds, each with its own status
    newer = replace(first, status=ConditionStatus.FALSE)
    change = changed_status_fields(resource.status, {}, (newer, second, third))
    assert change == FrozenMap({"conditions": (newer.as_json, third.as_json)})
    assert object_after_status_write(resource, change).status.conditions == (newer, second, third)


@pytest.mark.req("GT-015")
def test_gt016_a_written_status_of_a_clique_is_a_record() -> None:
    fresh = podclique_from_json(clique())
    assert not fresh.status.recorded
    written = object_after_status_write(fresh, FrozenMap({"replicas": 0}))
    assert written.status.recorded
    assert written.status.was_available is None


def test_unknown_fields_of_a_write_are_left_alone() -> None:
    known = RESOURCES[2]
    assert object_after_status_write(known, FrozenMap({"color": "red"})) == known
