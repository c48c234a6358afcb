"""Facts about the ComputeDomains of sets, derived from the documents, not from the core."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_shell.simulator.checks.simulation_check import ActualClusterState

TEMPLATE: Final = "grove.io/compute-domain-rct"
CONDITION: Final = "ComputeDomainsReady"
CLAIM: Final = "mnnvl-claim"
_OPTED_OUT: Final = "grove.io/mnnvl-enabled"
_GPU: Final = "nvidia.com/gpu"
_FAILED: Final = re.compile(r"ComputeDomain creation failed for replicas: \[([0-9, ]*)\]\. Error: .+", re.DOTALL)

Part = PodClique | ScalingGroup


def needs_domains(root: PodCliqueSet, configuration: Configuration) -> bool:
    """Return whether a set must have ComputeDomains: in mode operator, not opted out, with a GPU."""
    mnnvl = configuration.mnnvl
    cliques = root.spec.template.cliques
    return (
        mnnvl.enabled
        and mnnvl.mode is MnnvlMode.OPERATOR
        and root.annotations.get(_OPTED_OUT, "true") == "true"
        and any(any(wants_gpu(one) for one in containers_of(clique.spec.pod_spec)) for clique in cliques)
    )


def is_shared(item: ComputeDomain | OwnedObject) -> bool:
    """Return whether a domain or claim is shared by annotation."""
    return item.labels.get("grove.io/mnnvl-managed") == "true"


def containers_of(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the containers and the init containers of a pod spec."""
    for key in ("containers", "initContainers"):
        yield from spec.get(key) or ()


def wants_gpu(container: Mapping[str, Any]) -> bool:
    """Return whether a container requests a GPU."""
    resources = container.get("resources") or {}
    return any(str((resources.get(key) or {}).get(_GPU, "0")) != "0" for key in ("limits", "requests"))


def failed_in(root: PodCliqueSet) -> tuple[int, ...] | None:
    """Return the replicas that the condition of a set lists; None for a message of another form than documented."""
    for condition in root.status.conditions:
        if condition.type == CONDITION:
            found = _FAILED.fullmatch(condition.message)
            if found is None or condition.reason != "CreationFailed" or condition.status.value != "False":
                return None
            return tuple(int(text) for text in found[1].split(",") if text.strip())
    return ()


def claim_template_of(domain: ComputeDomain) -> str:
    """Return the ResourceClaimTemplate that a domain names, in either API version; empty without."""
    channel = domain.spec.get("channel")
    if not isinstance(channel, FrozenMap):
        return ""
    nested = channel.get("resourceClaimTemplate")
    found = nested.get("name") if isinstance(nested, FrozenMap) else channel.get("resourceClaimTemplateName")
    return str(found or "")


class ReplicaIndex:
    """The replica of each clique and scaling group, as of its creation, and the replicas that had a domain.

    Attributes:
        place_of: uid of a clique or group -> uid of its set and replica index.
        made: uid of a set and replica index of each domain that ever existed.
    """

    def __init__(self, state: ActualClusterState) -> None:
        self.state = state
        self.place_of: dict[str, tuple[str, int]] = {}
        self.made: set[tuple[str, int]] = set()

    def add(self, part: Part) -> tuple[str, int]:
        """Add a new part, and return the uid of its set and its replica index."""
        place = self.place_of[part.uid] = (self.state.root_of.get(part.uid, ""), self.index_of(part))
        return place

    def index_of(self, part: Part) -> int:
        """Return the replica index of a part; a member of a scaling group has that of its group."""
        _, of_group = self.place_of.get(part.owner_uid, ("", part.replica_index))
        return of_group

    def parts(self) -> Iterable[Part]:
        """Return all parts that are not being deleted."""
        items = self.state.cluster.server.items.values()
        return (item for item in items if isinstance(item, PodClique | ScalingGroup) and not item.deleting)

    def siblings(self, place: tuple[str, int]) -> list[Part]:
        """Return the parts of a replica that are not being deleted."""
        return [part for part in self.parts() if self.place_of.get(part.uid) == place]

    def domain(self, root: PodCliqueSet, index: int) -> ComputeDomain | None:
        """Return the ComputeDomain with the name of a replica's domain, of any owner."""
        name = f"{root.ref.namespace}/{root.ref.name}-cd-{index}"
        found = self.state.cluster.find_object("ComputeDomain", name)
        return found if isinstance(found, ComputeDomain) else None

    def root(self, uid: str) -> PodCliqueSet | None:
        """Return the set with a uid, if it exists."""
        return next((root for root in self.state.cluster.all_sets() if root.uid == uid), None)
