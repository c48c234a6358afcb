"""Random events about ComputeDomains and claims, and about topologies."""

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from grove_core.resources.object_metadata import metadata_in
from grove_shell.settings.shared_settings import MnnvlSettings, TopologyLevelSettings, TopologySettings
from grove_shell.simulator.random_events.random_event_targets import Draw, RandomEventTargets, random_duration
from grove_shell.simulator.random_events.random_user_events_and_faults import random_clique_crashes, random_scale_events
from grove_shell.simulator.scenario import fault_events as faults
from grove_shell.simulator.scenario.scenario import API_VERSION
from grove_shell.simulator.scenario.scenario_events import (
    ApplySetScenarioEvent,
    ApplyTopologyScenarioEvent,
    ClusterTopologyByName,
    ComputeDomainByName,
    PodCliqueSetByName,
    ResourceClaimByName,
    ScenarioEvent,
)
from grove_shell.simulator.virtual_time import MINUTE, SECOND


def _foreign_domain(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    """Return a foreign ComputeDomain, often of an earlier set of the same name."""
    earlier = f"PodCliqueSet/{metadata_in(targets.sets[0]).name}" if targets.sets else None
    owner = rng.choice((None, "Deployment/other", earlier))
    fault = faults.ForeignDomainFault(
        name=rng.choice(targets.domains), owner=owner, span=random_duration(rng, 3 * MINUTE)
    )
    return [ScenarioEvent(at=at, foreign_domain=fault)]


def _limit_domains(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    most = rng.randrange(len(targets.domains) + 1)
    return [
        ScenarioEvent(at=at, limit_domains=faults.LimitDomainsFault(most=most, span=random_duration(rng, 3 * MINUTE)))
    ]


def _reconfigure(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    settings = MnnvlSettings(enabled=rng.random() < 0.5, mode="annotations" if targets.claims else "operator")  # noqa: PLR2004 - a coin
    return [
        ScenarioEvent(
            at=at, reconfigure=faults.ReconfigureFault(mnnvl=settings, down=rng.choice((100, 5 * SECOND, 90 * SECOND)))
        )
    ]


def random_late_domain_events(
    rng: Random, targets: RandomEventTargets, horizon: int, kinds: list[str]
) -> list[ScenarioEvent]:
    """Return events by which replicas start without a ComputeDomain, and get one later when parts are recreated.

    Args:
        horizon: in milliseconds; the later events begin in so long a time after the first 15 s.
        kinds: kinds of events that the scenario may have.
    """
    most = rng.randrange(len(targets.domains))
    late = ScenarioEvent(
        at=0, limit_domains=faults.LimitDomainsFault(most=most, span=rng.choice((SECOND, 5 * SECOND, 30 * SECOND)))
    )
    then = rng.randrange(15 * SECOND, 15 * SECOND + horizon, 100)
    if "scale" in kinds and rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [late, *random_scale_events(rng, targets, then)]
    return [late, *(random_clique_crashes(rng, targets, horizon) if "crash_pod" in kinds else ())]


DOMAIN_DRAWS: Final[Mapping[str, Draw]] = {
    "delete_domain": lambda rng, to, at: [
        ScenarioEvent(at=at, delete_domain=ComputeDomainByName(name=rng.choice(to.domains)))
    ],
    "delete_claim": lambda rng, to, at: [
        ScenarioEvent(at=at, delete_claim=ResourceClaimByName(name=rng.choice(to.claims)))
    ],
    "foreign_domain": _foreign_domain,
    "limit_domains": _limit_domains,
    "reconfigure": _reconfigure,
}


ZONE: Final = "example.com/zone"
RACK: Final = "example.com/rack"
RACK_LABEL: Final = "example.com/shelf"
HOST: Final = "kubernetes.io/hostname"
HIERARCHIES: Final[tuple[tuple[tuple[str, str], ...], ...]] = (
    (("zone", ZONE), ("rack", RACK), ("host", HOST)),
    (("zone", ZONE), ("rack", RACK_LABEL), ("host", HOST)),
    (("zone", ZONE), ("host", HOST)),
    (("rack", RACK),),
)
"""Levels for topologies: the same domain names with different node labels, and some missing."""
_SPARE: Final = "spare"


def topology_manifest_of(name: str, levels: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Return the manifest of a topology."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterTopology",
        "metadata": {"name": name},
        "spec": {"levels": [{"domain": domain, "key": key} for domain, key in levels]},
    }


def topology_settings_with_levels(levels: tuple[tuple[str, str], ...], *, enabled: bool = True) -> TopologySettings:
    """Return the topology settings of a configuration."""
    return TopologySettings(
        enabled=enabled, levels=tuple(TopologyLevelSettings(domain=d, key=key) for d, key in levels)
    )


def _apply_topology(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    """Return a write of a topology: other levels, another label, or a new topology."""
    manifest = topology_manifest_of(rng.choice((*targets.topologies, _SPARE)), rng.choice(HIERARCHIES))
    if rng.random() < 0.3:  # noqa: PLR2004 - seldom
        manifest["metadata"] |= {"labels": {"example.com/team": "network"}}
    return [ScenarioEvent(at=at, apply_topology=ApplyTopologyScenarioEvent(manifest=manifest))]


def _delete_topology(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    """Return the deletion of a topology, often with its recreation."""
    name = rng.choice(targets.topologies)
    deletion = ScenarioEvent(at=at, delete_topology=ClusterTopologyByName(name=name))
    if rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [deletion]
    again = ApplyTopologyScenarioEvent(manifest=topology_manifest_of(name, rng.choice(HIERARCHIES)))
    return [deletion, ScenarioEvent(at=at + random_duration(rng, 2 * MINUTE), apply_topology=again)]


def _change_topology(name: str, rng: Random, targets: RandomEventTargets, at: int) -> ScenarioEvent:
    """Return an update of a set to a topology; to none where the name is empty."""
    manifest = dict(rng.choice(targets.sets))
    template = {key: value for key, value in manifest["spec"]["template"].items() if key != "clusterTopologyName"}
    template |= {"clusterTopologyName": name} if name else {}
    changed = {**manifest, "spec": {**manifest["spec"], "template": template}}
    return ScenarioEvent(at=at, apply_set=ApplySetScenarioEvent(manifest=changed))


def _hold_topology(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    """Return a foreign finalizer on a topology, often with its deletion, and changes of the sets that use it."""
    name, span = rng.choice((*targets.topologies, *_named_in(targets))), rng.randrange(10 * SECOND, 3 * MINUTE, 500)
    events = [
        ScenarioEvent(at=at, hold_foreign=faults.ForeignFinalizerFault(kind="ClusterTopology", name=name, span=span))
    ]
    if rng.random() < 0.5:  # noqa: PLR2004 - a coin
        events.append(
            ScenarioEvent(at=at + rng.randrange(0, span // 2, 100), delete_topology=ClusterTopologyByName(name=name))
        )
    then = at + rng.randrange(span // 2, span, 100)
    if targets.sets:
        update = _change_topology(rng.choice((name, *targets.topologies)), rng, targets, then)
        deletion = ScenarioEvent(
            at=then, delete_set=PodCliqueSetByName(name=metadata_in(rng.choice(targets.sets)).name)
        )
        events += rng.choice(([update], [deletion], []))
    return events


def _switch_topologies(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    """Return a reconfiguration of topologies, often followed by an update of a set to one."""
    settings = topology_settings_with_levels(rng.choice(HIERARCHIES[:3]), enabled=rng.random() < 0.7)  # noqa: PLR2004 - mostly on
    down = rng.choice((100, 5 * SECOND, 90 * SECOND))
    events = [ScenarioEvent(at=at, reconfigure=faults.ReconfigureFault(topology_aware_scheduling=settings, down=down))]
    if targets.sets and rng.random() < 0.5:  # noqa: PLR2004 - a coin
        events.append(
            _change_topology(rng.choice(targets.topologies), rng, targets, at + rng.randrange(0, MINUTE, 100))
        )
    return events


def _named_in(targets: RandomEventTargets) -> list[str]:
    """Return the topologies that the sets use at the start."""
    return [
        manifest["spec"]["template"].get("clusterTopologyName", targets.topologies[-1]) for manifest in targets.sets
    ]


TOPOLOGY_DRAWS: Final[Mapping[str, Draw]] = {
    "apply_topology": _apply_topology,
    "delete_topology": _delete_topology,
    "name_topology": lambda rng, to, at: [_change_topology(rng.choice((*to.topologies, _SPARE, "")), rng, to, at)],
    "hold_topology": _hold_topology,
    "switch_topologies": _switch_topologies,
}
