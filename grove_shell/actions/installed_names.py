"""Reads the names of the custom resource definitions of a cluster."""

from typing import Final

from grove_core.resources.crd_names import CrdNames, crd_names_in
from grove_shell.actions.live import run_requests
from grove_shell.actions.source import LiveCluster
from grove_shell.client.api import Api
from grove_shell.client.connection import connect
from grove_shell.client.kinds import ApiKind
from grove_shell.client.lists import NotListed, list_all
from grove_shell.operator.taken_names import served_definitions
from grove_shell.reading.dra_objects import DEFINITION_KIND

_DEFINITIONS: Final = ApiKind(DEFINITION_KIND, "apiextensions.k8s.io/v1", "customresourcedefinitions", clustered=True)


def installed_names(live: LiveCluster) -> list[CrdNames]:
    """Return the names of all definitions of a server.

    Where the server does not list definitions to this user, only the resources that it serves are looked at.

    Raises:
        NoCluster: there is no way to it, or it does not answer.
    """
    return run_requests(_installed_names(live))


async def _installed_names(live: LiveCluster) -> list[CrdNames]:
    async with Api(await connect(live.kubeconfig, live.context)) as api:
        try:
            items, _version = await list_all(api, _DEFINITIONS)
        except NotListed:
            return await served_definitions(api)
    return [names for item in items if (names := crd_names_in(item)) is not None]
