"""The problems of a scenario in words: wrong values of fields, and names that no object can have (SM-001).

A name is unknown only if no run can create its object. Whether an object that was scaled in or deleted still exists is
checked when the event happens (SM-007).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from grove_core.resources.json_field_reader import short_json
from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.settings.shared_settings import field_names_at
from grove_shell.simulator.scenario.possible_object_names import (
    CLIQUE_TEMPLATE,
    PossibleObjectNames,
    similar_known_names_text,
)
from grove_shell.simulator.scenario.scenario import Scenario, ScenarioExpectation
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent
from grove_shell.simulator.scenario.scenario_field_types import ScenarioPart, objects_named_in_scenario_part
from grove_shell.simulator.virtual_time import go_duration_text

MOST_OBJECTS: Final = 200_000
"""Limit of the objects that sets may have in a scenario: the name of each is computed before the run."""


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that no object can have at its time.

    Attributes:
        path: path of the field with the name.
        expected: the names that are possible, the most similar first.
    """

    path: str
    expected: str
    got: str


def unknown_names_in_scenario(scenario: Scenario, dump: IndexedCluster | None = None) -> list[UnknownName]:
    """Return every name in a scenario that no object can have at its time (SM-001)."""
    spec = scenario.spec
    known = PossibleObjectNames(spec.sets, spec.nodes, dump, spec.topologies)
    return unknown_names_in_scenario_parts(
        known, dict(enumerate(spec.events)), dict(enumerate(spec.expect)), spec.kubelet.cliques
    )


def _too_many(path: str, known: PossibleObjectNames) -> UnknownName:
    return UnknownName(path, f"sets with at most {MOST_OBJECTS:,} objects", f"{known.max_object_count:,}")


def unknown_names_in_scenario_parts(
    known: PossibleObjectNames,
    events: Mapping[int, ScenarioEvent],
    expectations: Mapping[int, ScenarioExpectation],
    kubelet_cliques: Iterable[str],
) -> list[UnknownName]:
    """Return the unknown names in the parts of a scenario.

    Args:
        known: the names at the start; gets those that the events add.
        events: by place in their list; events at the same time happen in this order.
        expectations: by place in their list; they may use every name that exists at any time.
        kubelet_cliques: short names of the cliques with kubelet delays of their own.
    """
    if known.max_object_count > MOST_OBJECTS:
        return [_too_many("spec.sets", known)]
    found: list[UnknownName] = []
    for place, event in sorted(events.items(), key=lambda pair: (pair[1].at, pair[0])):
        found += _unknown_in(event, f"spec.events[{place}]", known, f"that can exist at {go_duration_text(event.at)}")
        known.add_names_created_by(event)
        if known.max_object_count > MOST_OBJECTS:
            return [*found, _too_many(f"spec.events[{place}]", known)]
    for place, expectation in expectations.items():
        found += _unknown_in(expectation, f"spec.expect[{place}]", known, "that can ever exist")
    for name in kubelet_cliques:
        if not known.can_exist(CLIQUE_TEMPLATE, name):
            expected = f"a clique in the template of a set; {known.similar_names(CLIQUE_TEMPLATE, name)}"
            found.append(UnknownName(f"spec.kubelet.cliques.{name}", expected, f'"{name}"'))
    return found


def _unknown_in(part: ScenarioPart, place: str, known: PossibleObjectNames, which: str) -> Iterator[UnknownName]:
    for path, kind, name in objects_named_in_scenario_part(part):
        if known.knows_all_names_of_kind(kind) and not known.can_exist(kind, name):
            yield UnknownName(f"{place}.{path}", f"a {kind} {which}; {known.similar_names(kind, name)}", f'"{name}"')


_EXPECTED: Final[Mapping[str, str]] = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "string_type": "a string",
    "string_too_short": "a name",
    "missing": "a value",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def expected_field_value_text(problem: Mapping[str, Any], whole: type[BaseModel]) -> str:
    """Return what a field must be."""
    kind = problem["type"]
    context = problem.get("ctx") or {}
    if kind == "extra_forbidden":
        *where, name = problem["loc"]
        return f"unknown field; {similar_known_names_text(str(name), field_names_at(whole, where))}"
    if kind == "literal_error":
        known = context["expected"].replace("'", "").replace(" or ", ", ")
        return f"one of {known}" if ", " in known else str(known)
    if kind == "greater_than_equal":
        return f"a whole number of at least {context['ge']}"
    if kind == "less_than_equal":
        return f"a whole number of at most {context['le']}"
    return _EXPECTED.get(kind, str(problem["msg"]).removeprefix("Value error, "))


def shortened_wrong_value(problem: Mapping[str, Any]) -> str:
    """Return the wrong value, shortened."""
    if problem["type"] == "missing":
        return "nothing"
    if problem["type"] in {"exactly_one", "when_or_never", "one_of_two"}:
        given = problem["input"]
        return ", ".join(map(str, given)) or "nothing" if isinstance(given, Mapping) else short_json(given)
    return short_json(problem["input"])
