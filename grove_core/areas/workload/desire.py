"""What the workload area wishes: that a set is complete, and that objects on their way out are let go."""

from grove_core.areas.workload.rules import Why
from grove_core.kernel.wants import Desired, Released
from grove_core.resources.keys import CLIQUE_FINALIZER, GROUP_FINALIZER, SET_FINALIZER
from grove_core.snapshot.snapshot import Snapshot


def wants_of_release(snapshot: Snapshot) -> Desired:
    """Grove's own finalizer should be gone from every object of the root that is being deleted (WL-001)."""
    held = [
        (snapshot.root, SET_FINALIZER),
        *((group, GROUP_FINALIZER) for group in snapshot.groups),
        *((clique, CLIQUE_FINALIZER) for clique in snapshot.cliques),
    ]
    return Desired(
        tuple(
            Released(owned.ref, owned.guard, finalizer, (Why.LET_GO.because(owned.ref, finalizer=finalizer),))
            for owned, finalizer in held
            if owned.deleting and finalizer in owned.finalizers
        )
    )


def wants_of_completion(snapshot: Snapshot) -> Desired:
    """Everything a set should consist of that is nowhere yet should be there (WL-010).

    Nothing where the source may have left something out, and nothing for a set that is being deleted.
    """
    if not snapshot.complete or snapshot.root.deleting:
        return Desired()
    # A dozen modules that a dump of a cluster does not need: a tenth of the time in which its plan is there (P11).
    from grove_core.areas.workload.expansion import wants_of_expansion  # noqa: PLC0415

    return wants_of_expansion(snapshot)
