"""The usage report of the topologies of a cluster (TP-121, TP-127, TP-130)."""

from typing import Final

import pytest

from grove_core.areas.topology.rules import TopologyReason
from grove_core.areas.topology.usage_report import TopologyDeletionState, topology_usage_report
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Rule
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import BINDING_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import effective_topologies
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.snapshot.cluster import EVERYWHERE, IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster
from tests.property.topology.sets_with_constraints import ON, constrained_set, topology
from tests.property.workload.sets import NOW, applied

EVERYTHING: Final = frozenset((kind, EVERYWHERE) for kind in ("PodCliqueSet", "PodClique", TOPOLOGY_KIND))


def cluster(*names: str, kind: str = TOPOLOGY_KIND, configuration: Configuration = ON) -> IndexedCluster:
    """A cluster of one set that uses topology ``t``, and the topologies of these names."""
    root = applied(constrained_set(clusterTopologyName="t")).root
    known = effective_topologies(topology(name, kind=kind) for name in names)
    return replace(
        index_cluster(sets=(root,), complete=EVERYTHING), topologies=FrozenDict(known), configuration=configuration
    )


@pytest.mark.parametrize(
    ("kind", "configuration", "why"),
    [
        (TOPOLOGY_KIND, ON, None),
        (TOPOLOGY_KIND, DEFAULT_CONFIGURATION, TopologyReason.OFF_IS_NOT_GUARDED),
        (BINDING_KIND, ON, TopologyReason.BINDING_NOT_GUARDED),
        (BINDING_KIND, DEFAULT_CONFIGURATION, TopologyReason.BINDING_NOT_GUARDED),
    ],
)
def test_tp127_tp130_topologies_without_validation(kind: str, configuration: Configuration, why: Rule | None) -> None:
    found = {one.name: one for one in topology_usage_report(cluster("t", kind=kind, configuration=configuration), NOW)}[
        "t"
    ]
    assert (found.not_validated.rule if found.not_validated is not None else None) is why
    assert (found.kind, found.locked) == (kind, False)
    assert [reason.rule for reason in found.lock] == ([why] if why is not None else [])


def test_tp121_users_and_missing_topologies() -> None:
    report = topology_usage_report(cluster("other"), NOW)
    assert [(one.name, one.state, [user.name for user in one.users]) for one in report] == [
        ("other", TopologyDeletionState.FREE, []),
        ("t", TopologyDeletionState.MISSING, ["llm"]),
    ]
