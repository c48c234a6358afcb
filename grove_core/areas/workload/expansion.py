"""From the blueprint to wishes: what a set should consist of and is nowhere yet.

An object is wished for once its owner exists: its manifest names the owner's uid (WL-010).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from grove_core.areas.workload.access import access_for, service_for
from grove_core.areas.workload.blueprint import CliquePart, ReplicaPart, blueprint_of, size_of
from grove_core.areas.workload.claims import claims_of_clique, claims_of_group, claims_of_set
from grove_core.areas.workload.cliques import podclique_for, scaling_group_for
from grove_core.areas.workload.gangs import change_of_podgang, podgang_for
from grove_core.areas.workload.ordering import Ordering
from grove_core.areas.workload.pods import pod_for
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.scalers import autoscaler_for
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Applied, Desired, HeldBack, Present
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.snapshot.snapshot import Snapshot

MOST: Final = 1_000_000
_ENDED: Final = frozenset({"Succeeded", "Failed"})


def wants_of_expansion(snapshot: Snapshot) -> Desired:
    """Everything a set should consist of that is not there, if its owner is (WL-010 to WL-020). Linear.

    Nothing where the source may have left something out, and nothing for a set that is being deleted.
    """
    if not snapshot.whole or snapshot.root.deleting:
        return Desired()
    size = size_of(snapshot)
    if size > MOST:
        because = Why.TOO_LARGE.because(snapshot.root.ref, objects=size, most=MOST)
        return Desired((), (HeldBack(snapshot.root.ref, (because,)),))
    there = snapshot.targets().keys()
    wants: list[Present | Applied] = []
    held: list[HeldBack] = []
    taken: dict[Ref, Reason] = {}
    for want in _everything(snapshot):
        if isinstance(want, HeldBack):
            held.append(want)
        elif want.target in taken:
            because = Why.NAME_WANTED_TWICE.because(want.target, other=taken[want.target].sentence)
            held.append(HeldBack(want.target, (because, *want.because)))
        else:
            taken[want.target] = want.because[0]
            if isinstance(want, Applied) or want.target not in there:
                wants.append(want)
    return Desired(tuple(wants), tuple(held))


def _everything(snapshot: Snapshot) -> Iterator[Present | Applied | HeldBack]:
    root, ordering = snapshot.root, Ordering(snapshot.root)
    groups = {group.ref.name: group for group in snapshot.groups if not group.deleting}
    cliques = {clique.ref.name: clique for clique in snapshot.cliques if not clique.deleting}
    gangs = {gang.ref.name: gang for gang in snapshot.gangs}
    yield from access_for(root)
    yield from claims_of_set(root)
    for replica in blueprint_of(snapshot):
        yield service_for(root, replica.index)
        yield from _autoscalers(snapshot, replica)
        for part in replica.cliques:
            yield podclique_for(root, root, part, ordering)
        for group_part in replica.groups:
            yield scaling_group_for(root, group_part)
            group = groups.get(group_part.name)
            if group is not None:
                yield from claims_of_group(root, group, group_part)
                for part in group_part.cliques:
                    yield podclique_for(root, group, part, ordering)
        for gang_part in replica.gangs:
            pods = _pods_by_clique(snapshot, gang_part.cliques, cliques)
            gang = gangs.get(gang_part.name)
            change = change_of_podgang(root, gang, gang_part, pods) if gang is not None else None
            yield change or podgang_for(root, gang_part, pods)
        for part in replica.all_cliques:
            clique = cliques.get(part.name)
            if clique is not None:
                yield from claims_of_clique(root, clique, part)
                for index in _free_indices(snapshot.pods_of.get(clique.uid, ()), part.replicas):
                    yield pod_for(root, clique, part, index, ordering)


def _autoscalers(snapshot: Snapshot, replica: ReplicaPart) -> Iterator[Present]:
    for part in replica.cliques:
        scaling = part.template.spec.auto_scaling_config
        if scaling is not None:
            yield autoscaler_for(snapshot.root, "PodClique", part.name, scaling, part.template.spec.replicas)
    for group in replica.groups:
        if group.template.scale_config is not None:
            config = group.template.scale_config
            yield autoscaler_for(snapshot.root, GROUP_KIND, group.name, config, group.template.replicas)


def _pods_by_clique(
    snapshot: Snapshot, parts: tuple[CliquePart, ...], cliques: Mapping[str, PodClique]
) -> dict[str, list[str]]:
    """Name of a clique -> its living pods that carry the gang's label, sorted."""
    found = {}
    for part in parts:
        clique = cliques.get(part.name)
        pods = snapshot.pods_of.get(clique.uid, ()) if clique is not None else ()
        found[part.name] = sorted(pod.name for pod in pods if pod.gang == part.gang and not pod.deleting)
    return found


def _free_indices(pods: Iterable[Pod], replicas: int) -> Iterator[int]:
    """The lowest indices that no living pod has, as many as pods are missing (WL-083)."""
    living = [pod for pod in pods if not pod.deleting and pod.phase not in _ENDED]
    taken = {pod.index for pod in living}
    free = (index for index in range(len(taken) + replicas) if index not in taken)
    return islice(free, max(0, replicas - len(living)))
