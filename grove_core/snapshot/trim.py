"""Removes the objects from a snapshot that no decision about its root reads, for caches of snapshots."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from grove_core.kernel.refs import Ref
from grove_core.resources.pod import Pod
from grove_core.snapshot.snapshot import Snapshot

V = TypeVar("V")


def trimmed(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without pods of other sets and without other namespaces; every decision stays the same.

    Pods of PodCliques that are gone stay, since they may still use what the root shares (MN-051).
    """
    root = snapshot.root.ref
    own = {clique.uid for clique in snapshot.cliques}
    return replace(
        snapshot,
        pods_of={uid: pods for uid, pods in snapshot.pods_of.items() if uid in own or may_belong_to(root, pods)},
        claim_templates=_within(snapshot.claim_templates, root.namespace),
        named_domains=_within(snapshot.named_domains, root.namespace),
        named_claims=_within(snapshot.named_claims, root.namespace),
        foreign_owners={key: owner for key, owner in snapshot.foreign_owners.items() if key[1] == root.namespace},
    )


def may_belong_to(root: Ref, pods: Sequence[Pod]) -> bool:
    """Whether pods of an unknown PodClique may belong to a set, by their set label or the name of their gang."""
    return any(
        pod.namespace == root.namespace and (pod.set_name == root.name or pod.gang.startswith(f"{root.name}-"))
        for pod in pods
    )


def _within(found: Mapping[tuple[str, str], V], namespace: str) -> Mapping[tuple[str, str], V]:
    return {key: value for key, value in found.items() if key[0] == namespace}
