"""What the rule set `field` does not predict: edits, updates and deletions of a set (GF-130 to GF-132)."""

from grove_core.areas.gang_termination.field.rules import Why
from grove_core.areas.gang_termination.questions import PREDICTION
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Finding
from grove_core.resources.podcliqueset import Edit
from grove_core.snapshot.snapshot import Snapshot


def unpredicted_in(snapshot: Snapshot, *, lags: bool) -> tuple[Finding, ...]:
    """Return one finding on the set with a reason for each thing that is not predicted; empty if there is none.

    Args:
        lags: whether a PodClique or a pod has an old template.
    """
    root = snapshot.root
    is_updated = root.status.updating
    is_updated = is_updated or any(group.status.updating for group in snapshot.groups)
    is_updated = is_updated or any(clique.status.updating for clique in snapshot.cliques)
    happens = (
        (root.edit is Edit.OF_MORE, Why.EDIT_NOT_PREDICTED),
        (is_updated or (lags and root.edit is not Edit.OF_MORE), Why.UPDATE_NOT_PREDICTED),
        (root.deleting, Why.DELETION_NOT_PREDICTED),
    )
    because = tuple(why.because(root.ref) for is_so, why in happens if is_so)
    return (Finding(root.ref, PREDICTION, Truth.UNKNOWN.value, because),) if because else ()
