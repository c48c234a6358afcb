"""The objects of a scenario that random events can be about, and random spans and pods among them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from grove_core.resources.api_names import DOMAIN_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.domain_sharing import DomainMembership
from grove_core.resources.naming_rules import (
    compute_domain_name,
)
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.expected_replicas import ExpectedSetReplicas
from grove_shell.settings.shared_settings import MnnvlSettings
from grove_shell.simulator.scenario.possible_object_names import shared_domain_memberships
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent
from grove_shell.simulator.scenario.scenario_field_types import KINDS, Kind, PodByCliqueAndIndex
from grove_shell.simulator.virtual_time import SECOND


@dataclass(frozen=True, slots=True)
class RandomEventTargets:
    """The objects that random events can be about.

    Attributes:
        cliques: names of the PodCliques of the sets at the start.
        groups: names of the scaling groups at the start, each with its ``minAvailable``.
        scalers: names of the cliques and groups with an autoscaler.
        sets: the manifests of the sets.
        nodes: names of the nodes.
        domains: names of the ComputeDomains of the sets; empty where MNNVL is never on.
        claims: names of the ResourceClaims that are shared by annotation.
        topologies: names of the topologies at the start, and of the default one where the operator creates it.
        kinds: kinds of objects that faults can hit.
    """

    cliques: tuple[str, ...]
    groups: tuple[tuple[str, int], ...]
    scalers: tuple[str, ...]
    sets: tuple[Mapping[str, Any], ...]
    nodes: tuple[str, ...]
    domains: tuple[str, ...]
    claims: tuple[str, ...]
    topologies: tuple[str, ...]
    kinds: tuple[Kind, ...]


def random_event_targets_of(scenario: Scenario, dump: IndexedCluster | None = None) -> RandomEventTargets:
    """Return the targets of a scenario and of the dump that it starts from."""
    cliques: list[str] = []
    groups: list[tuple[str, int]] = []
    scalers: list[str] = []
    roots = map(podcliqueset_from_json, scenario.spec.sets)
    replicas = [(root, replica) for root in roots for replica in ExpectedSetReplicas(root.ref.name, root.spec).replicas]
    for _, replica in replicas:
        cliques += [part.name for part in replica.all_cliques]
        groups += [(group.name, group.template.min_available) for group in replica.groups]
        scalers += [part.name for part in replica.cliques if part.template.spec.auto_scaling_config is not None]
        scalers += [group.name for group in replica.groups if group.template.scale_config is not None]
    if dump is not None:
        cliques += [clique.ref.name for found in dump.cliques_of.values() for clique in found]
        groups += [(group.ref.name, group.min_available) for found in dump.groups_of.values() for group in found]
    nodes = [name for pool in scenario.spec.nodes for name in pool.node_names]
    settings = _settings_of(scenario)
    domains: tuple[str, ...] = ()
    shared: list[DomainMembership] = []
    if any(one.mode == "operator" for one in settings):  # also where MNNVL is switched on later
        domains = tuple(compute_domain_name(root.ref.name, replica.index) for root, replica in replicas)
    if any(one.mode == "annotations" for one in settings):
        shared = [one for root, replica in replicas for one in shared_domain_memberships(root, replica)]
        domains += tuple(dict.fromkeys(one.domain_name for one in shared))
    topologies = tuple(_topologies_of(scenario, dump))
    absent = {kind for kind, names in ((DOMAIN_KIND, domains), (TOPOLOGY_KIND, topologies)) if not names}
    return RandomEventTargets(
        cliques=tuple(cliques),
        groups=tuple(groups),
        scalers=tuple(scalers),
        sets=scenario.spec.sets,
        nodes=tuple(nodes),
        domains=domains,
        claims=tuple(dict.fromkeys(one.claim_name for one in shared)),
        topologies=topologies,
        kinds=tuple(kind for kind in KINDS if kind not in absent),
    )


def _topologies_of(scenario: Scenario, dump: IndexedCluster | None) -> Iterator[str]:
    yield from (metadata_in(manifest).name for manifest in scenario.spec.topologies)
    yield from dump.topologies if dump is not None else ()
    if scenario.spec.operator.topology_aware_scheduling.enabled:
        yield DEFAULT_TOPOLOGY


def _settings_of(scenario: Scenario) -> tuple[MnnvlSettings, ...]:
    """Return the MNNVL settings at the start and of every reconfiguration, without the default ones."""
    changed = (event.reconfigure.mnnvl for event in scenario.spec.events if event.reconfigure is not None)
    return tuple(one for one in (scenario.spec.operator.mnnvl, *changed) if one is not None and one != MnnvlSettings())


Draw: TypeAlias = Callable[[Random, RandomEventTargets, int], list[ScenarioEvent]]
"""Returns random events from a random number generator, the possible targets, and a time in milliseconds."""


def random_duration(rng: Random, most: int) -> int:
    """Return a random span from 1 s to ``most``, in steps of half a second, in milliseconds."""
    return rng.randrange(SECOND, most, 500)


def random_pod_choice(rng: Random, targets: RandomEventTargets) -> PodByCliqueAndIndex:
    """Return a random PodClique and index; the pod may not exist."""
    return PodByCliqueAndIndex(clique=rng.choice(targets.cliques), index=rng.randrange(3))
