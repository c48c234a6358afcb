"""The controller's cache of domains, cliques and pods."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot, domain_snapshot_of
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import DOMAIN
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_pod import DaemonPod, daemon_pod_of
from grove_core.resources.fields import Fields
from grove_shell.cache.tombstones import Tombstones
from grove_shell.client.version_numbers import version_number
from grove_shell.domain_daemon.kinds import CLIQUES, DOMAINS, KINDS, PODS, parse_registry

ObjectKey = tuple[str, str]
_PARSERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    DOMAINS.kind: parse_registry,
    CLIQUES.kind: parse_registry,
    PODS.kind: daemon_pod_of,
}


class DomainCache:
    """Objects of three kinds, each kind as new as its own watch; an older state never replaces a newer one (DC-010).

    A state that cannot be parsed leaves the one before in its place, and its object counts as unreadable (DC-076,
    DC-089).

    Attributes:
        on_change: called with the uid of a changed domain; empty for all domains.
        pods_version: all pods are at least as new as this version; 0 if that is unknown.
    """

    def __init__(self, report: Callable[[str, str], None] = lambda _object, _message: None) -> None:
        """Start empty; ``report`` is called with each object that cannot be parsed, and the error."""
        self.on_change: Callable[[str], None] = lambda _uid: None
        self.pods_version = 0
        self._report = report
        self._objects: dict[str, dict[ObjectKey, Any]] = {kind: {} for kind in _PARSERS}
        self._versions: dict[str, dict[ObjectKey, tuple[str, int]]] = {kind: {} for kind in _PARSERS}  # uid, version
        self._unreadable: dict[str, dict[ObjectKey, str]] = {kind: {} for kind in _PARSERS}  # domain uid of the label
        self._deleted = Tombstones()

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply a complete list as of a version; a list of pods that is older than the cache is dropped."""
        if kind == PODS.kind:
            if version and version_number(version) < self.pods_version:
                return
            self.pods_version = version_number(version)
        self._objects[kind], self._versions[kind], self._unreadable[kind] = {}, {}, {}
        for raw in items:
            self._deleted.discard(_identity(raw)[0])
            self._store(kind, raw)
        self.on_change("")

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed object."""
        uid, version = _identity(raw)
        known_uid, known = self._versions[kind].get(_key(raw), ("", 0))
        if self._deleted.is_stale(uid, version) or version < known or (uid, version) == (known_uid, known):
            return
        self._advance_pods_version(kind, version)
        self.on_change(self._store(kind, raw))

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion; a newer object of the same name stays."""
        (uid, version), key = _identity(raw), _key(raw)
        self._deleted.record(uid, version)
        self._advance_pods_version(kind, version)
        if self._versions[kind].get(key, ("", 0))[0] == uid:
            del self._versions[kind][key]
            known, label = self._objects[kind].pop(key, None), self._unreadable[kind].pop(key, "")
            self.on_change(label if known is None else _domain_uid_of(known))

    def mark_unlisted(self, kind: str, why: str) -> None:
        """Treat the pods as of unknown age if they cannot be listed any more (DC-072)."""
        del why
        if kind == PODS.kind:
            self.pods_version = 0

    @property
    def domains(self) -> tuple[ComputeDomain, ...]:
        """All domains."""
        return tuple(self._objects[DOMAINS.kind].values())

    def snapshot(self, domain: ComputeDomain, now: datetime) -> DomainSnapshot:
        """Return a domain with its cliques and pods."""
        cliques: Iterable[ComputeDomainClique] = self._objects[CLIQUES.kind].values()
        pods: Iterable[DaemonPod] = self._objects[PODS.kind].values()
        unreadable = {
            Ref(KINDS[kind].api_version, kind, *key): uid
            for kind in (CLIQUES.kind, PODS.kind)
            for key, uid in self._unreadable[kind].items()
        }
        version = self.pods_version
        return domain_snapshot_of(domain, cliques, pods, pods_version=version, unreadable=unreadable, now=now)

    def _store(self, kind: str, raw: Mapping[str, Any]) -> str:
        """Store an object; return the uid of its domain, empty if it is unknown."""
        parsed, key = self._parse(kind, raw), _key(raw)
        self._versions[kind][key] = _identity(raw)
        self._unreadable[kind].pop(key, None)
        if parsed is None:
            self._unreadable[kind][key] = _domain_uid_on_label(raw)
            return self._unreadable[kind][key]
        self._objects[kind][key] = parsed
        return _domain_uid_of(parsed)

    def _advance_pods_version(self, kind: str, version: int) -> None:
        if kind == PODS.kind:
            self.pods_version = max(self.pods_version, version)

    def _parse(self, kind: str, raw: Mapping[str, Any]) -> Any:  # noqa: ANN401 - one of three types, by the kind
        try:
            return _PARSERS[kind](raw)
        except MalformedObject as fault:
            self._report(f"{kind} {'/'.join(_key(raw))}", f"malformed object: {fault}")
            return None


def _key(raw: Mapping[str, Any]) -> ObjectKey:
    metadata = raw.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _domain_uid_on_label(raw: Mapping[str, Any]) -> str:
    """The domain uid on the label of an object that cannot be parsed; empty without a label."""
    return Fields(raw, "", []).part("metadata").part("labels").text(DOMAIN)


def _identity(raw: Mapping[str, Any]) -> tuple[str, int]:
    metadata = raw.get("metadata") or {}
    return str(metadata.get("uid") or ""), version_number(metadata.get("resourceVersion"))


def _domain_uid_of(parsed: ComputeDomain | ComputeDomainClique | DaemonPod) -> str:
    return parsed.uid if isinstance(parsed, ComputeDomain) else parsed.domain_uid
