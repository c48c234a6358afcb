"""Forecasts of updates: rounds until the operator waits, then every created pod becomes ready, until the end (ED)."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, is_gang_termination_deletion
from grove_core.kernel.time_formats import format_go_duration, parse_duration
from grove_core.kernel.wants import StepObstacle
from grove_core.plan.forecast import Forecast
from grove_core.plan.plan import Plan
from grove_core.plan.serving_parts import available_set_replicas, serving_parts
from grove_core.plan.update_forecast import (
    NO_PODS,
    DeletedPod,
    DeletedPodFate,
    EditForecast,
    PodsAndGpus,
    UpdateForecast,
    UpdateStage,
    cliques_with_changed_pods,
    pods_of_new_set,
)
from grove_core.resources.manifest_changes import ManifestChange
from grove_core.resources.podcliqueset import PlannedManifestChange
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.in_memory.forecasts import (
    forecast_until_settled,
    snapshot_of_newly_created_set,
    snapshot_with_set_as_stored,
)
from grove_shell.in_memory.in_memory_cluster import InMemoryCluster

MOST_WORK: Final = 250_000
"""Rounds, each times the pods of the set plus 20, after which a forecast of an update ends (ED-006)."""
_DELAY: Final = "spec.template.terminationDelay"
_FIXED_WORK: Final = 20
_NODE: Final = "(a node)"
_NEEDED: Final = frozenset({"Pod", "PodClique", "PodCliqueScalingGroup"})


class _Deletion(NamedTuple):
    """Why a pod is deleted, and its place in the order of deletions."""

    place: int
    is_termination: bool
    because: Reason | None


_UNKNOWN: Final = _Deletion(sys.maxsize, is_termination=False, because=None)


def with_edit_forecast(
    forecast: Forecast,
    snapshot: Snapshot,
    rules: RuleSet,
    changes: Mapping[str, tuple[ManifestChange, ...]],
    work: int = MOST_WORK,
    progress: Callable[[UpdateStage], None] | None = None,
    first: Plan | None = None,
) -> Forecast:
    """Return the forecast of a set with what its manifest in the input does; as it is where there is none.

    Args:
        changes: ``namespace/name`` of an edited set -> the fields that change.
        work: the most work for its update (ED-006).
        progress: called for every stage, for a progress bar.
        first: the plan of the set as the operator stores it, where it is known already.
    """
    root = snapshot.root
    if not root.uid:
        return replace(forecast, creates=pods_of_new_set(root.spec))
    if root.edit is PlannedManifestChange.NONE:
        return forecast
    found = tuple(_changes_as_stored(changes.get(f"{root.ref.namespace}/{root.ref.name}", ()), rules))
    update = forecast_update(snapshot, rules, cliques_with_changed_pods(found), work, progress, first)
    return replace(forecast, edit=EditForecast(found, update))


def _changes_as_stored(changes: Iterable[ManifestChange], rules: RuleSet) -> Iterator[ManifestChange]:
    """Yield the changes, with the default terminationDelay of the rules in place of an absent one (GF-001)."""
    for change in changes:
        if change.path != _DELAY or change.after is not None or rules.default_delay is None:
            yield change
        elif parse_duration(str(change.before)) != rules.default_delay:
            yield change._replace(values=FrozenMap({**change.values, "after": format_go_duration(rules.default_delay)}))


def forecast_update(
    given: Snapshot,
    rules: RuleSet,
    changed: frozenset[str] = frozenset(),
    work: int = MOST_WORK,
    progress: Callable[[UpdateStage], None] | None = None,
    first: Plan | None = None,
) -> UpdateForecast | None:
    """Return the update of a set that was just edited, to its end or to the limit of the work.

    Args:
        given: the snapshot with the edit.
        rules: the operator that acts.
        changed: names of the cliques whose pods depend on a changed field.
        work: the most work; twice as much where no pod is left that restarts (ED-006).
        progress: called for every stage.
        first: the plan of the set as the operator stores it, where it is known already.

    Returns:
        None where pods, PodCliques, scaling groups or PodGroups of the set were not collected.
    """
    start = snapshot_with_set_as_stored(given, rules)
    if start.not_collected & _NEEDED:
        return None
    cluster, before, there = InMemoryCluster((start,)), serving_parts(start), _pod_uids(start)
    stages: list[UpdateStage] = []
    seen, unreached, left, is_cut = start, NO_PODS, work, False
    for forecast, earlier, seen in _stages_of_update(cluster, start, rules, there, first):
        if any(held.obstacle is StepObstacle.GROUPS_NOT_COLLECTED for held in forecast.rounds[-1].withheld):
            return None
        stages.append(_stage(forecast, earlier, seen, there))
        if progress is not None:
            progress(stages[-1])
        left -= len(forecast.rounds) * (_FIXED_WORK + sum(1 for _ in earlier.pods()))
        unreached = _unreached(seen, there, changed) if left <= 0 and stages[-1].created.pods else NO_PODS
        is_cut = unreached.pods > 0 or (left <= -work and stages[-1].created.pods > 0)
        if is_cut:
            break
    return UpdateForecast(
        before=before,
        after=serving_parts(seen),
        available=available_set_replicas(start, before),
        stages=tuple(_with_fates(stages, _created_slots(seen, there))),
        waits=() if is_cut or not stages else stages[-1].waits,
        unreached=unreached,
        is_cut=is_cut,
    )


def snapshot_of_rolled_out_set(given: Snapshot, rules: RuleSet) -> Snapshot:
    """Return the snapshot of a new set after everything that it consists of was created and is ready (ED-008).

    Args:
        given: the set without a uid, and nothing of it.
    """
    start = snapshot_of_newly_created_set(given, rules)
    *_, (_, _, settled) = _stages_of_update(InMemoryCluster((start,)), start, rules, frozenset())
    return settled


def _stages_of_update(
    cluster: InMemoryCluster, start: Snapshot, rules: RuleSet, there: frozenset[str], first: Plan | None = None
) -> Iterator[tuple[Forecast, Snapshot, Snapshot]]:
    """Yield the rounds of each stage, with the snapshots before and after it; between stages created pods get ready.

    The last stage is the one after which no created pod is left to become ready; it yields that snapshot.

    Args:
        there: uids of the pods from before the update.
        first: the plan of ``start``, where it is known already.
    """
    gated = "PodGang" in start.complete  # else nothing is known of gates, and they count as open
    seen, moved = start, True
    while moved:
        forecast = forecast_until_settled(cluster, seen, rules, limit=None, until=None, first=first)
        first = None
        after = cluster.snapshot_of_set(start.root.ref, forecast.rounds[-1].at)
        if after is None:
            return
        yield forecast, seen, after
        moved = _make_created_pods_ready(cluster, after, there, gated=gated)
        seen = cluster.snapshot_of_set(start.root.ref, after.now) or after


def _pod_uids(seen: Snapshot) -> frozenset[str]:
    return frozenset(pod.uid for _, pod in seen.pods())


def _stage(forecast: Forecast, before: Snapshot, after: Snapshot, there: frozenset[str]) -> UpdateStage:
    """Return what the rounds of a forecast did; every deleted pod counts as removed for now."""
    known, left = _pod_uids(before), _pod_uids(after)
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
        waits=tuple(held for held in forecast.rounds[-1].withheld if held.obstacle is StepObstacle.UPDATE),
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


def _make_created_pods_ready(cluster: InMemoryCluster, seen: Snapshot, there: frozenset[str], *, gated: bool) -> bool:
    """Place every created pod, and make it ready; return whether there was one.

    Args:
        gated: whether a pod with the operator's scheduling gate stays as it is.
    """
    created = [
        pod
        for _, pod in seen.pods()
        if pod.uid not in there
        and not (pod.ready or (gated and pod.has_grove_gate) or pod.foreign_gates or pod.deleting)
    ]
    for pod in created:
        cluster.put_pod(replace(pod, scheduled=True, gated=False, node=_NODE, phase="Running", ready=True, trouble=""))
    return bool(created)


def _created_slots(seen: Snapshot, there: frozenset[str]) -> frozenset[tuple[str, int]]:
    """Return PodClique and index of every pod that the update created and that stays."""
    return frozenset((clique.ref.name, pod.index) for clique, pod in seen.pods() if pod.uid not in there)


def _with_fates(stages: Iterable[UpdateStage], created: frozenset[tuple[str, int]]) -> Iterator[UpdateStage]:
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


def _unreached(seen: Snapshot, there: frozenset[str], changed: frozenset[str]) -> PodsAndGpus:
    """Return the pods from before the update that the rest of the update restarts (ED-006).

    They are the pods of changed cliques, and of other cliques in their scaling groups, whose replicas are replaced as
    a whole.
    """
    if seen.root.spec.update_strategy.type == ON_DELETE:
        return NO_PODS
    groups = seen.root.spec.template.pod_clique_scaling_groups
    members = (name for group in groups if changed.intersection(group.clique_names) for name in group.clique_names)
    restarted = changed.union(members)
    return PodsAndGpus.of_pods(
        pod for clique, pod in seen.pods() if pod.uid in there and clique.template_name in restarted
    )
