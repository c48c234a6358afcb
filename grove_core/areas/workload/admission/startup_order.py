"""Validates ``startsAfter`` (WL-121 to WL-125, WL-182). All functions are linear in cliques and parents."""

from collections.abc import Iterator, Mapping, Sequence

from grove_core.areas.workload.rules import Refuse, Warn
from grove_core.resources.manifest import CLIQUES, Violation
from grove_core.resources.names import listed
from grove_core.resources.template import ANY_ORDER, EXPLICIT, IN_ORDER, CliqueTemplate, SetSpec

Waits = Mapping[str, Sequence[str]]
"""Clique -> the cliques that it waits for; every name is a key."""


def startup_order_violations(spec: SetSpec) -> Iterator[Violation]:
    """Return invalid parents and cycles; none without explicit start-up (WL-121 to WL-125)."""
    cliques = spec.template.cliques
    if spec.template.clique_startup_type != EXPLICIT:
        return
    names = {clique.name for clique in cliques}
    known = listed(names)
    for index, clique in enumerate(cliques):
        yield from _names_faults(clique, f"{CLIQUES}[{index}].spec.startsAfter", names, known)
    yield from _cycle_faults(cliques, names)


def startup_order_warnings(spec: SetSpec) -> Iterator[Violation]:
    """Return the ``startsAfter`` that have no effect (WL-182)."""
    for index, clique in enumerate(spec.template.cliques):
        if clique.spec.starts_after and spec.template.clique_startup_type in {ANY_ORDER, IN_ORDER}:
            path = f"{CLIQUES}[{index}].spec.startsAfter"
            yield Violation(path, clique.spec.starts_after, Warn.STARTS_AFTER_UNUSED, {})


def cycles_in(waits: Waits) -> list[list[str]]:
    """Return cycles, each as its names without repeating the first; no two of them share a name.

    Every strongly connected component yields at least one, so there is none exactly if there is an order.
    """
    knots = _knots(waits)
    onward = {name: next((other for other in waits[name] if knots[other] == knots[name]), None) for name in waits}
    found, walked = [], dict[str, str]()
    for start in waits:
        name: str | None = start
        while name is not None and name not in walked:
            walked[name] = start
            name = onward[name]
        if name is not None and walked[name] == start:
            cycle = [name]
            while (following := onward[cycle[-1]]) != name and following is not None:
                cycle.append(following)
            found.append(cycle)
    return found


def _names_faults(clique: CliqueTemplate, path: str, names: set[str], known: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, name in enumerate(clique.spec.starts_after):
        place = f"{path}[{index}]"
        if not name:
            yield Violation(place, name, Refuse.STARTS_AFTER_NOTHING, {})
        elif name in seen:
            yield Violation(place, name, Refuse.STARTS_AFTER_TWICE, {})
        elif name == clique.name:
            yield Violation(place, name, Refuse.STARTS_AFTER_ITSELF, {})
        elif name not in names:
            yield Violation(place, name, Refuse.STARTS_AFTER_UNKNOWN, {"known": known})
        seen.add(name)


def _cycle_faults(cliques: Sequence[CliqueTemplate], names: set[str]) -> Iterator[Violation]:
    places = {clique.name: index for index, clique in reversed(list(enumerate(cliques)))}
    waits = {
        name: [other for other in cliques[index].spec.starts_after if other in names and other != name]
        for name, index in places.items()
    }
    for cycle in cycles_in(waits):
        first = min(range(len(cycle)), key=lambda position: places[cycle[position]])
        whole = [*cycle[first:], *cycle[:first], cycle[first]]
        index = places[whole[0]]
        position = cliques[index].spec.starts_after.index(whole[1])
        path = f"{CLIQUES}[{index}].spec.startsAfter[{position}]"
        yield Violation(path, whole[1], Refuse.STARTUP_CYCLE, {"cycle": " -> ".join(whole)})


def _knots(waits: Waits) -> dict[str, int]:
    """Return the number of each name's strongly connected component: names with one number wait for each other."""
    awaited: dict[str, list[str]] = {name: [] for name in waits}
    for name, others in waits.items():
        for other in others:
            awaited[other].append(name)
    knots: dict[str, int] = {}
    for root in reversed(_in_order_left(waits)):
        ahead = [] if root in knots else [root]
        number = len(knots)
        while ahead:
            name = ahead.pop()
            if name not in knots:
                knots[name] = number
                ahead.extend(awaited[name])
    return knots


def _in_order_left(waits: Waits) -> list[str]:
    """Return all names in depth-first post-order."""
    left: list[str] = []
    seen: set[str] = set()
    for root in waits:
        trail = [] if root in seen else [(root, iter(waits[root]))]
        seen.add(root)
        while trail:
            name, others = trail[-1]
            following = next((other for other in others if other not in seen), None)
            if following is None:
                left.append(name)
                trail.pop()
            else:
                seen.add(following)
                trail.append((following, iter(waits[following])))
    return left
