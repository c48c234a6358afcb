"""The requests by which an entry is written and taken away, for each protocol.

Rule for this file: a write holds all of what the daemon wants of its own, and nothing of anybody else's but what it has
to carry along unchanged (DC-030, DC-031, DC-033).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from grove_core.areas.domain_cliques.situation import Situation
from grove_core.areas.domain_cliques.verdicts import Apply, Clear, Post, Put, Register, Remove
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, frozen
from grove_core.resources.api_names import CORE, DOMAIN, DOMAIN_CLIQUE, NVIDIA
from grove_core.resources.compute_domain import NODE_NAME
from grove_core.resources.compute_domain_clique import DAEMON_NODE_NAME, ComputeDomainClique
from grove_core.resources.daemon_entry import DaemonEntry
from grove_core.resources.names import field_manager


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a register the entries are."""

    above: str
    key: str
    node: str
    subresource: str


IN_DOMAIN = Place("status", "nodes", NODE_NAME, "status")
IN_CLIQUE = Place("", "daemons", DAEMON_NODE_NAME, "")


def place_of(*, sharded: bool) -> Place:
    """Where the entries are."""
    return IN_CLIQUE if sharded else IN_DOMAIN


def entry_written(situation: Situation, entry: DaemonEntry, *, force: bool = False) -> Apply | Put | Post:
    """The request that makes the entry of the daemon's node this one."""
    register, protocol = situation.register, situation.setup.protocol
    place = place_of(sharded=protocol.sharded)
    own = entry.as_json(place.node)
    if protocol.applies:
        return _applied(situation, place, (own,), version="", force=force)
    if register is None:
        manifest = {**_head(situation), "metadata": _metadata(situation, "", ""), "daemons": (own,)}
        return Post(target=situation.register_ref, manager=manager_of(situation), manifest=frozen(manifest))
    return _put(situation, place, register, own)


def entry_removed(situation: Situation, register: Register) -> Remove:
    """The request that takes the own entry away, aimed at the very state that was looked at (DC-055)."""
    protocol = situation.setup.protocol
    place = place_of(sharded=protocol.sharded)
    if protocol.applies and not situation.memory.by_put:
        return Remove(_applied(situation, place, (), version=register.resource_version, force=False))
    return Remove(_put(situation, place, register, None))


def entry_cleared(situation: Situation, other: Register) -> Clear:
    """The request that takes the node's entry out of the object of the other gate, whole and aimed (DC-055, DC-067)."""
    place = place_of(sharded=isinstance(other, ComputeDomainClique))
    left = {place.key: without(other, place, [situation.me.node])}
    whole: dict[str, Any] = dict(other.stored)
    whole |= {place.above: {**(whole.get(place.above) or EMPTY), **left}} if place.above else left
    manager = manager_of(situation)
    return Clear(Put(target=other.ref, subresource=place.subresource, manager=manager, manifest=frozen(whole)))


def manager_of(situation: Situation) -> str:
    """The field manager: one for each node where fields are applied (DC-004, DC-031)."""
    protocol = situation.setup.protocol
    return field_manager(protocol.manager, situation.me.node) if protocol.applies else protocol.manager


def without(register: Register, place: Place, nodes: Iterable[str]) -> tuple[Json, ...]:
    """The stored entries of all other nodes, byte for byte."""
    gone = frozenset(nodes)
    return tuple(item for item in _stored_entries(register, place) if node_of(item, place) not in gone)


def node_of(item: Json, place: Place) -> str:
    """Whose entry it is."""
    return str(item.get(place.node, "")) if isinstance(item, Mapping) else ""


def _applied(situation: Situation, place: Place, entries: tuple[FrozenMap, ...], *, version: str, force: bool) -> Apply:
    register = situation.register
    uid = register.uid if register is not None else ""
    body: dict[str, Any] = {**_head(situation), "metadata": _metadata(situation, uid, version)}
    if place.above:
        body[place.above] = {place.key: entries}
    elif entries:
        body[place.key] = entries
    return Apply(
        target=situation.register_ref,
        subresource=place.subresource,
        manager=manager_of(situation),
        fields=frozen(body),
        force=force,
    )


def _put(situation: Situation, place: Place, register: Register, own: FrozenMap | None) -> Put:
    node = situation.me.node
    entries = list(_stored_entries(register, place))
    at = next((at for at, item in enumerate(entries) if node_of(item, place) == node), len(entries))
    before = entries[at] if at < len(entries) else EMPTY
    kept = dict(before) if own is not None and isinstance(before, FrozenMap) else {}
    entries[at : at + 1] = [] if own is None else [frozen({**kept, **own})]
    whole: dict[str, Any] = dict(register.stored)
    if place.above:
        above = whole.get(place.above) or EMPTY
        whole[place.above] = {**above, place.key: tuple(entries)}
    else:
        whole |= {place.key: tuple(entries), "metadata": _with_reference(situation, whole["metadata"])}
    return Put(
        target=situation.register_ref,
        subresource=place.subresource,
        manager=manager_of(situation),
        manifest=frozen(whole),
    )


def _stored_entries(register: Register, place: Place) -> tuple[Json, ...]:
    part: Any = register.stored.get(place.above) or EMPTY if place.above else register.stored
    found = part.get(place.key) or ()
    return tuple(found)


def _head(situation: Situation) -> dict[str, str]:
    return {"apiVersion": NVIDIA, "kind": situation.register_ref.kind}


def _metadata(situation: Situation, uid: str, version: str) -> dict[str, Any]:
    """Metadata of a request; in a clique also its labels and the daemon's pod among its owners (DC-036).

    A uid is named where the server looks at it, which is not through a subresource.
    """
    ref, me = situation.register_ref, situation.me
    metadata: dict[str, Any] = {"name": ref.name, "namespace": ref.namespace}
    if version:
        metadata["resourceVersion"] = version
    if uid and situation.setup.protocol.sharded:
        metadata["uid"] = uid
    if situation.setup.protocol.sharded:
        metadata["labels"] = {DOMAIN: me.domain_uid, DOMAIN_CLIQUE: me.clique}
        metadata["ownerReferences"] = (_reference(situation),)
    return metadata


def _reference(situation: Situation) -> dict[str, str]:
    me = situation.me
    return {"apiVersion": CORE, "kind": "Pod", "name": me.pod, "uid": me.pod_uid}


def _with_reference(situation: Situation, metadata: Mapping[str, Any]) -> dict[str, Any]:
    owners = [owner for owner in metadata.get("ownerReferences") or () if owner.get("uid") != situation.me.pod_uid]
    return {**metadata, "ownerReferences": (*owners, _reference(situation))}
