"""What the verdicts of the webhooks depend on: only the kinds that a configuration needs are watched (WH-005)."""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeVar

from grove_core.admit_cluster_topology import topology_used_by_set
from grove_core.admit_podclique import podcliqueset_name_in_labels
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.areas.topology.admit import NOTHING_KNOWN, KnownTopologiesForAdmission
from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.resources.api_names import CLAIM_KIND, CLIQUE_KIND, DOMAIN_KIND, GROVE, SET_KIND
from grove_core.resources.compute_domain import ComputeDomain, compute_domain_from_json
from grove_core.resources.configuration import (
    DEFAULT_CONFIGURATION,
    NOT_DISCOVERED,
    Configuration,
    MnnvlMode,
    ServedApis,
)
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import Resource, read_metadata
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.owned_object import OwnedObject, owned_object_from_json
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.topology_usage import (
    TopologyUser,
    bound_pod_count_of_clique,
    bound_pod_counts_by_set,
    set_name_of_clique,
)
from grove_shell.cache.root_keys import RootKey
from grove_shell.cache.topology_cache import TopologyCache
from grove_shell.client.api_kinds import kinds_in_served_versions
from grove_shell.client.object_store import CachedObject, Key, ObjectStore, Raw, StoresByKind

T = TypeVar("T")
_NO_PODS: Final[tuple[RootKey, int]] = (("", ""), 0)
_UNNAMED: Final = ObjectProblem(
    path="metadata.labels", expected="the name of its set, as it has bound pods", got="none"
)


class _KnownSet(NamedTuple):
    """What verdicts on other objects depend on of a PodCliqueSet.

    Attributes:
        named: the fields that names depend on.
        identity: as an owner; None where PodCliques share nothing.
        topology: that it uses, empty for none; None if the set cannot be parsed.
    """

    named: Raw
    identity: Resource | None
    topology: str | None


