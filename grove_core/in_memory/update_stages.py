"""The stages of an update: the rounds until the operator waits for pods, which then become ready (ED-002).

Also the pods that an update restarts after the last stage of its forecast (ED-006, ED-013).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, is_gang_termination_deletion
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan.forecast import Forecast
from grove_core.plan.plan import Plan
from grove_core.plan.serving_parts import available_set_replicas, serving_parts
from grove_core.plan.update_forecast import DeletedPod, DeletedPodFate, PodsAndGpus, UpdateStage
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot

_NODE: Final = "(a node)"
_FIXED_WORK: Final = 20


class _Deletion(NamedTuple):
    """Why a pod is deleted, and its place in the order of deletions."""

    place: int
    is_termination: bool
    because: Reason | None


_AFTER_ALL: Final = 2**63 - 1
_UNKNOWN: Final = _Deletion(_AFTER_ALL, is_termination=False, because=None)


def stages_of_update(
    cluster: InMemoryCluster, start: Snapshot, rules: RuleSet, there: frozenset[str], first: Plan | None = None
) -> Iterator[tuple[Forecast, Snapshot, Snapshot]]:
    """Yield the rounds of each stage, with the snapshots before and after it; between stages created pods get ready.

    The last stage is the one after which no created pod is left to become ready; it yields that snapshot.

    Args:
        there: uids of the pods from before the update.
        first: the plan of ``start``, where it is known already.
    """
    seen, moved = start, True
    while moved:
        forecast = forecast_until_settled(cluster, seen, rules, limit=None, until=None, first=first)
        first = None
        after = cluster.snapshot_of_set(start.root.ref, forecast.rounds[-1].at)
        if after is None:
            return
        yield forecast, seen, after
        moved = _make_pods_ready(cluster, after, there)
        seen = cluster.snapshot_of_set(start.root.ref, after.now) or after


def pod_uids(seen: Snapshot) -> frozenset[str]:
    """Return the uids of all pods of a set."""
    return frozenset(pod.uid for _, pod in seen.pods())


def update_stage_from_rounds(
    forecast: Forecast, before: Snapshot, after: Snapshot, there: frozenset[str]
) -> UpdateStage:
    """Return what the rounds of a forecast did; every deleted pod counts as removed for now.

    Args:
        before, after: the set before and after the rounds.
        there: uids of the pods from before the update.
    """
    known, left = pod_uids(before), pod_uids(after)
    reasons = _reasons_of_deletions(forecast)
    gone = [
        (reasons.get(pod.ref) or reasons.get(clique.ref) or _UNKNOWN, clique, pod)
        for clique, pod in before.pods()
        if pod.uid not in left and pod.uid in there and not pod.deleting
    ]
    earlier, parts = frozenset(serving_parts(before)), serving_parts(after)
    return UpdateStage(
        deleted=tuple(
            DeletedPod(
                pod.ref,
                clique.ref,
                pod.index,
                "" if pod.node == _NODE else pod.node,
                pod.gpus if pod.scheduled else 0,
                pod.ready,
                DeletedPodFate.TERMINATED if why.is_termination else DeletedPodFate.REMOVED,
                why.because,
            )
            for why, clique, pod in sorted(gone, key=lambda one: (one[0].place, one[2].name))
        ),
        created=PodsAndGpus.of_pods(pod for _, pod in after.pods() if pod.uid not in known),
        serving=tuple(one for one in parts if one not in earlier),
        available=available_set_replicas(after, parts),
        waits=_waits_of_update(forecast),
    )


def _reasons_of_deletions(forecast: Forecast) -> Mapping[Ref, _Deletion]:
    """Return why each pod or PodClique is deleted, the first deletion of each."""
    found: dict[Ref, _Deletion] = {}
    for round_ in forecast.rounds:
        for step in round_.steps:
            if isinstance(step.action, Delete):
                found.setdefault(
                    step.target, _Deletion(len(found), is_gang_termination_deletion(step), step.because[0])
                )
    return found


def _waits_of_update(forecast: Forecast) -> tuple[Withheld, ...]:
    """Return what the update waits for after the last round."""
    return tuple(held for held in forecast.rounds[-1].withheld if held.obstacle is StepObstacle.UPDATE)


def _make_pods_ready(cluster: InMemoryCluster, seen: Snapshot, apart: frozenset[str]) -> bool:
    """Place every pod that is not ready, and make it ready; return whether there was one.

    A pod with the operator's scheduling gate stays as it is.

    Args:
        apart: uids of pods that stay as they are.
    """
    gated = "PodGang" in seen.complete  # else nothing is known of gates, and they count as open
    waiting = [
        pod
        for _, pod in seen.pods()
        if pod.uid not in apart
        and not (pod.ready or (gated and pod.has_grove_gate) or pod.foreign_gates or pod.deleting)
    ]
    for pod in waiting:
        cluster.put_pod(replace(pod, scheduled=True, gated=False, node=_NODE, phase="Running", ready=True, trouble=""))
    return bool(waiting)


def created_slots(seen: Snapshot, there: frozenset[str]) -> frozenset[tuple[str, int]]:
    """Return PodClique and index of every pod that the update created and that stays."""
    return frozenset((clique.ref.name, pod.index) for clique, pod in seen.pods() if pod.uid not in there)


def stages_with_restarts_counted(
    stages: Iterable[UpdateStage], created: frozenset[tuple[str, int]]
) -> Iterator[UpdateStage]:
    """Yield the stages with the deleted pods that have a successor counted as restarted (ED-004)."""
    for stage in stages:
        yield replace(
            stage,
            deleted=tuple(
                pod._replace(fate=DeletedPodFate.RESTARTED)
                if pod.fate is DeletedPodFate.REMOVED and (pod.clique.name, pod.pod_index) in created
                else pod
                for pod in stage.deleted
            ),
        )


def update_stage_work(forecast: Forecast, before: Snapshot) -> int:
    """Return the work of the rounds of one stage (ED-006)."""
    return len(forecast.rounds) * (_FIXED_WORK + sum(1 for _ in before.pods()))


def pods_restarted_by_stopped_update(
    cluster: InMemoryCluster,
    stopped: Snapshot,
    rules: RuleSet,
    there: frozenset[str],
    changed: frozenset[str],
    work: int,
) -> list[Pod]:
    """Return the pods that a stopped update restarts once every pod is ready (ED-013).

    They are all of :func:`pods_left_to_restart` where the update goes on waiting, or takes more than the work.

    Args:
        cluster: holds the objects of ``stopped``; it is changed.
        stopped: the set where the update stopped.
        there: uids of the pods from before the update.
        changed: names of the cliques whose pods depend on a changed field.
        work: the most work for the rest of the update.
    """
    _make_pods_ready(cluster, stopped, frozenset())
    seen = cluster.snapshot_of_set(stopped.root.ref, stopped.now) or stopped
    for forecast, earlier, after in stages_of_update(cluster, seen, rules, there):
        seen, waits = after, _waits_of_update(forecast)
        work -= update_stage_work(forecast, earlier)
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
