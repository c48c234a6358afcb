"""Requests that write and remove an entry, for each protocol.

A write contains every field of the daemon's own entry. It contains entries of other daemons only where a whole object
is written back, and then unchanged (DC-030).
"""

from datetime import datetime

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonInput, NvlinkCliqueDaemons
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    ClearOtherEntryRequest,
    DaemonAction,
    PostRequest,
    PutRequest,
    ReadObjectRequest,
    RemoveEntryRequest,
)
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.resources.api_names import CORE, DOMAIN, DOMAIN_CLIQUE, NVIDIA
from grove_core.resources.compute_domain import ComputeDomainClique, DaemonEntry
from grove_core.resources.daemon_entry_lists import (
    DaemonRegistry,
    daemon_entries_path,
    object_with_daemon_entry,
    path_in_registry,
    with_owner,
)
from grove_core.resources.naming_rules import daemon_field_manager


def daemon_entry_write_request(
    context: DaemonInput, entry: DaemonEntry, *, force: bool = False
) -> ApplyRequest | PutRequest | PostRequest:
    """Return the request that writes this entry for the daemon's node."""
    registry, protocol = context.registry, context.settings.protocol
    own = entry.as_json(daemon_entries_path(sharded=protocol.sharded).node_key)
    if protocol.uses_apply:
        return _apply(context, (own,), version="", force=force)
    if registry is None:
        manifest = {**_head(context, "", ""), "daemons": (own,)}
        return PostRequest(
            target=context.registry_ref, manager=field_manager_of_daemon(context), manifest=FrozenMap(manifest)
        )
    return _put(context, registry, own)


def daemon_entry_removal_request(context: DaemonInput, registry: DaemonRegistry) -> RemoveEntryRequest:
    """Return the request that removes the own entry, with the version the decision is based on (DC-030)."""
    if context.settings.protocol.uses_apply and not context.state.removes_by_put:
        return RemoveEntryRequest(_apply(context, (), version=registry.resource_version, force=False))
    return RemoveEntryRequest(_put(context, registry, None))


def field_manager_of_daemon(context: DaemonInput) -> str:
    """Return the field manager: one for each node if fields are applied (DC-003, DC-030)."""
    protocol = context.settings.protocol
    return daemon_field_manager(protocol.manager, context.identity.node) if protocol.uses_apply else protocol.manager


def _apply(context: DaemonInput, entries: tuple[FrozenMap, ...], *, version: str, force: bool) -> ApplyRequest:
    path = daemon_entries_path(sharded=context.settings.protocol.sharded)
    body = _head(context, context.registry.uid if context.registry is not None else "", version)
    if path.parent or entries:
        body |= path.fields_with_entries(entries)
    return ApplyRequest(
        target=context.registry_ref,
        subresource=path.subresource,
        manager=field_manager_of_daemon(context),
        fields=FrozenMap(body),
        force=force,
    )


def _put(
    context: DaemonInput, registry: DaemonRegistry, own: FrozenMap | None, *, becomes_owner: bool = True
) -> PutRequest:
    """Return the write of a whole registry with this entry for the daemon's node; None removes the entry."""
    whole = object_with_daemon_entry(registry, context.identity.node, own)
    if becomes_owner and isinstance(registry, ComputeDomainClique):
        whole = with_owner(whole, _owner_reference(context))
    return PutRequest(
        target=registry.ref,
        subresource=path_in_registry(registry).subresource,
        manager=field_manager_of_daemon(context),
        manifest=whole,
    )


def _head(context: DaemonInput, uid: str, version: str) -> dict[str, Json]:
    """Return kind and metadata of a request; for a clique with labels, uid and the daemon's pod as an owner (DC-036).

    The uid is left out for a subresource, where the API server ignores it.
    """
    ref, identity = context.registry_ref, context.identity
    metadata: dict[str, Json] = {"name": ref.name, "namespace": ref.namespace}
    if version:
        metadata["resourceVersion"] = version
    if context.settings.protocol.sharded:
        metadata |= {"uid": uid} if uid else {}
        metadata["labels"] = FrozenMap({DOMAIN: identity.domain_uid, DOMAIN_CLIQUE: identity.clique})
        metadata["ownerReferences"] = (_owner_reference(context),)
    return {"apiVersion": NVIDIA, "kind": ref.kind, "metadata": FrozenMap(metadata)}


def _owner_reference(context: DaemonInput) -> FrozenMap:
    identity = context.identity
    return FrozenMap({"apiVersion": CORE, "kind": "Pod", "name": identity.pod, "uid": identity.pod_uid})


def other_registry_read_request(context: DaemonInput) -> Decision[DaemonAction]:
    """Return a GET of the other registry (DC-065)."""
    target = context.other_registry_ref
    return context.decision_for_action(
        ReadObjectRequest(target), ComputeDomainReason.OTHER_SOURCE_UNREAD, register=target.short
    )


def other_registry_cleanup_request(context: DaemonInput, view: NvlinkCliqueDaemons) -> Decision[DaemonAction] | None:
    """Remove the node's entry with the daemon's own IP from the other registry (DC-067), or read it again when due."""
    other, entry = context.state.other_registry, view.own_in_other
    if other is not None and entry is not None and entry.ip == context.identity.ip:
        request = ClearOtherEntryRequest(_put(context, other, None, becomes_owner=False))
        return context.decision_for_action(request, ComputeDomainReason.LEFT_BEHIND, register=other.ref.short)
    read_at = next_other_registry_read_time(context)
    return other_registry_read_request(context) if read_at is not None and context.now >= read_at else None


def next_other_registry_read_time(context: DaemonInput) -> datetime | None:
    """Return when to read the other registry again; None if it has no daemons of the clique (DC-065)."""
    state, identity = context.state, context.identity
    if not context.settings.reads_other_registry or state.other_registry is None or state.other_read_at is None:
        return None
    has_members = any(entry.clique == identity.clique for entry in state.other_registry.daemon_entries)
    return state.other_read_at + context.settings.recheck_interval if has_members else None
