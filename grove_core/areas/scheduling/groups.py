"""The groups of one gang: its parts with the numbers, constraints and priorities by which they are placed.

Shape: the gang -> its standalone PodCliques, and the replicas of scaling groups in it -> their PodCliques. A scaled
gang is one replica of a scaling group, so its PodCliques are its direct parts.
"""

from itertools import islice
from typing import Final, NamedTuple

from grove_core.resources.naming_rules import GroupReplicaKey
from grove_core.resources.podgang import PodGangConstraints
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGang
from grove_core.snapshot.shared_claims import SharedClaim, SharedClaimsOfSet

MAX_CLAIMS: Final = 4
"""The number of claims that a PodGroup admits (scheduling.k8s.io/v1beta1)."""


class CliquePodGroup(NamedTuple):
    """The PodGroup of one PodClique.

    Attributes:
        key: of the node label whose value all pods share; empty without a constraint.
        claims: that all pods share, at most :data:`MAX_CLAIMS`.
    """

    part: ExpectedClique
    key: str
    claims: tuple[SharedClaim, ...]

    @property
    def needed(self) -> int:
        """The number of pods that are placed together."""
        return self.part.template.min_available

    @property
    def is_all_or_nothing(self) -> bool:
        """Whether none of its pods can be left out, by its template, so that preemption takes all or none of them.

        The template decides and not the present number of pods, since the group cannot follow that.
        """
        spec = self.part.template.spec
        return self.needed >= spec.replicas and spec.auto_scaling_config is None


class ReplicaCompositePodGroup(NamedTuple):
    """The CompositePodGroup of one replica of a scaling group inside a base gang."""

    name: str
    group: str
    replica: int
    key: str
    cliques: tuple[CliquePodGroup, ...]


class GangCompositePodGroup(NamedTuple):
    """The root CompositePodGroup of one gang."""

    gang: ExpectedGang
    key: str
    cliques: tuple[CliquePodGroup, ...]
    replicas: tuple[ReplicaCompositePodGroup, ...]

    @property
    def name(self) -> str:
        """Its name: of a base gang that of the gang, of a scaled gang that of the replica of the scaling group."""
        group = self.gang.group
        return self.gang.name if group is None else group.key.name

    @property
    def children(self) -> int:
        """The number of its parts; all of them are needed."""
        return len(self.cliques) + len(self.replicas)


def constrained_groups_of_gang(
    gang: ExpectedGang, constraints: PodGangConstraints, claims: SharedClaimsOfSet
) -> GangCompositePodGroup:
    """Return the groups of a gang. Only required constraints have a counterpart (SC-014). Linear in its cliques."""
    packs, packed = dict(constraints.cliques), {one.name: one.pack for one in constraints.packed_groups}

    def of_clique(part: ExpectedClique) -> CliquePodGroup:
        key = packs[part.name].required if part.name in packs else ""
        return CliquePodGroup(part, key, tuple(islice(dict.fromkeys(claims.of_every_pod(part)), MAX_CLAIMS)))

    if gang.group is not None:
        return GangCompositePodGroup(gang, constraints.gang.required, tuple(map(of_clique, gang.cliques)), ())
    members: dict[GroupReplicaKey, list[CliquePodGroup]] = {}
    for part in gang.cliques:
        if part.group is not None:
            members.setdefault(part.group.key, []).append(of_clique(part))
    replicas = (
        ReplicaCompositePodGroup(
            key.name, *key, packed[key.name].required if key.name in packed else "", tuple(cliques)
        )
        for key, cliques in members.items()
    )
    standalone = (of_clique(part) for part in gang.cliques if part.group is None)
    return GangCompositePodGroup(gang, constraints.gang.required, tuple(standalone), tuple(replicas))
