"""Who watches a run from outside, and the controller of its domain."""

import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity
from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_entry import READY
from grove_core.resources.daemon_pod import DaemonPod
from grove_shell.converge.points import Point
from grove_shell.domain_controller.domain_cache import DomainCache
from grove_shell.domain_daemon.kinds import registry_of

_NEWEST = 2**62


class RunMonitor(DomainCache):
    """Sees every object of a run on a watch of its own, and remembers when it first was as it should be (CV-012).

    The pods of the daemons are not in the cluster; the controller is told that all of them are there.

    Attributes:
        all_at, global_at: moments of the monotonic clock; None until then.
        largest: the largest object that daemons register in, as JSON.
        written, parried: writes of the controller, and those that the server answered with 409.
        heard: events, and answers to the controller's own writes.
    """

    def __init__(self, point: Point, daemons: Iterable[DaemonIdentity]) -> None:
        """Know nothing."""
        super().__init__()
        self.all_at: float | None = None
        self.global_at: float | None = None
        self.largest: Mapping[str, Any] = {}
        self.written = self.parried = self.heard = 0
        self._point = point
        self._sizes: dict[str, int] = {}
        self._pods = tuple(_pod_of(daemon) for daemon in daemons)
        for daemon in daemons:
            self._sizes[daemon.clique] = self._sizes.get(daemon.clique, 0) + 1
        self._done: dict[str, bool] = dict.fromkeys(self._sizes, False)

    @property
    def converged(self) -> bool:
        """Whether entries and global status were seen as they should be."""
        return self.all_at is not None and self.global_at is not None

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Look at it, then keep it."""
        self.heard += 1
        self._look(raw)
        super().put(kind, raw)

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Look at all, then keep them."""
        found = list(items)
        for raw in found:
            self._look(raw)
        super().replace(kind, found, version)

    def snapshot(self, domain: ComputeDomain, now: datetime) -> DomainSnapshot:
        """What the controller sees: the objects, and pods that are all there."""
        seen = super().snapshot(domain, now)
        pods = tuple(sorted(self._pods, key=lambda pod: pod.ref.sort_key))
        return DomainSnapshot(domain=seen.domain, cliques=seen.cliques, pods=pods, pods_version=_NEWEST, now=now)

    def _look(self, raw: Mapping[str, Any]) -> None:
        now, registry = time.monotonic(), registry_of(raw)
        if isinstance(registry, ComputeDomain) and registry.readiness == READY and self.global_at is None:
            self.global_at = now
        if isinstance(registry, ComputeDomainClique) is not self._point.protocol.sharded:
            return
        if len(registry.entries) >= len(
            self.largest.get("daemons") or self.largest.get("status", {}).get("nodes") or ()
        ):
            self.largest = raw
        self._judge(registry)
        if self.all_at is None and all(self._done.values()):
            self.all_at = now

    def _judge(self, registry: DaemonRegistry) -> None:
        cliques = [registry.clique] if isinstance(registry, ComputeDomainClique) else list(self._sizes)
        held: dict[str, set[int | None]] = {clique: set() for clique in cliques}
        for entry in registry.entries:
            if entry.ready and entry.clique in held:
                held[entry.clique].add(entry.index)
        for clique in cliques:
            self._done[clique] = len(held[clique]) == self._sizes[clique]


def _pod_of(daemon: DaemonIdentity) -> DaemonPod:
    return DaemonPod(
        ref=Ref(CORE, "Pod", daemon.pod_namespace, daemon.pod),
        uid=daemon.pod_uid,
        node=daemon.node,
        ip=daemon.ip,
        domain_uid=daemon.domain_uid,
        clique=daemon.clique,
    )
