"""Finds names in a scenario that no object can have at their time, before the run (SM-001).

A name is unknown only if no run can create its object. Whether an object that was scaled in or deleted still exists is
checked when the event happens (SM-007).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from grove_core.snapshot.cluster import Cluster
from grove_shell.simulator.scenario.possible_object_names import CLIQUE_TEMPLATE, PossibleObjectNames
from grove_shell.simulator.scenario.scenario import Expectation, Scenario
from grove_shell.simulator.scenario.scenario_events import Event
from grove_shell.simulator.scenario.scenario_field_types import ScenarioPart, object_names_in
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


def unknown_names_in(scenario: Scenario, dump: Cluster | None = None) -> list[UnknownName]:
    """Return every name in a scenario that no object can have at its time (SM-001)."""
    spec = scenario.spec
    known = PossibleObjectNames(spec.sets, spec.nodes, dump, spec.topologies)
    return unknown_names_among(known, dict(enumerate(spec.events)), dict(enumerate(spec.expect)), spec.kubelet.cliques)


def _too_many(path: str, known: PossibleObjectNames) -> UnknownName:
    return UnknownName(path, f"sets with at most {MOST_OBJECTS:,} objects", f"{known.size:,}")


def unknown_names_among(
    known: PossibleObjectNames,
    events: Mapping[int, Event],
    expectations: Mapping[int, Expectation],
    kubelet_cliques: Iterable[str],
) -> list[UnknownName]:
    """Return the unknown names in the parts of a scenario.

    Args:
        known: the names at the start; gets those that the events add.
        events: by place in their list; events at the same time happen in this order.
        expectations: by place in their list; they may use every name that exists at any time.
        kubelet_cliques: short names of the cliques with kubelet delays of their own.
    """
    if known.size > MOST_OBJECTS:
        return [_too_many("spec.sets", known)]
    found: list[UnknownName] = []
    for place, event in sorted(events.items(), key=lambda pair: (pair[1].at, pair[0])):
        found += _unknown_in(event, f"spec.events[{place}]", known, f"that can exist at {go_duration_text(event.at)}")
        known.add_names_created_by(event)
        if known.size > MOST_OBJECTS:
            return [*found, _too_many(f"spec.events[{place}]", known)]
    for place, expectation in expectations.items():
        found += _unknown_in(expectation, f"spec.expect[{place}]", known, "that can ever exist")
    for name in kubelet_cliques:
        if not known.has(CLIQUE_TEMPLATE, name):
            expected = f"a clique in the template of a set; {known.suggestions(CLIQUE_TEMPLATE, name)}"
            found.append(UnknownName(f"spec.kubelet.cliques.{name}", expected, f'"{name}"'))
    return found


def _unknown_in(part: ScenarioPart, place: str, known: PossibleObjectNames, which: str) -> Iterator[UnknownName]:
    for path, kind, name in object_names_in(part):
        if known.covers(kind) and not known.has(kind, name):
            yield UnknownName(f"{place}.{path}", f"a {kind} {which}; {known.suggestions(kind, name)}", f'"{name}"')
