"""Lists a kind page by page; an expired list is begun again, in one page."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from grove_core.resources.object_metadata import resource_version_number
from grove_shell.client.api_kinds import ApiKind
from grove_shell.client.api_response import FORBIDDEN, GONE, NOT_FOUND, SERVER_FAULT, TOO_MANY, ApiResponse
from grove_shell.client.api_session import JSON, ApiSession, NoServerResponse
from grove_shell.client.response_check import is_list_of_kind

OLDER_STATE: Final = "the server lists an older state than it showed before"  # OP-080
_PAGE: Final = 500
_LIMIT: Final = "limit"
FROM_CACHE: Final[Mapping[str, str]] = MappingProxyType({"resourceVersion": "0"})
"""The query by which an API server answers from its cache."""
_METADATA: Final = "application/json;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io"


class KindNotListed(Exception):
    """The server does not list a kind: forbidden, not served, or in trouble.

    Attributes:
        kind: its name.
        is_forbidden: whether permission is lacking.
        is_absent: whether the kind is not served.
        is_transient: whether it is a passing error of the server or the network.
    """

    def __init__(self, kind: ApiKind, response: ApiResponse) -> None:
        """Keep the kind and the response."""
        no_list = "the response is not a list: " if response.is_success else ""
        super().__init__(f"{kind.kind}: {no_list}{response.error_message}")
        self.kind = kind
        self.status = response.status
        self.is_forbidden = response.status == FORBIDDEN
        self.is_absent = response.status == NOT_FOUND
        self.is_transient = (
            response.is_success or response.status in {GONE, TOO_MANY} or response.status >= SERVER_FAULT
        )


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list.

    Attributes:
        items: the objects, each with its kind.
        version: of the whole list.
        first: whether the list begins here; pages before this one are void.
    """

    items: tuple[dict[str, Any], ...]
    version: str
    first: bool


async def list_kind_by_page(
    api: ApiSession, kind: ApiKind, namespace: str = "", *, least: int = 0, from_cache: bool = False
) -> AsyncIterator[ListPage]:
    """Yield the pages of a list; other tasks run between two pages.

    Args:
        namespace: of the objects; empty for all.
        least: the oldest version that the list may have.
        from_cache: whether to take what the API server has in its cache, in one page: it does not ask etcd for the
            newest state, which takes 100 ms and more.

    Raises:
        NoServerResponse: there was no response, or an older one (OP-080).
        KindNotListed: the response was no list, or expired twice (OP-080).
    """
    pages = FROM_CACHE if from_cache else {} if kind.name else {_LIMIT: str(_PAGE)}
    query = {**pages, **list_selector_query(kind)}
    token, first = "", True
    while True:
        parameters: Mapping[str, str] = {**query, "continue": token} if token else query
        response = await api.request(
            "GET", kind.url_path(namespace), query=parameters, accept=accept_header_for_kind(kind, a_list=True)
        )
        if response.status == GONE and token and _LIMIT in query:
            del query[_LIMIT]  # a list in one page has no token that could expire
            token, first = "", True
            continue
        if not response.is_success:
            raise KindNotListed(kind, response)
        raw = response.json_body()
        if not is_list_of_kind(raw, kind):
            raise KindNotListed(kind, response)
        sent, token = token, str(raw["metadata"].get("continue") or "")
        if token and token == sent:  # it would be the same page forever
            raise KindNotListed(kind, response)
        if resource_version_number(raw["metadata"]["resourceVersion"]) < least:
            raise NoServerResponse(f"{kind.kind}: {OLDER_STATE}")
        items = tuple(_whole(item, kind) for item in raw["items"] or ())
        yield ListPage(items, raw["metadata"]["resourceVersion"], first)
        if not token:
            return
        first = False
        await asyncio.sleep(0)


async def list_all_objects_of_kind(
    api: ApiSession, kind: ApiKind, namespace: str = "", *, from_cache: bool = False
) -> tuple[list[dict[str, Any]], str]:
    """Return every object of a kind, and the version of the list.

    Arguments and errors are those of :func:`list_kind_by_page`.
    """
    found: list[dict[str, Any]] = []
    version = ""
    async for page in list_kind_by_page(api, kind, namespace, from_cache=from_cache):
        if page.first:
            found.clear()
        found.extend(page.items)
        version = page.version
    return found, version


def list_selector_query(kind: ApiKind) -> dict[str, str]:
    """Return the query parameters that select objects by label or fields, or the one object of a name."""
    fields = f"metadata.name={kind.name}" if kind.name else kind.fields
    return {
        **({"fieldSelector": fields} if fields else {}),
        **({"labelSelector": kind.selector} if kind.selector else {}),
    }


def accept_header_for_kind(kind: ApiKind, *, a_list: bool) -> str:
    """Return the Accept header for a kind."""
    if not kind.metadata_only:
        return JSON
    return _METADATA.format("List" if a_list else "")


def _whole(item: dict[str, Any], kind: ApiKind) -> dict[str, Any]:
    """Return an item of a list with its kind and apiVersion, which a server leaves out."""
    return {**item, "kind": kind.kind, "apiVersion": kind.api_version}
