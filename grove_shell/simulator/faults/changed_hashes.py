"""Template hashes as another release of the operator would have stored them (F13)."""

from dataclasses import replace

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.api_names import TEMPLATE_HASH
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_shell.in_memory.garbage_collection import StoredObject

_MARK = "-old"


def changed_hash(text: str) -> str:
    """Return another hash: equal for equal hashes, and never equal to one that Grove computes."""
    return f"{text}{_MARK}" if text else ""


def with_changed_hashes(item: StoredObject) -> StoredObject:
    """Return an object with all of its stored hashes changed; the same object where it stores none."""
    if isinstance(item, PodClique):
        hashes = (item.status.update_hash, item.status.current_hash, item.status.set_hash)
        update, current, whole = map(changed_hash, hashes)
        labels = item.labels
        if TEMPLATE_HASH in labels:
            labels = FrozenMap({**labels, TEMPLATE_HASH: changed_hash(item.template_hash)})
        status = replace(item.status, update_hash=update, current_hash=current, set_hash=whole)
        return replace(item, status=status, labels=labels, template_hash=changed_hash(item.template_hash))
    if isinstance(item, ScalingGroup) and item.status.set_hash:
        return replace(item, status=replace(item.status, set_hash=changed_hash(item.status.set_hash)))
    if isinstance(item, PodCliqueSet) and item.status.current_hash:
        return replace(item, status=replace(item.status, current_hash=changed_hash(item.status.current_hash)))
    return item
