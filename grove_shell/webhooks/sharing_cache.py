"""What PodCliques share, as far as the webhooks know: a copy of sets, domains and claims, and how more are made."""

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
    """A copy of what concerns PodCliques that share, kept by reflectors; mutable, and of one event loop."""

    def __init__(self, configuration: Configuration, served: ServedApis) -> None:
        """Nothing is known yet."""
        self.configuration = configuration
        self.served = served
        self._sets: dict[RootKey, Resource] = {}
        self._domains: dict[RootKey, ComputeDomain] = {}
        self._claims: dict[RootKey, OwnedObject] = {}

    def around(self, raw: Mapping[str, Any]) -> CliqueAdmissionView:
        """What the admission of a PodClique looks at (MS-093). No copy is made."""
        namespace = Fields(raw, "", []).part("metadata").text("namespace") or "default"
        return CliqueAdmissionView(
            configuration=self.configuration,
            served=self.served,
            owner=self._sets.get((namespace, set_named_in(raw))),
            domains=self._domains,
            claims=self._claims,
        )

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], _version: str) -> None:
        """Everything there is of a kind."""
        self._shelf(kind).clear()
        for raw in items:
            self.put(kind, raw)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object is new or has changed; one that does not read holds its name, and serves nobody we know."""
        home = root_key_of(raw)
        if kind == POD_CLIQUE_SET:
            self._sets[home] = Resource(**read_identity(Fields(raw, "", []), GROVE, kind, None))
            return
        try:
            item: ComputeDomain | OwnedObject = compute_domain_of(raw) if kind == DOMAIN_KIND else owned_object_of(raw)
        except MalformedObject:
            item = owned_object_of({"apiVersion": raw["apiVersion"], "kind": kind, "metadata": _named(raw)})
        self._shelf(kind)[home] = item

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object is gone."""
        self._shelf(kind).pop(root_key_of(raw), None)

    def mark_unlisted(self, kind: str, _why: str) -> None:
        """Nothing is known any more: what there is shows when it is made."""
        self._shelf(kind).clear()

    def _shelf(self, kind: str) -> dict[RootKey, Any]:
        cache: dict[str, dict[RootKey, Any]] = {
            POD_CLIQUE_SET: self._sets,
            DOMAIN_KIND: self._domains,
            CLAIM_KIND: self._claims,
        }
        return cache[kind]


class SharedObjectCreator:
    """Makes what is not there yet; who comes while it is being made waits for that (MS-092)."""

    def __init__(self, api: Api, known: SharingCache) -> None:
        """Nothing is under way."""
        self._api = api
        self._known = known
        self._under_way = SingleFlight[tuple[Outcome, str]]()

    async def all_of(self, ensures: Iterable[Ensured]) -> tuple[Outcome, str]:
        """Make these, one after the other, up to the first that cannot be had; how that went, and why.

        Raises:
            Unreachable: there was no answer.
        """
        for wanted in ensures:
            outcome, words = await self._under_way.once(wanted.target, partial(self._made, wanted))
            if outcome is not Outcome.DONE:
                return outcome, f"{wanted.target.short}: {words}"
        return Outcome.DONE, ""

    async def _made(self, wanted: Ensured) -> tuple[Outcome, str]:
        ref = wanted.target
        return await ensure(self._api, ref, wanted.manifest, WRITER, lambda raw: self._known.put(ref.kind, raw))


class StoreFanOut:
    """Copies that one reflector keeps."""

    def __init__(self, *told: Store) -> None:
        """Tell each of everything."""
        self._told = told

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Everything there is."""
        every = list(items)
        for one in self._told:
            one.replace(kind, every, version)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object is new or has changed."""
        for one in self._told:
            one.put(kind, raw)

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object is gone."""
        for one in self._told:
            one.drop(kind, raw)

    def mark_unlisted(self, kind: str, why: str) -> None:
        """Nothing is known any more."""
        for one in self._told:
            one.mark_unlisted(kind, why)


def root_key_of(raw: Mapping[str, Any]) -> RootKey:
    """Namespace and name of an object."""
    meta = raw["metadata"]
    return (str(meta.get("namespace") or "default"), str(meta["name"]))


def _named(raw: Mapping[str, Any]) -> dict[str, Any]:
    namespace, name = root_key_of(raw)
    return {"namespace": namespace, "name": name}
