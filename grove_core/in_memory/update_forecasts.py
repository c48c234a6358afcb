"""Forecasts of updates: rounds until the operator waits, then every created pod becomes ready, until the end (ED)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from grove_core.in_memory.forecasts import (
    snapshot_of_newly_created_set,
    snapshot_with_set_as_stored,
)
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.in_memory.update_stages import (
    created_slots,
    pod_uids,
    pods_left_to_restart,
    pods_restarted_by_stopped_update,
    stages_of_update,
    stages_with_restarts_counted,
    update_stage_from_rounds,
    update_stage_work,
)
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_go_duration, parse_duration
from grove_core.kernel.wants import StepObstacle
from grove_core.plan.forecast import Forecast
from grove_core.plan.plan import Plan
from grove_core.plan.serving_parts import available_set_replicas, serving_parts
from grove_core.plan.update_forecast import (
    DeletedPodFate,
    EditForecast,
    PodsAndGpus,
    PodWithGpus,
    UpdateForecast,
    UpdateStage,
    cliques_with_changed_pods,
    pod_and_gpu_counts_of_new_set,
)
from grove_core.resources.api_names import POD_GROUP_KIND
from grove_core.resources.edited_manifest_fields import ManifestChange
from grove_core.resources.pod import FINISHED_PHASES, Pod, active_pods
from grove_core.resources.podcliqueset import PlannedSetChange, PodCliqueSet
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot, uncollected_part_kinds

MOST_WORK: Final = 250_000
"""Rounds, each times the pods of the set plus 20, after which a forecast of an update ends (ED-006)."""
_DELAY: Final = "spec.template.terminationDelay"


def forecast_with_edit(
    forecast: Forecast,
    snapshot: Snapshot,
    rules: RuleSet,
    changes: Mapping[str, tuple[ManifestChange, ...]],
    stored: Mapping[str, PodCliqueSet],
    work: int = MOST_WORK,
    progress: Callable[[UpdateStage], None] | None = None,
    first: Plan | None = None,
) -> Forecast:
    """Return the forecast of a set with what its manifest in the input does; as it is where there is none.

    Args:
        changes: ``namespace/name`` of an edited set -> the fields that change.
        stored: ``namespace/name`` of an edited set -> the set without the edit.
        work: the most work for its update (ED-006).
        progress: called for every stage, for a progress bar.
        first: the plan of the set as the operator stores it, where it is known already.
    """
    root = snapshot.root
    if not root.uid:
        return replace(forecast, creates=pod_and_gpu_counts_of_new_set(root.spec))
    if root.edit is PlannedSetChange.NONE:
        return forecast
    name = f"{root.ref.namespace}/{root.ref.name}"
    found = tuple(_changes_as_stored(changes.get(name, ()), rules))
    before = stored.get(name)
    lacks, changed = _uncollected_parts(snapshot, before), cliques_with_changed_pods(found)
    followed = None if lacks else forecast_update_of_edit(snapshot, rules, changed, work, progress, first)
    if followed is None:
        return replace(forecast, edit=EditForecast(found, None, lacks=lacks or (POD_GROUP_KIND,)))
    if before is None or not before.status.updating:
        return replace(forecast, edit=EditForecast(found, followed.forecast))
    running = forecast_update_of_edit(replace(snapshot, root=before), rules, work=work, progress=progress)
    return replace(forecast, edit=EditForecast(found, _with_anyway(followed, running or followed)))


def _uncollected_parts(snapshot: Snapshot, before: PodCliqueSet | None) -> tuple[str, ...]:
    """Return the kinds of parts that were not collected and that the set has with the edit or without it, sorted."""
    roots = (snapshot.root,) if before is None else (snapshot.root, before)
    return tuple(sorted({kind for root in roots for kind in uncollected_part_kinds(replace(snapshot, root=root))}))


def _changes_as_stored(changes: Iterable[ManifestChange], rules: RuleSet) -> Iterator[ManifestChange]:
    """Yield the changes, with the default terminationDelay of the rules in place of an absent one (GF-001)."""
    for change in changes:
        if change.path != _DELAY or change.after is not None or rules.default_delay is None:
            yield change
        elif parse_duration(str(change.before)) != rules.default_delay:
            yield change._replace(values=FrozenMap({**change.values, "after": format_go_duration(rules.default_delay)}))


class FollowedUpdateForecast(NamedTuple):
    """The forecast of an update, and the pods that restart after its last stage."""

    forecast: UpdateForecast
    unreached: tuple[Pod, ...]

    @property
    def restarted(self) -> dict[Ref, PodWithGpus]:
        """The pods that are restarted, by name."""
        of_stages = {pod.pod: pod for pod in self.forecast.deleted(DeletedPodFate.RESTARTED)}
        return {**of_stages, **{pod.ref: pod for pod in self.unreached}}


def _with_anyway(followed: FollowedUpdateForecast, running: FollowedUpdateForecast) -> UpdateForecast:
    """Return the update of an edit with the pods that the update which runs already restarts too (ED-014)."""
    both = running.restarted.keys()
    anyway = PodsAndGpus.of_pods(pod for ref, pod in followed.restarted.items() if ref in both)
    return replace(followed.forecast, anyway=anyway)


def forecast_update_of_edit(
    given: Snapshot,
    rules: RuleSet,
    changed: frozenset[str] = frozenset(),
    work: int = MOST_WORK,
    progress: Callable[[UpdateStage], None] | None = None,
    first: Plan | None = None,
) -> FollowedUpdateForecast | None:
    """Return the update of a set that was just edited, to its end or to the limit of the work.

    Args:
        given: the snapshot with the edit.
        rules: the operator that acts.
        changed: names of the cliques whose pods depend on a changed field.
        work: the most work; twice as much where no pod is left that restarts (ED-006).
        progress: called for every stage.
        first: the plan of the set as the operator stores it, where it is known already.

    Returns:
        None where the forecast rests on parts or PodGroups of the set that were not collected.
    """
    start = snapshot_with_set_as_stored(given, rules)
    if uncollected_part_kinds(start):
        return None
    cluster, before, there = InMemoryCluster((start,)), serving_parts(start), pod_uids(start)
    stages: list[UpdateStage] = []
    unreached: Sequence[Pod] = ()
    seen, left, is_cut = start, work, False
    for forecast, earlier, seen in stages_of_update(cluster, start, rules, there, first):
        if any(held.obstacle is StepObstacle.GROUPS_NOT_COLLECTED for held in forecast.rounds[-1].withheld):
            return None
        stages.append(update_stage_from_rounds(forecast, earlier, seen, there))
        if progress is not None:
            progress(stages[-1])
        left -= update_stage_work(forecast, earlier)
        unreached = pods_left_to_restart(seen, there, changed) if left <= 0 and stages[-1].created.pods else ()
        is_cut = bool(unreached) or (left <= -work and stages[-1].created.pods > 0)
        if is_cut:
            break
    waits = () if is_cut or not stages else stages[-1].waits
    if waits:
        unreached = pods_restarted_by_stopped_update(cluster, seen, rules, there, changed, left + work)
    found = UpdateForecast(
        before=before,
        after=serving_parts(seen),
        available=available_set_replicas(start, before),
        stages=tuple(stages_with_restarts_counted(stages, created_slots(seen, there))),
        added=_added(start, seen),
        waits=waits,
        unreached=PodsAndGpus.of_pods(unreached),
        is_cut=is_cut,
    )
    return FollowedUpdateForecast(found, tuple(unreached))


def snapshot_of_rolled_out_set(given: Snapshot, rules: RuleSet) -> Snapshot:
    """Return the snapshot of a new set after everything that it consists of was created and is ready (ED-008).

    Args:
        given: the set without a uid, and nothing of it.
    """
    start = snapshot_of_newly_created_set(given, rules)
    *_, (_, _, settled) = stages_of_update(InMemoryCluster((start,)), start, rules, frozenset())
    return settled


def _added(start: Snapshot, end: Snapshot) -> PodsAndGpus:
    """Return by how many pods and requested GPUs the PodCliques grow; a pod beyond their replicas goes again.

    A finished pod that the update replaces is restarted, so it counts among those from before (ED-004).
    """
    left = pod_uids(end)
    before: dict[str, list[Pod]] = {}
    for clique in start.cliques:
        there = start.pods_of.get(clique.uid, ())
        finished = (pod for pod in there if pod.phase in FINISHED_PHASES and not pod.deleting)
        before[clique.ref.name] = [*active_pods(there), *(pod for pod in finished if pod.uid not in left)]
    pods = gpus = 0
    for clique in end.cliques:
        found, had = active_pods(end.pods_of.get(clique.uid, ())), before.get(clique.ref.name, [])
        found = sorted(found, key=lambda pod: pod.index)[: clique.replicas]
        pods += max(len(found) - len(had), 0)
        gpus += max(sum(pod.gpus for pod in found) - sum(pod.gpus for pod in had), 0)
    return PodsAndGpus(pods, gpus)
