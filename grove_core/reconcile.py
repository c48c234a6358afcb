"""The whole pipeline on one page: a snapshot goes in, a plan comes out, every dependency is a visible argument."""

from collections.abc import Iterable

from grove_core.areas.gang_termination.design.ruleset import DESIGN
from grove_core.areas.gang_termination.ruling import RuleSet, deferred_unless_confirmed
from grove_core.areas.mnnvl.judge import clique_domains_of, judge_mnnvl
from grove_core.areas.mnnvl.wants import findings_of_mnnvl, wake_of_mnnvl, wants_of_mnnvl
from grove_core.areas.mnnvl_scopes.judge import judge_scopes
from grove_core.areas.mnnvl_scopes.wants import apply_admission, findings_of_scopes, wants_of_scopes
from grove_core.areas.topology.judge import gang_topology_of, judge_topology
from grove_core.areas.topology.wants import findings_of_topology, wants_of_topology
from grove_core.areas.workload.findings import findings_of_start
from grove_core.areas.workload.judge import judge_workload
from grove_core.areas.workload.pods.scheduling_gates import findings_of_gates, judge_gates, wants_of_gates
from grove_core.areas.workload.size_limit import withhold_if_too_large
from grove_core.areas.workload.teardown import finalizer_removals, wants_of_teardown
from grove_core.kernel.steps import Step
from grove_core.kernel.wants import Desired
from grove_core.plan.difference import difference, steps_for
from grove_core.plan.plan import Plan
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.superseded_breaches import with_superseded_breaches


def reconcile(snapshot: Snapshot, rules: RuleSet = DESIGN) -> Plan:
    """Everything Grove would do about ``snapshot.root`` at this moment, and why.

    Pure and total: the same snapshot gives the same plan (PL-001), and every snapshot gives one.

    Args:
        snapshot: what the root can see; see :meth:`grove_core.snapshot.cluster.Cluster.snapshot_of`.
        rules: by which rules breaches and terminations are judged; others by name with
            :func:`grove_core.areas.gang_termination.rulesets.rule_set`.

    Example:
        A set that was just applied to an empty cluster, of which every kind is known:

        >>> from datetime import UTC, datetime
        >>> from grove_core import reconcile
        >>> from grove_core.resources.podcliqueset import podcliqueset_of
        >>> from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
        >>> router = {"name": "router", "spec": {"roleName": "router", "replicas": 2}}
        >>> spec = {"replicas": 1, "template": {"cliques": [router]}}
        >>> root = podcliqueset_of({"kind": "PodCliqueSet", "metadata": {"name": "llama", "uid": "7f3a"}, "spec": spec})
        >>> now = datetime(2026, 11, 20, 9, tzinfo=UTC)
        >>> plan = reconcile(Snapshot(root=root, pods_of={}, now=now, complete=EVERY_KIND))
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
    seen = with_superseded_breaches(with_own_writes(snapshot))  # our own writes count as seen

    ruling = deferred_unless_confirmed(rules.rule(seen), seen)  # GT or GF

    fabric = judge_mnnvl(seen)  # MN
    scopes = judge_scopes(seen)  # MS
    told = clique_domains_of(seen, fabric)._replace(annotations=scopes.annotations)

    gates = judge_gates(seen)  # WL
    topology = judge_topology(seen)  # TP
    completion = judge_workload(seen, ruling.ending, told, gang_topology_of(seen, topology))  # WL

    others = Desired.union(
        (
            wants_of_mnnvl(seen, fabric),  # MN
            wants_of_scopes(seen, scopes),  # MS
            wants_of_teardown(seen),  # WL
            *completion.wants,  # WL
            wants_of_topology(seen, topology, completion.misplaced),  # TP
            wants_of_gates(gates),  # WL
        )
    )
    others = withhold_if_too_large(seen, others)  # WL
    desired = Desired.union((Desired(ruling.ends), ruling.desired, others))
    desired = apply_admission(seen, desired)  # MS
    return difference(
        desired,
        seen,
        deferred=ruling.deferred,
        rules=rules.name,
        wake_at=min(filter(None, (ruling.wake_at, wake_of_mnnvl(fabric))), default=None),
        findings=(
            *ruling.findings,
            *(rules.unpredicted(seen, bool(completion.findings)) if rules.unpredicted is not None else ()),
            *findings_of_mnnvl(seen, fabric),
            *findings_of_scopes(seen, scopes, desired),
            *findings_of_topology(seen, topology),
            *findings_of_gates(gates),
            *findings_of_start(seen),
            *completion.findings,
        ),
    )


def drop_finalizers(leftovers: Iterable[ScalingGroup | PodClique]) -> tuple[Step, ...]:
    """What to do about parts of sets that are gone: nobody else would take Grove's finalizer from them (WL-233).

    Args:
        leftovers: whose set does not exist; an operator that ran on after its time may have made them.
    """
    return steps_for(finalizer_removals(leftovers))
