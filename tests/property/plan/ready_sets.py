"""Sets all pods of which are placed and ready, and edits of them."""

import copy
from collections.abc import Callable
from functools import cache
from random import Random

from grove_core.admit import manifest_with_defaults_of
from grove_core.in_memory.forecasts import forecast_until_settled, snapshot_of_newly_created_set
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.plan.update_forecast import UpdateForecast
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from tests.property.workload.sets import NOW, Json
from tests.simulation.edit_agreement import drawn_edit, drawn_set, update_of_edit, with_other_uids


def ready_set(manifest: Json, rules: RuleSet) -> Snapshot:
    """Return the snapshot of a set that was applied, once all of its pods are ready."""
    root = podcliqueset_from_json(manifest_with_defaults_of(manifest, rules))
    seen = snapshot_of_newly_created_set(Snapshot(root=root, now=NOW, complete=EVERY_KIND), rules)
    cluster = InMemoryCluster((seen,))
    waiting = True
    while waiting:
        forecast_until_settled(cluster, seen, rules, limit=None, until=None)
        pods = [pod for found in cluster.pods.values() for pod in found]
        waiting = any(not pod.ready and not pod.has_grove_gate for pod in pods)
        for pod in pods:
            if not pod.has_grove_gate:
                cluster.put_pod(
                    replace(pod, scheduled=True, gated=False, node=f"node-{pod.index}", phase="Running", ready=True)
                )
        found = cluster.snapshot_of_set(root.ref, NOW)
        assert found is not None
        seen = found
    return with_other_uids(seen)


@cache
def drawn_update(seed: int, rules: RuleSet) -> tuple[Snapshot, Json, Json, UpdateForecast]:
    """Return a drawn set once it is ready, both manifests of a drawn edit, and the forecast of its update.

    The manifests are those of all callers: copy what is changed.
    """
    dice = Random(seed)
    before = drawn_set(dice)
    after = drawn_edit(dice, before)
    start = ready_set(before, rules)
    return start, before, after, update_of_edit(start, before, after, rules)


def with_pods(start: Snapshot, change: Callable[[Pod], Pod]) -> Snapshot:
    """Return the snapshot with every pod changed."""
    return replace(start, pods_of=FrozenDict({uid: tuple(map(change, pods)) for uid, pods in start.pods_of.items()}))


def with_image(manifest: Json, image: str = "example.com/engine:2") -> Json:
    """Return the manifest with another image for every clique."""
    edited = copy.deepcopy(manifest)
    for clique in edited["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"]["containers"][0]["image"] = image
    return edited
