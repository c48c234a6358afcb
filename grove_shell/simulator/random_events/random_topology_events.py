"""What people do with topologies, drawn for a scenario that has some."""

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from grove_shell.settings.topology import LevelSettings, TopologySettings
from grove_shell.simulator.random_events.draw import Draw, random_span
from grove_shell.simulator.random_events.targets import Targets
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.fault_events import HoldForeign, Reconfigure
from grove_shell.simulator.scenario.scenario import API_VERSION
from grove_shell.simulator.scenario.user_events import ApplySet, ApplyTopology, SetByName, TopologyByName
from grove_shell.simulator.virtual_time import MINUTE, SECOND

ZONE: Final = "example.com/zone"
RACK: Final = "example.com/rack"
SHELF: Final = "example.com/shelf"
HOST: Final = "kubernetes.io/hostname"
HIERARCHIES: Final[tuple[tuple[tuple[str, str], ...], ...]] = (
    (("zone", ZONE), ("rack", RACK), ("host", HOST)),
    (("zone", ZONE), ("rack", SHELF), ("host", HOST)),
    (("zone", ZONE), ("host", HOST)),
    (("rack", RACK),),
)
"""Levels that are given to topologies: the words are the same, what they mean is not, and some are missing."""
_SPARE: Final = "spare"


def topology_raw(name: str, levels: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """A manifest."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterTopology",
        "metadata": {"name": name},
        "spec": {"levels": [{"domain": domain, "key": key} for domain, key in levels]},
    }


def told(levels: tuple[tuple[str, str], ...], *, enabled: bool = True) -> TopologySettings:
    """The part of a configuration."""
    return TopologySettings(enabled=enabled, levels=tuple(LevelSettings(domain=d, key=key) for d, key in levels))


def _apply_topology(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Another hierarchy, another label, or a new topology."""
    manifest = topology_raw(rng.choice((*targets.topologies, _SPARE)), rng.choice(HIERARCHIES))
    if rng.random() < 0.3:  # noqa: PLR2004 - seldom
        manifest["metadata"]["labels"] = {"example.com/team": "network"}
    return [Event(at=at, apply_topology=ApplyTopology(manifest=manifest))]


def _delete_topology(rng: Random, targets: Targets, at: int) -> list[Event]:
    """And often it is made again."""
    name = rng.choice(targets.topologies)
    gone = Event(at=at, delete_topology=TopologyByName(name=name))
    if rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [gone]
    again = ApplyTopology(manifest=topology_raw(name, rng.choice(HIERARCHIES)))
    return [gone, Event(at=at + random_span(rng, 2 * MINUTE), apply_topology=again)]


def _name_topology(rng: Random, targets: Targets, at: int) -> list[Event]:
    """A set goes to another topology."""
    return [_goes_to(rng.choice((*targets.topologies, _SPARE, "")), rng, targets, at)]


def _goes_to(name: str, rng: Random, targets: Targets, at: int) -> Event:
    """A set names that topology from then on; none where it is empty."""
    manifest = dict(rng.choice(targets.sets))
    template = {key: value for key, value in manifest["spec"]["template"].items() if key != "clusterTopologyName"}
    template |= {"clusterTopologyName": name} if name else {}
    changed = {**manifest, "spec": {**manifest["spec"], "template": template}}
    return Event(at=at, apply_set=ApplySet(manifest=changed))


def _hold_topology(rng: Random, targets: Targets, at: int) -> list[Event]:
    """A stranger holds one, often one that is being deleted; sets come to it, leave it or go meanwhile."""
    name, span = rng.choice((*targets.topologies, *_named_in(targets))), rng.randrange(10 * SECOND, 3 * MINUTE, 500)
    events = [Event(at=at, hold_foreign=HoldForeign(kind="ClusterTopology", name=name, span=span))]
    if rng.random() < 0.5:  # noqa: PLR2004 - a coin
        events.append(Event(at=at + rng.randrange(0, span // 2, 100), delete_topology=TopologyByName(name=name)))
    then = at + rng.randrange(span // 2, span, 100)
    if targets.sets:
        goes = _goes_to(rng.choice((name, *targets.topologies)), rng, targets, then)
        gone = Event(at=then, delete_set=SetByName(name=rng.choice(targets.sets)["metadata"]["name"]))
        events += rng.choice(([goes], [gone], []))
    return events


def _switch_topologies(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Off, on, or with other levels of the default topology; somebody may name one afterwards."""
    settings = told(rng.choice(HIERARCHIES[:3]), enabled=rng.random() < 0.7)  # noqa: PLR2004 - mostly on
    down = rng.choice((100, 5 * SECOND, 90 * SECOND))
    events = [Event(at=at, reconfigure=Reconfigure(topology_aware_scheduling=settings, down=down))]
    if targets.sets and rng.random() < 0.5:  # noqa: PLR2004 - a coin
        events.append(_goes_to(rng.choice(targets.topologies), rng, targets, at + rng.randrange(0, MINUTE, 100)))
    return events


def _named_in(targets: Targets) -> list[str]:
    """The topologies that the sets use at first."""
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
