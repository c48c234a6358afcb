"""Deletion of an object by a user."""

from grove_core.resources.meta import Resource
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.recording.history import Actor, EntryKind, History, NoEffect


def delete(cluster: SimulatedCluster, history: History, item: Resource | None, what: str) -> None:
    """Delete an object as ``kubectl delete`` does, and record it.

    Args:
        cluster: the cluster.
        history: gets the entry.
        item: the object; None where it does not exist.
        what: kind and name of the object, for messages.

    Raises:
        NoEffect: The object does not exist, or is being deleted already.
    """
    if item is None:
        raise NoEffect(f"there is no {what}")
    if item.deleting:
        raise NoEffect(f"{what} is being deleted already")
    history.record(cluster.queue.now, Actor.USER, EntryKind.DELETED, item.ref)
    cluster.delete(item.ref)
