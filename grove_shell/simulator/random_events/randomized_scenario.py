"""Adds random events to a scenario, the same for the same seed (SM-010), and shrinks one that breaks a promise."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.simulator.random_events.random_domain_and_topology_events import (
    DOMAIN_DRAWS,
    TOPOLOGY_DRAWS,
    random_late_domain_events,
)
from grove_shell.simulator.random_events.random_event_targets import Draw, random_event_targets_of
from grove_shell.simulator.random_events.random_user_events_and_faults import (
    FAULT_DRAWS,
    USER_DRAWS,
    random_clique_crashes,
    random_label_edits,
)
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.virtual_time import SECOND

MOST_RUNS: Final = 400
"""Limit of the scenarios that are tried."""
_MOST_EVENTS: Final = 6
_OUTAGE_PROBABILITY: Final = 0.3
_DOMAIN_EVENT_PROBABILITY: Final = 0.4
_LATE_DOMAINS_PROBABILITY: Final = 0.3
_LABEL_EDIT_PROBABILITY: Final = 0.25
_MOST_TOPOLOGY_EVENTS: Final = 3
_HORIZON: Final = 90 * SECOND

_DRAWS: Final[Mapping[str, Draw]] = {**USER_DRAWS, **FAULT_DRAWS, **DOMAIN_DRAWS, **TOPOLOGY_DRAWS}
_ABOUT_CLIQUES: Final = frozenset(
    {"delete_pod", "fail_pod", "crash_pod", "hold_foreign", "gate_foreign", "edit_status", "remove_labels"}
)
_ABOUT_CLAIMS: Final = frozenset({"delete_claim"})
_ABOUT_DOMAINS: Final = frozenset({"delete_domain", "foreign_domain", "limit_domains", "reconfigure"})
_ABOUT_SETS: Final = frozenset({"scale", "apply_set", "delete_set"})
RANDOM_EVENT_KINDS: Final = (*_DRAWS, "edit_labels")
"""Every kind of random event."""


def with_random_events(
    scenario: Scenario, seed: int, *, without: frozenset[str] = frozenset(), dump: IndexedCluster | None = None
) -> Scenario:
    """Return a scenario with random events added to its own.

    Each seed uses few kinds of events, so that each kind is alone in some of the runs (swarm testing).

    Args:
        scenario: the scenario; its own events stay.
        seed: determines the random events.
        without: kinds of events that are not drawn, as the fields of Event are named.
        dump: the dump that the scenario starts from, if any.
    """
    rng = Random(seed)  # noqa: S311 - not for security
    targets = random_event_targets_of(scenario, dump)
    impossible = (frozenset() if targets.cliques else _ABOUT_CLIQUES) | (frozenset() if targets.sets else _ABOUT_SETS)
    impossible |= frozenset() if targets.domains else _ABOUT_DOMAINS
    impossible |= frozenset() if targets.claims else _ABOUT_CLAIMS
    impossible |= frozenset() if targets.topologies else frozenset(TOPOLOGY_DRAWS)
    impossible |= frozenset() if targets.topologies and targets.sets else {"name_topology"}
    kinds = [name for name in _DRAWS if name not in without | impossible]
    chosen_kinds = rng.sample(kinds, min(rng.randint(1, 4), len(kinds)))
    horizon = max((event.at for event in scenario.spec.events), default=0) + _HORIZON
    events = list(scenario.spec.events)
    for _ in range(rng.randint(1, _MOST_EVENTS)):
        name = rng.choice(chosen_kinds)
        early = rng.random() < 0.4  # noqa: PLR2004 - most writes come while a set is created
        events += _DRAWS[name](rng, targets, rng.randrange(0, 3 * SECOND if early else horizon, 100))
    if "crash_pod" in kinds and rng.random() < _OUTAGE_PROBABILITY:
        events += random_clique_crashes(rng, targets, horizon)
    domain_kinds = [name for name in kinds if name in _ABOUT_DOMAINS]
    if domain_kinds and rng.random() < _DOMAIN_EVENT_PROBABILITY:
        events += _DRAWS[rng.choice(domain_kinds)](rng, targets, rng.randrange(0, horizon, 100))
    if "limit_domains" in domain_kinds and rng.random() < _LATE_DOMAINS_PROBABILITY:
        events += random_late_domain_events(rng, targets, horizon, kinds)
    topology_kinds = [name for name in kinds if name in TOPOLOGY_DRAWS]
    for _ in range(rng.randint(0, _MOST_TOPOLOGY_EVENTS) if topology_kinds else 0):
        early = rng.random() < 0.5  # noqa: PLR2004 - while pods are placed
        events += _DRAWS[rng.choice(topology_kinds)](
            rng, targets, rng.randrange(0, 4 * SECOND if early else horizon, 100)
        )
    label_rng = Random(f"labels of {seed}")  # noqa: S311 - as above; a generator of its own keeps the other events unchanged
    if "edit_labels" not in without and label_rng.random() < _LABEL_EDIT_PROBABILITY:
        events += random_label_edits(label_rng, targets, horizon)
    return scenario.with_events(tuple(events))


def smallest_failing_scenario(scenario: Scenario, fails: Callable[[Scenario], bool]) -> Scenario:
    """Return the smallest failing scenario found within ``MOST_RUNS`` runs, without its expectations.

    Halves of the events are left out, then quarters, then single ones, until each that is left is needed.

    Args:
        scenario: a failing scenario.
        fails: returns whether a scenario breaks the promise.
    """
    best, left = scenario, MOST_RUNS

    def replaces_best(candidate: Scenario) -> bool:
        nonlocal best, left
        left -= 1
        if left < 0 or not fails(candidate):
            return False
        best = candidate
        return True

    replaces_best(scenario.model_copy(update={"spec": scenario.spec.model_copy(update={"expect": ()})}))
    size = max(len(best.spec.events) // 2, 1)
    while best.spec.events:
        place, dropped = 0, False
        while place < len(best.spec.events):
            events = best.spec.events
            if replaces_best(best.with_events(events[:place] + events[place + size :])):
                dropped = True
            else:
                place += size
        if size == 1 and not dropped:
            break
        size = max(size // 2, 1)
    return best
