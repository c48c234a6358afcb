"""What a set should consist of, as a tree of names and places; no manifests yet.

Replica counts are those of the objects where they exist: they are scaled by people and autoscalers, and the template's
counts are only what they begin with (WL-010).
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from grove_core.resources.names import (
    member_clique_name,
    replica_name,
    scaled_gang_name,
    scaling_group_name,
    standalone_clique_name,
)
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.template import CliqueTemplate, GroupTemplate
from grove_core.snapshot.snapshot import Snapshot

Template = TypeVar("Template", CliqueTemplate, GroupTemplate)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedClique:
    """One PodClique.

    Attributes:
        replica: of the set.
        group, group_replica: the scaling group's full name and its replica; empty and -1 for a standalone clique.
        group_template: the scaling group in the template.
        gang: the PodGang its pods belong to.
        base_gang: the one it waits for; empty for cliques of a base gang.
        replicas: pods, as many as the object says.
        surge: one pod more while an update can spare none (WL-216).
        surplus: whether its replica of the scaling group is there for an update alone (WL-220).
        group_pods: in one replica of its scaling group, by the template; 0 for a standalone clique.
    """

    name: str
    template: CliqueTemplate
    replica: int
    group: str = ""
    group_replica: int = -1
    group_template: GroupTemplate | None = None
    gang: str
    base_gang: str = ""
    replicas: int
    surge: int = 0
    surplus: bool = False
    group_pods: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedGroup:
    """One PodCliqueScalingGroup with its cliques, replica by replica, in the order of its ``cliqueNames``.

    Attributes:
        replicas: as many as the object says, and one more while an update can spare none (WL-220).
    """

    name: str
    template: GroupTemplate
    replica: int
    replicas: int
    cliques: tuple[ExpectedClique, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedGang:
    """One PodGang: the cliques that are placed as one, in template order.

    Attributes:
        group, group_replica: of a gang beyond a scaling group's minimum; empty and -1 for a base gang.
    """

    name: str
    replica: int
    group: str = ""
    group_replica: int = -1
    cliques: tuple[ExpectedClique, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedReplica:
    """One replica of the set."""

    index: int
    cliques: tuple[ExpectedClique, ...]
    groups: tuple[ExpectedGroup, ...]

    @property
    def gangs(self) -> Iterator[ExpectedGang]:
        """The base gang, then one for each replica of a scaling group beyond its minimum (WL-016, WL-017)."""
        members = [clique for group in self.groups for clique in group.cliques]
        base = (*self.cliques, *(clique for clique in members if not clique.base_gang))
        if base:
            yield ExpectedGang(name=base[0].gang, replica=self.index, cliques=base)
        scaled: dict[str, list[ExpectedClique]] = {}
        for clique in members:
            if clique.base_gang:
                scaled.setdefault(clique.gang, []).append(clique)
        for name, cliques in scaled.items():
            first = cliques[0]
            yield ExpectedGang(
                name=name,
                replica=self.index,
                group=first.group,
                group_replica=first.group_replica,
                cliques=tuple(cliques),
            )

    @property
    def all_cliques(self) -> Iterator[ExpectedClique]:
        """Standalone cliques, then those of the groups."""
        yield from self.cliques
        for group in self.groups:
            yield from group.cliques


def first_by_name(templates: Iterable[Template]) -> dict[str, Template]:
    """Templates by name, in their order; the first one of a name counts (WL-022)."""
    found: dict[str, Template] = {}
    for template in templates:
        found.setdefault(template.name, template)
    return found


def expected_replicas_of(snapshot: Snapshot, surge: AbstractSet[str] = frozenset()) -> tuple[ExpectedReplica, ...]:
    """The tree of a set. Linear in what it consists of.

    Args:
        snapshot: of the set.
        surge: names of the cliques and scaling groups that have one pod or replica more while an update runs.
    """
    root = snapshot.root
    templates = first_by_name(root.spec.template.cliques)
    group_replicas = {group.ref.name: group.replicas for group in snapshot.groups}
    pods = {clique.ref.name: clique.replicas for clique in snapshot.cliques}
    standalone = [clique for clique in root.spec.standalone_cliques if templates[clique.name] is clique]
    return tuple(
        ExpectedReplica(
            index=index,
            cliques=tuple(_standalone(root, index, clique, pods, surge) for clique in standalone),
            groups=tuple(
                _group(root, index, group, templates, group_replicas, pods, surge)
                for group in first_by_name(root.spec.template.pod_clique_scaling_groups).values()
            ),
        )
        for index in range(root.spec.replicas)
    )


def _standalone(
    root: PodCliqueSet, index: int, template: CliqueTemplate, pods: dict[str, int], surge: AbstractSet[str]
) -> ExpectedClique:
    name = standalone_clique_name(root.ref.name, index, template.name)
    return ExpectedClique(
        name=name,
        template=template,
        replica=index,
        gang=replica_name(root.ref.name, index),
        replicas=pods.get(name, template.spec.replicas),
        surge=name in surge,
    )


def _group(
    root: PodCliqueSet,
    index: int,
    template: GroupTemplate,
    cliques: dict[str, CliqueTemplate],
    group_replicas: dict[str, int],
    pods: dict[str, int],
    surge: AbstractSet[str],
) -> ExpectedGroup:
    name, base = scaling_group_name(root.ref.name, index, template.name), replica_name(root.ref.name, index)
    wanted = group_replicas.get(name, template.replicas)
    replicas = wanted + (name in surge)
    group_pods = sum(cliques[short].spec.replicas for short in template.clique_names if short in cliques)
    members = []
    for own_index in range(replicas):
        in_base = own_index < template.min_available
        gang = base if in_base else scaled_gang_name(name, own_index - template.min_available)
        for short in dict.fromkeys(short for short in template.clique_names if short in cliques):
            clique = member_clique_name(name, own_index, short)
            members.append(
                ExpectedClique(
                    name=clique,
                    template=cliques[short],
                    replica=index,
                    group=name,
                    group_replica=own_index,
                    group_template=template,
                    gang=gang,
                    base_gang="" if in_base else base,
                    replicas=pods.get(clique, cliques[short].spec.replicas),
                    surplus=own_index >= wanted,
                    group_pods=group_pods,
                )
            )
    return ExpectedGroup(name=name, template=template, replica=index, replicas=replicas, cliques=tuple(members))
