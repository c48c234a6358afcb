"""A cache of the objects that PodCliques share by annotation, and what creates the missing ones."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from grove_core.admit_podclique import set_named_in
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.steps import Outcome
from grove_core.kernel.wants import Ensured
from grove_core.resources.api_names import GROVE
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain, compute_domain_of
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.fields import Fields
from grove_core.resources.meta import Resource, read_identity
from grove_core.resources.owned_object import CLAIM_KIND, OwnedObject, owned_object_of
from grove_shell.apply.ensure import ensure
from grove_shell.apply.single_flight import SingleFlight
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api import Api
from grove_shell.client.kinds import POD_CLIQUE_SET
from grove_shell.client.reflector import Store

WRITER: Final = "grove-webhooks"


class SharingCache:
    """PodCliqueSets, ComputeDomains and ResourceClaims, updated by reflectors. It belongs to one event loop."""

    def __init__(self, configuration: Configuration, served: ServedApis) -> None:
        """Begin empty.

        Args:
            configuration: what verdicts depend on.
            served: what the API server serves.
        """
        self.configuration = configuration
        self.served = served
        self._sets: dict[RootKey, Resource] = {}
        self._domains: dict[RootKey, ComputeDomain] = {}
        self._claims: dict[RootKey, OwnedObject] = {}

    def view_for(self, raw: Mapping[str, Any]) -> CliqueAdmissionView:
        """Return what the admission of a PodClique depends on (MS-090); nothing is copied."""
        namespace = Fields(raw, "", []).part("metadata").text("namespace") or "default"
        return CliqueAdmissionView(
            configuration=self.configuration,
            served=self.served,
            owner=self._sets.get((namespace, set_named_in(raw))),
            domains=self._domains,
            claims=self._claims,
        )

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Apply a complete list of a kind."""
        self._objects_of(kind).clear()
        for raw in items:
            self.put(kind, raw)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed object; one that cannot be parsed still occupies its name, without a known owner."""
        key = root_key_of(raw)
        if kind == POD_CLIQUE_SET:
            self._sets[key] = Resource(**read_identity(Fields(raw, "", []), GROVE, kind, None))
            return
        try:
            item: ComputeDomain | OwnedObject = compute_domain_of(raw) if kind == DOMAIN_KIND else owned_object_of(raw)
        except MalformedObject:
            item = owned_object_of({"apiVersion": raw["apiVersion"], "kind": kind, "metadata": _identity(raw)})
        self._objects_of(kind)[key] = item

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion."""
        self._objects_of(kind).pop(root_key_of(raw), None)

    def mark_unlisted(self, kind: str, _why: str) -> None:
        """Forget the kind: a creation then fails where the object exists."""
        self._objects_of(kind).clear()

    def _objects_of(self, kind: str) -> dict[RootKey, Any]:
        cache: dict[str, dict[RootKey, Any]] = {
            POD_CLIQUE_SET: self._sets,
            DOMAIN_KIND: self._domains,
            CLAIM_KIND: self._claims,
        }
        return cache[kind]


class SharedObjectCreator:
    """Creates shared objects; concurrent requests for one object wait for a single creation (MS-090)."""

    def __init__(self, api: Api, cache: SharingCache) -> None:
        """Begin without requests in flight; created objects are put into the cache."""
        self._api = api
        self._cache = cache
        self._in_flight = SingleFlight[tuple[Outcome, str]]()

    async def ensure_all(self, ensures: Iterable[Ensured]) -> tuple[Outcome, str]:
        """Ensure objects one after the other and stop at the first failure.

        Returns:
            The outcome, and the reason of a failure.

        Raises:
            Unreachable: the API server did not respond.
        """
        for wanted in ensures:
            outcome, words = await self._in_flight.once(wanted.target, partial(self._ensure, wanted))
            if outcome is not Outcome.DONE:
                return outcome, f"{wanted.target.short}: {words}"
        return Outcome.DONE, ""

    async def _ensure(self, wanted: Ensured) -> tuple[Outcome, str]:
        ref = wanted.target
        return await ensure(self._api, ref, wanted.manifest, WRITER, lambda raw: self._cache.put(ref.kind, raw))


class StoreFanOut:
    """Several stores that one reflector updates."""

    def __init__(self, *stores: Store) -> None:
        """Pass every list and event to each store."""
        self._stores = stores

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply a complete list."""
        every = list(items)
        for store in self._stores:
            store.replace(kind, every, version)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed object."""
        for store in self._stores:
            store.put(kind, raw)

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion."""
        for store in self._stores:
            store.drop(kind, raw)

    def mark_unlisted(self, kind: str, why: str) -> None:
        """Forget the kind."""
        for store in self._stores:
            store.mark_unlisted(kind, why)


def root_key_of(raw: Mapping[str, Any]) -> RootKey:
    """Return namespace and name of an object."""
    meta = raw["metadata"]
    return (str(meta.get("namespace") or "default"), str(meta["name"]))


def _identity(raw: Mapping[str, Any]) -> dict[str, Any]:
    namespace, name = root_key_of(raw)
    return {"namespace": namespace, "name": name}
