"""What people do with topologies, drawn for a scenario that has some."""

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from grove_shell.settings.topology import LevelSettings, TopologySettings
from grove_shell.simulator.random_events.draw import Draw, span_up_to
from grove_shell.simulator.random_events.targets import Cast
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.fault_events import HoldForeign, Reconfigure
from grove_shell.simulator.scenario.scenario import API_VERSION
from grove_shell.simulator.scenario.user_events import ApplySet, ApplyTopology, Named, TopologyAt
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


def _apply_topology(dice: Random, cast: Cast, at: int) -> list[Event]:
    """Another hierarchy, another label, or a new topology."""
    manifest = topology_raw(dice.choice((*cast.topologies, _SPARE)), dice.choice(HIERARCHIES))
    if dice.random() < 0.3:  # noqa: PLR2004 - seldom
        manifest["metadata"]["labels"] = {"example.com/team": "network"}
    return [Event(at=at, apply_topology=ApplyTopology(manifest=manifest))]


def _delete_topology(dice: Random, cast: Cast, at: int) -> list[Event]:
    """And often it is made again."""
    name = dice.choice(cast.topologies)
    gone = Event(at=at, delete_topology=TopologyAt(name=name))
    if dice.random() < 0.5:  # noqa: PLR2004 - a coin
        return [gone]
    again = ApplyTopology(manifest=topology_raw(name, dice.choice(HIERARCHIES)))
    return [gone, Event(at=at + span_up_to(dice, 2 * MINUTE), apply_topology=again)]


def _name_topology(dice: Random, cast: Cast, at: int) -> list[Event]:
    """A set goes to another topology."""
    return [_goes_to(dice.choice((*cast.topologies, _SPARE, "")), dice, cast, at)]


def _goes_to(name: str, dice: Random, cast: Cast, at: int) -> Event:
    """A set names that topology from then on; none where it is empty."""
    manifest = dict(dice.choice(cast.sets))
    template = {key: value for key, value in manifest["spec"]["template"].items() if key != "clusterTopologyName"}
    template |= {"clusterTopologyName": name} if name else {}
    changed = {**manifest, "spec": {**manifest["spec"], "template": template}}
    return Event(at=at, apply_set=ApplySet(manifest=changed))


def _hold_topology(dice: Random, cast: Cast, at: int) -> list[Event]:
    """A stranger holds one, often one that is being deleted; sets come to it, leave it or go meanwhile."""
    name, span = dice.choice((*cast.topologies, *_named_in(cast))), dice.randrange(10 * SECOND, 3 * MINUTE, 500)
    events = [Event(at=at, hold_foreign=HoldForeign(kind="ClusterTopology", name=name, span=span))]
    if dice.random() < 0.5:  # noqa: PLR2004 - a coin
        events.append(Event(at=at + dice.randrange(0, span // 2, 100), delete_topology=TopologyAt(name=name)))
    then = at + dice.randrange(span // 2, span, 100)
    if cast.sets:
        goes = _goes_to(dice.choice((name, *cast.topologies)), dice, cast, then)
        gone = Event(at=then, delete_set=Named(name=dice.choice(cast.sets)["metadata"]["name"]))
        events += dice.choice(([goes], [gone], []))
    return events


def _switch_topologies(dice: Random, cast: Cast, at: int) -> list[Event]:
    """Off, on, or with other levels of the default topology; somebody may name one afterwards."""
    settings = told(dice.choice(HIERARCHIES[:3]), enabled=dice.random() < 0.7)  # noqa: PLR2004 - mostly on
    down = dice.choice((100, 5 * SECOND, 90 * SECOND))
    events = [Event(at=at, reconfigure=Reconfigure(topology_aware_scheduling=settings, down=down))]
    if cast.sets and dice.random() < 0.5:  # noqa: PLR2004 - a coin
        events.append(_goes_to(dice.choice(cast.topologies), dice, cast, at + dice.randrange(0, MINUTE, 100)))
    return events


def _named_in(cast: Cast) -> list[str]:
    """The topologies that the sets use at first."""
    return [manifest["spec"]["template"].get("clusterTopologyName", cast.topologies[-1]) for manifest in cast.sets]


TOPOLOGY_DRAWS: Final[Mapping[str, Draw]] = {
    "apply_topology": _apply_topology,
    "delete_topology": _delete_topology,
    "name_topology": _name_topology,
    "hold_topology": _hold_topology,
    "switch_topologies": _switch_topologies,
}
