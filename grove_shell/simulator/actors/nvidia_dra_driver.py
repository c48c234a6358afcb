"""NVIDIA's DRA driver, as far as its finalizer keeps deleted ComputeDomains for a while."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DropFinalizer, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import NOT_DISCOVERED
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.scenario.scenario import ScenarioDraDriverSpec

FINALIZER: Final = "resource.nvidia.com/computeDomain"


class SimulatedNvidiaDraDriver:
    """Serves ComputeDomains once installed, adds its finalizer to each, and removes it some time after the deletion."""

    def __init__(self, cluster: SimulatedCluster, spec: ScenarioDraDriverSpec) -> None:
        self.cluster = cluster
        self.spec = spec
        if spec.installed:
            cluster.queue.schedule(spec.installed, self._install)

    def on_changes(self, changes: Iterable[ObjectChange]) -> None:
        """Add the finalizer to new domains, and schedule its removal from deleted ones."""
        for change in changes if self.spec.release else ():
            item, before = change.after, change.before
            if not isinstance(item, ComputeDomain):
                continue
            if not item.deleting and FINALIZER not in item.finalizers:
                self.cluster.put_object(replace(item, finalizers=(*item.finalizers, FINALIZER)))
            elif item.deleting and isinstance(before, ComputeDomain) and not before.deleting:
                self.cluster.queue.schedule_after(self.spec.release, partial(self._release, item.ref, item.uid))

    def _install(self) -> None:
        self.cluster.server.served = NOT_DISCOVERED

    def _release(self, ref: Ref, uid: str) -> None:
        item = self.cluster.server.items.get(ref)
        if item is not None and item.uid == uid and FINALIZER in item.finalizers:
            self.cluster.attempt_step(Step(StepStage.CLEANUP, ref, DropFinalizer(FINALIZER, item.guard), ()))
