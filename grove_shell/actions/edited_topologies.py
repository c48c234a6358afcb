"""Manifests of topologies beside the stored topologies that they change (IN-082)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from grove_core.admit_cluster_topology import admit_topology
from grove_core.areas.topology.admit import KnownTopologiesForAdmission
from grove_core.areas.topology.usage_report import TopologyUsage, topology_usage_report
from grove_core.kernel.admission import Deny
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import GROVE, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.topology_usage import TopologyUser
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.reading.input_completeness import LoadedInput
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import item_display_name, item_problem_as_fault
from grove_shell.reading.input_topologies import TopologyEdit
from grove_shell.reading.manifest_admission import expected_text_of_objection


def topology_edit_faults(loaded: LoadedInput, rules: RuleSet, now: datetime) -> Iterator[InputFault]:
    """Yield the objections to the edits of topologies in an input, as faults.

    Whether pods are placed by the levels counts where the operator validates topologies (TP-084, GF-137).
    """
    before = {edit.before.ref.name: edit.before for edit in loaded.topology_edits}
    cluster = replace(loaded.cluster, topologies=FrozenDict({**loaded.cluster.topologies, **before}))
    usages = {one.name: one for one in topology_usage_report(cluster, now)} if before else {}
    for edit in loaded.topology_edits:
        usage = usages[edit.before.ref.name]
        if usage.not_validated is None:
            yield from _objections(edit, usage, cluster, counts_users=rules.keeps_topologies)


def _objections(
    edit: TopologyEdit, usage: TopologyUsage, cluster: IndexedCluster, *, counts_users: bool
) -> Iterator[InputFault]:
    view = known_topologies_for_edit(usage, cluster, by_placed=True)
    if not counts_users:
        view = view._replace(users={usage.name: ()})
    item, name = edit.item, item_display_name(edit.item)
    verdict = admit_topology(
        item.value, topology_as_raw_json(usage.name, edit.before), view, cluster.configuration
    ).verdict
    for objection in verdict.objections if isinstance(verdict, Deny) else ():
        problem = (objection.path, expected_text_of_objection(objection.reason.sentence), objection.got)
        yield item_problem_as_fault(item, name, problem, None, kind=objection.kind, lost=False)


def known_topologies_for_edit(
    one: TopologyUsage, cluster: IndexedCluster, *, by_placed: bool = False
) -> KnownTopologiesForAdmission:
    """Return what admission would know of the users of a topology.

    Args:
        by_placed: whether admission needs to know the placed pods of each user. Without, it needs the users alone;
            where not all that it needs is in the input, the view holds no users.
    """
    users = tuple(TopologyUser(user.namespace, user.name, user.bound or 0) for user in one.users)
    known = not (one.not_collected if by_placed else not one.users_are_known)
    counted = not by_placed or all(user.bound is not None for user in one.users)
    return KnownTopologiesForAdmission(
        topologies=cluster.topologies, users={one.name: users} if known and counted else None
    )


def topology_as_raw_json(name: str, topology: ClusterTopology | None) -> dict[str, Any]:
    """Return a topology as raw JSON, with the fields that admission reads."""
    levels = [level._asdict() for level in topology.levels] if topology is not None else []
    kind = topology.ref.kind if topology is not None else TOPOLOGY_KIND
    metadata = {"name": name, "finalizers": list(topology.finalizers if topology is not None else ())}
    return {"apiVersion": GROVE, "kind": kind, "metadata": metadata, "spec": {"levels": levels}}
