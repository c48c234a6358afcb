"""What an API server knows of the webhooks: whom it may trust, and where it calls (WH-025)."""

import base64
from dataclasses import dataclass
from typing import Any

from grove_shell.client.api import STRATEGIC, Api
from grove_shell.client.response import NOT_FOUND
from grove_shell.client.response_check import is_object
from grove_shell.client.webhook_names import (
    API_VERSION,
    DEFAULTING,
    GUARDING,
    JOINED,
    MUTATING,
    PATHS,
    VALIDATING,
    VALIDATION,
)


class NotRegistered(Exception):
    """A configuration is not there, is not ours, or cannot be changed; the message says which, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredConfiguration:
    """One configuration.

    Attributes:
        plural: of its kind.
        name: its own.
        ours: the webhooks that may be in it by now, from whatever configuration of ours.
        needed: those that must be.
    """

    plural: str
    name: str
    ours: tuple[str, ...]
    needed: tuple[str, ...]


class Registration:
    """The two configurations of the webhooks in a cluster."""

    def __init__(
        self,
        api: Api,
        *,
        mutating: str,
        validating: str,
        url: str = "",
        shared: bool = False,
        guarded: bool = False,
    ) -> None:
        """Ask nothing yet.

        Args:
            api: whom to ask.
            mutating, validating: names of the configurations.
            url: where the API server should call, e.g. ``https://127.0.0.1:9443``; empty to leave that alone.
            shared: whether PodCliques share ComputeDomains by annotation (MS-095).
            guarded: whether topologies are judged (TP-094).
        """
        self._api = api
        self.url = url
        self._places = tuple(
            RegisteredConfiguration(
                plural=plural, name=name, ours=(always, *more), needed=(always, *(more if is_on else ()))
            )
            for plural, name, always, more, is_on in (
                (MUTATING, mutating, DEFAULTING, JOINED, shared),
                (VALIDATING, validating, VALIDATION, GUARDING, guarded),
            )
        )

    async def trust(self, bundle: bytes) -> list[str]:
        """Have the API server trust these authorities; what was changed. Both are tried before one is complained of.

        Webhooks of ours that this configuration has no use for are kept right as well: they may still be called.

        Raises:
            NotRegistered: with all that is wrong.
            Unreachable: there was no answer.
        """
        changed, faults = [], []
        for place in self._places:
            try:
                if await self._put_right(place, base64.b64encode(bundle).decode()):
                    changed.append(place.name)
            except NotRegistered as fault:
                faults.append(str(fault))
        if faults:
            raise NotRegistered("; ".join(faults))
        return changed

    async def _put_right(self, place: RegisteredConfiguration, bundle: str) -> bool:
        path = f"/apis/{API_VERSION}/{place.plural}/{place.name}"
        answer = await self._api.request("GET", path)
        if answer.status == NOT_FOUND:
            raise NotRegistered(
                f"there is no {place.plural}/{place.name}: grove manifests --only webhooks"
                " | kubectl apply --server-side -f -"
            )
        if not is_object(raw := answer.json()) or not answer.ok:
            raise NotRegistered(answer.message)
        found = {one.get("name"): one.get("clientConfig") or {} for one in raw.get("webhooks") or ()}
        wrong = []
        for webhook in (one for one in place.ours if one in found):
            wanted = self._wanted(webhook, bundle)
            if any(found[webhook].get(key) != value for key, value in wanted.items()):
                wrong.append({"name": webhook, "clientConfig": wanted})
        if wrong:
            answer = await self._api.request("PATCH", path, body={"webhooks": wrong}, content_type=STRATEGIC)
            if not answer.ok:
                raise NotRegistered(answer.message)
        missing = [one for one in place.needed if one not in found]
        if missing:
            raise NotRegistered(
                f"{place.plural}/{place.name} has no webhook {' and no '.join(missing)}: it is not ours, or was printed"
                " for another configuration"
            )
        return bool(wrong)

    def _wanted(self, webhook: str, bundle: str) -> dict[str, Any]:
        """The fields of ``clientConfig`` that are ours to write."""
        if not self.url:
            return {"caBundle": bundle}
        return {"caBundle": bundle, "url": f"{self.url}{PATHS[webhook]}", "service": None}
