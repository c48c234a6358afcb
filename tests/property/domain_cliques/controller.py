"""The controller of the small cluster: it looks through views of pods and of registers that move on apart."""

from dataclasses import dataclass, field
from typing import Final

from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot, domain_snapshot_of
from grove_core.kernel.frozen import thaw
from grove_core.kernel.steps import Apply, SetStatus, Step
from grove_core.resources.api_names import NVIDIA
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_core.resources.compute_domain_clique import CLIQUE_KIND, ComputeDomainClique
from tests.property.domain_cliques.checked_server import CheckedServer
from tests.property.domain_cliques.processes import DOMAIN_NAME, NAMESPACE, Json, address_of
from tests.server_side_apply.object_server import Address, Response

MANAGER: Final = "cd-controller"


@dataclass
class Controller:
    """Its views, and what it writes.

    Attributes:
        pods_seen, registers_seen: how much of the history of the server each view shows.
    """

    stage: CheckedServer
    cache: dict[Address, Json] = field(default_factory=dict)
    pods_seen: int = 0
    registers_seen: int = 0

    def see(self, pods: int | None = None, registries: int | None = None) -> None:
        """The views of the controller move on, each for itself."""
        self.pods_seen = self.seen_until(self.pods_seen, pods, pods=True)
        self.registers_seen = self.seen_until(self.registers_seen, registries, pods=False)

    def seen_until(self, start: int, count: int | None, *, pods: bool) -> int:
        history = self.stage.server.history
        end = len(history) if count is None else min(len(history), start + count)
        for event in history[start:end]:
            if (event.address.kind == "Pod") == pods:
                if event.body is None:
                    self.cache.pop(event.address, None)
                else:
                    self.cache[event.address] = event.body
        return end

    def moment(self) -> DomainSnapshot | None:
        """What the controller can see."""
        body = self.cache.get(Address(DOMAIN_KIND, NAMESPACE, DOMAIN_NAME))
        if body is None:
            return None
        at = self.stage.server.history[self.pods_seen - 1].version if self.pods_seen else 0
        cliques = [self.stage.register_of(found) for at_, found in self.cache.items() if at_.kind == CLIQUE_KIND]
        pods = [self.stage.pod_of(found) for at_, found in self.cache.items() if at_.kind == "Pod"]
        domain = self.stage.register_of(body)
        assert isinstance(domain, ComputeDomain)
        own = [clique for clique in cliques if isinstance(clique, ComputeDomainClique)]
        return domain_snapshot_of(domain, own, pods, pods_version=at, now=self.stage.now)

    def tick(self) -> bool:
        """The controller looks once; whether it wrote anything."""
        moment = self.moment()
        if moment is None:
            return False
        plan = self.stage.core.reconcile(moment)
        self.stage.checker.planned(self.stage, moment, plan)
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
            fields = {**thaw(action.fields), "metadata": guard}
            return self.stage.server.patch(address_of(ref), fields, MANAGER, part)
        metadata = {"name": ref.name, "namespace": ref.namespace, **guard}
        body = {"apiVersion": NVIDIA, "kind": ref.kind, "metadata": metadata, "status": thaw(action.fields)}
        return self.stage.server.apply(body, MANAGER, part, force=True)
