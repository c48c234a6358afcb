"""Finds objects that two sets of one namespace would give the same name (WL-117).

A derived name is a sequence of words and indices: ``a-0-1-leader`` is clique ``1-leader`` of set ``a``, and also clique
``leader`` of set ``a-0``. Names are compared as patterns, so the work does not grow with the number of replicas.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import DOMAIN_KIND
from grove_core.resources.domain_sharing import (
    DomainSharingScope,
    effective_mnnvl_annotations,
    sharing_scope_in_annotations,
)
from grove_core.resources.naming_rules import parse_replica_index
from grove_core.resources.podcliqueset_manifest import PodCliqueSetManifest
from grove_core.resources.podcliqueset_spec import (
    PER_REPLICA,
    CliqueTemplate,
    ResourceSharing,
    ScalingGroupTemplate,
    maximum_replicas,
)

Word: TypeAlias = str | int
"""A word as it stands there, or how many indices may stand there."""

_ALL: Final = "all"


class DerivedNamePattern(NamedTuple):
    """The names of all objects of one kind that differ only in their indices."""

    kind: str
    words: tuple[Word, ...]


class ObjectNameCollision(NamedTuple):
    """An object that another set of the namespace has or would have too: the lowest name for each kind."""

    kind: str
    name: str
    other: str


class NamesUsedBySets(Struct, frozen=True):
    """The names that sets of a cluster use.

    Attributes:
        patterns: namespace and words of a set's name -> the names it uses.
        below: namespace and words -> the sets whose names begin with these words and an index.
    """

    patterns: FrozenDict[tuple[str, tuple[str, ...]], tuple[DerivedNamePattern, ...]]
    below: FrozenDict[tuple[str, tuple[str, ...]], tuple[tuple[str, ...], ...]]

    def collisions_with_other_sets(self, manifest: PodCliqueSetManifest) -> Iterator[ObjectNameCollision]:
        """Yield one collision for each kind and each other set. Sets with the same name are the same set.

        Linear in this set, the sets whose names begin with its name, and the sets whose names it begins with.
        """
        if not manifest.name:
            return
        namespace, words = manifest.namespace or "default", tuple(manifest.name.split("-"))
        above = (words[:end] for end in _possible_name_ends(words))
        ours = tuple(_patterns_of(manifest))
        for other in (*above, *self.below.get((namespace, words), ())):
            theirs = self.patterns.get((namespace, other), ())
            first: dict[str, str] = {}
            for kind, name in _shared_names(ours, theirs):
                first[kind] = min(name, first.get(kind, name))
            yield from (ObjectNameCollision(kind, name, "-".join(other)) for kind, name in sorted(first.items()))


def names_used_by_sets(
    sets: Iterable[PodCliqueSetManifest], held: Iterable[tuple[str, str, str, str]]
) -> NamesUsedBySets:
    """Index the names that sets, with defaults, would use and that existing objects have. Linear in both.

    An existing object is given by its namespace, the name of its set, its kind and its name.
    """
    found: dict[tuple[str, tuple[str, ...]], list[DerivedNamePattern]] = defaultdict(list)
    for manifest in sets:
        if manifest.name:
            key = (manifest.namespace or "default", tuple(manifest.name.split("-")))
            found[key].extend(_patterns_of(manifest))
    for namespace, owner, kind, name in held:
        found[namespace, tuple(owner.split("-"))].append(DerivedNamePattern(kind, tuple(name.split("-"))))
    below: dict[tuple[str, tuple[str, ...]], list[tuple[str, ...]]] = defaultdict(list)
    for namespace, words in found:
        for end in _possible_name_ends(words):
            below[namespace, words[:end]].append(words)
    return NamesUsedBySets(
        frozen_dict_of_tuples(found),
        FrozenDict((key, tuple(sorted(longer))) for key, longer in below.items()),
    )


def _patterns_of(manifest: PodCliqueSetManifest) -> Iterator[DerivedNamePattern]:
    template = manifest.spec.template
    base: tuple[Word, ...] = tuple(manifest.name.split("-"))
    replica = (*base, max(manifest.spec.replicas, 1))
    yield DerivedNamePattern("PodGang", replica)
    yield DerivedNamePattern("Service", replica)
    yield from _claims(base, max(manifest.spec.replicas, 1), template.resource_sharing)
    yield from _shared_domains(manifest, replica)
    cliques = {clique.name: clique for clique in template.cliques}
    for clique in manifest.spec.standalone_cliques:
        name = (*replica, *clique.name.split("-"))
        yield from _of_clique(name, clique)
        if clique.spec.auto_scaling_config is not None:
            yield DerivedNamePattern("HorizontalPodAutoscaler", name)
    for group in template.pod_clique_scaling_groups:
        yield from _of_group((*replica, *group.name.split("-")), group, cliques)


def _shared_domains(manifest: PodCliqueSetManifest, replica: tuple[Word, ...]) -> Iterator[DerivedNamePattern]:
    """Yield the ComputeDomains that a set's cliques would share by annotation (MS-077)."""
    template = manifest.spec.template
    groups_by_clique = template.groups_by_clique
    found = set[tuple[Word, ...]]()
    for clique in template.cliques:
        group = groups_by_clique.get(clique.name)
        scope = sharing_scope_in_annotations(effective_mnnvl_annotations(manifest.annotations, clique, group))
        of_group: tuple[Word, ...] = ()
        if group is not None:
            of_group = (*group.name.split("-"), maximum_replicas(group.replicas, group.scale_config))
        if scope is DomainSharingScope.REPLICA:
            found.add(replica)
        elif scope is DomainSharingScope.CLIQUE:
            found.add((*replica, *of_group, *clique.name.split("-")))
        elif scope is not None and of_group:
            found.add((*replica, *of_group))
    yield from (DerivedNamePattern(DOMAIN_KIND, (*words, "cd")) for words in found)


