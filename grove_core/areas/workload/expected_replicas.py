"""What a set should consist of: replicas, scaling groups, cliques and gangs, with their start-up order (WL-050).

Replica counts come from existing objects, which users and autoscalers scale; the template's counts apply to new objects
only (WL-010).
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from grove_core.resources.naming_rules import (
    member_clique_name,
    replica_name,
    scaled_gang_name,
    scaling_group_name,
    standalone_clique_name,
)
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import EXPLICIT, IN_ORDER, CliqueTemplate, GroupTemplate
from grove_core.snapshot.snapshot import Snapshot

Template = TypeVar("Template", CliqueTemplate, GroupTemplate)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedClique:
    """One PodClique that a set should have.

    Attributes:
        name: of the PodClique.
        template: in the set.
        replica: of the set.
        group, group_replica: full name of the scaling group and its replica; empty and -1 for a standalone clique.
        group_template: of the scaling group; None for a standalone clique.
        gang: the PodGang of its pods.
        base_gang: the PodGang that its gang waits for; empty for cliques of a base gang.
        replicas: the number of pods.
        surge: 1 while an update needs an additional pod (WL-216).
        surplus: whether its group replica exists for an update only (WL-220).
        group_pods: pods in one replica of its scaling group, by the template; 0 for a standalone clique.
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
        replicas: of the object, plus one while an update needs an additional replica (WL-220).
    """

    name: str
    template: GroupTemplate
    replica: int
    replicas: int
    cliques: tuple[ExpectedClique, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedGang:
    """One PodGang: the cliques that are placed together, in template order.

    Attributes:
        group, group_replica: of a scaled gang; empty and -1 for a base gang.
    """

    name: str
    replica: int
    group: str = ""
    group_replica: int = -1
    cliques: tuple[ExpectedClique, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedReplica:
    """One replica of the set: its standalone cliques and its scaling groups."""

    index: int
    cliques: tuple[ExpectedClique, ...]
    groups: tuple[ExpectedGroup, ...]

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
        """The standalone cliques, then those of the groups."""
        yield from self.cliques
        for group in self.groups:
            yield from group.cliques


def first_templates_by_name(templates: Iterable[Template]) -> dict[str, Template]:
    """Return templates by name, in their order; of several with one name the first counts (WL-022)."""
    found: dict[str, Template] = {}
    for template in templates:
        found.setdefault(template.name, template)
    return found


def expected_replicas_of(snapshot: Snapshot, surge: AbstractSet[str] = frozenset()) -> tuple[ExpectedReplica, ...]:
    """Return the expected replicas of a set. Linear in the expected objects.

    ``surge`` names the cliques and scaling groups that need one additional pod or replica during an update.
    """
    root = snapshot.root
    templates = first_templates_by_name(root.spec.template.cliques)
    group_replicas = {group.ref.name: group.replicas for group in snapshot.groups}
    pods = {clique.ref.name: clique.replicas for clique in snapshot.cliques}
    standalone = [clique for clique in root.spec.standalone_cliques if templates[clique.name] is clique]
    return tuple(
        ExpectedReplica(
            index=index,
            cliques=tuple(_standalone(root, index, clique, pods, surge) for clique in standalone),
            groups=tuple(
                _group(root, index, group, templates, group_replicas, pods, surge)
                for group in first_templates_by_name(root.spec.template.pod_clique_scaling_groups).values()
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


class StartupParents:
    """The start-up order of one set."""

    def __init__(self, root: PodCliqueSet) -> None:
        template = root.spec.template
        self._set_name = root.ref.name
        self._cliques = first_templates_by_name(template.cliques)
        self._before: dict[str, tuple[str, ...]] = {}
        if template.clique_startup_type == IN_ORDER:
            names = [clique.name for clique in template.cliques]
            self._before = {name: (names[place],) for place, name in enumerate(names[1:])}
        elif template.clique_startup_type == EXPLICIT:
            self._before = {clique.name: clique.spec.starts_after for clique in template.cliques}
        self._homes = template.groups_by_clique

    def parents_of(self, part: ExpectedClique) -> tuple[tuple[str, int], ...]:
        """Return the cliques whose pods must be ready first: full name and number of pods.

        Parents are in the same gang; a clique of a scaled gang waits only for its own group replica (WL-050).
        """
        return tuple(
            (name, self._cliques[short].min_available)
            for short in self._before.get(part.template.name, ())
            if short in self._cliques
            for name in self._names_of(short, part)
        )

    def _names_of(self, short: str, part: ExpectedClique) -> Iterator[str]:
        group = self._homes.get(short)
        if part.base_gang:
            own = scaling_group_name(self._set_name, part.replica, group.name) if group else ""
            if own and own == part.group:
                yield member_clique_name(own, part.group_replica, short)
        elif group is None:
            yield standalone_clique_name(self._set_name, part.replica, short)
        else:
            name = scaling_group_name(self._set_name, part.replica, group.name)
            for index in range(group.min_available):
                yield member_clique_name(name, index, short)
