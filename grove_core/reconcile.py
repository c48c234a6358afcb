"""The pipeline: from a snapshot of one PodCliqueSet to its plan."""

from collections.abc import Iterable

from grove_core.areas.gang_termination.termination_result import defer_unconfirmed_terminations
from grove_core.areas.scheduling.wants import result_of_scheduling
from grove_core.areas.topology.judge import judge_topology, topology_of_new_gangs
from grove_core.areas.topology.wants import result_of_topology
from grove_core.areas.workload.deleted_objects import finalizer_removals
from grove_core.areas.workload.set_too_large import withhold_if_set_too_large
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.kernel.decisions import union_of_area_results
from grove_core.kernel.steps import Step
from grove_core.plan.plan import Plan
from grove_core.plan.planner import plan_from_wants, steps_for_objects_without_root
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.snapshot_argument import require_snapshot
from grove_core.snapshot.unwritten_breach_changes import with_unwritten_breach_changes


def reconcile(snapshot: Snapshot, rules: RuleSet = DESIGN) -> Plan:
    """Return the plan for ``snapshot.root``: everything that the operator would do now, with reasons.

    Pure and total: the same snapshot gives the same plan (PL-001), and every snapshot gives one.

    Args:
        snapshot: of the PodCliqueSet; see :meth:`grove_core.snapshot.cluster.Cluster.snapshot_of`.
        rules: the operator that acts; others by name with :func:`grove_core.rule_sets.rule_set_by_name.rule_set`.

    Raises:
        TypeError: ``rules`` is no rule set, or ``snapshot`` no snapshot.

    Example:
        A set that was just applied to an empty cluster, of which every kind is known:

        >>> from datetime import UTC, datetime
        >>> from grove_core import reconcile
        >>> from grove_core.resources.podcliqueset import podcliqueset_from_json
        >>> from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
        >>> router = {"name": "router", "spec": {"roleName": "router", "replicas": 2}}
        >>> spec = {"replicas": 1, "template": {"cliques": [router]}}
        >>> metadata = {"name": "llama", "uid": "7f3a"}
        >>> root = podcliqueset_from_json({"kind": "PodCliqueSet", "metadata": metadata, "spec": spec})
        >>> now = datetime(2026, 11, 20, 9, tzinfo=UTC)
        >>> plan = reconcile(Snapshot(root=root, now=now, complete=EVERY_KIND))
        >>> for step in plan.steps:
        ...     print(type(step.action).__name__, step.target.short, step.because[0].rule.code)
        Create Role/grove.io:pcs:llama PodAccess
        Create Service/llama-0 ServiceOfReplica
        Create ServiceAccount/llama PodAccess
        Create PodClique/llama-0-router CliqueOfReplica
        Create RoleBinding/grove.io:pcs:llama PodAccess
        Create Secret/llama-ic-sat PodAccess
        SetStatus PodCliqueSet/llama AvailableReplicas
    """
    if not isinstance(rules, RuleSet):
        raise TypeError(f"reconcile takes a RuleSet, as rule_set('field'); got {rules!r}")
    seen = with_unwritten_breach_changes(with_own_writes(require_snapshot(snapshot, "reconcile")))
    termination = defer_unconfirmed_terminations(rules.gang_termination(seen), seen)  # GT or GF
    mnnvl = rules.mnnvl.decide(seen)  # MN and MS, or NF
    topology = judge_topology(seen)  # TP
    new_gangs = topology_of_new_gangs(seen, topology)
    backends = rules.gang_backends(seen)  # SC
    inputs = WorkloadInputs(termination.terminating, mnnvl.clique_domains, mnnvl.annotations, new_gangs, backends)
    workload = rules.workload(seen, inputs)  # WL
    scheduling = result_of_scheduling(seen, backends, new_gangs, workload)
    of_topology = result_of_topology(seen, topology, scheduling.misplaced)
    workload_with_domains = mnnvl.parts_with_domains(seen, workload.of_area)  # in place of workload.of_area
    others = union_of_area_results((mnnvl.of_area, workload_with_domains, of_topology, scheduling.of_area))
    others = withhold_if_set_too_large(seen, others)  # of such a set nothing is terminated either (GT-064)
    result = union_of_area_results((termination.as_area_result, others))
    return plan_from_wants(rules.withholds(seen, result), seen, rules=rules.name)


def finalizer_steps_for_orphans(leftovers: Iterable[ScalingGroup | PodClique]) -> tuple[Step, ...]:
    """Return the steps that remove Grove's finalizer from parts of sets that no longer exist (WL-001)."""
    return steps_for_objects_without_root(finalizer_removals(leftovers))
