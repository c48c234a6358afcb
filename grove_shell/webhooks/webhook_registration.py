"""Keeps the trusted authority, and the URL, of the webhook configurations up to date (WH-025)."""

import base64
from collections.abc import Iterable
from typing import Any, NamedTuple

from grove_shell.client.api_response import NOT_FOUND
from grove_shell.client.api_session import STRATEGIC, ApiSession
from grove_shell.client.proxy_response_check import is_api_object
from grove_shell.settings.webhook_settings import (
    DEFAULTING,
    GUARDING,
    JOINED,
    MUTATING,
    PATHS,
    PREVIEW,
    REGISTRATION_VERSION,
    VALIDATING,
    VALIDATION,
)


class WebhookNotRegistered(Exception):
    """A webhook configuration is missing, is not ours, or cannot be changed; the message says which, and what to do."""


class RegisteredConfiguration(NamedTuple):
    """One webhook configuration in the cluster.

    Attributes:
        plural, name: of the object.
        main: the webhook that it must have.
        others: further webhooks of ours.
        needs_others: whether it must have these as well.
        part: of ``grove manifests`` that prints it.
    """

    plural: str
    name: str
    main: str
    others: tuple[str, ...] = ()
    needs_others: bool = False
    part: str = "webhooks"


def admission_configurations(
    mutating: str, validating: str, *, sharing: bool = False, validates_topologies: bool = False
) -> tuple[RegisteredConfiguration, ...]:
    """Return the configurations that default and validate.

    Args:
        mutating, validating: their names.
        sharing: whether PodCliques share ComputeDomains by annotation (WH-010).
        validates_topologies: whether topologies are validated (TP-045).
    """
    return (
        RegisteredConfiguration(MUTATING, mutating, DEFAULTING, JOINED, sharing),
        RegisteredConfiguration(VALIDATING, validating, VALIDATION, GUARDING, validates_topologies),
    )


def preview_webhook_configurations(name: str) -> tuple[RegisteredConfiguration, ...]:
    """Return the configuration of the preview of updates."""
    return (RegisteredConfiguration(VALIDATING, name, PREVIEW, part="preview"),)


class WebhookRegistration:
    """The webhook configurations of one process in the cluster."""

    def __init__(self, api: ApiSession, configurations: Iterable[RegisteredConfiguration], *, url: str = "") -> None:
        """Send no request yet.

        Args:
            api: the API server.
            configurations: that call the process.
            url: where the API server should call, e.g. ``https://127.0.0.1:9443``; empty to keep what is registered.
        """
        self._api = api
        self.url = url
        self._configurations = tuple(configurations)

    async def register_authorities(self, bundle: bytes) -> list[str]:
        """Register the authorities in every configuration, and return the names of those that changed.

        Our webhooks of features that are off are updated as well: they may still be called.

        Raises:
            WebhookNotRegistered: all problems of the configurations.
            NoServerResponse: the API server did not respond.
        """
        changed, faults, authorities = [], [], base64.b64encode(bundle).decode()
        for configuration in self._configurations:
            try:
                if await self._update(configuration, authorities):
                    changed.append(configuration.name)
            except WebhookNotRegistered as fault:
                faults.append(str(fault))
        if faults:
            raise WebhookNotRegistered("; ".join(faults))
        return changed

    async def _update(self, configuration: RegisteredConfiguration, authorities: str) -> bool:
        """Update our webhooks of one configuration; return whether one was changed."""
        plural, name, main, others, needs_others, part = configuration
        path = f"/apis/{REGISTRATION_VERSION}/{plural}/{name}"
        response = await self._api.request("GET", path)
        if response.status == NOT_FOUND:
            raise WebhookNotRegistered(
                f"there is no {plural}/{name}: grove manifests --only {part} | kubectl apply --server-side -f -"
            )
        if not is_api_object(raw := response.json_body()) or not response.is_success:
            raise WebhookNotRegistered(response.error_message)
        found = {one.get("name"): one.get("clientConfig") or {} for one in raw.get("webhooks") or ()}
        wanted = {one: self._client_config(one, authorities) for one in (main, *others) if one in found}
        wrong = [one for one, config in wanted.items() if any(found[one].get(key) != config[key] for key in config)]
        if wrong:
            body = {"webhooks": [{"name": one, "clientConfig": wanted[one]} for one in wrong]}
            response = await self._api.request("PATCH", path, body=body, content_type=STRATEGIC)
            if not response.is_success:
                raise WebhookNotRegistered(response.error_message)
        if missing := [one for one in (main, *(others if needs_others else ())) if one not in found]:
            raise WebhookNotRegistered(
                f"{plural}/{name} has no webhook {' and no '.join(missing)}:"
                " it is not ours, or was printed for another configuration"
            )
        return bool(wrong)

    def _client_config(self, webhook: str, authorities: str) -> dict[str, Any]:
        """Return the fields of ``clientConfig`` that we write."""
        address = {"url": f"{self.url}{PATHS[webhook]}", "service": None} if self.url else {}
        return {"caBundle": authorities, **address}
