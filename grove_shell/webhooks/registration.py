"""Keeps the trusted authority, and the URL, of the webhook registrations up to date (WH-025)."""

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
    """A webhook configuration is missing, is not ours, or cannot be changed; the message says which, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredConfiguration:
    """One MutatingWebhookConfiguration or ValidatingWebhookConfiguration.

    Attributes:
        plural: resource name of its kind.
        name: of the object.
        ours: our webhooks that it may contain, whatever features are on.
        needed: our webhooks that it must contain.
    """

    plural: str
    name: str
    ours: tuple[str, ...]
    needed: tuple[str, ...]


class Registration:
    """The two webhook configurations in the cluster."""

    def __init__(
        self,
        api: Api,
        *,
        mutating: str,
        validating: str,
        url: str = "",
        sharing: bool = False,
        validates_topologies: bool = False,
    ) -> None:
        """Send no request yet.

        Args:
            api: the API server.
            mutating, validating: names of the configurations.
            url: where the API server should call, e.g. ``https://127.0.0.1:9443``; empty to keep what is registered.
            sharing: whether PodCliques share ComputeDomains by annotation (MS-094).
            validates_topologies: whether topologies are validated (TP-045).
        """
        self._api = api
        self.url = url
        self._configurations = tuple(
            RegisteredConfiguration(
                plural=plural, name=name, ours=(always, *more), needed=(always, *(more if is_on else ()))
            )
            for plural, name, always, more, is_on in (
                (MUTATING, mutating, DEFAULTING, JOINED, sharing),
                (VALIDATING, validating, VALIDATION, GUARDING, validates_topologies),
            )
        )

    async def trust(self, bundle: bytes) -> list[str]:
        """Register the authorities in both configurations, and return the names of those that changed.

        Our webhooks of features that are off are updated as well: they may still be called.

        Raises:
            NotRegistered: all problems of both configurations.
            Unreachable: the API server did not respond.
        """
        changed, faults = [], []
        for configuration in self._configurations:
            try:
                if await self._update(configuration, base64.b64encode(bundle).decode()):
                    changed.append(configuration.name)
            except NotRegistered as fault:
                faults.append(str(fault))
        if faults:
            raise NotRegistered("; ".join(faults))
        return changed

    async def _update(self, configuration: RegisteredConfiguration, bundle: str) -> bool:
        path = f"/apis/{API_VERSION}/{configuration.plural}/{configuration.name}"
        response = await self._api.request("GET", path)
        if response.status == NOT_FOUND:
            raise NotRegistered(
                f"there is no {configuration.plural}/{configuration.name}: grove manifests --only webhooks"
                " | kubectl apply --server-side -f -"
            )
        if not is_object(raw := response.json()) or not response.ok:
            raise NotRegistered(response.message)
        found = {one.get("name"): one.get("clientConfig") or {} for one in raw.get("webhooks") or ()}
        wrong = []
        for webhook in (one for one in configuration.ours if one in found):
            wanted = self._wanted(webhook, bundle)
            if any(found[webhook].get(key) != value for key, value in wanted.items()):
                wrong.append({"name": webhook, "clientConfig": wanted})
        if wrong:
            response = await self._api.request("PATCH", path, body={"webhooks": wrong}, content_type=STRATEGIC)
            if not response.ok:
                raise NotRegistered(response.message)
        missing = [one for one in configuration.needed if one not in found]
        if missing:
            raise NotRegistered(
                f"{configuration.plural}/{configuration.name} has no webhook {' and no '.join(missing)}:"
                " it is not ours, or was printed for another configuration"
            )
        return bool(wrong)

    def _wanted(self, webhook: str, bundle: str) -> dict[str, Any]:
        """Return the fields of ``clientConfig`` that we write."""
        if not self.url:
            return {"caBundle": bundle}
        return {"caBundle": bundle, "url": f"{self.url}{PATHS[webhook]}", "service": None}
