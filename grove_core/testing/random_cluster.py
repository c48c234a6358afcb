"""A drawn PodCliqueSet with its objects, as loose values; and the same objects with every pod lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.structs import replace
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.history_lines import lines_of_snapshot

if TYPE_CHECKING:
    from hypothesis.vendor.pretty import RepresentationPrinter


@dataclass(frozen=True, repr=False)
class RandomCluster:
    """One namespace with a PodCliqueSet, its objects, and pods of other owners.

    Attributes:
        root: the PodCliqueSet.
        groups, cliques, pods: the scaling groups and PodCliques of the set, and all pods of the namespace.
        now: the time of the snapshot; aware UTC.
    """

    root: PodCliqueSet
    groups: tuple[ScalingGroup, ...]
    cliques: tuple[PodClique, ...]
    pods: tuple[Pod, ...]
    now: datetime

    @property
    def cluster(self) -> IndexedCluster:
        """The objects, indexed by owner."""
        return index_cluster(sets=(self.root,), groups=self.groups, cliques=self.cliques, pods=self.pods)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot of the set at ``now``."""
        return self.cluster.snapshot_of(self.root, self.now)

    def __repr__(self) -> str:
        return "\n".join(("", *lines_of_snapshot(self.snapshot)))

    def _repr_pretty_(self, printer: "RepresentationPrinter", _: bool) -> None:  # noqa: FBT001 - called by Hypothesis
        """Print the same lines where Hypothesis would print every field."""
        printer.text(repr(self))

    def with_labels(self, labels: Mapping[str, str]) -> "RandomCluster":
        """Return the same objects; the set has these labels, and no others."""
        return replace(self, root=replace(self.root, labels=FrozenMap(labels)))

    def at(self, moment: datetime) -> "RandomCluster":
        """Return the same objects at another time."""
        return replace(self, now=moment)


class DrawnSnapshot(Snapshot, frozen=True):
    """A snapshot that Hypothesis shows as a few lines."""

    def __repr__(self) -> str:
        return "\n".join(("", *lines_of_snapshot(self)))

    def _repr_pretty_(self, printer: "RepresentationPrinter", _: bool) -> None:  # noqa: FBT001 - called by Hypothesis
        """Print the same lines where Hypothesis would print every field."""
        printer.text(repr(self))


def snapshot_with_short_repr(snapshot: Snapshot) -> DrawnSnapshot:
    """Return the same snapshot as one that is shown as a few lines."""
    return DrawnSnapshot(**{name: getattr(snapshot, name) for name in snapshot.__struct_fields__})


def stormy(generated: RandomCluster) -> RandomCluster:
    """Return the cluster with every pod lost, everything once available, and stored conditions as breaches.

    Args:
        generated: any cluster; one that is being deleted is not afterwards.

    Raises:
        TypeError: it is no drawn cluster.

    Example:
        >>> from grove_core.testing import cluster_of
        >>> [pod.ready for pod in stormy(cluster_of(b"")).pods]
        [False]
    """
    if not isinstance(generated, RandomCluster):
        raise TypeError(f"stormy takes a RandomCluster, as cluster_of(b''); got {type(generated).__name__}")
    conditions = {clique.ref: clique.status.conditions for clique in generated.cliques}
    conditions |= {group.ref: group.status.conditions for group in generated.groups}
    breached = {
        ref: tuple(replace(condition, status=ConditionStatus.TRUE) for condition in held)
        for ref, held in conditions.items()
    }
    return replace(
        generated,
        root=replace(generated.root, deleting=False),
        pods=tuple(replace(pod, ready=False) for pod in generated.pods),
        cliques=tuple(
            replace(
                clique,
                status=replace(
                    clique.status, recorded=True, was_available=True, updating=False, conditions=breached[clique.ref]
                ),
            )
            for clique in generated.cliques
        ),
        groups=tuple(
            replace(group, status=replace(group.status, updating=False, conditions=breached[group.ref]))
            for group in generated.groups
        ),
    )