class AdmissionCache(StoresByKind):
    """Objects in the cluster that verdicts depend on. It belongs to one event loop.

    Attributes:
        configuration: what verdicts depend on.
        served: what the API server serves.
        kinds: kind -> how it is requested.
        shares: whether PodCliques share objects by annotation (WH-010).
        places: whether pods are placed by topology (WH-010).
        validates_topologies: whether topologies themselves are validated as well (TP-045).
    """

    def __init__(
        self,
        configuration: Configuration = DEFAULT_CONFIGURATION,
        served: ServedApis = NOT_DISCOVERED,
        *,
        everywhere: bool = True,
    ) -> None:
        """Start empty; ``everywhere`` is whether all namespaces are watched, and not one."""
        self.configuration = configuration
        self.served = served
        self.shares = configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS)
        self.places = configuration.topology.enabled
        self.validates_topologies = self.places and everywhere
        self.kinds = kinds_in_served_versions(configuration, served)
        self._names: dict[str, dict[str, Raw]] = {}  # namespace -> name of a set -> the set
        self._domains: dict[Key, ComputeDomain] = {}
        self._claims: dict[Key, OwnedObject] = {}
        self._bound_pods: dict[RootKey, int] = {}
        self._unparsed_sets: set[Key] = set()
        self._topologies = TopologyCache()
        self.stores = {SET_KIND: ObjectStore(self._known_set, self._on_set)}
        if self.shares:
            self.stores |= {
                DOMAIN_KIND: ObjectStore(
                    partial(_or_name_alone, compute_domain_from_json), partial(_copy, self._domains)
                ),
                CLAIM_KIND: ObjectStore(partial(_or_name_alone, owned_object_from_json), partial(_copy, self._claims)),
            }
        if self.places:
            self.stores |= {CLIQUE_KIND: ObjectStore(_bound_pods_in, self._count_bound_pods), **self._topologies.stores}

    @property
    def sets_unknown_because(self) -> str:
        """Why the names of other sets are not known; empty if they are."""
        return self.stores[SET_KIND].unlisted_because

    def sets_with_colliding_names(self, namespace: str, name: str) -> list[Raw] | None:
        """Return the sets whose name is a prefix of this one or has it as a prefix; None if the sets are unknown.

        The names of objects of any other set cannot collide (WL-117). Compares one string for each set of the
        namespace.
        """
        if self.sets_unknown_because:
            return None
        there = self._names.get(namespace, {})
        words = name.split("-")
        shorter = ("-".join(words[:end]) for end in range(1, len(words)))
        found = [there[other] for other in shorter if other in there]
        return found + [raw for other, raw in there.items() if other.startswith(f"{name}-")]

    def view_for_clique(self, raw: Raw) -> CliqueAdmissionView:
        """Return what the admission of a PodClique depends on (MS-090); nothing is copied."""
        namespace, _ = metadata_in(raw).namespace_and_name
        owner: _KnownSet | None = self.stores[SET_KIND].get_readable_object(
            (namespace, podcliqueset_name_in_labels(raw))
        )
        return CliqueAdmissionView(
            configuration=self.configuration,
            served=self.served,
            owner=None if owner is None else owner.identity,
            domains=self._domains,
            claims=self._claims,
        )

    @property
    def view_for_sets(self) -> KnownTopologiesForAdmission:
        """Return what the admission of a set compares with; nothing is copied."""
        if not self.places:
            return NOTHING_KNOWN
        cliques = self.stores[CLIQUE_KIND]
        return KnownTopologiesForAdmission(
            self._topologies.by_name if self._topologies.are_both_kinds_listed else None,
            self._bound_pods if cliques.is_listed else None,
            unreadable=self._topologies.unreadable_topology_names,
            incomplete_kinds=frozenset({CLIQUE_KIND} if cliques.unreadable else ()),
        )

    def view_for_topology(self, name: str) -> KnownTopologiesForAdmission:
        """Return what the admission of a topology compares with: its users, with their bound pods."""
        cliques = self.stores[CLIQUE_KIND]
        if not (self.stores[SET_KIND].is_listed and cliques.is_listed):
            return KnownTopologiesForAdmission()
        incomplete = {CLIQUE_KIND: cliques.unreadable, SET_KIND: self._unparsed_sets}
        users = (
            TopologyUser(*key, self._bound_pods.get(key, 0))
            for key in self._topologies.keys_of_sets_using_topology(name)
        )
        return KnownTopologiesForAdmission(
            users={name: tuple(users)},
            incomplete_kinds=frozenset(kind for kind, unreadable in incomplete.items() if unreadable),
        )

    def _known_set(self, raw: Raw) -> _KnownSet:
        namespace, name = metadata_in(raw).namespace_and_name
        return _KnownSet(
            {"kind": SET_KIND, "metadata": {"name": name, "namespace": namespace}, "spec": raw.get("spec")},
            Resource(**read_metadata(JsonFieldReader(raw, "", []), GROVE, SET_KIND, None)) if self.shares else None,
            topology_used_by_set(raw) if self.validates_topologies else "",
        )

    def _on_set(self, key: Key, _before: CachedObject[_KnownSet] | None, after: CachedObject[_KnownSet] | None) -> None:
        namespace, name = key
        known = None if after is None else after.item
        if known is None:
            self._names[namespace].pop(name)
        else:
            self._names.setdefault(namespace, {})[name] = known.named
        if self.validates_topologies:
            topology = "" if known is None else known.topology
            self._topologies.set_topology_used_by(key, topology or "")
            self._unparsed_sets.discard(key)
            if topology is None:
                self._unparsed_sets.add(key)

    def _count_bound_pods(
        self,
        _key: Key,
        before: CachedObject[tuple[RootKey, int]] | None,
        after: CachedObject[tuple[RootKey, int]] | None,
    ) -> None:
        for entry, sign in ((before, -1), (after, 1)):
            if entry is not None and entry.item is not None:
                owner, count = entry.item
                left = self._bound_pods.pop(owner, 0) + sign * count
                if left:
                    self._bound_pods[owner] = left


def _copy(items: dict[Key, T], key: Key, _before: CachedObject[T] | None, after: CachedObject[T] | None) -> None:
    """Apply a change of a store to a plain dict of its readable objects."""
    if after is None or after.item is None:
        items.pop(key, None)
    else:
        items[key] = after.item


def _or_name_alone(parse: Callable[[Raw], T], raw: Raw) -> T:
    """Parse an object; one that cannot be parsed still occupies its name, without a known owner."""
    try:
        return parse(raw)
    except MalformedObject:
        namespace, name = metadata_in(raw).namespace_and_name
        metadata = {"namespace": namespace, "name": name}
        return parse({"apiVersion": raw["apiVersion"], "kind": raw["kind"], "metadata": metadata})


def _bound_pods_in(raw: Raw) -> tuple[RootKey, int]:
    """Return the set of a PodClique and the number of its pods that are bound to nodes.

    Raises:
        MalformedObject: also for a bound PodClique of a scaling group, which is not cached here, without a label.
    """
    clique = podclique_from_json(raw)
    if clique.is_in_scaling_group and bound_pod_count_of_clique(clique) and not set_name_of_clique(clique):
        raise MalformedObject((_UNNAMED,))
    return next(iter(bound_pod_counts_by_set([clique]).items()), _NO_PODS)
