"""Finds names in a scenario that no object can have at their time, before the run (SM-001).

A name is unknown only if no run can create its object. Whether an object that was scaled in or deleted still exists is
checked when the event happens (SM-007).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from pydantic.alias_generators import to_camel

from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.owned_object import CLAIM_KIND
from grove_core.snapshot.cluster import Cluster
from grove_shell.simulator.scenario.events import Event, EventArguments
from grove_shell.simulator.scenario.fault_events import (
    ChangeHashes,
    CrashOperator,
    EditLabels,
    EditStatus,
    ForeignDomain,
    GateForeign,
    HoldForeign,
    JumpClock,
    LagCache,
    LimitDomains,
    LoseAnswers,
    PermuteLists,
    Reconfigure,
    RefuseWrites,
    Relist,
    RemoveLabels,
    SecondLeader,
    SlowAnswers,
    Touch,
)
from grove_shell.simulator.scenario.name_registry import AUTOSCALER, CLIQUE_TEMPLATE, NODE, NameRegistry
from grove_shell.simulator.scenario.scenario import Expectation, Scenario
from grove_shell.simulator.scenario.user_events import (
    ApplySet,
    ApplyTopology,
    Autoscale,
    ClaimTarget,
    DomainTarget,
    NodePool,
    NodeTarget,
    PodTarget,
    Scale,
    SetTarget,
    TopologyTarget,
)
from grove_shell.simulator.virtual_time import span_text

_EXPECTED_OF: Final = {
    "failed_domains": "PodCliqueSet",
    "in_sync": "PodCliqueSet",
    "stands_on": "PodClique",
    "topologies": "PodGang",
    "held": TOPOLOGY_KIND,
    "levels": TOPOLOGY_KIND,
}
"""Fields of an expectation whose keys are names, and the kind of these."""

_KIND_OF: Final[Mapping[type[EventArguments], str]] = {
    Autoscale: AUTOSCALER,
    SetTarget: "PodCliqueSet",
    DomainTarget: DOMAIN_KIND,
    ForeignDomain: DOMAIN_KIND,
    ClaimTarget: CLAIM_KIND,
    TopologyTarget: TOPOLOGY_KIND,
}
"""Arguments of events that name one object, and its kind."""

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
    """Return every name in a scenario that no object can have at its time (SM-001).

    Args:
        scenario: a scenario with admitted sets.
        dump: the dump that it starts from, if any.
    """
    spec = scenario.spec
    known = NameRegistry(spec.sets, spec.nodes, dump, spec.topologies)
    return unknown_names_among(known, dict(enumerate(spec.events)), dict(enumerate(spec.expect)), spec.kubelet.cliques)


def _unknown_to(known: NameRegistry, place: int, event: Event) -> Iterator[UnknownName]:
    for path, kind, name in _names_in_event(event):
        if not known.has(kind, name):
            expected = f"a {kind} that can exist at {span_text(event.at)}; {known.suggestions(kind, name)}"
            yield UnknownName(f"spec.events[{place}].{path}", expected, f'"{name}"')


def _too_many(path: str, known: NameRegistry) -> UnknownName:
    return UnknownName(path, f"sets with at most {MOST_OBJECTS:,} objects", f"{known.size:,}")


def unknown_names_among(
    known: NameRegistry,
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
    found: list[UnknownName] = []
    if known.size > MOST_OBJECTS:
        return [_too_many("spec.sets", known)]
    for place, event in sorted(events.items(), key=lambda pair: (pair[1].at, pair[0])):
        found.extend(_unknown_to(known, place, event))
        known.add_from(event)
        if known.size > MOST_OBJECTS:
            return [*found, _too_many(f"spec.events[{place}]", known)]
    for place, expectation in expectations.items():
        for path, kind, name in _names_in_expectation(expectation):
            if known.covers(kind) and not known.has(kind, name):
                expected = f"a {kind} that can ever exist; {known.suggestions(kind, name)}"
                found.append(UnknownName(f"spec.expect[{place}].{path}", expected, f'"{name}"'))
    for name in kubelet_cliques:
        if not known.has(CLIQUE_TEMPLATE, name):
            expected = f"a clique in the template of a set; {known.suggestions(CLIQUE_TEMPLATE, name)}"
            found.append(UnknownName(f"spec.kubelet.cliques.{name}", expected, f'"{name}"'))
    return found


def _names_in_event(event: Event) -> Iterator[tuple[str, str, str]]:
    """Yield field path, kind and name of every object that an event names."""
    arguments, field = event.arguments, event.field_name
    match arguments:
        case Scale() | HoldForeign() | EditLabels():
            yield f"{field}.name", arguments.kind, arguments.name
        case Autoscale() | SetTarget() | DomainTarget() | ForeignDomain() | ClaimTarget() | TopologyTarget():
            yield f"{field}.name", _KIND_OF[type(arguments)], arguments.name
        case PodTarget() | GateForeign() | EditStatus() | RemoveLabels():
            yield f"{field}.clique", "PodClique", arguments.clique
        case NodeTarget(of=PodTarget(clique=name)):
            yield f"{field}.of.clique", "PodClique", name
        case NodeTarget(node=name):
            yield f"{field}.node", NODE, name
        case (
            ApplySet()
            | ApplyTopology()
            | NodePool()
            | CrashOperator()
            | LagCache()
            | Relist()
            | Touch()
            | LoseAnswers()
            | RefuseWrites()
            | SlowAnswers()
            | ChangeHashes()
            | SecondLeader()
            | JumpClock()
            | PermuteLists()
            | Reconfigure()
            | LimitDomains()
        ):
            return  # they name no object
        case _:
            assert_never(arguments)


def _names_in_expectation(expectation: Expectation) -> Iterator[tuple[str, str, str]]:
    """Yield field path, kind and name of every object that an expectation names."""
    for field in ("pods", "scheduled", "ready", "gated", "joined", "images"):
        value = getattr(expectation, field)
        for name in value if isinstance(value, Mapping) else ():
            yield f"{field}.{name}", "PodClique", name
    for field, kind in _EXPECTED_OF.items():
        for name in getattr(expectation, field):
            yield f"{to_camel(field)}.{name}", kind, name
    for field in ("exists", "gone"):
        for place, whole in enumerate(getattr(expectation, field)):
            kind, _, name = whole.partition("/")
            yield f"{field}[{place}]", kind, name