def _of_group(
    name: tuple[Word, ...], group: ScalingGroupTemplate, cliques: Mapping[str, CliqueTemplate]
) -> Iterator[DerivedNamePattern]:
    most = maximum_replicas(group.replicas, group.scale_config)
    yield DerivedNamePattern("PodCliqueScalingGroup", name)
    if group.scale_config is not None:
        yield DerivedNamePattern("HorizontalPodAutoscaler", name)
    if most > group.min_available:
        yield DerivedNamePattern("PodGang", (*name, most - group.min_available))
    yield from _claims(name, most, group.resource_sharing)
    for member in (cliques[short] for short in group.clique_names if short in cliques):
        yield from _of_clique((*name, most, *member.name.split("-")), member)


def _of_clique(name: tuple[Word, ...], clique: CliqueTemplate) -> Iterator[DerivedNamePattern]:
    yield DerivedNamePattern("PodClique", name)
    yield from _claims(
        name, maximum_replicas(clique.spec.replicas, clique.spec.auto_scaling_config), clique.resource_sharing
    )


def _claims(owner: tuple[Word, ...], count: int, entries: Iterable[ResourceSharing]) -> Iterator[DerivedNamePattern]:
    for entry in entries:
        index = count if entry.scope == PER_REPLICA else _ALL
        yield DerivedNamePattern("ResourceClaim", (*owner, index, *entry.name.split("-")))


def _possible_name_ends(words: tuple[str, ...]) -> Iterator[int]:
    """Return the positions at which another set's name may end: before an index, or before the word ``all``."""
    return (end for end in range(1, len(words)) if words[end] == _ALL or parse_replica_index(words[end]) is not None)


def _shared_names(
    ours: Iterable[DerivedNamePattern], theirs: Iterable[DerivedNamePattern]
) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each object that both lists would name: the lowest name for each pair of patterns."""
    left, right = _by_open_positions(ours), _by_open_positions(theirs)
    for shape in left.keys() & right.keys():
        for places, own in left[shape].items():
            for others, patterns in right[shape].items():
                free = places | others
                table: dict[tuple[Word, ...], list[DerivedNamePattern]] = defaultdict(list)
                for pattern in patterns:
                    table[_words_except(pattern, free)].append(pattern)
                for one in own:
                    met = (_shared_name(one, another) for another in table.get(_words_except(one, free), ()))
                    yield from ((one.kind, name) for name in met if name)


def _by_open_positions(
    patterns: Iterable[DerivedNamePattern],
) -> dict[tuple[str, ...], dict[frozenset[int], list[DerivedNamePattern]]]:
    """Group patterns by kind and words without indices, then by the positions whose index is open."""
    found: dict[tuple[str, ...], dict[frozenset[int], list[DerivedNamePattern]]] = {}
    for pattern in patterns:
        words = (
            "#" if isinstance(word, int) or parse_replica_index(word) is not None else word for word in pattern.words
        )
        places = frozenset(place for place, word in enumerate(pattern.words) if isinstance(word, int))
        found.setdefault((pattern.kind, *words), {}).setdefault(places, []).append(pattern)
    return found


def _words_except(pattern: DerivedNamePattern, places: frozenset[int]) -> tuple[Word, ...]:
    return tuple(word for place, word in enumerate(pattern.words) if place not in places)


def _shared_name(one: DerivedNamePattern, another: DerivedNamePattern) -> str:
    """Return the lowest name that two patterns share; empty where there is none. Their words differ only in indices."""
    words = []
    for ours, theirs in zip(one.words, another.words, strict=True):
        fixed = ours if isinstance(ours, str) else theirs
        limit = ours if isinstance(ours, int) else theirs
        if isinstance(fixed, str) and isinstance(limit, int) and int(fixed) >= limit:
            return ""
        words.append(fixed if isinstance(fixed, str) else "0")
    return "-".join(words)
