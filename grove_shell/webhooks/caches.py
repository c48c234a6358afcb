"""Everything that the webhooks cache: only what their verdicts depend on (WH-005)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.configuration import Configuration, MnnvlMode, ServedApis
from grove_core.resources.owned_object import CLAIM_KIND
from grove_shell.client.api import Api
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET, ApiKind, kinds_as_served
from grove_shell.client.reflector import Store
from grove_shell.webhooks.set_names import SetNames
from grove_shell.webhooks.sharing_cache import SharedObjectCreator, SharingCache, StoreFanOut
from grove_shell.webhooks.topology_caches import TopologyCaches
from grove_shell.webhooks.topology_lookup import TopologyLookup


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyContext:
    """What admission needs where pods are placed by topology.

    Attributes:
        caches: of topologies, their users and the bound pods.
        lookup: reads one topology from the API server.
        validates_topologies: whether topologies themselves are validated as well (TP-045).
    """

    caches: TopologyCaches
    lookup: TopologyLookup
    validates_topologies: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookCaches:
    """The caches, by purpose.

    Attributes:
        names: of the other PodCliqueSets.
        sharing: what PodCliques share, and what creates more of it; None where they share nothing (MS-094).
        topology: None where pods are not placed by topology (TP-093).
        stores: kind -> the store that its reflector updates.
        kinds: kind -> how it is requested.
    """

    names: SetNames
    sharing: tuple[SharingCache, SharedObjectCreator] | None = None
    topology: TopologyContext | None = None
    stores: Mapping[str, Store] = field(default_factory=dict)
    kinds: Mapping[str, ApiKind] = field(default_factory=lambda: KINDS)


def caches_for(api: Api, configuration: Configuration, served: ServedApis, *, everywhere: bool) -> WebhookCaches:
    """Return empty caches of the kinds that a configuration needs.

    Args:
        api: for objects that are read or created on demand.
        configuration: what verdicts depend on.
        served: what the API server serves.
        everywhere: whether all namespaces are watched, and not one.
    """
    names, kinds = SetNames(), dict(KINDS)
    of_sets: list[Store] = [names]
    stores: dict[str, Store] = {}
    sharing = topology = None
    if configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        shared = SharingCache(configuration, served)
        sharing = shared, SharedObjectCreator(api, shared)
        kinds |= kinds_as_served(configuration, served)
        of_sets.append(shared)
        stores |= {DOMAIN_KIND: shared, CLAIM_KIND: shared}
    if configuration.topology.enabled:
        caches = TopologyCaches()
        topology = TopologyContext(caches=caches, lookup=TopologyLookup(api), validates_topologies=everywhere)
        if everywhere:
            of_sets.append(caches.users)
        stores |= {"PodClique": caches.bound_pods, **dict.fromkeys(TOPOLOGY_KINDS, caches.topologies)}
    return WebhookCaches(
        names=names,
        sharing=sharing,
        topology=topology,
        stores={POD_CLIQUE_SET: StoreFanOut(*of_sets), **stores},
        kinds=kinds,
    )
