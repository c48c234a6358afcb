"""Everything that the webhooks keep copies of, and for what: no more than is judged by (WH-005)."""

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
    """Where pods are placed by topology: what is known of topologies, and who is asked for one.

    Attributes:
        guarded: whether topologies are judged as well (TP-094).
    """

    known: TopologyCaches
    asking: TopologyLookup
    guarded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookCaches:
    """The copies, by what they are for.

    Attributes:
        names: of the other sets.
        sharing: what PodCliques share, and how more is made; None where they share nothing (MS-095).
        placing: None where pods are not placed by topology (TP-092).
        shelves: kind -> where its copy is kept.
        kinds: as they are asked for.
    """

    names: SetNames
    sharing: tuple[SharingCache, SharedObjectCreator] | None = None
    placing: TopologyContext | None = None
    cache: Mapping[str, Store] = field(default_factory=dict)
    kinds: Mapping[str, ApiKind] = field(default_factory=lambda: KINDS)


def caches_for(api: Api, configuration: Configuration, served: ServedApis, *, everywhere: bool) -> WebhookCaches:
    """Empty copies of what this configuration makes necessary.

    Args:
        api: whom to ask, for what is not followed.
        configuration: what verdicts depend on.
        served: what the API server offers.
        everywhere: whether all namespaces are looked after, and not one.
    """
    names, kinds = SetNames(), dict(KINDS)
    of_sets: list[Store] = [names]
    cache: dict[str, Store] = {}
    sharing = placing = None
    if configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        shared = SharingCache(configuration, served)
        sharing = shared, SharedObjectCreator(api, shared)
        kinds |= kinds_as_served(configuration, served)
        of_sets.append(shared)
        cache |= {DOMAIN_KIND: shared, CLAIM_KIND: shared}
    if configuration.topology.enabled:
        known = TopologyCaches()
        placing = TopologyContext(known=known, asking=TopologyLookup(api), guarded=everywhere)
        if everywhere:
            of_sets.append(known.uses)
        cache |= {"PodClique": known.bound, **dict.fromkeys(TOPOLOGY_KINDS, known.existing)}
    return WebhookCaches(
        names=names,
        sharing=sharing,
        placing=placing,
        cache={POD_CLIQUE_SET: StoreFanOut(*of_sets), **cache},
        kinds=kinds,
    )
