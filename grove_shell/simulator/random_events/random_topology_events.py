"""Random events about topologies."""

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from grove_shell.settings.features import LevelSettings, TopologySettings
from grove_shell.simulator.random_events.draw import Draw, random_span
from grove_shell.simulator.random_events.targets import Targets
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.fault_events import HoldForeign, Reconfigure
from grove_shell.simulator.scenario.scenario import API_VERSION
from grove_shell.simulator.scenario.user_events import ApplySet, ApplyTopology, SetTarget, TopologyTarget
from grove_shell.simulator.virtual_time import MINUTE, SECOND

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


def topology_raw(name: str, levels: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Return the manifest of a topology."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterTopology",
        "metadata": {"name": name},
        "spec": {"levels": [{"domain": domain, "key": key} for domain, key in levels]},
    }


def settings_of(levels: tuple[tuple[str, str], ...], *, enabled: bool = True) -> TopologySettings:
    """Return the topology settings of a configuration."""
    return TopologySettings(enabled=enabled, levels=tuple(LevelSettings(domain=d, key=key) for d, key in levels))


def _apply_topology(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Return a write of a topology: other levels, another label, or a new topology."""
    manifest = topology_raw(rng.choice((*targets.topologies, _SPARE)), rng.choice(HIERARCHIES))
    if rng.random() < 0.3:  # noqa: PLR2004 - seldom
        manifest["metadata"]["labels"] = {"example.com/team": "network"}
    return [Event(at=at, apply_topology=ApplyTopology(manifest=manifest))]


def _delete_topology(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Return the deletion of a topology, often with its recreation."""
    name = rng.choice(targets.topologies)
    deletion = Event(at=at, delete_topology=TopologyTarget(name=name))
    if rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [deletion]
    again = ApplyTopology(manifest=topology_raw(name, rng.choice(HIERARCHIES)))
    return [deletion, Event(at=at + random_span(rng, 2 * MINUTE), apply_topology=again)]


def _name_topology(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Return an update of a set to another topology."""
    return [_change_topology(rng.choice((*targets.topologies, _SPARE, "")), rng, targets, at)]


def _change_topology(name: str, rng: Random, targets: Targets, at: int) -> Event:
    """Return an update of a set to a topology; to none where the name is empty."""
    manifest = dict(rng.choice(targets.sets))
    template = {key: value for key, value in manifest["spec"]["template"].items() if key != "clusterTopologyName"}
    template |= {"clusterTopologyName": name} if name else {}
    changed = {**manifest, "spec": {**manifest["spec"], "template": template}}
    return Event(at=at, apply_set=ApplySet(manifest=changed))


def _hold_topology(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Return a foreign finalizer on a topology, often with its deletion, and changes of the sets that use it."""
    name, span = rng.choice((*targets.topologies, *_named_in(targets))), rng.randrange(10 * SECOND, 3 * MINUTE, 500)
    events = [Event(at=at, hold_foreign=HoldForeign(kind="ClusterTopology", name=name, span=span))]
    if rng.random() < 0.5:  # noqa: PLR2004 - a coin
        events.append(Event(at=at + rng.randrange(0, span // 2, 100), delete_topology=TopologyTarget(name=name)))
    then = at + rng.randrange(span // 2, span, 100)
    if targets.sets:
        update = _change_topology(rng.choice((name, *targets.topologies)), rng, targets, then)
        deletion = Event(at=then, delete_set=SetTarget(name=rng.choice(targets.sets)["metadata"]["name"]))
        events += rng.choice(([update], [deletion], []))
    return events


def _switch_topologies(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Return a reconfiguration of topologies, often followed by an update of a set to one."""
    settings = settings_of(rng.choice(HIERARCHIES[:3]), enabled=rng.random() < 0.7)  # noqa: PLR2004 - mostly on
    down = rng.choice((100, 5 * SECOND, 90 * SECOND))
    events = [Event(at=at, reconfigure=Reconfigure(topology_aware_scheduling=settings, down=down))]
    if targets.sets and rng.random() < 0.5:  # noqa: PLR2004 - a coin
        events.append(
            _change_topology(rng.choice(targets.topologies), rng, targets, at + rng.randrange(0, MINUTE, 100))
        )
    return events


def _named_in(targets: Targets) -> list[str]:
    """Return the topologies that the sets use at the start."""
    return [
        manifest["spec"]["template"].get("clusterTopologyName", targets.topologies[-1]) for manifest in targets.sets
    ]


TOPOLOGY_DRAWS: Final[Mapping[str, Draw]] = {
    "apply_topology": _apply_topology,
    "delete_topology": _delete_topology,
    "name_topology": _name_topology,
    "hold_topology": _hold_topology,
    "switch_topologies": _switch_topologies,
}
