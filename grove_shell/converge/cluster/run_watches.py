"""What is watched in a run: its observer, also the cache of the domain controller; and the lines that daemons get."""

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity, daemon_entries_of_nvlink_clique
from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot
from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE
from grove_core.resources.compute_domain import READY, ComputeDomain, ComputeDomainClique, DaemonPod
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from grove_shell.client.proxy_response_check import parse_watch_event
from grove_shell.converge.run_parameters_and_results import ConvergenceRunParameters
from grove_shell.domain_controller.domain_cache import ComputeDomainCache
from grove_shell.domain_daemon.daemon_requests import parse_daemon_registry

_NEWEST = 2**62


class ConvergenceMonitor(ComputeDomainCache):
    """Watches every object of a run and records when the run converged (CV-012).

    The daemons have no pods in the cluster; the cache shows a pod for each of them to the controller.

    Attributes:
        all_at: when all entries were Ready without duplicate indices, on the monotonic clock; None until then.
        global_at: when the status of the domain was Ready; None until then.
        largest: the largest registry, as JSON.
        controller_writes, controller_conflicts: successful writes of the controller, and responses 409 to it.
        events: watch events, and responses to the controller's own writes.
    """

    def __init__(self, point: ConvergenceRunParameters, daemons: Iterable[DaemonIdentity]) -> None:
        super().__init__()
        self.all_at: float | None = None
        self.global_at: float | None = None
        self.largest: Mapping[str, Any] = {}
        self.controller_writes = self.controller_conflicts = self.events = 0
        self._point = point
        self._sizes: dict[str, int] = {}
        self._pods = tuple(_pod_of(daemon) for daemon in daemons)
        for daemon in daemons:
            self._sizes[daemon.clique] = self._sizes.get(daemon.clique, 0) + 1
        self._is_complete: dict[str, bool] = dict.fromkeys(self._sizes, False)

    @property
    def has_converged(self) -> bool:
        """Whether all entries and the status of the domain were Ready."""
        return self.all_at is not None and self.global_at is not None

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Check an object, then store it."""
        self.events += 1
        self._check(raw)
        super().put(kind, raw)

    def replace_all_of_kind(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Check all objects, then store them."""
        found = list(items)
        for raw in found:
            self._check(raw)
        super().replace_all_of_kind(kind, found, version)

    def domain_snapshot(self, domain: ComputeDomain, now: datetime) -> ComputeDomainSnapshot:
        """Return the domain with its cliques and a pod for each daemon."""
        seen = super().domain_snapshot(domain, now)
        pods = tuple(sorted(self._pods, key=lambda pod: pod.ref.sort_key))
        return ComputeDomainSnapshot(domain=seen.domain, cliques=seen.cliques, pods=pods, pods_version=_NEWEST, now=now)

    def _check(self, raw: Mapping[str, Any]) -> None:
        now, registry = time.monotonic(), parse_daemon_registry(raw)
        if isinstance(registry, ComputeDomain) and registry.readiness == READY and self.global_at is None:
            self.global_at = now
        if isinstance(registry, ComputeDomainClique) is not self._point.protocol.sharded:
            return
        if len(registry.daemon_entries) >= len(
            self.largest.get("daemons") or self.largest.get("status", {}).get("nodes") or ()
        ):
            self.largest = raw
        self._update_cliques(registry)
        if self.all_at is None and all(self._is_complete.values()):
            self.all_at = now

    def _update_cliques(self, registry: DaemonRegistry) -> None:
        cliques = [registry.clique] if isinstance(registry, ComputeDomainClique) else list(self._sizes)
        held: dict[str, set[int | None]] = {clique: set() for clique in cliques}
        for entry in registry.daemon_entries:
            if entry.is_ready and entry.clique in held:
                held[entry.clique].add(entry.index)
        for clique in cliques:
            self._is_complete[clique] = len(held[clique]) == self._sizes[clique]


def _pod_of(daemon: DaemonIdentity) -> DaemonPod:
    return DaemonPod(
        ref=Ref(CORE, "Pod", daemon.pod_namespace, daemon.pod),
        uid=daemon.pod_uid,
        node=daemon.node,
        ip=daemon.ip,
        domain_uid=daemon.domain_uid,
        clique=daemon.clique,
    )


_VERSION: Final = b'"resourceVersion":"'
_HEAD: Final = 14
_CACHEABLE: Final = frozenset({b'{"type":"ADDED', b'{"type":"MODIF'})
_CACHED: Final = 64


@dataclass
class CachingWatchDecoder:
    """Decodes watch lines once for each version in one process, while every daemon reads its own stream.

    Each line is counted. Its version is searched in the bytes from the end, because managedFields come before it.
    Decoding the same megabytes for every daemon would measure the daemons and not the server.

    Attributes:
        events: number of lines without bookmarks.
        length: bytes of these lines, with line ends.
        decoded: number of decoded lines.
        latest: the largest version.
    """

    events: int = 0
    length: int = 0
    decoded: int = 0
    latest: int = 0

    _events: OrderedDict[bytes, tuple[str, dict[str, Any]]] = field(default_factory=OrderedDict)
    _registries: OrderedDict[str, DaemonRegistry] = field(default_factory=OrderedDict)
    _members: OrderedDict[tuple[str, str], tuple[int, bool]] = field(default_factory=OrderedDict)

    def decode_watch_line(self, line: bytes) -> tuple[str, dict[str, Any]]:
        """Return type and object of one line, decoded or from the cache."""
        if line[:_HEAD] not in _CACHEABLE:
            return parse_watch_event(line)
        self.events += 1
        self.length += len(line) + 1
        at = line.rfind(_VERSION) + len(_VERSION)
        version = line[at : line.index(b'"', at)]
        event = self._events.get(version)
        if event is None:
            event = self._events[version] = parse_watch_event(line)
            self.decoded += 1
            self.latest = max(self.latest, int(version))
            if len(self._events) > _CACHED:
                self._events.popitem(last=False)
        return event

    def parse_registry(self, raw: Mapping[str, Any]) -> DaemonRegistry:
        """Return the registry in an object, parsed or from the cache."""
        version = str(mapping_or_empty(raw, "metadata").get("resourceVersion") or "")
        found = self._registries.get(version)
        if found is None:
            found = self._registries[version] = parse_daemon_registry(raw)
            if len(self._registries) > _CACHED:
                self._registries.popitem(last=False)
        return found

    def entry_count_and_index_conflict(self, registry: DaemonRegistry, clique: str) -> tuple[int, bool]:
        """Return the number of entries of a clique, and whether two have one index; cached by version."""
        key = (registry.resource_version, clique)
        found = self._members.get(key)
        if found is None:
            indices = [entry.index for entry in daemon_entries_of_nvlink_clique(clique, registry)]
            found = self._members[key] = (len(indices), len(set(indices)) < len(indices))
            if len(self._members) > _CACHED:
                self._members.popitem(last=False)
        return found
