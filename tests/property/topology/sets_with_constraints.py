"""Sets with constraints, their topologies, and snapshots with and without placed pods."""

from typing import Any, Final

from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import TOPOLOGY_KIND
from grove_core.resources.cluster_topology import (
    ClusterTopology,
    TopologyLevel,
    cluster_topology_from_json,
    effective_topologies,
)
from grove_core.resources.configuration import Configuration, TopologyAwareSettings
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw

Json = dict[str, Any]
ZONE, RACK, HOST = "topology.kubernetes.io/zone", "example.com/rack", "kubernetes.io/hostname"
LEVELS: Final = (TopologyLevel("zone", ZONE), TopologyLevel("rack", RACK), TopologyLevel("host", HOST))
ON: Final = Configuration(topology=TopologyAwareSettings(enabled=True, levels=LEVELS))


def topology(name: str, *levels: tuple[str, str], kind: str = TOPOLOGY_KIND, **meta: Any) -> ClusterTopology:
    raw = {
        "kind": kind,
        "metadata": {"name": name, "uid": f"{kind} {name}", "resourceVersion": "7", **meta},
        "spec": {"levels": [{"domain": domain, "key": key} for domain, key in levels or LEVELS]},
    }
    return cluster_topology_from_json(raw)


def with_topologies(snapshot: Snapshot, *known: ClusterTopology, configuration: Configuration = ON) -> Snapshot:
    seen = snapshot.complete | {TOPOLOGY_KIND}
    return replace(
        snapshot, configuration=configuration, topologies=FrozenDict(effective_topologies(known)), complete=seen
    )


def constrained_set(**template: Any) -> Json:
    """A set with a constraint at each of the three levels, a base gang and a scaled one."""
    clique = clique_raw("a")
    clique["topologyConstraint"] = {"packDomain": "host"}
    return set_raw(
        clique,
        clique_raw("b"),
        groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 2, "topologyConstraint": {"packDomain": "rack"}},),
        **{"topologyConstraint": {"pack": {"required": "zone", "preferred": "rack"}}, **template},
    )


def unplaced_set(*known: ClusterTopology, configuration: Configuration = ON, **template: Any) -> Snapshot:
    """A set with all its gangs, no pod of which is placed."""
    return at_rest(with_topologies(applied(constrained_set(**template)), *known, configuration=configuration))


def with_bound_pod(snapshot: Snapshot) -> Snapshot:
    """The snapshot with one pod bound to a node."""
    uid = snapshot.cliques[0].uid
    first, *rest = snapshot.pods_of[uid]
    return replace(
        snapshot, pods_of=frozen_dict_of_tuples({**snapshot.pods_of, uid: [replace(first, node="n"), *rest]})
    )
