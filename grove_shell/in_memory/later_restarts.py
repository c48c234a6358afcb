"""The pods that an update restarts after the last stage of its forecast (ED-006, ED-013)."""

from typing import Final

from grove_core.kernel.structs import replace
from grove_core.plan.forecast import Forecast
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.in_memory.in_memory_cluster import InMemoryCluster
from grove_shell.in_memory.update_stages import make_pods_ready, pod_uids, stages_of_update, waits_of_update

_FIXED_WORK: Final = 20


def work_of_stage(forecast: Forecast, before: Snapshot) -> int:
    """Return the work of the rounds of one stage (ED-006)."""
    return len(forecast.rounds) * (_FIXED_WORK + sum(1 for _ in before.pods()))


def pods_restarted_once_ready(
    cluster: InMemoryCluster,
    stopped: Snapshot,
    rules: RuleSet,
    there: frozenset[str],
    changed: frozenset[str],
    work: int,
) -> list[Pod]:
    """Return the pods that a stopped update restarts once every pod is ready (ED-013).

    They are all of :func:`pods_left_to_restart` where the update goes on waiting, or takes more than the work.
    """
    make_pods_ready(cluster, stopped, frozenset())
    seen = cluster.snapshot_of_set(stopped.root.ref, stopped.now) or stopped
    for forecast, earlier, after in stages_of_update(cluster, seen, rules, there):
        seen, waits = after, waits_of_update(forecast)
        work -= work_of_stage(forecast, earlier)
        if work <= 0:
            return pods_left_to_restart(stopped, there, changed)
    if waits:
        return pods_left_to_restart(stopped, there, changed)
    left = pod_uids(seen)
    return [
        pod if pod.scheduled else replace(pod, gpus=0)
        for _, pod in stopped.pods()
        if pod.uid in there and pod.uid not in left and not pod.deleting
    ]


def pods_left_to_restart(seen: Snapshot, there: frozenset[str], changed: frozenset[str]) -> list[Pod]:
    """Return the pods from before the update that the rest of the update restarts (ED-006).

    They are the pods of changed cliques, and of other cliques in their scaling groups, whose replicas are replaced as
    a whole.
    """
    if seen.root.spec.update_strategy.type == ON_DELETE:
        return []
    groups = seen.root.spec.template.pod_clique_scaling_groups
    members = (name for group in groups if changed.intersection(group.clique_names) for name in group.clique_names)
    restarted = changed.union(members)
    return [pod for clique, pod in seen.pods() if pod.uid in there and clique.template_name in restarted]
