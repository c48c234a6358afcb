"""What the workload area wishes: that objects on their way out are let go."""

from grove_core.areas.workload.rules import Why
from grove_core.kernel.wants import Desired, Released
from grove_core.resources.keys import CLIQUE_FINALIZER, GROUP_FINALIZER, SET_FINALIZER
from grove_core.snapshot.snapshot import Snapshot


def wants_of_release(snapshot: Snapshot) -> Desired:
    """Grove's own finalizer should be gone from every object of the root that is being deleted (WL-001)."""
    held = [
        (snapshot.root.meta, SET_FINALIZER),
        *((group.meta, GROUP_FINALIZER) for group in snapshot.groups),
        *((clique.meta, CLIQUE_FINALIZER) for clique in snapshot.cliques),
    ]
    return Desired(
        tuple(
            Released(meta.ref, meta.guard, finalizer, (Why.LET_GO.because(meta.ref, finalizer=finalizer),))
            for meta, finalizer in held
            if meta.deleting and finalizer in meta.finalizers
        )
    )
