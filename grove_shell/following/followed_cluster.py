"""A cluster that is followed by lists and watches; it is only read (CL-098, WA-002, WA-006)."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final

from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.resources.api_names import POD_KIND, SET_KIND
from grove_core.resources.configuration import ServedApis
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.owned_object import GROUP_KINDS
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_shell.actions.command_input import InputSource
from grove_shell.actions.live_cluster_lists import (
    EVENTS,
    NODES,
    is_controlled_by_podclique,
    namespaces_with_unready_pods,
    plan_needs_nodes,
)
from grove_shell.client.api_discovery import connection_error_advice, discover_optional_apis
from grove_shell.client.api_kinds import KINDS, ApiKind
from grove_shell.client.api_response import OK
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ClusterAccessError, ConnectionSettings
from grove_shell.client.paged_lists import KindNotListed, list_all_objects_of_kind
from grove_shell.client.reflector import Reflector
from grove_shell.following.followed_files import FollowedFiles
from grove_shell.following.watched_objects import Json, WatchedObjects
from grove_shell.reading.input_completeness import CollectedObjects

_LONGEST_PAUSE: Final = 5.0  # s between two attempts to reach the server
_PODS: Final = replace(KINDS[POD_KIND], selector="")


class FollowedCluster:
    """The objects of one namespace or of all, as ``plan --live`` lists them.

    Attributes:
        trouble: the lost connection, its time and what the server or network reported; empty while it works.
    """

    def __init__(self, source: InputSource, connection: ConnectionSettings, also: Iterable[str] = ()) -> None:
        """Connect to nothing yet.

        Args:
            source: what to plan; its ``live`` says which namespaces, and changes of its files count too.
            also: other files whose changes count.
        """
        live = source.live
        everywhere = live is not None and live.everywhere
        self.trouble = ""
        self.api = ApiSession(connection, on_response=self._on_response)
        self.namespace = EVERYWHERE if everywhere else (live and live.namespace) or connection.namespace
        self._source = source
        self._files = FollowedFiles(source, also)
        self._served: tuple[frozenset[str], ServedApis] | None = None  # by the kinds that were listed
        self._changed: Callable[[], None] = lambda: None
        self._kinds = {kind.kind: _without_selector(kind) for kind in (*KINDS.values(), EVENTS, NODES)}
        self._objects = WatchedObjects(self._kinds, self._on_change)
        self._reflectors = {name: self._reflector(kind) for name, kind in self._kinds.items()}
        self._extra: dict[str, list[Json]] = {}
        self._looked_for_unselected = False
        self._needs_nodes = asyncio.Event()

    @property
    def unwatched(self) -> str:
        """Which kinds are listed every few seconds since they cannot be watched, and why; empty for none."""
        refused = [f"{name}: {one.unwatched}" for name, one in self._reflectors.items() if one.unwatched]
        return f"not followed by a watch, but listed every few seconds: {'; '.join(refused)}" if refused else ""

    async def follow(self, changed: Callable[[], None]) -> None:
        """List and watch every kind until cancelled; nodes from the moment when a plan needs them."""
        self._changed = changed
        async with asyncio.TaskGroup() as group:
            group.create_task(self._files.follow(changed))
            for name, reflector in self._reflectors.items():
                group.create_task(self._follow_nodes() if name == NODES.kind else reflector.run())

    async def source(self) -> InputSource:
        """Return the input with the objects as they are known now, once all kinds were listed.

        Raises:
            ClusterAccessError: the cluster does not list PodCliqueSets.
        """
        for name, reflector in self._reflectors.items():
            if name != NODES.kind or self._needs_nodes.is_set():
                await reflector.synced.wait()
        if not self._needs_nodes.is_set() and plan_needs_nodes(
            self._objects.objects_of(SET_KIND), self._objects.objects_of(POD_KIND)
        ):
            self._needs_nodes.set()
            await self._reflectors[NODES.kind].synced.wait()
        await self._list_unselected_pods()
        return replace(self._source, collected=self._collected(await self._served_apis()))

    async def _served_apis(self) -> ServedApis:
        """Return which optional kinds and versions are served, asked for again where another kind is listed.

        Raises:
            ClusterAccessError: the cluster does not answer.
        """
        listed = frozenset(self._objects.listed)
        if self._served is None or self._served[0] != listed:
            try:
                self._served = listed, await discover_optional_apis(self.api)
            except NoServerResponse as fault:
                raise ClusterAccessError(connection_error_advice(fault)) from fault
        return self._served[1]

    async def _follow_nodes(self) -> None:
        await self._needs_nodes.wait()
        await self._reflectors[NODES.kind].run()

    async def _list_unselected_pods(self) -> None:
        """List pods without a label selector where one may have lost its label (OP-053).

        That is so at first where a PodClique has too few ready pods, and later where a watch ended for a pod that was
        not being deleted.
        """
        pending, self._objects.unselected = self._objects.unselected, set()
        if not self._looked_for_unselected:
            pending |= namespaces_with_unready_pods(
                [*self._objects.objects_of("PodClique"), *self._objects.objects_of(POD_KIND)]
            )
        for namespace in sorted(pending | {name for name, extra in self._extra.items() if extra}):
            try:
                found, _version = await list_all_objects_of_kind(self.api, _PODS, namespace)
            except (KindNotListed, NoServerResponse):
                self._objects.unselected.add(namespace)
                continue
            self._extra[namespace] = [pod for pod in found if is_controlled_by_podclique(pod)]
        self._looked_for_unselected = True

    def _collected(self, served: ServedApis) -> CollectedObjects:
        items, complete, not_listed = list[Json](), set[Gap](), dict[Gap, str]()
        for kind in KINDS.values():
            store, where = self._objects.stores[kind.kind], EVERYWHERE if kind.clustered else self.namespace
            if store.is_listed:
                items += self._objects.objects_of(kind.kind)
                complete.add((kind.kind, where))
            elif kind.kind == SET_KIND:
                raise ClusterAccessError(f"{self.api.connection.server}: {store.unlisted_because}")
            elif not kind.clustered:
                not_listed[kind.kind, where] = store.unlisted_because
        known = {metadata_in(one).uid for one in self._objects.objects_of(POD_KIND)}
        items += [pod for extra in self._extra.values() for pod in extra if metadata_in(pod).uid not in known]
        if self._needs_nodes.is_set():
            nodes = self._objects.stores[NODES.kind]
            items += self._objects.objects_of(NODES.kind)
            if not nodes.is_listed:
                not_listed[NODES.kind, EVERYWHERE] = nodes.unlisted_because
        items += self._objects.objects_of(EVENTS.kind)
        return CollectedObjects(
            origin=self.api.connection.server,
            items=tuple(items),
            complete=frozenset(complete),
            served=served,
            not_listed=not_listed,
        )

    def _reflector(self, kind: ApiKind) -> Reflector:
        return Reflector(
            self.api,
            kind,
            self._objects,
            namespace="" if kind.clustered or self.namespace == EVERYWHERE else self.namespace,
            report=self._report,
            longest_pause=_LONGEST_PAUSE,
        )

    def _on_change(self) -> None:
        self._changed()

    def _report(self, kind: str, words: str) -> None:
        """Note an error of a list or watch; a kind that is not listed is among the notes of the plan instead."""
        if words in {self._objects.stores[kind].unlisted_because, self._reflectors[kind].unwatched}:
            return
        if not self.trouble:
            since = format_time(datetime.now(UTC).replace(microsecond=0))
            self.trouble = f"CONNECTION LOST at {since}: {words}"
            self._changed()

    def _on_response(self, _method: str, status: int, _seconds: float | None) -> None:
        if self.trouble and status == OK:
            self.trouble = ""
            self._changed()


def _without_selector(kind: ApiKind) -> ApiKind:
    """Return a kind as a plan lists it: groups of other controllers may have the names of ours (SC-026)."""
    return replace(kind, selector="") if kind.kind in GROUP_KINDS else kind
