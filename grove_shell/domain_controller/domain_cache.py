"""The controller's cache of domains, cliques and pods."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Any

from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot, compute_domain_snapshot_of
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import DOMAIN
from grove_core.resources.compute_domain import (
    ComputeDomain,
    compute_domain_from_json,
    daemon_pod_from_json,
    domain_clique_from_json,
)
from grove_core.resources.object_metadata import ObjectMetadata, metadata_in, resource_version_number
from grove_shell.client.object_store import CachedObject, Key, ObjectStore, Raw, StoresByKind
from grove_shell.domain_daemon.daemon_requests import CLIQUES, DOMAINS, KINDS, PODS


class ComputeDomainCache(StoresByKind):
    """Objects of three kinds; an older state never replaces a newer one (DC-010).

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
        parsers: dict[str, Callable[[Raw], Any]] = {
            DOMAINS.kind: compute_domain_from_json,
            CLIQUES.kind: domain_clique_from_json,
            PODS.kind: daemon_pod_from_json,
        }
        self.stores = {
            kind: ObjectStore(parse, partial(self._changed, kind), index_of=_domain_uid_on_label, keeps_readable=True)
            for kind, parse in parsers.items()
        }

    def replace_all_of_kind(self, kind: str, items: Iterable[Raw], version: str) -> None:
        """Apply a complete list as of a version."""
        super().replace_all_of_kind(kind, items, version)
        if kind == PODS.kind:
            as_of = resource_version_number(version)
            self.pods_version = max(self.pods_version, as_of) if as_of else 0
        self.on_change("")

    def put(self, kind: str, raw: Raw) -> None:
        """Apply a new or changed object."""
        self._advance_pods_version(kind, raw)
        super().put(kind, raw)

    def drop(self, kind: str, raw: Raw) -> None:
        """Apply a deletion; a newer object of the same name stays."""
        self._advance_pods_version(kind, raw)
        super().drop(kind, raw)

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """Keep what is known; pods are of unknown age if they cannot be listed any more (DC-072)."""
        del why
        if kind == PODS.kind:
            self.pods_version = 0

    @property
    def all_domains(self) -> tuple[ComputeDomain, ...]:
        """All domains."""
        return tuple(self.stores[DOMAINS.kind].readable_objects.values())

    def domain_snapshot(self, domain: ComputeDomain, now: datetime) -> ComputeDomainSnapshot:
        """Return a domain with its cliques and pods."""
        cliques, pods = self.stores[CLIQUES.kind], self.stores[PODS.kind]
        unreadable = {
            Ref(KINDS[kind].api_version, kind, *key): store.entries[key].index
            for kind, store in ((CLIQUES.kind, cliques), (PODS.kind, pods))
            for key in store.unreadable
        }
        return compute_domain_snapshot_of(
            domain,
            cliques.readable_objects.values(),
            pods.readable_objects.values(),
            pods_version=self.pods_version,
            unreadable=unreadable,
            now=now,
        )

    def _changed(self, kind: str, key: Key, before: CachedObject[Any] | None, after: CachedObject[Any] | None) -> None:
        error = self.stores[kind].unreadable.get(key)
        if error is not None:
            self._report(f"{kind} {'/'.join(key)}", f"malformed object: {error}")
        entry = after or before
        assert entry is not None  # noqa: S101 - a change has one
        item = entry.item
        self.on_change(entry.index if item is None else item.uid if kind == DOMAINS.kind else item.domain_uid)

    def _advance_pods_version(self, kind: str, raw: Raw) -> None:
        if kind == PODS.kind:
            self.pods_version = max(self.pods_version, metadata_in(raw).version_number)


def _domain_uid_on_label(meta: ObjectMetadata) -> str:
    """The domain uid on the label of an object; empty without a label."""
    return str(meta.labels.get(DOMAIN) or "")
