"""Lists the Events of a cluster, for ``grove why --live``."""

from typing import Final

from grove_core.resources.api_names import CORE
from grove_core.snapshot.cluster import EVERYWHERE
from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.actions.live_cluster_lists import run_live_cluster_requests
from grove_shell.client.api_discovery import connection_error_advice
from grove_shell.client.api_kinds import ApiKind
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import ClusterAccessError, read_connection_settings
from grove_shell.client.paged_lists import KindNotListed, list_all_objects_of_kind
from grove_shell.reading.kubernetes_events import ListedKubernetesEvent, kubernetes_events_from_items

_EVENTS: Final = ApiKind("Event", CORE, "events")


def list_events(live: LiveClusterOptions) -> tuple[ListedKubernetesEvent, ...]:
    """Return the Events of the namespace, or of all.

    Raises:
        ClusterAccessError: the cluster cannot be reached, or does not list them.
    """
    return run_live_cluster_requests(_listed(live))


async def _listed(live: LiveClusterOptions) -> tuple[ListedKubernetesEvent, ...]:
    connection = await read_connection_settings(live.kubeconfig, live.context)
    namespace = EVERYWHERE if live.everywhere else live.namespace or connection.namespace
    async with ApiSession(connection) as api:
        try:
            items, _version = await list_all_objects_of_kind(api, _EVENTS, namespace)
        except KindNotListed as fault:
            raise ClusterAccessError(f"{connection.server}: {connection_error_advice(fault)}") from fault
    return kubernetes_events_from_items(items)
