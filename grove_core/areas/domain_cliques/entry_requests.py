"""The requests by which an entry is written and taken away, for each protocol.

Rule for this file: a write holds all of what the daemon wants of its own, and nothing of anybody else's but what it has
to carry along unchanged (DC-030, DC-031, DC-033).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from grove_core.areas.domain_cliques.daemon_context import DaemonContext
from grove_core.areas.domain_cliques.verdicts import Apply, ClearOtherEntry, DaemonRegistry, Post, Put, RemoveEntry
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, frozen
from grove_core.resources.api_names import CORE, DOMAIN, DOMAIN_CLIQUE, NVIDIA
from grove_core.resources.compute_domain import NODE_NAME
from grove_core.resources.compute_domain_clique import DAEMON_NODE_NAME, ComputeDomainClique
from grove_core.resources.daemon_entry import DaemonEntry
from grove_core.resources.names import field_manager


@dataclass(frozen=True, slots=True)
class EntryPath:
    """Where in a register the entries are."""

    above: str
    key: str
    node: str
    subresource: str


IN_DOMAIN = EntryPath("status", "nodes", NODE_NAME, "status")
IN_CLIQUE = EntryPath("", "daemons", DAEMON_NODE_NAME, "")


def entry_path(*, sharded: bool) -> EntryPath:
    """Where the entries are."""
    return IN_CLIQUE if sharded else IN_DOMAIN


def write_request(context: DaemonContext, entry: DaemonEntry, *, force: bool = False) -> Apply | Put | Post:
    """The request that makes the entry of the daemon's node this one."""
    registry, protocol = context.registry, context.settings.protocol
    place = entry_path(sharded=protocol.sharded)
    own = entry.as_json(place.node)
    if protocol.uses_apply:
        return _applied(context, place, (own,), version="", force=force)
    if registry is None:
        manifest = {**_head(context), "metadata": _metadata(context, "", ""), "daemons": (own,)}
        return Post(target=context.registry_ref, manager=field_manager_of(context), manifest=frozen(manifest))
    return _put(context, place, registry, own)


def removal_request(context: DaemonContext, registry: DaemonRegistry) -> RemoveEntry:
    """The request that takes the own entry away, aimed at the very state that was looked at (DC-055)."""
    protocol = context.settings.protocol
    place = entry_path(sharded=protocol.sharded)
    if protocol.uses_apply and not context.state.removes_by_put:
        return RemoveEntry(_applied(context, place, (), version=registry.resource_version, force=False))
    return RemoveEntry(_put(context, place, registry, None))


def clear_request(context: DaemonContext, other: DaemonRegistry) -> ClearOtherEntry:
    """The request that takes the node's entry out of the object of the other gate, whole and aimed (DC-055, DC-067)."""
    place = entry_path(sharded=isinstance(other, ComputeDomainClique))
    left = {place.key: entries_without(other, place, [context.identity.node])}
    whole: dict[str, Any] = dict(other.stored)
    whole |= {place.above: {**(whole.get(place.above) or EMPTY), **left}} if place.above else left
    manager = field_manager_of(context)
    return ClearOtherEntry(
        Put(target=other.ref, subresource=place.subresource, manager=manager, manifest=frozen(whole))
    )


def field_manager_of(context: DaemonContext) -> str:
    """The field manager: one for each node where fields are applied (DC-004, DC-031)."""
    protocol = context.settings.protocol
    return field_manager(protocol.manager, context.identity.node) if protocol.uses_apply else protocol.manager


def entries_without(registry: DaemonRegistry, place: EntryPath, nodes: Iterable[str]) -> tuple[Json, ...]:
    """The stored entries of all other nodes, byte for byte."""
    gone = frozenset(nodes)
    return tuple(item for item in _stored_entries(registry, place) if node_of_entry(item, place) not in gone)


def node_of_entry(item: Json, place: EntryPath) -> str:
    """Whose entry it is."""
    return str(item.get(place.node, "")) if isinstance(item, Mapping) else ""


def _applied(
    context: DaemonContext, place: EntryPath, entries: tuple[FrozenMap, ...], *, version: str, force: bool
) -> Apply:
    registry = context.registry
    uid = registry.uid if registry is not None else ""
    body: dict[str, Any] = {**_head(context), "metadata": _metadata(context, uid, version)}
    if place.above:
        body[place.above] = {place.key: entries}
    elif entries:
        body[place.key] = entries
    return Apply(
        target=context.registry_ref,
        subresource=place.subresource,
        manager=field_manager_of(context),
        fields=frozen(body),
        force=force,
    )


def _put(context: DaemonContext, place: EntryPath, registry: DaemonRegistry, own: FrozenMap | None) -> Put:
    node = context.identity.node
    entries = list(_stored_entries(registry, place))
    at = next((at for at, item in enumerate(entries) if node_of_entry(item, place) == node), len(entries))
    before = entries[at] if at < len(entries) else EMPTY
    kept = dict(before) if own is not None and isinstance(before, FrozenMap) else {}
    entries[at : at + 1] = [] if own is None else [frozen({**kept, **own})]
    whole: dict[str, Any] = dict(registry.stored)
    if place.above:
        above = whole.get(place.above) or EMPTY
        whole[place.above] = {**above, place.key: tuple(entries)}
    else:
        whole |= {place.key: tuple(entries), "metadata": _with_reference(context, whole["metadata"])}
    return Put(
        target=context.registry_ref,
        subresource=place.subresource,
        manager=field_manager_of(context),
        manifest=frozen(whole),
    )


def _stored_entries(registry: DaemonRegistry, place: EntryPath) -> tuple[Json, ...]:
    part: Any = registry.stored.get(place.above) or EMPTY if place.above else registry.stored
    found = part.get(place.key) or ()
    return tuple(found)


def _head(context: DaemonContext) -> dict[str, str]:
    return {"apiVersion": NVIDIA, "kind": context.registry_ref.kind}


def _metadata(context: DaemonContext, uid: str, version: str) -> dict[str, Any]:
    """Metadata of a request; in a clique also its labels and the daemon's pod among its owners (DC-036).

    A uid is named where the server looks at it, which is not through a subresource.
    """
    ref, identity = context.registry_ref, context.identity
    metadata: dict[str, Any] = {"name": ref.name, "namespace": ref.namespace}
    if version:
        metadata["resourceVersion"] = version
    if uid and context.settings.protocol.sharded:
        metadata["uid"] = uid
    if context.settings.protocol.sharded:
        metadata["labels"] = {DOMAIN: identity.domain_uid, DOMAIN_CLIQUE: identity.clique}
        metadata["ownerReferences"] = (_reference(context),)
    return metadata


def _reference(context: DaemonContext) -> dict[str, str]:
    identity = context.identity
    return {"apiVersion": CORE, "kind": "Pod", "name": identity.pod, "uid": identity.pod_uid}


def _with_reference(context: DaemonContext, metadata: Mapping[str, Any]) -> dict[str, Any]:
    owners = [owner for owner in metadata.get("ownerReferences") or () if owner.get("uid") != context.identity.pod_uid]
    return {**metadata, "ownerReferences": (*owners, _reference(context))}
