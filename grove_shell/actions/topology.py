"""``grove topology list`` and ``grove topology impact``: who uses what, and what a change or a deletion would mean."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from grove_core.admit_topology import admit_topology, admit_topology_deletion
from grove_core.areas.topology.admit import TopologyView
from grove_core.areas.topology.topology_snapshot import kinds_missing_for_use
from grove_core.areas.topology.usage_report import TopologyUsage, count_without_topology, usage_report_of
from grove_core.impact_topology import set_impacts_of
from grove_core.kernel.admission import AdmissionVerdict
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject
from grove_core.resources.api_names import GROVE
from grove_core.resources.cluster_topology import (
    DEFAULT_TOPOLOGY,
    TOPOLOGY_KIND,
    ClusterTopology,
    cluster_topology_of,
    did_you_mean,
)
from grove_core.resources.configuration import Configuration, TopologyAware
from grove_core.resources.names import listed
from grove_core.resources.topology_usage import TopologyUser
from grove_core.snapshot.cluster import Cluster
from grove_shell.actions.command_input import input_time, read_configuration
from grove_shell.actions.source import NoCluster, Source
from grove_shell.exits import DONE, ERROR, FAIL_ON, USAGE
from grove_shell.page import print_error, print_warnings
from grove_shell.reading.faults import Fault
from grove_shell.reading.items import Item, fault_in
from grove_shell.reading.loaded import Loaded
from grove_shell.reading.nodes import Grounds
from grove_shell.reading.objects import load
from grove_shell.reading.sources import items_of, label_of, standard_input
from grove_shell.reading.topologies import is_topology
from grove_shell.views.problems_page import NOTHING_DECIDED, REST_UNKNOWN, closing_line, problems_page
from grove_shell.views.progress import progress_counter
from grove_shell.views.renderers import RENDERERS
from grove_shell.views.topology_document import topology_impact_as_json, topology_list_as_json
from grove_shell.views.topology_page import TopologyImpact, topology_impact_page, topology_list_page


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyInput:
    """An input as these commands see it.

    Attributes:
        cluster: with topology-aware scheduling on, unless a configuration says otherwise.
        grounds: nodes, and who is on them.
        faults: everything that is wrong with the input; it was reported.
        usable: whether to go on.
    """

    cluster: Cluster
    grounds: Grounds
    faults: tuple[Fault, ...]
    now: datetime
    usable: bool


def read_topology_input(source: Source, unused: str | None = None) -> TopologyInput | None:
    """Read everything, and report what is wrong; None where a cluster does not answer, which is reported too.

    Manifests are not refused for what they say of topologies: that is what these commands tell about.

    Args:
        source: where to read.
        unused: the last line of a report on bad input of which nothing is made; None where there is ``--keep-going``.
    """
    configured = read_configuration(source.config)
    told = configured.configuration
    if source.config is None:
        told = Configuration(topology=TopologyAware(enabled=True))
    collected = None
    if source.live is not None:
        from grove_shell.actions.live import collect  # noqa: PLC0415 - the client, which a file does not need

        try:
            collected = collect(source.live)
        except NoCluster as fault:
            print_error(fault)
            return None
    with progress_counter("reading", "objects") as count:
        grounds = Grounds(count)
        loaded = load(
            source.filenames, standard_input(), grounds.take, collected, told, by_topologies=False, raising=False
        )
    faults = (*configured.faults, *sorted((*loaded.faults, *grounds.faults), key=lambda fault: fault.sort_key))
    usable = not faults or source.keep_going
    if faults:
        print_error(problems_page(faults, REST_UNKNOWN if usable else unused or closing_line(faults)))
    print_warnings((*loaded.passed_by, *loaded.unseen.values()))
    cluster = loaded.cluster if source.config is not None else _as_configured(loaded)
    return TopologyInput(cluster=cluster, grounds=grounds, faults=faults, now=input_time(source, loaded), usable=usable)


def list_topologies(source: Source, output: str) -> int:
    """List and print; returns the exit code (CL-001)."""
    found = read_topology_input(source)
    if found is None or not found.usable:
        return ERROR
    survey, without = usage_report_of(found.cluster, found.now), count_without_topology(found.cluster)
    unknown = kinds_missing_for_use(found.cluster)
    sets = found.cluster.sets
    is_unapplied = bool(sets) and not any(root.uid for root in sets) and not found.cluster.gaps
    RENDERERS[output].show(
        page=lambda: topology_list_page(survey, without, unknown, is_unapplied=is_unapplied),
        document=lambda: topology_list_as_json(survey, without, unknown),
    )
    return ERROR if found.faults else DONE


def impact_of_topology(source: Source, name: str, changed: str | None, output: str) -> int:
    """Judge a change or a deletion and print who is concerned; returns the exit code (CL-001, TP-123)."""
    found = read_topology_input(source)
    if found is None or not found.usable:
        return ERROR
    survey = usage_report_of(found.cluster, found.now)
    one = next((one for one in survey if one.name == name), None)
    if one is None or (changed is None and name not in found.cluster.topologies):
        known = found.cluster.topologies
        meant = did_you_mean(name, known)
        print_error(f"not in the input: topology {name}; known: {listed(known) or 'none'}{meant}")
        return USAGE
    old = found.cluster.topologies.get(name)
    again = name == DEFAULT_TOPOLOGY and found.cluster.configuration.topology.enabled
    decision: Decision[AdmissionVerdict] | None = None
    if changed is None:
        if one.not_validated is None:
            decision = admit_topology_deletion(_raw_of(name, old), _around(one, found.cluster))
        what = TopologyImpact(one, old, None, decision, (), again)
    else:
        new = _changed(changed, name, old.ref.kind if old is not None else TOPOLOGY_KIND)
        if new is None:
            return ERROR
        raw = _raw_of(name, old) if old is not None else None
        if one.not_validated is None:
            around = _around(one, found.cluster, by_placed=True)
            decision = admit_topology(new.value, raw, around, found.cluster.configuration)
        topology = _projected(new)
        sets = set_impacts_of(found.cluster, topology, found.now) if topology is not None else ()
        what = TopologyImpact(one, old, topology, decision, sets, again)
    RENDERERS[output].show(page=lambda: topology_impact_page(what), document=lambda: topology_impact_as_json(what))
    if found.faults or what.is_refused:
        return ERROR
    return FAIL_ON if what.is_unknown else DONE


def _as_configured(loaded: Loaded) -> Cluster:
    """Without a configuration the default topology counts as it is."""
    found = loaded.cluster.topologies.get(DEFAULT_TOPOLOGY)
    told = TopologyAware(enabled=True, levels=found.levels if found is not None else ())
    return replace(loaded.cluster, configuration=Configuration(topology=told))


def _around(one: TopologyUsage, cluster: Cluster, *, by_placed: bool = False) -> TopologyView:
    """What admission would see; nothing of users where not all are known, nor, ``by_placed``, all their pods."""
    users = tuple(TopologyUser(user.namespace, user.name, user.bound or 0) for user in one.users)
    known = not (one.not_collected if by_placed else not one.users_are_known)
    counted = not by_placed or all(user.bound is not None for user in one.users)
    return TopologyView(topologies=cluster.topologies, users={one.name: users} if known and counted else None)


def _raw_of(name: str, topology: ClusterTopology | None) -> dict[str, Any]:
    """A topology as admission is handed it, as far as it looks."""
    levels = [level._asdict() for level in topology.levels] if topology is not None else []
    kind = topology.ref.kind if topology is not None else TOPOLOGY_KIND
    metadata = {"name": name, "finalizers": list(topology.finalizers if topology is not None else ())}
    return {"apiVersion": GROVE, "kind": kind, "metadata": metadata, "spec": {"levels": levels}}


def _changed(path: str, name: str, kind: str) -> Item | None:
    """The topology in a file of changes; None where there is not exactly one, which is reported."""
    faults: list[Fault] = []
    found = [item for item in items_of(path, faults, standard_input()) if is_topology(item.value)]
    chosen = [item for item in found if label_of(item) == f"{kind} {name}"]
    if len(chosen) != 1 and not faults:
        others = ", ".join(label_of(item) for item in found) or "none"
        faults.append(Fault(file=path, expected=f"{kind} {name}, once", got=others))
    faults += [
        fault_in(item, label_of(item), ("metadata.name", "one topology of this name", "another one before"), None)
        for item in chosen[1:]
    ]
    if faults:
        print_error(problems_page(faults, NOTHING_DECIDED))
        return None
    return chosen[0]


def _projected(item: Item) -> ClusterTopology | None:
    """What does not read was refused with every problem (TP-087)."""
    try:
        return cluster_topology_of(item.value)
    except MalformedObject:
        return None
