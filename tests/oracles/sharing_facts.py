"""The domains and claims that PodCliques share by annotation, derived from the design, not from the core."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_shell.simulator.checks.simulation_check import ActualClusterState

ENABLED: Final = "grove.io/mnnvl-enabled"
SCOPE: Final = "grove.io/mnnvl-scope"
CLASS: Final = "grove.io/mnnvl-device-class"
MNNVL_ANNOTATIONS: Final = (ENABLED, SCOPE, CLASS)
ENTRY: Final = "mnnvl"
KINDS: Final = frozenset({"ComputeDomain", "ResourceClaim"})
LONGEST: Final = 63
NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")

Shared = ComputeDomain | OwnedObject


class Share(NamedTuple):
    """The domain and the claim that a PodClique shares.

    Attributes:
        name_prefix: common prefix of their names.
        user: set, replica, group, group replica and clique; a part is empty where the share covers several.
    """

    name_prefix: str
    user: tuple[str, str, str, str, str]

    @property
    def domain(self) -> str:
        """The name of the domain."""
        return f"{self.name_prefix}-cd"

    @property
    def claim(self) -> str:
        """The name of the claim."""
        return f"{self.name_prefix}-mnnvl-claim"


def share_of(clique: PodClique, root: str) -> Share | None:
    """Return what a new PodClique of a set shares; None where it does not opt in, or not in a valid way."""
    annotations = clique.annotations
    if annotations.get(ENABLED) != "true" or annotations.get(CLASS) == "":
        return None
    replica, group, group_replica = str(clique.replica_index), "", ""
    short = clique.ref.name.removeprefix(f"{root}-{replica}-")
    if clique.owner_kind == "PodCliqueScalingGroup":
        group, group_replica = clique.owner_name.removeprefix(f"{root}-{replica}-"), str(clique.group_replica_index)
        short = clique.ref.name.removeprefix(f"{clique.owner_name}-{group_replica}-")
    match annotations.get(SCOPE, "replica"):
        case "replica":
            return Share(f"{root}-{replica}", (root, replica, "", "", ""))
        case "clique":
            return Share(clique.ref.name, (root, replica, group, group_replica, short))
        case "scalingGroupReplica" if group:
            return Share(f"{clique.owner_name}-{group_replica}", (root, replica, group, group_replica, ""))
    return None


def claim_in(spec: Mapping[str, Any]) -> str | None:
    """Return the shared claim of a pod spec; None without."""
    claims = spec.get("resourceClaims") or ()
    return next((str(one.get("resourceClaimName", "")) for one in claims if one.get("name") == ENTRY), None)


def user_of(item: Shared) -> tuple[str, str, str, str, str]:
    """Return the user of a domain or a claim by its labels."""
    of_set, replica = "app.kubernetes.io/part-of", "grove.io/podcliqueset-replica-index"
    group, group_replica = "grove.io/pcsg-name", "grove.io/podcliquescalinggroup-replica-index"
    keys = (of_set, replica, group, group_replica, "grove.io/clique-name")
    first, second, third, fourth, fifth = (str(item.labels.get(key, "")) for key in keys)
    return first, second, third, fourth, fifth


def find_shared(state: ActualClusterState, kind: str, namespace: str, name: str) -> Shared | None:
    """Return the domain or claim with a name, if it exists."""
    found = state.cluster.find_object(kind, f"{namespace}/{name}")
    return found if isinstance(found, ComputeDomain | OwnedObject) else None


def name_prefix_of(ref: Ref) -> str:
    """Return the common prefix of the names of a domain and its claim."""
    return ref.name.removesuffix("-cd" if ref.kind == "ComputeDomain" else "-mnnvl-claim")


def mnnvl_annotations_in(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the three MNNVL annotations of a set's manifest, by place."""
    template = (manifest.get("spec") or {}).get("template") or {}
    places: dict[str, Any] = {"": manifest.get("metadata") or {}}
    for key in ("cliques", "podCliqueScalingGroups"):
        places |= {f"{key}/{one['name']}": one for one in template.get(key) or ()}
    annotations = {place: one.get("annotations") or {} for place, one in places.items()}
    return {f"{place} {key}": own[key] for place, own in annotations.items() for key in MNNVL_ANNOTATIONS if key in own}


def stored_mnnvl_annotations(template: FrozenMap) -> dict[str, object]:
    """Return the three MNNVL annotations of a stored object."""
    return {key: template[key] for key in MNNVL_ANNOTATIONS if key in template}
