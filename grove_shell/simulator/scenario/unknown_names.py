"""Names in a scenario that nobody can have when they are needed; they are looked up before a run (SM-006).

Only what no run could bring about counts as unknown. A clique that was scaled away, or a pod that is gone, is found out
about when the event happens (SM-007).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic.alias_generators import to_camel

from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.owned_object import CLAIM_KIND
from grove_core.snapshot.cluster import Cluster
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.fault_events import (
    EditLabels,
    EditStatus,
    ForeignDomain,
    GateForeign,
    HoldForeign,
    RemoveLabels,
)
from grove_shell.simulator.scenario.name_registry import AUTOSCALER, CLIQUE_TEMPLATE, NODE, NameRegistry
from grove_shell.simulator.scenario.scenario import Expectation, Scenario
from grove_shell.simulator.scenario.user_events import (
    Autoscale,
    ClaimByName,
    DomainByName,
    NodeTarget,
    PodByIndex,
    Scale,
    SetByName,
    TopologyByName,
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
"""Fields of an expectation that say something of objects of one kind."""

MOST: Final = 200_000
"""Objects that sets may come to have, for each is known by its name before anything is played."""


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that nobody can have by then.

    Attributes:
        path: of the field with the name.
        expected: who might have been meant, the closest name first.
    """

    path: str
    expected: str
    got: str


def unknown_names_in(scenario: Scenario, dump: Cluster | None = None) -> list[UnknownName]:
    """Every name in a scenario that nobody can have by then (SM-006).

    Args:
        scenario: its sets are admitted.
        dump: what it starts from, where it names one.
    """
    spec = scenario.spec
    known = NameRegistry(spec.sets, spec.nodes, dump, spec.topologies)
    return unknown_names_among(known, dict(enumerate(spec.events)), dict(enumerate(spec.expect)), spec.kubelet.cliques)


def _unknown_to(known: NameRegistry, place: int, event: Event) -> Iterator[UnknownName]:
    for path, kind, name in _named_by(event):
        if not known.has(kind, name):
            meant = f"a {kind} that can be there at {span_text(event.at)}; {known.like(kind, name)}"
            yield UnknownName(f"spec.events[{place}].{path}", meant, f'"{name}"')


def _too_many(path: str, known: NameRegistry) -> UnknownName:
    return UnknownName(path, f"sets that come to have at most {MOST:,} objects", f"{known.size:,}")


def unknown_names_among(
    known: NameRegistry, events: Mapping[int, Event], expected: Mapping[int, Expectation], paces: Iterable[str]
) -> list[UnknownName]:
    """The same of parts of a scenario.

    Args:
        known: who is there at the start; learns of what the events may bring about.
        events: by place in their list; those of one moment happen in this order.
        expected: by place in their list; they may name whoever can be there at any moment.
        paces: short names of cliques for which a kubelet has a pace of its own.
    """
    found: list[UnknownName] = []
    if known.size > MOST:
        return [_too_many("spec.sets", known)]
    for place, event in sorted(events.items(), key=lambda pair: (pair[1].at, pair[0])):
        found.extend(_unknown_to(known, place, event))
        known.take(event)
        if known.size > MOST:
            return [*found, _too_many(f"spec.events[{place}]", known)]
    for place, expectation in expected.items():
        for path, kind, name in _expected_by(expectation):
            if known.covers(kind) and not known.has(kind, name):
                meant = f"a {kind} that can ever be there; {known.like(kind, name)}"
                found.append(UnknownName(f"spec.expect[{place}].{path}", meant, f'"{name}"'))
    for name in paces:
        if not known.has(CLIQUE_TEMPLATE, name):
            meant = f"a clique of some set's template; {known.like(CLIQUE_TEMPLATE, name)}"
            found.append(UnknownName(f"spec.kubelet.cliques.{name}", meant, f'"{name}"'))
    return found


def _named_by(event: Event) -> Iterator[tuple[str, str, str]]:
    """Field path, kind and name of everybody that an event names."""
    arguments, field = event.arguments, event.field_name
    match arguments:
        case Scale() | HoldForeign() | EditLabels():
            yield f"{field}.name", arguments.kind, arguments.name
        case Autoscale(name=name):
            yield f"{field}.name", AUTOSCALER, name
        case SetByName(name=name):
            yield f"{field}.name", "PodCliqueSet", name
        case DomainByName(name=name) | ForeignDomain(name=name):
            yield f"{field}.name", DOMAIN_KIND, name
        case ClaimByName(name=name):
            yield f"{field}.name", CLAIM_KIND, name
        case TopologyByName(name=name):
            yield f"{field}.name", TOPOLOGY_KIND, name
        case PodByIndex() | GateForeign() | EditStatus() | RemoveLabels():
            yield f"{field}.clique", "PodClique", arguments.clique
        case NodeTarget(of=PodByIndex(clique=name)):
            yield f"{field}.of.clique", "PodClique", name
        case NodeTarget(node=name):
            yield f"{field}.node", NODE, name
        case _:
            return


def _expected_by(expectation: Expectation) -> Iterator[tuple[str, str, str]]:
    """Field path, kind and name of everybody that an expectation names."""
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
