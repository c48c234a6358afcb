"""All objects of a cluster, indexed once; a view of it is what one root can see."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol, TypeAlias, TypeVar

from grove_core.kernel.steps import Attempt
from grove_core.resources.meta import Meta
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot

Gap: TypeAlias = tuple[str, str]  # (kind, namespace): of these something is missing in the source
EVERYWHERE: Final = ""  # as the namespace of a gap


class _Owned(Protocol):
    @property
    def meta(self) -> Meta: ...


R = TypeVar("R", bound=_Owned)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The objects, by the uid of their controller owner; each list sorted by namespace and name.

    **Shape**: owner uid -> what it controls. Pods are in no order: nothing depends on it (PL-006).

    Attributes:
        gaps: of which kinds the source left something out, and in which namespace (GT-024).
    """

    sets: tuple[PodCliqueSet, ...]
    groups_of: Mapping[str, tuple[ScalingGroup, ...]]
    cliques_of: Mapping[str, tuple[PodClique, ...]]
    gangs_of: Mapping[str, tuple[PodGang, ...]]
    pods_of: Mapping[str, list[Pod]]
    gaps: frozenset[Gap] = frozenset()

    def snapshot_of(self, root: PodCliqueSet, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot:
        """What a decision about ``root`` may look at. A view: pods are shared, nothing is copied."""
        groups = self.groups_of.get(root.meta.uid, ())
        members = (
            clique if clique.replica_index >= 0 else replace(clique, replica_index=group.replica_index)
            for group in groups
            for clique in self.cliques_of.get(group.meta.uid, ())
        )
        return Snapshot(
            root=root,
            groups=groups,
            cliques=(*self.cliques_of.get(root.meta.uid, ()), *members),
            gangs=self.gangs_of.get(root.meta.uid, ()),
            pods_of=self.pods_of,
            now=now,
            attempts=attempts,
            not_collected=frozenset(
                kind for kind, namespace in self.gaps if namespace in {EVERYWHERE, root.meta.ref.namespace}
            ),
        )


def cluster_of(
    *,
    sets: Iterable[PodCliqueSet],
    groups: Iterable[ScalingGroup] = (),
    cliques: Iterable[PodClique] = (),
    gangs: Iterable[PodGang] = (),
    pods: Iterable[Pod] = (),
    gaps: frozenset[Gap] = frozenset(),
) -> Cluster:
    """Index the objects of a cluster. Linear in their number; objects without an owner belong to nobody."""
    pods_of: dict[str, list[Pod]] = {}
    uid, run = "", list[Pod]()
    for pod in pods:
        if pod.owner_uid is not uid:  # kubectl sorts by name, so the pods of a clique come in runs, and share their uid
            uid = pod.owner_uid
            run = pods_of.setdefault(uid, [])
        run.append(pod)
    pods_of.pop("", None)
    return Cluster(
        sets=tuple(sorted(sets, key=_by_name)),
        groups_of=_by_owner(groups),
        cliques_of=_by_owner(cliques),
        gangs_of=_by_owner(gangs),
        pods_of=pods_of,
        gaps=gaps,
    )


def _by_owner(owned: Iterable[R]) -> dict[str, tuple[R, ...]]:
    found: defaultdict[str, list[R]] = defaultdict(list)
    for item in owned:
        if item.meta.owner_uid:
            found[item.meta.owner_uid].append(item)
    return {uid: tuple(sorted(items, key=_by_name)) for uid, items in found.items()}


def _by_name(item: _Owned) -> tuple[str, str, str]:
    return (item.meta.ref.namespace, item.meta.ref.name, item.meta.uid)
