"""Keeps the trusted authority, and the URL, of the webhook configurations up to date (WH-025)."""

import base64
from typing import Any

from grove_shell.client.api_response import NOT_FOUND
from grove_shell.client.api_session import STRATEGIC, ApiSession
from grove_shell.client.response_check import is_api_object
from grove_shell.settings.webhook_settings import (
    DEFAULTING,
    GUARDING,
    JOINED,
    MUTATING,
    PATHS,
    REGISTRATION_VERSION,
    VALIDATING,
    VALIDATION,
)


class WebhookNotRegistered(Exception):
    """A webhook configuration is missing, is not ours, or cannot be changed; the message says which, and what to do."""


class WebhookRegistration:
    """The MutatingWebhookConfiguration and the ValidatingWebhookConfiguration in the cluster."""

    def __init__(
        self,
        api: ApiSession,
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
            sharing: whether PodCliques share ComputeDomains by annotation (WH-010).
            validates_topologies: whether topologies are validated (TP-045).
        """
        self._api = api
        self.url = url
        self._configurations = (  # where it is, the webhook that it must have, its others, whether it must have these
            (MUTATING, mutating, DEFAULTING, JOINED, sharing),
            (VALIDATING, validating, VALIDATION, GUARDING, validates_topologies),
        )

    async def register_authorities(self, bundle: bytes) -> list[str]:
        """Register the authorities in both configurations, and return the names of those that changed.

        Our webhooks of features that are off are updated as well: they may still be called.

        Raises:
            WebhookNotRegistered: all problems of both configurations.
            NoServerResponse: the API server did not respond.
        """
        changed, faults, authorities = [], [], base64.b64encode(bundle).decode()
        for plural, name, main, others, is_on in self._configurations:
            try:
                if await self._update(
                    plural, name, (main, *others), (main, *others) if is_on else (main,), authorities
                ):
                    changed.append(name)
            except WebhookNotRegistered as fault:
                faults.append(str(fault))
        if faults:
            raise WebhookNotRegistered("; ".join(faults))
        return changed

    async def _update(
        self, plural: str, name: str, ours: tuple[str, ...], needed: tuple[str, ...], authorities: str
    ) -> bool:
        """Update our webhooks of one configuration; return whether one was changed."""
        path = f"/apis/{REGISTRATION_VERSION}/{plural}/{name}"
        response = await self._api.request("GET", path)
        if response.status == NOT_FOUND:
            raise WebhookNotRegistered(
                f"there is no {plural}/{name}: grove manifests --only webhooks | kubectl apply --server-side -f -"
            )
        if not is_api_object(raw := response.json_body()) or not response.is_success:
            raise WebhookNotRegistered(response.error_message)
        found = {one.get("name"): one.get("clientConfig") or {} for one in raw.get("webhooks") or ()}
        wanted = {one: self._client_config(one, authorities) for one in ours if one in found}
        wrong = [one for one, config in wanted.items() if any(found[one].get(key) != config[key] for key in config)]
        if wrong:
            body = {"webhooks": [{"name": one, "clientConfig": wanted[one]} for one in wrong]}
            response = await self._api.request("PATCH", path, body=body, content_type=STRATEGIC)
            if not response.is_success:
                raise WebhookNotRegistered(response.error_message)
        if missing := [one for one in needed if one not in found]:
            raise WebhookNotRegistered(
                f"{plural}/{name} has no webhook {' and no '.join(missing)}:"
                " it is not ours, or was printed for another configuration"
            )
        return bool(wrong)

    def _client_config(self, webhook: str, authorities: str) -> dict[str, Any]:
        """Return the fields of ``clientConfig`` that we write."""
        address = {"url": f"{self.url}{PATHS[webhook]}", "service": None} if self.url else {}
        return {"caBundle": authorities, **address}
