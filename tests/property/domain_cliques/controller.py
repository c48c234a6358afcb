"""The controller of the small cluster; its views of pods and of registries lag independently."""

from dataclasses import dataclass, field
from typing import Final

from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot, compute_domain_snapshot_of
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Apply, SetStatus, Step
from grove_core.resources.api_names import DOMAIN_CLIQUE_KIND, DOMAIN_KIND, NVIDIA
from grove_core.resources.compute_domain import ComputeDomain, ComputeDomainClique
from tests.property.domain_cliques.checked_server import CheckedServer
from tests.property.domain_cliques.processes import DOMAIN_NAME, NAMESPACE, Json, address_of
from tests.server_side_apply.object_server import Address, Response

MANAGER: Final = "cd-controller"


@dataclass
class Controller:
    """The views of the controller, and its writes.

    Attributes:
        pods_position, registries_position: how many events of the server's history each view includes.
    """

    stage: CheckedServer
    cache: dict[Address, Json] = field(default_factory=dict)
    pods_position: int = 0
    registries_position: int = 0

    def advance_views(self, pods: int | None = None, registries: int | None = None) -> None:
        """Advance each view by a number of events; to the end for None."""
        self.pods_position = self.advance_view(self.pods_position, pods, pods=True)
        self.registries_position = self.advance_view(self.registries_position, registries, pods=False)

    def advance_view(self, start: int, count: int | None, *, pods: bool) -> int:
        history = self.stage.server.history
        end = len(history) if count is None else min(len(history), start + count)
        for event in history[start:end]:
            if (event.address.kind == "Pod") == pods:
                if event.body is None:
                    self.cache.pop(event.address, None)
                else:
                    self.cache[event.address] = event.body
        return end

    def snapshot(self) -> ComputeDomainSnapshot | None:
        """The snapshot that the controller decides on; None without a domain."""
        body = self.cache.get(Address(DOMAIN_KIND, NAMESPACE, DOMAIN_NAME))
        if body is None:
            return None
        at = self.stage.server.history[self.pods_position - 1].version if self.pods_position else 0
        cliques = [self.stage.register_of(found) for at_, found in self.cache.items() if at_.kind == DOMAIN_CLIQUE_KIND]
        pods = [self.stage.pod_of(found) for at_, found in self.cache.items() if at_.kind == "Pod"]
        domain = self.stage.register_of(body)
        assert isinstance(domain, ComputeDomain)
        own = [clique for clique in cliques if isinstance(clique, ComputeDomainClique)]
        return compute_domain_snapshot_of(domain, own, pods, pods_version=at, now=self.stage.now)

    def reconcile_once(self) -> bool:
        """Reconcile once; return whether anything was written."""
        snapshot = self.snapshot()
        if snapshot is None:
            return False
        plan = self.stage.core.reconcile(snapshot)
        self.stage.checker.planned(self.stage, snapshot, plan)
        version = self.stage.server.version
        for step in plan.steps:
            self.stage.commit(None, None, lambda step=step: self.written(step), controller=True)
        return self.stage.server.version != version

    def written(self, step: Step) -> Response:
        action, ref = step.action, step.target
        assert isinstance(action, Apply | SetStatus)
        guard = {"uid": action.guard.uid, "resourceVersion": action.guard.resource_version}
        part = "status" if ref.kind == DOMAIN_KIND else ""
        if isinstance(action, Apply):
            fields = {**thaw_json(action.fields), "metadata": guard}
            return self.stage.server.patch(address_of(ref), fields, MANAGER, part)
        metadata = {"name": ref.name, "namespace": ref.namespace, **guard}
        body = {"apiVersion": NVIDIA, "kind": ref.kind, "metadata": metadata, "status": thaw_json(action.fields)}
        return self.stage.server.apply(body, MANAGER, part, force=True)
