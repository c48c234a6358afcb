"""Checks that an argument of a public function is a snapshot (LB-033)."""

from grove_core.snapshot.snapshot import Snapshot


def require_snapshot(given: object, function: str) -> Snapshot:
    """Return a snapshot that a program gave.

    Args:
        given: what it gave.
        function: the name of the public function.

    Raises:
        TypeError: it is something else; the message says where a snapshot is from.
    """
    if isinstance(given, Snapshot):
        return given
    raise TypeError(
        f"{function} takes a Snapshot, as cluster.snapshot of a drawn cluster or cluster.snapshots[0] of "
        f"grove_shell.read(); got {type(given).__name__}"
    )
