"""What ``kubectl delete`` does, whoever says it."""

from grove_core.resources.meta import Resource
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.recording.history import Actor, EntryKind, History, NoEffect


def delete(cluster: SimulatedCluster, history: History, item: Resource | None, what: str) -> None:
    """Delete an object, or say why that does nothing.

    Args:
        item: the object; None where there is none.
        what: its kind and name, for sentences.

    Raises:
        NoEffect: There is none, or it is being deleted already.
    """
    if item is None:
        raise NoEffect(f"there is no {what}")
    if item.deleting:
        raise NoEffect(f"{what} is being deleted already")
    history.record(cluster.queue.now, Actor.USER, EntryKind.DELETED, item.ref)
    cluster.delete(item.ref)
