"""What a set should consist of: replicas, scaling groups, cliques and gangs.

Replica counts come from existing objects, which users and autoscalers scale; the template's counts apply to new objects
only (WL-010).
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import Final

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import Struct
from grove_core.resources.domain_sharing import CliquePositionInSet
from grove_core.resources.naming_rules import (
    GroupReplicaKey,
    member_clique_name,
    scaled_gang_name,
    scaling_group_name,
    set_replica_name,
    standalone_clique_name,
)
from grove_core.resources.podcliqueset_spec import (
    CliqueTemplate,
    ScalingGroupTemplate,
    SetSpec,
    first_templates_by_name,
)
from grove_core.snapshot.snapshot import Snapshot


class GroupMembership(Struct, frozen=True, kw_only=True):
    """The replica of a scaling group that PodCliques belong to; those of one replica have one value.

    Attributes:
        name: full name of the scaling group.
        template: of the scaling group.
        replica: its index in the scaling group.
        surplus: whether the replica exists for an update only (WL-220).
        pods: the number of pods in the replica, by the template.
    """

    name: str
    template: ScalingGroupTemplate
    replica: int
    surplus: bool
    pods: int

    @property
    def key(self) -> GroupReplicaKey:
        """The scaling group and the index of the replica."""
        return GroupReplicaKey(self.name, self.replica)


class ExpectedClique(Struct, frozen=True, kw_only=True):
    """One PodClique that a set should have.

    Attributes:
        name: of the PodClique.
        template: in the set.
        replica: of the set.
        group: the replica of a scaling group that it belongs to; None for a standalone clique.
        gang: the PodGang of its pods.
        base_gang: the PodGang that its gang waits for; empty for cliques of a base gang.
        replicas: the number of pods.
        surge: 1 while an update needs an additional pod (WL-216).
    """

    name: str
    template: CliqueTemplate
    replica: int
    group: GroupMembership | None = None
    gang: str
    base_gang: str = ""
    replicas: int
    surge: int = 0

    @property
    def group_replica_key(self) -> GroupReplicaKey | None:
        """The replica of a scaling group that it belongs to, as a key; None for a standalone clique."""
        return None if self.group is None else self.group.key

    def position_in(self, set_name: str) -> CliquePositionInSet:
        """Return its position in the set of this name."""
        return CliquePositionInSet(set_name, self.replica, self.name, self.template.name, self.group_replica_key)


class ExpectedScalingGroup(Struct, frozen=True, kw_only=True):
    """One PodCliqueScalingGroup with its cliques, replica by replica, in the order of its ``cliqueNames``.

    Attributes:
        replicas: of the object, plus one while an update needs an additional replica (WL-220).
    """

    name: str
    template: ScalingGroupTemplate
    replica: int
    replicas: int
    cliques: tuple[ExpectedClique, ...]

    @property
    def cliques_by_replica(self) -> Iterator[tuple[int, tuple[ExpectedClique, ...]]]:
        """The index and the cliques of each replica, in order; nothing for a group without cliques."""
        for index, (_, cliques) in enumerate(groupby(self.cliques, lambda one: one.group)):
            yield index, tuple(cliques)


class ExpectedGang(Struct, frozen=True, kw_only=True):
    """One PodGang: the cliques that are placed together, in template order.

    Attributes:
        group: the replica of a scaling group that a scaled gang consists of; None for a base gang.
    """

    name: str
    replica: int
    group: GroupMembership | None = None
    cliques: tuple[ExpectedClique, ...]


class ExpectedReplica(Struct, frozen=True, kw_only=True):
    """One replica of the set: its standalone cliques and its scaling groups."""

    index: int
    cliques: tuple[ExpectedClique, ...]
    groups: tuple[ExpectedScalingGroup, ...]

    @property
    def gangs(self) -> Iterator[ExpectedGang]:
        """The base gang, then one gang for each group replica beyond the minimum (WL-016, WL-017)."""
        members = [clique for group in self.groups for clique in group.cliques]
        base = (*self.cliques, *(clique for clique in members if not clique.base_gang))
        if base:
            yield ExpectedGang(name=base[0].gang, replica=self.index, cliques=base)
        scaled: dict[str, list[ExpectedClique]] = {}
        for clique in members:
            if clique.base_gang:
                scaled.setdefault(clique.gang, []).append(clique)
        for name, cliques in scaled.items():
            yield ExpectedGang(name=name, replica=self.index, group=cliques[0].group, cliques=tuple(cliques))

    @property
    def all_cliques(self) -> Iterator[ExpectedClique]:
        """The standalone cliques, then those of the groups."""
        yield from self.cliques
        for group in self.groups:
            yield from group.cliques


class ExpectedSetReplicas:
    """The replicas that a set should have, each built when it is asked for."""

    def __init__(
        self,
        set_name: str,
        spec: SetSpec,
        group_replicas: Mapping[str, int] = FrozenDict(),
        pods: Mapping[str, int] = FrozenDict(),
    ) -> None:
        """Prepare.

        Args:
            set_name, spec: of the set.
            group_replicas, pods: replicas of scaling groups and of cliques by full name; the template's for all others.
        """
        template = spec.template
        cliques = first_templates_by_name(template.cliques)
        self._name, self._spec = set_name, spec
        self._group_replicas = group_replicas
        self._pods = pods
        self._standalone = [one for one in spec.standalone_cliques if cliques[one.name] is one]
        self._groups = [
            (
                group,
                [cliques[short] for short in dict.fromkeys(group.clique_names) if short in cliques],
                sum(cliques[short].spec.replicas for short in group.clique_names if short in cliques),
            )
            for group in first_templates_by_name(template.pod_clique_scaling_groups).values()
        ]

    @property
    def replicas(self) -> tuple[ExpectedReplica, ...]:
        """All replicas. Linear in the expected objects."""
        return tuple(map(self.replica, range(self._spec.replicas)))

    def replicas_with_surge(
        self, replicas: Iterable[ExpectedReplica], surge: AbstractSet[str]
    ) -> tuple[ExpectedReplica, ...]:
        """Return the replicas, with an additional pod or replica for the cliques and groups of these names."""
        return tuple(
            one if surge.isdisjoint(_names_of_parts(one)) else self.replica(one.index, surge) for one in replicas
        )

    def replica(self, index: int, surge: AbstractSet[str] = frozenset()) -> ExpectedReplica:
        """Return one replica; ``surge`` names the cliques and groups that have one additional pod or replica."""
        base = set_replica_name(self._name, index)
        return ExpectedReplica(
            index=index,
            cliques=tuple(self._clique(index, base, template, surge) for template in self._standalone),
            groups=tuple(self._group(index, base, *group, surge) for group in self._groups),
        )

    def _clique(self, index: int, base: str, template: CliqueTemplate, surge: AbstractSet[str]) -> ExpectedClique:
        name = standalone_clique_name(self._name, index, template.name)
        return ExpectedClique(
            name=name,
            template=template,
            replica=index,
            gang=base,
            replicas=self._pods.get(name, template.spec.replicas),
            surge=name in surge,
        )

    def _group(
        self,
        index: int,
        base: str,
        template: ScalingGroupTemplate,
        cliques: Iterable[CliqueTemplate],
        group_pods: int,
        surge: AbstractSet[str],
    ) -> ExpectedScalingGroup:
        name = scaling_group_name(self._name, index, template.name)
        wanted = self._group_replicas.get(name, template.replicas)
        replicas = wanted + (name in surge)
        members = []
        for own_index in range(replicas):
            in_base = own_index < template.min_available
            gang = base if in_base else scaled_gang_name(name, own_index - template.min_available)
            membership = GroupMembership(
                name=name, template=template, replica=own_index, surplus=own_index >= wanted, pods=group_pods
            )
            for clique in cliques:
                full_name = member_clique_name(name, own_index, clique.name)
                members.append(
                    ExpectedClique(
                        name=full_name,
                        template=clique,
                        replica=index,
                        group=membership,
                        gang=gang,
                        base_gang="" if in_base else base,
                        replicas=self._pods.get(full_name, clique.spec.replicas),
                    )
                )
        return ExpectedScalingGroup(
            name=name, template=template, replica=index, replicas=replicas, cliques=tuple(members)
        )


def _names_of_parts(replica: ExpectedReplica) -> Iterator[str]:
    yield from (clique.name for clique in replica.cliques)
    yield from (group.name for group in replica.groups)


def expected_set_of(snapshot: Snapshot) -> ExpectedSetReplicas:
    """Return what a set should consist of. Linear in its existing groups and cliques."""
    return ExpectedSetReplicas(
        snapshot.root.ref.name,
        snapshot.root.spec,
        {group.ref.name: group.replicas for group in snapshot.groups},
        {clique.ref.name: clique.replicas for clique in snapshot.cliques},
    )


MOST: Final = 1_000_000
"""The largest number of PodCliques and pods of a set that is planned."""


def max_object_count_of_set(snapshot: Snapshot) -> int:
    """Return the largest number of PodCliques and pods that a set can have, without building them.

    Each scaling group counts with the replicas of the largest. Linear in the templates and the existing parts.
    """
    root = snapshot.root
    weights = {clique.name: 1 + max(0, clique.spec.replicas) for clique in root.spec.template.cliques}
    live = max((group.replicas for group in snapshot.groups), default=0)
    grown = max((clique.replicas for clique in snapshot.cliques), default=0)
    standalone = sum(weights[clique.name] for clique in root.spec.standalone_cliques)
    grouped = sum(
        max(group.replicas, group.min_available, live)
        * max(1, sum(weights.get(name, 0) for name in group.clique_names))
        for group in root.spec.template.pod_clique_scaling_groups
    )
    return max(0, root.spec.replicas) * max(1, standalone + grouped) + grown


def is_set_too_large(snapshot: Snapshot) -> bool:
    """Whether the set is withheld as a whole, because it has more parts than :data:`MOST`."""
    return max_object_count_of_set(snapshot) > MOST
