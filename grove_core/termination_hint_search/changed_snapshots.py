"""Snapshots of one replica of a set, and changed ones: more ready pods, longer delays."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot

DELAY: Final = "spec.template.terminationDelay"


def snapshot_of_each_set_replica(snapshot: Snapshot, indices: Iterable[int]) -> Iterator[tuple[int, Snapshot]]:
    """Yield each replica of the set with the snapshot of its parts alone. Linear in the parts of the set.

    Pods that are being deleted are left out: they are gone before a delay ends.
    """
    cliques: defaultdict[int, list[PodClique]] = defaultdict(list)
    groups: defaultdict[int, list[ScalingGroup]] = defaultdict(list)
    for clique in snapshot.cliques:
        cliques[clique.replica_index].append(clique)
    for group in snapshot.groups:
        groups[group.replica_index].append(group)
    for index in indices:
        pods = {
            clique.uid: tuple(pod for pod in snapshot.pods_of.get(clique.uid, ()) if not pod.deleting)
            for clique in cliques[index]
        }
        yield (
            index,
            replace(
                snapshot, cliques=tuple(cliques[index]), groups=tuple(groups[index]), gangs=(), pods_of=FrozenDict(pods)
            ),
        )


def with_ready_pods(snapshot: Snapshot, counts: Mapping[str, int]) -> Snapshot:
    """Return the snapshot with more ready pods; crashed and unready ones become ready first, then new ones are added.

    Args:
        counts: uid of a PodClique -> the number of its pods that become ready.
    """
    changed = {
        clique.uid: _with_ready(clique, snapshot.pods_of.get(clique.uid, ()), counts[clique.uid])
        for clique in snapshot.cliques
        if counts.get(clique.uid)
    }
    return replace(snapshot, pods_of=FrozenDict({**snapshot.pods_of, **changed}))


def with_starting_pods_ready(snapshot: Snapshot, uids: AbstractSet[str]) -> Snapshot:
    """Return the snapshot in which all pods that are starting are ready, of the PodCliques with these uids."""
    changed = {
        uid: tuple(ready(pod) if is_starting(pod) else pod for pod in pods)
        for uid, pods in snapshot.pods_of.items()
        if uid in uids
    }
    return replace(snapshot, pods_of=FrozenDict({**snapshot.pods_of, **changed}))


def pods_that_may_become_ready(pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods that run or wait without being ready, failed ones first, those that are starting last."""
    found = [pod for pod in pods if not pod.ready and pod.phase not in FINISHED_PHASES]
    return sorted(found, key=lambda pod: (not (pod.crashed or pod.unready), is_starting(pod), pod.name))


def is_starting(pod: Pod) -> bool:
    """Return whether a pod is scheduled and not ready, and did not fail."""
    return pod.scheduled and not (pod.ready or pod.crashed or pod.unready)


def ready(pod: Pod) -> Pod:
    """Return a pod as it is once it is ready."""
    return replace(
        pod,
        ready=True,
        scheduled=True,
        gated=False,
        crashed=False,
        unready=False,
        preempted=False,
        trouble="",
        phase="Running",
        node_signs=None,
    )


def _with_ready(clique: PodClique, pods: tuple[Pod, ...], count: int) -> tuple[Pod, ...]:
    turned = {pod.name: ready(pod) for pod in pods_that_may_become_ready(pods)[:count]}
    added = (_new_ready_pod(clique, number) for number in range(count - len(turned)))
    return (*(turned.get(pod.name, pod) for pod in pods), *added)


def _new_ready_pod(clique: PodClique, number: int) -> Pod:
    name = f"{clique.ref.name}-new-{number}"
    return Pod(
        namespace=clique.ref.namespace,
        name=name,
        uid=name,
        resource_version="",
        owner_uid=clique.uid,
        template_hash="",
        gang="",
        node="",
        phase="Running",
        trouble="",
        deleting=False,
        scheduled=True,
        gated=False,
        ready=True,
    )


class DelayChange(NamedTuple):
    """An edit that makes delays at least as long as ``delay``.

    Attributes:
        of_set: whether that of the set is edited.
        of_groups: names of the scaling groups in the template whose own delay is edited.
    """

    delay: timedelta
    of_set: bool
    of_groups: frozenset[str] = frozenset()


def with_longer_delay(snapshot: Snapshot, change: DelayChange) -> tuple[Snapshot, tuple[str, ...]]:
    """Return the snapshot with longer delays, and the fields that differ; a delay that is longer already stays."""
    root, fields = snapshot.root, list[str]()
    template, delay = root.spec.template, change.delay
    updates: dict[str, object] = {}
    if change.of_set and template.delay is not None and template.delay < delay:
        updates["termination_delay"] = delay
        fields.append(DELAY)
    groups = list(template.pod_clique_scaling_groups)
    for place, group in enumerate(groups):
        if group.name in change.of_groups and group.delay is not None and group.delay < delay:
            groups[place] = group.model_copy(update={"termination_delay": delay})
            fields.append(f"spec.template.podCliqueScalingGroups[{place}].terminationDelay")
    if len(fields) > len(updates):
        updates["pod_clique_scaling_groups"] = tuple(groups)
    return replace(snapshot, root=_with_template(root, updates)), tuple(fields)


def _with_template(root: PodCliqueSet, updates: Mapping[str, object]) -> PodCliqueSet:
    template = root.spec.template.model_copy(update=updates)
    return replace(root, spec=root.spec.model_copy(update={"template": template}))
