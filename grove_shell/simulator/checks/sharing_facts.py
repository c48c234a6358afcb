"""Who shares what by annotation, read off the design's tables and not off the core."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_shell.simulator.checks.check import ActualState

ENABLED: Final = "grove.io/mnnvl-enabled"
SCOPE: Final = "grove.io/mnnvl-scope"
CLASS: Final = "grove.io/mnnvl-device-class"
CHOICES: Final = (ENABLED, SCOPE, CLASS)
ENTRY: Final = "mnnvl"
KINDS: Final = frozenset({"ComputeDomain", "ResourceClaim"})
LONGEST: Final = 63
NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")

Shared = ComputeDomain | OwnedObject


class Share(NamedTuple):
    """What a PodClique is to share.

    Attributes:
        stem: what domain and claim are named after.
        user: set, replica, group, replica of the group, and clique; empty where it is for more than one.
    """

    stem: str
    user: tuple[str, str, str, str, str]

    @property
    def domain(self) -> str:
        """Its name."""
        return f"{self.stem}-cd"

    @property
    def claim(self) -> str:
        """Its name."""
        return f"{self.stem}-mnnvl-claim"


def share_of(clique: PodClique, root: str) -> Share | None:
    """What a new PodClique of a set of that name opts in to; None for nothing, or what cannot be meant."""
    told = clique.annotations
    if told.get(ENABLED) != "true" or told.get(CLASS) == "":
        return None
    replica, group, group_replica = str(clique.replica_index), "", ""
    short = clique.ref.name.removeprefix(f"{root}-{replica}-")
    if clique.owner_kind == "PodCliqueScalingGroup":
        group, group_replica = clique.owner_name.removeprefix(f"{root}-{replica}-"), str(clique.group_replica_index)
        short = clique.ref.name.removeprefix(f"{clique.owner_name}-{group_replica}-")
    match told.get(SCOPE, "replica"):
        case "replica":
            return Share(f"{root}-{replica}", (root, replica, "", "", ""))
        case "clique":
            return Share(clique.ref.name, (root, replica, group, group_replica, short))
        case "scalingGroupReplica" if group:
            return Share(f"{clique.owner_name}-{group_replica}", (root, replica, group, group_replica, ""))
    return None


def claim_in(spec: Mapping[str, Any]) -> str | None:
    """The claim that a pod spec holds; None where it holds none."""
    claims = spec.get("resourceClaims") or ()
    return next((str(one.get("resourceClaimName", "")) for one in claims if one.get("name") == ENTRY), None)


def user_in(item: Shared) -> tuple[str, str, str, str, str]:
    """Whom a domain or a claim serves by its labels."""
    of_set, replica = "app.kubernetes.io/part-of", "grove.io/podcliqueset-replica-index"
    group, group_replica = "grove.io/pcsg-name", "grove.io/podcliquescalinggroup-replica-index"
    keys = (of_set, replica, group, group_replica, "grove.io/clique-name")
    first, second, third, fourth, fifth = (str(item.labels.get(key, "")) for key in keys)
    return first, second, third, fourth, fifth


def named(state: ActualState, kind: str, namespace: str, name: str) -> Shared | None:
    """The domain or claim of a name."""
    found = state.cluster.find(kind, f"{namespace}/{name}")
    return found if isinstance(found, ComputeDomain | OwnedObject) else None


def stem_of(ref: Ref) -> str:
    """What a domain or a claim is named after."""
    return ref.name.removesuffix("-cd" if ref.kind == "ComputeDomain" else "-mnnvl-claim")


def choices_in(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a set's manifest says by the three annotations, by place."""
    template = (manifest.get("spec") or {}).get("template") or {}
    places: dict[str, Any] = {"": manifest.get("metadata") or {}}
    for key in ("cliques", "podCliqueScalingGroups"):
        places |= {f"{key}/{one['name']}": one for one in template.get(key) or ()}
    said = {place: one.get("annotations") or {} for place, one in places.items()}
    return {f"{place} {key}": told[key] for place, told in said.items() for key in CHOICES if key in told}


def annotations_of(template: FrozenMap) -> dict[str, object]:
    """The three of them in what is stored."""
    return {key: template[key] for key in CHOICES if key in template}
