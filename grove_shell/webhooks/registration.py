"""What an API server knows of the webhooks: whom it may trust, and where it calls (WH-025)."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from grove_shell.client.api import NOT_FOUND, STRATEGIC, Api

GROUP: Final = "admissionregistration.k8s.io"
API_VERSION: Final = f"{GROUP}/v1"
DEFAULTING: Final = "defaulting.podcliquesets.grove.io"
VALIDATION: Final = "validation.podcliquesets.grove.io"
JOINING: Final = "joining.podcliques.grove.io"
STAMPING: Final = "stamping.podgangs.scheduler.grove.io"
TOPOLOGIES: Final = "validation.clustertopologies.grove.io"
LEAVING: Final = "deletion.clustertopologies.grove.io"
PATHS: Final[Mapping[str, str]] = {
    DEFAULTING: "/webhooks/default-podcliqueset",
    VALIDATION: "/webhooks/validate-podcliqueset",
    JOINING: "/webhooks/join-podclique",
    STAMPING: "/webhooks/stamp-podgang",
    TOPOLOGIES: "/webhooks/validate-clustertopology",
    LEAVING: "/webhooks/delete-clustertopology",
}
GUARDING: Final = (TOPOLOGIES, LEAVING)
"""Of topologies."""
MUTATING: Final = "mutatingwebhookconfigurations"
VALIDATING: Final = "validatingwebhookconfigurations"


class NotRegistered(Exception):
    """A configuration is not there, is not ours, or cannot be changed; the message says which, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One webhook of one configuration.

    Attributes:
        plural: of the kind of configuration.
        name: of the configuration.
        webhook: its name inside.
    """

    plural: str
    name: str
    webhook: str


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
            guarded: whether topologies are judged (TP-093).
        """
        self._api = api
        self.url = url
        self._places = (
            Place(plural=MUTATING, name=mutating, webhook=DEFAULTING),
            Place(plural=VALIDATING, name=validating, webhook=VALIDATION),
            *(Place(plural=MUTATING, name=mutating, webhook=one) for one in ((JOINING, STAMPING) if shared else ())),
            *(Place(plural=VALIDATING, name=validating, webhook=one) for one in (GUARDING if guarded else ())),
        )

    async def trust(self, bundle: bytes) -> list[str]:
        """Have the API server trust these authorities; what was changed. Both are tried before one is complained of.

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

    async def _put_right(self, place: Place, bundle: str) -> bool:
        path = f"/apis/{API_VERSION}/{place.plural}/{place.name}"
        answer = await self._api.request("GET", path)
        if answer.status == NOT_FOUND:
            raise NotRegistered(
                f"there is no {place.plural}/{place.name}: grove manifests --only webhooks"
                " | kubectl apply --server-side -f -"
            )
        if not answer.good:
            raise NotRegistered(answer.words)
        webhooks = [one for one in answer.json().get("webhooks") or () if one.get("name") == place.webhook]
        if not webhooks:
            raise NotRegistered(
                f"{place.plural}/{place.name} has no webhook {place.webhook}: it is not ours, or was printed for"
                " another configuration"
            )
        wanted = self._wanted(place, bundle)
        stored = webhooks[0].get("clientConfig") or {}
        if all(stored.get(key) == value for key, value in wanted.items()):
            return False
        body = {"webhooks": [{"name": place.webhook, "clientConfig": wanted}]}
        answer = await self._api.request("PATCH", path, body=body, content_type=STRATEGIC)
        if not answer.good:
            raise NotRegistered(answer.words)
        return True

    def _wanted(self, place: Place, bundle: str) -> dict[str, Any]:
        """The fields of ``clientConfig`` that are ours to write."""
        if not self.url:
            return {"caBundle": bundle}
        return {"caBundle": bundle, "url": f"{self.url}{PATHS[place.webhook]}", "service": None}
