"""Lists a kind page by page; an expired list is begun again, in one page."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from grove_core.resources.encoded_object import EncodedObject
from grove_core.resources.object_metadata import resource_version_number
from grove_shell.client.api_kinds import ApiKind
from grove_shell.client.api_response import FORBIDDEN, GONE, NOT_FOUND, SERVER_FAULT, TOO_MANY, ApiResponse
from grove_shell.client.api_session import JSON, ApiSession, NoServerResponse
from grove_shell.client.proxy_response_check import ListBody, encoded_list_in_response, list_in_response

R = TypeVar("R", bound=Mapping[str, Any])
Json: TypeAlias = dict[str, Any]
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
class ListPage(Generic[R]):
    """One page of a list.

    Attributes:
        items: the objects, each with its kind where they are dicts.
        version: of the whole list.
        first: whether the list begins here; pages before this one are void.
    """

    items: tuple[R, ...]
    version: str
    first: bool


def list_kind_by_page(
    api: ApiSession, kind: ApiKind, namespace: str = "", *, least: int = 0, from_cache: bool = False
) -> AsyncIterator[ListPage[Json]]:
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
    return _pages(api, kind, namespace, least, partial(_list_with_kinds, kind), from_cache=from_cache)


async def _pages(
    api: ApiSession,
    kind: ApiKind,
    namespace: str,
    least: int,
    read: Callable[[ApiResponse], ListBody[R] | None],
    *,
    from_cache: bool = False,
) -> AsyncIterator[ListPage[R]]:
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
        found = read(response)
        if found is None:
            raise KindNotListed(kind, response)
        sent, token = token, str(found.metadata.get("continue") or "")
        if token and token == sent:  # it would be the same page forever
            raise KindNotListed(kind, response)
        version = found.metadata["resourceVersion"]
        if resource_version_number(version) < least:
            raise NoServerResponse(f"{kind.kind}: {OLDER_STATE}")
        yield ListPage(tuple(found.items), version, first)
        if not token:
            return
        first = False
        await asyncio.sleep(0)


async def list_all_objects_of_kind(
    api: ApiSession, kind: ApiKind, namespace: str = "", *, from_cache: bool = False
) -> tuple[list[dict[str, Any]], str]:
    """Return every object of a kind, and the version of the list.

    Errors are those of :func:`list_kind_by_page`.

    Args:
        namespace, from_cache: as of :func:`list_kind_by_page`.
    """
    return await _joined(list_kind_by_page(api, kind, namespace, from_cache=from_cache))


async def list_all_objects_encoded(
    api: ApiSession, kind: ApiKind, namespace: str = ""
) -> tuple[list[EncodedObject | Json], str]:
    """Return every object of a kind, as JSON text where a server writes it so, and the version of the list.

    Errors are those of :func:`list_kind_by_page`.
    """
    return await _joined(_pages(api, kind, namespace, 0, partial(encoded_list_in_response, kind)))


async def _joined(pages: AsyncIterator[ListPage[R]]) -> tuple[list[R], str]:
    """Return the objects of all pages, and the version of the list."""
    found: list[R] = []
    version = ""
    async for page in pages:
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


def _list_with_kinds(kind: ApiKind, response: ApiResponse) -> ListBody[Json] | None:
    """Return a list, each item with its kind and apiVersion, which a server leaves out; None where it is none."""
    found = list_in_response(kind, response)
    if found is None:
        return None
    own = {"kind": kind.kind, "apiVersion": kind.api_version}
    return ListBody(found.metadata, [{**item, **own} for item in found.items])
