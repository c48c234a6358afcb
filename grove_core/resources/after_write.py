"""What one write makes of an object: the one model of it, for who waits to see a write and for who plays a server.

What it leaves to them: versions, what goes with an object that is deleted, and objects that come into being or go.
"""

from dataclasses import replace
from typing import TypeAlias, TypeVar, assert_never

from grove_core.kernel.steps import Apply, Delete, DropFinalizer, SetStatus
from grove_core.resources.after_apply import with_applied_fields
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.statuses import with_status

Known: TypeAlias = PodCliqueSet | ScalingGroup | PodClique | PodGang | OwnedObject | ComputeDomain | ClusterTopology
"""Everything that is written to but pods."""

Write: TypeAlias = Apply | SetStatus | Delete | DropFinalizer
"""What is done to an object that is there."""

K = TypeVar("K", bound=Known | Pod)
R = TypeVar("R", bound=Known)


def after_write(item: K, write: Write) -> K:
    """The object after an accepted write, whatever its guard says; the same one where its kind does not show it."""
    return _after_pod(item, write) if isinstance(item, Pod) else _after(item, write)  # type: ignore[return-value]  # the kind stays


def _after(item: R, write: Write) -> R:
    match write:
        case Apply(fields):
            return item if isinstance(item, PodCliqueSet) else with_applied_fields(item, fields)
        case SetStatus(fields):
            return (
                item if isinstance(item, OwnedObject | ComputeDomain | ClusterTopology) else with_status(item, fields)
            )
        case Delete():
            return with_deletion_accepted(item)
        case DropFinalizer(finalizer):
            return without_finalizer(item, finalizer)
        case _:
            assert_never(write)


def _after_pod(pod: Pod, write: Write) -> Pod:
    """Pods see two writes: Grove's gate goes, and with it the word that the pod is gated; or the pod goes."""
    match write:
        case Apply() if pod.has_grove_gate:
            return replace(pod, has_grove_gate=False, gated=False, trouble="")
        case Delete():
            return replace(pod, deleting=True)
        case _:
            return pod


def with_deletion_accepted(item: R) -> R:
    """An object whose deletion was accepted; that moves its generation, once."""
    if not item.deleting and isinstance(item, PodCliqueSet | ScalingGroup | PodClique) and item.generation is not None:
        return replace(item, deleting=True, generation=item.generation + 1)
    return replace(item, deleting=True)


def without_finalizer(item: R, finalizer: str) -> R:
    """An object without a finalizer."""
    return replace(item, finalizers=tuple(name for name in item.finalizers if name != finalizer))
