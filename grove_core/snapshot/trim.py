"""A snapshot without what is of no concern to its root, for whoever keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from grove_core.kernel.refs import Ref
from grove_core.resources.pod import Pod
from grove_core.snapshot.snapshot import Snapshot

V = TypeVar("V")


def trimmed(snapshot: Snapshot) -> Snapshot:
    """The same snapshot for every decision about its root: pods of others and what is in other namespaces left out.

    Pods of cliques that are gone stay, for they may still use what the root shares (MN-051).
    """
    root = snapshot.root.ref
    own = {clique.uid for clique in snapshot.cliques}
    return replace(
        snapshot,
        pods_of={uid: pods for uid, pods in snapshot.pods_of.items() if uid in own or may_belong_to(root, pods)},
        claim_templates=_within(snapshot.claim_templates, root.namespace),
        named_domains=_within(snapshot.named_domains, root.namespace),
        named_claims=_within(snapshot.named_claims, root.namespace),
        strangers={key: owner for key, owner in snapshot.strangers.items() if key[1] == root.namespace},
    )


def may_belong_to(root: Ref, pods: Sequence[Pod]) -> bool:
    """Whether pods of a clique that the root does not show may be its own: a label or the name of a gang says so."""
    return any(
        pod.namespace == root.namespace and (pod.set_name == root.name or pod.gang.startswith(f"{root.name}-"))
        for pod in pods
    )


def _within(found: Mapping[tuple[str, str], V], namespace: str) -> Mapping[tuple[str, str], V]:
    return {key: value for key, value in found.items() if key[0] == namespace}
