"""Looks for names of our definitions that other definitions of a server have, by discovery (CL-032).

Discovery is open to every user whose credentials are accepted, so no role has to allow it. It lists
what is served, and nothing else.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from grove_core.resources.crd_name_clashes import CrdNameClash, NamesInCrd, crd_name_clashes, crd_names_from_discovery
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.manifests.crd_definitions import grove_crd_names

_PAUSE: Final = 30.0


async def log_crd_name_clashes(api: ApiSession, report: Callable[..., None], *, pause: float = _PAUSE) -> None:
    """Log each taken name once; while the server does not answer, ask again after a pause of so many seconds."""
    while True:
        try:
            taken = await find_crd_name_clashes(api)
        except NoServerResponse:
            await asyncio.sleep(pause)
            continue
        for clash in taken:
            report(
                "warning",
                "name taken",
                definition=clash.definition,
                role=clash.name.role,
                name=clash.name.text,
                holder=clash.holder,
            )
        return


async def find_crd_name_clashes(api: ApiSession) -> tuple[CrdNameClash, ...]:
    """Return the names of our definitions that other definitions of the server have.

    Raises:
        NoServerResponse: The server does not answer.
    """
    return crd_name_clashes(await served_resource_names(api), grove_crd_names())


async def served_resource_names(api: ApiSession) -> list[NamesInCrd]:
    """Return the names of all resources that the server serves in the groups of our definitions.

    Raises:
        NoServerResponse: The server does not answer.
    """
    found = []
    for group in sorted({names.group for names in grove_crd_names()}):
        versions = (await _discovered(api, group)).inner_objects("versions")
        for version in [one.text("groupVersion") for one in versions]:
            resources = (await _discovered(api, version)).inner_objects("resources")
            found += [names for one in resources if (names := crd_names_from_discovery(group, one.raw)) is not None]
    return found


async def _discovered(api: ApiSession, path: str) -> JsonFieldReader:
    """Return a document of discovery; empty without one."""
    response = await api.request("GET", f"/apis/{path}")
    return JsonFieldReader(response.json_body() if response.is_success else None, "", [])
