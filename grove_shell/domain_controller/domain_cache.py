"""What the controller knows of domains, cliques and pods, and which domains have to be looked at."""

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
from grove_shell.domain_daemon.kinds import CLIQUES, DOMAINS, KINDS, PODS, registry_of

ObjectKey = tuple[str, str]
_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    DOMAINS.kind: registry_of,
    CLIQUES.kind: registry_of,
    PODS.kind: daemon_pod_of,
}


class DomainCache:
    """Three copies, each as new as its own watch; what is older than what is known changes nothing (DC-130).

    A version that cannot be read leaves the one before in its place, and the view partial (DC-076, DC-089).

    Attributes:
        changed: hears the uid of a domain of which something is new; empty for all of them.
        pods_version: how new the view of the pods is.
    """

    def __init__(self, told: Callable[[str, str], None] = lambda _what, _words: None) -> None:
        """Know nothing; ``told`` hears of each object that does not read, and why."""
        self.changed: Callable[[str], None] = lambda _uid: None
        self.pods_version = 0
        self._told = told
        self._found: dict[str, dict[ObjectKey, Any]] = {kind: {} for kind in _READERS}
        self._seen: dict[str, dict[ObjectKey, tuple[str, int]]] = {kind: {} for kind in _READERS}  # uid and version
        self._unread: dict[str, dict[ObjectKey, str]] = {kind: {} for kind in _READERS}  # the domain's uid on the label
        self._gone = Tombstones()

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """All objects of a kind, as of a version."""
        if kind == PODS.kind:
            if version and version_number(version) < self.pods_version:
                return
            self.pods_version = version_number(version)
        self._found[kind], self._seen[kind], self._unread[kind] = {}, {}, {}
        for raw in items:
            self._gone.discard(_identity(raw)[0])
            self._keep(kind, raw)
        self.changed("")

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object is new or has changed."""
        uid, version = _identity(raw)
        known_uid, known = self._seen[kind].get(_place(raw), ("", 0))
        if self._gone.is_stale(uid, version) or version < known or (uid, version) == (known_uid, known):
            return
        self._pods_seen(kind, version)
        self.changed(self._keep(kind, raw))

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object is gone; another of its name may be there already."""
        (uid, version), place = _identity(raw), _place(raw)
        self._gone.record(uid, version)
        self._pods_seen(kind, version)
        if self._seen[kind].get(place, ("", 0))[0] == uid:
            del self._seen[kind][place]
            known, label = self._found[kind].pop(place, None), self._unread[kind].pop(place, "")
            self.changed(label if known is None else _domain_of(known))

    def mark_unlisted(self, kind: str, why: str) -> None:
        """Nothing is known of a kind any more: the view of the pods is as old as can be (DC-072)."""
        del why
        if kind == PODS.kind:
            self.pods_version = 0

    @property
    def domains(self) -> tuple[ComputeDomain, ...]:
        """All that are known."""
        return tuple(self._found[DOMAINS.kind].values())

    def moment(self, domain: ComputeDomain, now: datetime) -> DomainSnapshot:
        """What there is to see of one domain."""
        cliques: Iterable[ComputeDomainClique] = self._found[CLIQUES.kind].values()
        pods: Iterable[DaemonPod] = self._found[PODS.kind].values()
        unread = {
            Ref(KINDS[kind].api_version, kind, *place): uid
            for kind in (CLIQUES.kind, PODS.kind)
            for place, uid in self._unread[kind].items()
        }
        return domain_snapshot_of(domain, cliques, pods, pods_version=self.pods_version, unreadable=unread, now=now)

    def _keep(self, kind: str, raw: Mapping[str, Any]) -> str:
        """Take one in; returns the uid of its domain, empty where it is not known."""
        one, place = self._read(kind, raw), _place(raw)
        self._seen[kind][place] = _identity(raw)
        self._unread[kind].pop(place, None)
        if one is None:
            self._unread[kind][place] = _domain_on(raw)
            return self._unread[kind][place]
        self._found[kind][place] = one
        return _domain_of(one)

    def _pods_seen(self, kind: str, version: int) -> None:
        if kind == PODS.kind:
            self.pods_version = max(self.pods_version, version)

    def _read(self, kind: str, raw: Mapping[str, Any]) -> Any:  # noqa: ANN401 - one of three types, by the kind
        try:
            return _READERS[kind](raw)
        except MalformedObject as fault:
            self._told(f"{kind} {'/'.join(_place(raw))}", f"it does not read: {fault}")
            return None


def _place(raw: Mapping[str, Any]) -> ObjectKey:
    metadata = raw.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _domain_on(raw: Mapping[str, Any]) -> str:
    """The domain's uid on the label of an object that cannot be read; empty where there is none."""
    return Fields(raw, "", []).part("metadata").part("labels").text(DOMAIN)


def _identity(raw: Mapping[str, Any]) -> tuple[str, int]:
    metadata = raw.get("metadata") or {}
    return str(metadata.get("uid") or ""), version_number(metadata.get("resourceVersion"))


def _domain_of(one: ComputeDomain | ComputeDomainClique | DaemonPod) -> str:
    return one.uid if isinstance(one, ComputeDomain) else one.domain_uid
